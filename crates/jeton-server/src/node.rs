//! Opens the node of a server, on a data folder or on a shared etcd.

use std::env::VarError;
use std::sync::Arc;
use std::time::Duration;

use jeton::Clock;
use jeton_issuer::limits::NODE_RECORD_EVERY;
use jeton_issuer::{
    Configured, DataFolder, Difference, Error as IssuerError, IssuerSettings, KEY_VARIABLE,
    KeyEncryptionKey, KeySource, Missing, Node, StalePolicy,
};

#[cfg(debug_assertions)]
use jeton_issuer::{Options, Protection};
use jeton_store::{EtcdStore, Store};
use zeroize::Zeroizing;

use crate::config::{Config, WhenStale};
use crate::error::Result;
use crate::etcd_store;
use crate::hsm::HsmKeys;
use crate::key_command::key_from_command;

/// Time limit for the lock of the data folder. On a restart, the old process may still be stopping.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a server writes its record to a data folder, which no other server has open.
const FOLDER_RECORD_EVERY: Duration = Duration::from_secs(30);

/// The actor in the audit log for changes from the configuration.
const ACTOR: &str = "configuration";

/// Returns the source of the key-encryption key, and whether it was configured.
pub(crate) fn key_source(config: &Config) -> Result<(ConfiguredKey, bool)> {
    let variable = match std::env::var(KEY_VARIABLE) {
        Ok(text) => Some(Zeroizing::new(text)),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(text)) => {
            drop(Zeroizing::new(text.into_encoded_bytes()));
            let what = format!("{KEY_VARIABLE} is not text; expected 64 hexadecimal digits");
            return Err(IssuerError::KeyEncryptionKey(what).into());
        }
    };
    if !config.key_encryption_key_command.is_empty() {
        if variable.is_some() {
            let what = format!("a command is configured and {KEY_VARIABLE} is set: use only one");
            return Err(IssuerError::KeyEncryptionKey(what).into());
        }
        return Ok((ConfiguredKey::Command, true));
    }
    let file = config.key_encryption_key_file.clone();
    let source = KeySource::choose(file, variable.as_ref().map(|text| text.as_str()))?;
    let is_given = !matches!(source, KeySource::InFolder);
    Ok((ConfiguredKey::Source(source), is_given))
}

/// Where the configuration says that the key-encryption key is.
pub(crate) enum ConfiguredKey {
    Source(KeySource),
    /// It runs at the start only.
    Command,
}

impl ConfiguredKey {
    /// Runs the command, if there is one.
    pub(crate) fn source(self, config: &Config) -> Result<KeySource> {
        match self {
            ConfiguredKey::Source(source) => Ok(source),
            ConfiguredKey::Command => {
                key_from_command(&config.key_encryption_key_command).map(KeySource::Given)
            }
        }
    }
}

/// A node, and its etcd if it has one.
pub(crate) struct Opened {
    pub(crate) node: Node,
    pub(crate) etcd: Option<Arc<EtcdStore>>,
}

/// Opens the store, starts the node and applies the configured issuers.
pub(crate) fn open(
    config: &Config,
    source: KeySource,
    hsm: Option<&Arc<dyn HsmKeys>>,
    clock: Arc<dyn Clock>,
) -> Result<Opened> {
    let mut etcd = None;
    let (store, options): (Arc<dyn Store>, _) = match &config.store {
        Some(address) => {
            let options = etcd_store::options(source)?;
            let store = etcd_store::open(address, config.etcd.as_ref())?;
            etcd = Some(store.clone());
            (store, options)
        }
        None if config.etcd.is_some() => return Err(etcd_store::without_store()),
        None => {
            let folder = DataFolder::open(&config.data, Missing::Make, LOCK_TIMEOUT)?;
            (folder.store(), folder.options(source)?)
        }
    };
    let old_command = &config.old_key_encryption_key_command;
    let options = match &config.old_key_encryption_key_file {
        Some(file) => options.also_reads(KeyEncryptionKey::from_file(file)?),
        None if !old_command.is_empty() => options.also_reads(key_from_command(old_command)?),
        None => options,
    };
    let stale = match config.when_stale {
        WhenStale::Refuse => StalePolicy::Refuse,
        WhenStale::Verify => StalePolicy::Verify,
    };
    let freshness = Duration::from_secs(config.freshness_seconds);
    let options = options
        .freshness(freshness, stale)
        .issue_without_store(config.issue_without_store())
        .token_bytes(config.limits.token_bytes())
        .rules_per_client(config.limits.revocation_rules_per_client);
    let every = if config.store.is_some() {
        NODE_RECORD_EVERY
    } else {
        FOLDER_RECORD_EVERY
    };
    #[cfg(debug_assertions)]
    if std::env::var_os(NEXT_VERSION).is_some() {
        jeton_issuer::play_next_version();
    }
    let options = options.run_as(&host_name(), every);
    let options = match config.compare_every() {
        Some(interval) => options.compare_every(interval),
        None => options,
    };
    let options = match hsm {
        Some(hsm) => options.remote_keys(hsm.clone()),
        None => options,
    };
    #[cfg(debug_assertions)]
    let options = as_a_test_asks(options);
    let node = Node::start(store, options, clock)?;
    let missing = configure(&node, &config.issuers);
    missing.map_or(Ok(()), Err)?;
    Ok(Opened { node, etcd })
}

