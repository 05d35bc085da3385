//! Names a key by its id, or as the one that signs now or next.

use std::str::FromStr;

use clap::Args;
use jeton_issuer::KeyKind;
use jeton_issuer::keyring::State;

use super::typed;
use super::view::{IssuerView, KeyView};
use crate::exit::{Failure, Outcome};

/// The key that signs.
const CURRENT: &str = "current";
/// The published key that signs later.
const NEXT: &str = "next";

/// The argument for the algorithm of a key.
#[derive(Debug, Args)]
pub(super) struct KeyAlgorithm {
    /// Algorithm of the key, required if the profiles of the issuer use several
    #[arg(long, value_name = "NAME", value_parser = KeyKind::from_str)]
    pub(super) alg: Option<KeyKind>,
}

impl KeyAlgorithm {
    /// Returns the key that the caller names: an id, `current` or `next`. A key that has one of these words as its id
    /// is the one that is meant.
    pub(super) fn key<'v>(&self, issuer: &'v IssuerView, named: &str) -> Outcome<&'v KeyView> {
        let has_alg = |key: &&KeyView| self.alg.is_none_or(|alg| alg.name() == key.alg);
        if let Some(key) = issuer.keys.iter().find(|key| key.kid == named) {
            return match self.alg {
                Some(alg) if !has_alg(&key) => Err(Failure::error(format!(
                    "the key {named:?} is for {}, not for {}; nothing was changed",
                    key.alg,
                    alg.name()
                ))
                .hint("remove `--alg`")),
                _ => Ok(key),
            };
        }
        let state = match named {
            CURRENT => State::Signing,
            NEXT => State::Published,
            _ => {
                return Err(Failure::error(format!(
                    "the issuer has no key {named:?}; nothing was changed"
                ))
                .hint(format!("keys of this issuer: {}", list(&issuer.keys))));
            }
        };
        let in_state = || issuer.keys.iter().filter(move |key| key.state == state);
        let mut found = in_state().filter(has_alg);
        match (found.next(), found.next()) {
            (Some(key), None) => Ok(key),
            (Some(_), Some(_)) => Err(several(named, in_state())),
            (None, _) => {
                let of = match self.alg {
                    Some(alg) => format!(" for {}", alg.name()),
                    None => String::new(),
                };
                let what = match state {
                    State::Signing => "signs",
                    _ => "is published and signs later",
                };
                Err(
                    Failure::error(format!("no key{of} {what}; nothing was changed"))
                        .hint(format!("keys of this issuer: {}", list(&issuer.keys))),
                )
            }
        }
    }
}

/// Names every candidate, and the command for each algorithm.
fn several<'v>(named: &str, keys: impl Iterator<Item = &'v KeyView>) -> Failure {
    let keys: Vec<&KeyView> = keys.collect();
    let mut algorithms: Vec<&str> = keys.iter().map(|key| &*key.alg).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    let arguments = typed::arguments();
    let commands = algorithms.iter().map(|alg| {
        let command = typed::command_with(&arguments, &["--alg"], ["--alg", alg]);
        format!("`{command}`")
    });
    let commands: Vec<String> = commands.collect();
    // Two keys of one algorithm can be published. Then only the id tells them apart.
    let hint = if algorithms.len() == keys.len() {
        format!("to name one, run {}", commands.join(" or "))
    } else {
        format!("to name one, pass its id instead of {named}")
    };
    Failure::error(format!(
        "{} keys are {named:?}: {}; nothing was changed",
        keys.len(),
        list(keys)
    ))
    .hint(hint)
}

fn list<'v>(keys: impl IntoIterator<Item = &'v KeyView>) -> String {
    let each = keys.into_iter();
    let each: Vec<String> = each
        .map(|key| format!("{} ({})", key.kid, key.alg))
        .collect();
    each.join(", ")
}
