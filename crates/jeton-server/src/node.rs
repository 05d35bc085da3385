//! The node that a server answers from, on its data folder or on an etcd that it shares.

use std::env::VarError;
use std::sync::Arc;
use std::time::Duration;

use jeton::Clock;
use jeton_issuer::{
    Configured, DataFolder, Difference, Error as IssuerError, IssuerSettings, KEY_VARIABLE,
    KeySource, Missing, Node, StalePolicy,
};

use zeroize::Zeroizing;

use crate::config::{Config, WhenStale};
use crate::error::Result;
use crate::shared;

/// How long the folder is waited for: whoever restarts a server starts the new one while the old one
/// finishes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whose name is in the audit log for what a configuration asks for.
const ACTOR: &str = "configuration";

/// Where the key comes from that private keys are encrypted under, and whether someone gave it.
pub(crate) fn key_source(config: &Config) -> Result<(KeySource, bool)> {
    let variable = match std::env::var(KEY_VARIABLE) {
        Ok(text) => Some(Zeroizing::new(text)),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(text)) => {
            drop(Zeroizing::new(text.into_encoded_bytes()));
            let what = format!("{KEY_VARIABLE} is not text: wants 64 hexadecimal digits");
            return Err(IssuerError::KeyEncryptionKey(what).into());
        }
    };
    let file = config.key_encryption_key_file.clone();
    let source = KeySource::choose(file, variable.as_ref().map(|text| text.as_str()))?;
    let is_given = !matches!(source, KeySource::InFolder);
    Ok((source, is_given))
}

/// Opens the store, starts the node, and has its issuers be as the configuration says.
pub(crate) fn open(config: &Config, source: KeySource, clock: Arc<dyn Clock>) -> Result<Node> {
    let (store, options) = match &config.store {
        Some(address) => {
            let options = shared::options(source)?;
            (shared::open(address, config.etcd.as_ref())?, options)
        }
        None if config.etcd.is_some() => return Err(shared::without_store()),
        None => {
            let folder = DataFolder::open(&config.data, Missing::Make, PATIENCE)?;
            (folder.store(), folder.options(source)?)
        }
    };
    let stale = match config.when_stale {
        WhenStale::Refuse => StalePolicy::Refuse,
        WhenStale::Answer => StalePolicy::Answer,
    };
    let freshness = Duration::from_secs(config.freshness_seconds);
    let options = options
        .freshness(freshness, stale)
        .issue_without_store(config.issue_without_store())
        .token_bytes(config.limits.token_bytes());
    let node = Node::start(store, options, clock)?;
    let missing = configure(&node, &config.issuers);
    missing.map_or(Ok(()), Err)?;
    Ok(node)
}

/// Has the issuers that a configuration names be as it says, and says what was done and what was not.
/// Why the first one that is not there could not be made, if there is one.
pub(crate) fn configure(node: &Node, issuers: &[IssuerSettings]) -> Option<IssuerError> {
    let mut missing = None;
    for settings in issuers {
        let issuer = settings.iss();
        match node.configure(ACTOR, settings) {
            Ok(Configured::Created) => tracing::info!(issuer, "created, as the configuration says"),
            Ok(Configured::Set { applied, kept }) => {
                for change in applied {
                    tracing::info!(issuer, %change, "changed, as the configuration says");
                }
                for Difference { field, old, new } in &kept {
                    tracing::warn!(
                        issuer,
                        field,
                        old,
                        new,
                        "not changed: no key of the new format signs yet, so the profile could issue no token. \
                         Add a profile with that format, and change this one when its key signs"
                    );
                }
            }
            Err(error) => match node.issuer(issuer) {
                Ok((before, _)) => not_applied(&before, settings, &error),
                Err(_) => {
                    tracing::warn!(issuer, %error, "the issuer of the configuration cannot be created");
                    missing.get_or_insert(error);
                }
            },
        }
    }
    for iss in node.configured_issuers() {
        if !issuers.iter().any(|settings| settings.iss() == iss) {
            tracing::warn!(
                issuer = iss,
                "the configuration no longer names this issuer: it stays as it is, and goes on to issue and \
                 verify tokens. Name it again, or set it with AdminService or `jeton admin issuer set`"
            );
        }
    }
    missing
}

fn not_applied(before: &IssuerSettings, settings: &IssuerSettings, error: &IssuerError) {
    let issuer = settings.iss();
    let differences = before.differences(settings);
    if differences.is_empty() {
        tracing::warn!(issuer, %error, "that the configuration names the issuer cannot be noted");
    }
    for Difference { field, old, new } in &differences {
        tracing::warn!(issuer, field, old, new, %error, "not changed");
    }
}

/// Makes an issuer to try things out with, if there is none at all. Its name is the address.
pub(crate) fn make_trial_issuer(config: &Config, node: &Node, iss: &str) -> Result<()> {
    if !node.status().issuers.is_empty() {
        return Ok(());
    }
    if !is_for_trying(config) {
        tracing::warn!(
            "there is no issuer, and the server is not ready until there is one: add [[issuer]] to the \
             configuration, or call CreateIssuer of AdminService"
        );
        return Ok(());
    }
    let settings = serde_json::json!({
        "iss": iss,
        "profiles": [
            {"name": "access", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"]},
            {"name": "paseto", "alg": "v4.public", "lifetime_seconds": 900, "audiences": ["api"]},
        ],
    });
    make(node, IssuerSettings::from_json(&settings.to_string())?)
}

/// What is made lasts, and in a shared store it is for every server: so not where anybody has said what is
/// wanted.
fn is_for_trying(config: &Config) -> bool {
    config.clients.is_empty() && config.issuers.is_empty() && config.store.is_none()
}

fn make(node: &Node, settings: IssuerSettings) -> Result<()> {
    match node.create_issuer(ACTOR, settings) {
        // Made before, or by another node at this moment.
        Ok(()) | Err(IssuerError::IssuerExists) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn trial_issuer_is_made_only_where_nothing_else_was_said() {
        const ISSUER: &str = "[[issuer]]\niss = 'i'\nprofiles = [{name = 'p', alg = 'ES256', \
             lifetime_seconds = 900, audiences = ['a']}]";
        const CLIENT: &str = "bearer = {issuer = 'i', audience = 'a'}\n[[client]]\nname = 'c'\n\
             subject = 'c'\nmay = ['issue']\nissuers = ['*']";
        let is_for_trying = |text: &str| super::is_for_trying(&Config::from_toml(text).unwrap());
        assert!(is_for_trying("data = 'd'"));
        for told in ["store = 'etcd://127.0.0.1:2379'", ISSUER, CLIENT] {
            assert!(!is_for_trying(told), "{told}");
        }
    }
}
