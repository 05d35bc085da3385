//! The node that a server answers from, on its data folder or on an etcd that it shares.

use std::env::VarError;
use std::sync::Arc;
use std::time::Duration;

use jeton::Clock;
use jeton_issuer::{
    DataFolder, Error as IssuerError, IssuerSettings, KEY_VARIABLE, KeySource, Missing, Node, Stale,
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

/// Opens the store, starts the node, and makes the configured issuers that are not there.
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
        WhenStale::Refuse => Stale::Refuse,
        WhenStale::Answer => Stale::Answer,
    };
    let freshness = Duration::from_secs(config.freshness_seconds);
    let options = options
        .freshness(freshness, stale)
        .issue_without_store(config.issue_without_store())
        .token_bytes(config.limits.token_bytes());
    let node = Node::start(store, options, clock)?;
    for settings in &config.issuers {
        make(&node, settings.clone())?;
    }
    Ok(node)
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
