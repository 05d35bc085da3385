//! The arguments for the store: a data folder or an etcd, and the hints for its errors.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jeton::SystemClock;
use jeton_issuer::{
    DataFolder, Error, KEY_VARIABLE, KeyEncryptionKey, KeySource, Missing, Node, Options,
};
use jeton_server::Config;
use jeton_store::Error as StoreError;
use zeroize::Zeroizing;

use super::etcd::EtcdPlace;
use super::failure::{etcd_failure, failure};
use super::open_store::OpenStore;
use super::running_server;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::output;
use crate::time;

/// How long a command waits for a folder by default.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The arguments of a command that does not decrypt keys.
#[derive(Debug, Args)]
pub(super) struct FolderArgs {
    /// Configuration file of the server, which names the store, its credentials and the key-encryption key
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Data folder [default: the store of --config, or jeton-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Store in etcd instead of a data folder: `etcd://HOST:PORT[,HOST:PORT…][/ROOT]`, or etcds:// for TLS.
    /// Certificates and password are those of --config
    #[arg(long, value_name = "URL", conflicts_with_all = ["data", "lock_timeout"])]
    store: Option<String>,

    /// How long to wait for the folder while another process uses it, for example 30s or 1m [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    lock_timeout: Option<Duration>,
}

/// The arguments of a command that decrypts keys and writes to the audit log.
#[derive(Debug, Args)]
pub(super) struct AdminArgs {
    #[command(flatten)]
    pub(super) folder: FolderArgs,

    #[command(flatten)]
    key: EncryptionKey,

    /// Name in the audit log [default: the name of the user]
    #[arg(long, value_name = "NAME", conflicts_with = "server")]
    actor: Option<String>,

    #[arg(skip)]
    also_reads: Option<PathBuf>,

    #[arg(skip)]
    trusts_clock: bool,
}

/// The argument for the key-encryption key.
#[derive(Debug, Args)]
pub(super) struct EncryptionKey {
    /// File with the key-encryption key [default: that of --config, JETON_KEY_ENCRYPTION_KEY, or key-encryption-key in the data folder]
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    key_encryption_key: Option<PathBuf>,
}

/// A node with an open store. Dropping it releases a folder.
pub(super) struct Opened {
    pub(super) node: Node,
    pub(super) actor: String,
    pub(super) store: OpenStore,
}

/// What the arguments and the configuration say about the store.
pub(super) struct Place {
    /// The data folder. With an etcd it has only the admin token of a server.
    pub(super) path: PathBuf,
    key_file: Option<PathBuf>,
    old_key_file: Option<PathBuf>,
    /// Commands that print the keys, if the configuration has no files with them.
    key_command: Vec<String>,
    old_key_command: Vec<String>,
    lock_timeout: Duration,
    /// The URL of the admin listener by the configuration.
    admin_url: Option<String>,
    /// The store, if it is an etcd.
    etcd: Option<EtcdPlace>,
}

impl FolderArgs {
    /// Reads the configuration.
    pub(super) fn place(&self) -> Outcome<Place> {
        let config = self.configured()?;
        let admin_url = config.as_ref().map(Config::admin_url);
        let config = config.unwrap_or_default();
        let etcd = match (&self.store, config.store) {
            (Some(url), _) => Some(EtcdPlace::new(url, config.etcd)),
            (None, Some(url)) if self.data.is_none() => Some(EtcdPlace::new(&url, config.etcd)),
            _ => None,
        };
        Ok(Place {
            path: self.data.clone().unwrap_or(config.data),
            key_file: config.key_encryption_key_file,
            old_key_file: config.old_key_encryption_key_file,
            key_command: config.key_encryption_key_command,
            old_key_command: config.old_key_encryption_key_command,
            lock_timeout: self.lock_timeout(),
            admin_url,
            etcd,
        })
    }

    /// Reads the configuration file, if the command names one.
    pub(super) fn configured(&self) -> Outcome<Option<Config>> {
        let Some(file) = &self.config else {
            return Ok(None);
        };
        input::must_be_a_name(file)?;
        let config = Config::from_file(file);
        let config = config.map_err(|error| Failure::error(error.to_string()))?;
        Ok(Some(config))
    }

    pub(super) fn lock_timeout(&self) -> Duration {
        self.lock_timeout.unwrap_or(LOCK_TIMEOUT)
    }

    /// Whether the command names a store.
    pub(super) fn names_store(&self) -> bool {
        self.config.is_some() || self.data.is_some() || self.store.is_some()
    }

    /// The option of the command that no server has.
    pub(super) fn only_for_store(&self) -> Option<&'static str> {
        self.lock_timeout.map(|_| "--lock-timeout")
    }
}

impl Place {
    /// Opens an existing store.
    pub(super) fn open(&self) -> Outcome<OpenStore> {
        self.open_or(Missing::Refuse)
    }

    /// Opens the store. Creates a missing folder, and never a store in etcd: a mistyped address would begin
    /// another service.
    fn open_or(&self, missing: Missing) -> Outcome<OpenStore> {
        match &self.etcd {
            Some(etcd) => etcd.open(),
            None => DataFolder::open(&self.path, missing, self.lock_timeout)
                .map(OpenStore::Folder)
                .map_err(|error| self.failure(error)),
        }
    }

    /// Opens the store to verify it, and every page of a folder before. The error distinguishes damage from
    /// other problems.
    pub(super) fn verify(&self) -> Outcome<Result<OpenStore, Error>> {
        if let Some(etcd) = &self.etcd {
            return etcd.open().map(Ok);
        }
        let verified = DataFolder::verify(&self.path, self.lock_timeout).and_then(|()| {
            let folder = DataFolder::open(&self.path, Missing::Refuse, self.lock_timeout)?;
            Ok(OpenStore::Folder(folder))
        });
        Ok(verified)
    }