/// The environment variable with names of [`Protection`]s that a test removes.
#[cfg(debug_assertions)]
const WITHOUT: &str = "JETON_TEST_WITHOUT";

/// The environment variable with which the server tells the others that it reads older records only.
#[cfg(debug_assertions)]
const READS: &str = "JETON_TEST_READS";

/// The environment variable with which the server plays the next version.
#[cfg(debug_assertions)]
const NEXT_VERSION: &str = "JETON_TEST_NEXT_VERSION";

/// Removes protections, so that a test sees that its judges notice. A release does not contain this.
#[cfg(debug_assertions)]
fn as_a_test_asks(mut options: Options) -> Options {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    for (name, protection) in Protection::ALL {
        if without.split(',').any(|one| one == name) {
            options = options.without(protection);
        }
    }
    match std::env::var(READS).map(|text| text.parse()) {
        Ok(Ok(schema)) => options.reads_up_to(schema),
        _ => options,
    }
}

/// Returns the name of this machine, by which operators know the server.
fn host_name() -> String {
    let of_system = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let names = [std::env::var("HOSTNAME").ok(), of_system];
    let mut names = names
        .into_iter()
        .flatten()
        .map(|name| name.trim().to_owned());
    let name = names.find(|name| !name.is_empty());
    name.unwrap_or_else(|| "server".to_owned())
}

/// Applies the configured issuers and logs each change, and each difference that cannot be applied.
///
/// Returns the error of the first issuer that could not be created, if any.
pub(crate) fn configure(node: &Node, issuers: &[IssuerSettings]) -> Option<IssuerError> {
    let mut missing = None;
    for settings in issuers {
        let issuer = settings.iss();
        match node.configure(ACTOR, settings) {
            Ok(Configured::Created) => {
                tracing::info!(issuer, "issuer created from the configuration")
            }
            Ok(Configured::Set { applied, kept }) => {
                for change in applied {
                    tracing::info!(issuer, %change, "issuer changed by the configuration");
                }
                for Difference { field, old, new } in &kept {
                    tracing::warn!(
                        issuer,
                        field,
                        old,
                        new,
                        "not changed: no key of the new format signs yet, so the profile could not issue tokens. \
                         Add a profile with the new format, and change this profile when that key signs"
                    );
                }
            }
            Err(error) => match node.issuer(issuer) {
                Ok((before, _)) => not_applied(&before, settings, &error),
                Err(_) => {
                    tracing::warn!(issuer, %error, "cannot create the configured issuer");
                    missing.get_or_insert(error);
                }
            },
        }
    }
    node.add_remote_keys();
    for iss in node.configured_issuers() {
        if !issuers.iter().any(|settings| settings.iss() == iss) {
            tracing::warn!(
                issuer = iss,
                "the configuration no longer names this issuer: it stays unchanged and continues to issue and \
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
        tracing::warn!(issuer, %error, "cannot record that the configuration names the issuer");
    }
    for Difference { field, old, new } in &differences {
        tracing::warn!(issuer, field, old, new, %error, "not changed");
    }
}

/// Creates a trial issuer if there is no issuer. Its name is the address of the data listener.
pub(crate) fn create_trial_issuer(config: &Config, node: &Node, iss: &str) -> Result<()> {
    if !node.status().issuers.is_empty() {
        return Ok(());
    }
    if !is_trial_mode(config) {
        tracing::warn!(
            "not ready: there is no issuer. Add [[issuer]] to the configuration, or call CreateIssuer of \
             AdminService"
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
    create(node, IssuerSettings::from_json(&settings.to_string())?)
}

/// Whether nothing is configured. A trial issuer is permanent, and a shared store shows it to every server.
fn is_trial_mode(config: &Config) -> bool {
    config.clients.is_empty() && config.issuers.is_empty() && config.store.is_none()
}

fn create(node: &Node, settings: IssuerSettings) -> Result<()> {
    match node.create_issuer(ACTOR, settings) {
        // Another node may have created it in the meantime.
        Ok(()) | Err(IssuerError::IssuerExists) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn trial_mode_requires_an_empty_configuration() {
        const ISSUER: &str = "[[issuer]]\niss = 'i'\nprofiles = [{name = 'p', alg = 'ES256', \
             lifetime_seconds = 900, audiences = ['a']}]";
        const CLIENT: &str = "bearer = {issuer = 'i', audience = 'a'}\n[[client]]\nname = 'c'\n\
             bearer_subject = 'c'\nmay = ['issue']\nissuers = ['*']";
        let is_trial_mode = |text: &str| super::is_trial_mode(&Config::from_toml(text).unwrap());
        assert!(is_trial_mode("data = 'd'"));
        for text in ["store = 'etcd://127.0.0.1:2379'", ISSUER, CLIENT] {
            assert!(!is_trial_mode(text), "{text}");
        }
    }
}
