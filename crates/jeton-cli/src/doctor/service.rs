//! Checks a token as the token endpoint of the service does, with the configuration of the service and without a request.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jeton::key::Keys;
use jeton::{Clock, FixedClock, SystemClock, Timestamp};
use jeton_server::{ClaimPattern, Config, OfflineResult, Refusal, Trust};

use super::findings::Section;
use crate::exit::{Failure, Outcome};

/// Which rules of the service a token is checked with.
#[derive(Debug, Args)]
pub(super) struct ServiceArgs {
    /// Check the token against the trust entries of this configuration of the service
    #[arg(long, value_name = "FILE", conflicts_with = "client")]
    trust: Option<PathBuf>,

    /// Check the token as the assertion with which this client authenticates
    #[arg(long, value_name = "NAME", requires = "config")]
    client: Option<String>,

    /// Configuration of the service that has the client
    #[arg(long, value_name = "FILE", requires = "client")]
    config: Option<PathBuf>,
}

impl ServiceArgs {
    pub(super) fn is_given(&self) -> bool {
        self.trust.is_some() || self.client.is_some()
    }

    /// Checks a token. `keys` are those of the caller, for trust entries without `keys_file`.
    pub(super) fn check(
        &self,
        token: &str,
        keys: Option<Keys>,
        at: Option<Timestamp>,
    ) -> Outcome<Vec<Section>> {
        let file = self.trust.as_ref().or(self.config.as_ref());
        let file = file.ok_or_else(|| Failure::error("no configuration: pass --config"))?;
        let failed = |error: jeton_server::Error| Failure::error(error.to_string());
        let config = Config::from_file(file).map_err(failed)?;
        let clock: Arc<dyn Clock> = match at {
            Some(at) => Arc::new(FixedClock(at)),
            None => Arc::new(SystemClock),
        };
        if let Some(client) = &self.client {
            let result = config.check_assertion(client, token, &clock);
            let result = result.map_err(failed)?;
            return Ok(vec![section("client", &result, token, None)]);
        }
        let results = config
            .check_outside_token(token, keys, &clock)
            .map_err(failed)?;
        Ok(match results {
            Err(refusal) => {
                let mut section = Section::new("trust");
                refused(&mut section, &refusal, token, None);
                vec![section]
            }
            Ok(results) => sections(&config, &results, token),
        })
    }
}

/// The entries, in their order. If one accepts the token, what the others require is no error.
fn sections(config: &Config, results: &[OfflineResult], token: &str) -> Vec<Section> {
    let is_accepted = results.iter().any(|result| result.refusal.is_none());
    let of_each = results.iter().map(|result| {
        let mut settings = config.trusts.iter();
        let settings = settings.find(|trust| trust.name == result.name);
        let mut section = section("trust", result, token, settings);
        if is_accepted {
            section.downgrade_errors();
        }
        section
    });
    of_each.collect()
}

fn section(
    about: &'static str,
    result: &OfflineResult,
    token: &str,
    trust: Option<&Trust>,
) -> Section {
    let mut section = Section::named(about, &result.name);
    match &result.refusal {
        Some(refusal) => refused(&mut section, refusal, token, trust),
        None => section.good("accepted"),
    }
    for note in &result.notes {
        section.undetermined(*note, "");
    }
    section
}

/// Reports a refusal with the value that it is about: the caller of this command has the token.
fn refused(section: &mut Section, refusal: &Refusal, token: &str, trust: Option<&Trust>) {
    let value = refusal.value_in(token);
    let expected = expected(refusal, trust);
    let mut what = format!("refused ({}): {refusal}", refusal.rule());
    if let Some(value) = &value {
        what.push_str(&format!("; found {value}"));
    }
    if let Some(expected) = &expected {
        what.push_str(&format!(", expected {expected}"));
    }
    section.wrong(what, advice(refusal, value.as_deref(), expected.as_deref()));
    let is_code = refusal
        .rule()
        .starts_with(|first: char| first.is_ascii_uppercase());
    section.set_code(is_code.then(|| refusal.rule()));
}

/// What the trust entry requires of the claim.
fn expected(refusal: &Refusal, trust: Option<&Trust>) -> Option<String> {
    let trust = trust?;
    match (refusal.rule(), refusal.claim()) {
        ("audience", _) => Some(format!("{:?}", trust.audience)),
        ("claims", Some(name)) => Some(match trust.claims.get(name)? {
            ClaimPattern::Text(pattern) => format!("{pattern:?}"),
            ClaimPattern::Number(number) => number.to_string(),
            ClaimPattern::Bool(flag) => flag.to_string(),
        }),
        ("types", _) => Some(trust.types.as_ref()?.join(" or ")),
        _ => None,
    }
}

fn advice(refusal: &Refusal, value: Option<&str>, expected: Option<&str>) -> &'static str {
    let has_ids = |text: Option<&str>| {
        text.is_some_and(|text| text.starts_with("\"repo:") && text.contains('@'))
    };
    match refusal.rule() {
        "claims" if has_ids(value) && !has_ids(expected) => {
            "newer repositories of GitHub have `repo:OWNER@ID/NAME@ID:…` in `sub`: add an entry with this form"
        }
        "trust" => "add an entry of [[trust]] with this `iss`, if you trust the issuer",
        _ => "",
    }
}