    /// Returns the etcd, if the store is one.
    pub(super) fn etcd(&self) -> Option<&EtcdPlace> {
        self.etcd.as_ref()
    }

    /// Returns the failure with a hint. If a server has the folder open, the hint is the command for it.
    pub(super) fn failure(&self, error: Error) -> Failure {
        match error {
            Error::Store(StoreError::InUse) => Failure::error(error.to_string()).hint(format!(
                "{}; to wait longer, add `--lock-timeout 1m`",
                self.server_hint()
            )),
            other if self.etcd.is_some() => etcd_failure(other),
            other => failure(other),
        }
    }

    fn server_hint(&self) -> String {
        let url = running_server::url_of(&self.path)
            .or_else(|| self.admin_url.clone())
            .unwrap_or_else(|| format!("http://127.0.0.1:{}", Config::ADMIN_PORT));
        format!(
            "for the server that uses it, run `{}`",
            running_server::command_for(&url)
        )
    }
}

impl EncryptionKey {
    /// `configured`: the file that the configuration names.
    fn source(self, configured: Option<PathBuf>) -> Outcome<KeySource> {
        if let Some(path) = &self.key_encryption_key {
            input::must_be_a_name(path)?;
        }
        if let (None, Some(file)) = (&self.key_encryption_key, configured) {
            return Ok(KeySource::File(file));
        }
        let variable = match std::env::var(KEY_VARIABLE) {
            Ok(text) => Some(Zeroizing::new(text)),
            Err(std::env::VarError::NotPresent) => None,
            Err(std::env::VarError::NotUnicode(text)) => {
                drop(Zeroizing::new(text.into_encoded_bytes()));
                return Err(Failure::error(format!("{KEY_VARIABLE}: not UTF-8 text")));
            }
        };
        let variable = variable.as_ref().map(|text| text.as_str());
        KeySource::choose(self.key_encryption_key, variable).map_err(failure)
    }
}

impl AdminArgs {
    /// The option of the command that no server has.
    pub(super) fn only_for_store(&self) -> Option<&'static str> {
        let options = [
            ("--old-key", self.also_reads.is_some()),
            (
                "--key-encryption-key",
                self.key.key_encryption_key.is_some(),
            ),
            ("--actor", self.actor.is_some()),
            ("--trust-clock", self.trusts_clock),
        ];
        let given = options.iter().find(|(_, is_given)| *is_given);
        given
            .map(|(name, _)| *name)
            .or_else(|| self.folder.only_for_store())
    }

    /// Also decrypts private keys with the key-encryption key in this file.
    pub(super) fn also_reads(mut self, old_key: PathBuf) -> AdminArgs {
        self.also_reads = Some(old_key);
        self
    }

    /// Publishes keys by the clock of this machine, whatever other clocks say.
    pub(super) fn trust_clock(mut self, is_trusted: bool) -> AdminArgs {
        self.trusts_clock = is_trusted;
        self
    }

    /// Opens the store.
    pub(super) fn open(self, missing: Missing) -> Outcome<Opened> {
        let place = self.folder.place()?;
        let source = if self.key.key_encryption_key.is_none() && !place.key_command.is_empty() {
            KeySource::Given(printed_by(&place.key_command)?)
        } else {
            self.key.source(place.key_file.clone())?
        };
        let store = place.open_or(missing)?;
        let mut options = match &store {
            OpenStore::Folder(folder) => folder_options(folder, source)?,
            OpenStore::Etcd { .. } => etcd_options(source)?,
        };
        for old_key in [place.old_key_file, self.also_reads].into_iter().flatten() {
            input::must_be_a_name(&old_key)?;
            options = options.also_reads(KeyEncryptionKey::from_file(&old_key).map_err(failure)?);
        }
        if !place.old_key_command.is_empty() {
            options = options.also_reads(printed_by(&place.old_key_command)?);
        }
        options = options.for_a_command();
        if self.trusts_clock {
            options = options.trust_clock();
        }
        let node = Node::start(store.store(), options, Arc::new(SystemClock))
            .map_err(|error| store.failure(error))?;
        Ok(Opened {
            node,
            actor: self.actor.unwrap_or_else(user),
            store,
        })
    }
}

/// The key-encryption key that a command of the configuration prints.
fn printed_by(command: &[String]) -> Outcome<KeyEncryptionKey> {
    let key = jeton_server::key_from_command(command);
    key.map_err(|error| Failure::error(error.to_string()))
}

fn folder_options(folder: &DataFolder, source: KeySource) -> Outcome<Options> {
    let has_key = !matches!(source, KeySource::InFolder) || folder.has_key_file();
    let options = folder.options(source).map_err(failure)?;
    if !has_key {
        output::note(format_args!(
            "created {}: it encrypts the private keys; keep a copy, separate from the backups",
            folder.key_file().display()
        ));
    }
    Ok(options)
}

/// All servers of an etcd have the same key-encryption key, so no data folder has it.
fn etcd_options(source: KeySource) -> Outcome<Options> {
    let key = match source {
        KeySource::Given(key) => key,
        KeySource::File(path) => KeyEncryptionKey::from_file(&path).map_err(failure)?,
        KeySource::InFolder => {
            let failure =
                Failure::error("a store in etcd needs the key-encryption key of its servers");
            return Err(failure.hint(format!(
                "add `--key-encryption-key FILE`, or set {KEY_VARIABLE}"
            )));
        }
    };
    Ok(Options::new(key))
}

/// Returns the name of the user, or `admin`.
pub(super) fn user() -> String {
    let named = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    named("LOGNAME")
        .or_else(|| named("USER"))
        .unwrap_or_else(|| "admin".to_owned())
}
