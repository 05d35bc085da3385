//! The arguments for the data folder, and the hints for its errors.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jeton::SystemClock;
use jeton_issuer::{DataFolder, Error, KEY_VARIABLE, KeyEncryptionKey, KeySource, Missing, Node};
use jeton_server::Config;
use zeroize::Zeroizing;

use super::server;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::output;
use crate::time;

/// The arguments of a command that does not decrypt keys.
#[derive(Debug, Args)]
pub(super) struct FolderArgs {
    /// Configuration file of the server, which names the data folder and the key-encryption key
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Data folder [default: that of --config, or jeton-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// How long to wait for the folder while another process uses it, for example 30s or 1m
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time::duration)]
    lock_timeout: Duration,
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
}

/// The argument for the key-encryption key.
#[derive(Debug, Args)]
pub(super) struct EncryptionKey {
    /// File with the key-encryption key [default: that of --config, JETON_KEY_ENCRYPTION_KEY, or key-encryption-key in the data folder]
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    key_encryption_key: Option<PathBuf>,
}

/// A node with an open data folder. Dropping it releases the folder.
pub(super) struct Opened {
    pub(super) node: Node,
    pub(super) actor: String,
    pub(super) folder: DataFolder,
}

/// What the arguments and the configuration say about the store.
pub(super) struct Place {
    pub(super) path: PathBuf,
    key_file: Option<PathBuf>,
    lock_timeout: Duration,
    /// The URL of the admin listener by the configuration.
    admin_url: Option<String>,
    /// The store of the configuration is an etcd, which only a server opens.
    is_shared: bool,
}

impl FolderArgs {
    /// Reads the configuration.
    pub(super) fn place(&self) -> Outcome<Place> {
        let config = match &self.config {
            Some(file) => {
                input::must_be_a_name(file)?;
                let config = Config::from_file(file);
                Some(config.map_err(|error| Failure::error(error.to_string()))?)
            }
            None => None,
        };
        let admin_url = config.as_ref().map(Config::admin_url);
        let is_shared = self.data.is_none() && config.as_ref().is_some_and(|c| c.store.is_some());
        let (configured, key_file) = match config {
            Some(config) => (Some(config.data), config.key_encryption_key_file),
            None => (None, None),
        };
        let default = || PathBuf::from("jeton-data");
        Ok(Place {
            path: self.data.clone().or(configured).unwrap_or_else(default),
            key_file,
            lock_timeout: self.lock_timeout,
            admin_url,
            is_shared,
        })
    }
}

impl Place {
    /// Opens an existing folder.
    pub(super) fn open(&self) -> Outcome<DataFolder> {
        self.open_or(Missing::Refuse)
    }

    fn open_or(&self, missing: Missing) -> Outcome<DataFolder> {
        self.check_engine()?;
        DataFolder::open(&self.path, missing, self.lock_timeout)
            .map_err(|error| self.failure(error))
    }

    /// Verifies every page, then opens the folder. The error distinguishes damage from other problems.
    pub(super) fn verify(&self) -> Result<DataFolder, Error> {
        DataFolder::verify(&self.path, self.lock_timeout)?;
        DataFolder::open(&self.path, Missing::Refuse, self.lock_timeout)
    }

    /// Fails if the configuration names an etcd.
    pub(super) fn check_engine(&self) -> Outcome {
        match self.is_shared {
            false => Ok(()),
            true => {
                let failure = Failure::error(
                    "the store of the configuration is an etcd, which only a running server opens",
                );
                Err(failure.hint(self.server_hint()))
            }
        }
    }

    /// Returns the failure with a hint. If a server has the folder open, the hint is the command for it.
    pub(super) fn failure(&self, error: Error) -> Failure {
        match error {
            Error::Store(jeton_store::Error::InUse) => {
                Failure::error(error.to_string()).hint(format!(
                    "{}; to wait longer, add `--lock-timeout 1m`",
                    self.server_hint()
                ))
            }
            other => failure(other),
        }
    }

    fn server_hint(&self) -> String {
        let url = server::url_of(&self.path)
            .or_else(|| self.admin_url.clone())
            .unwrap_or_else(|| format!("http://127.0.0.1:{}", Config::ADMIN_PORT));
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        format!(
            "for the server that uses it, run `{}`",
            server::command_for(&arguments, &url)
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
    /// Also decrypts private keys with the key-encryption key in this file.
    pub(super) fn also_reads(mut self, old_key: PathBuf) -> AdminArgs {
        self.also_reads = Some(old_key);
        self
    }

    /// Opens the folder.
    pub(super) fn open(self, missing: Missing) -> Outcome<Opened> {
        let place = self.folder.place()?;
        let source = self.key.source(place.key_file.clone())?;
        let folder = place.open_or(missing)?;
        let has_key = !matches!(source, KeySource::InFolder) || folder.has_key_file();
        let mut options = folder.options(source).map_err(failure)?;
        if let Some(old_key) = self.also_reads {
            input::must_be_a_name(&old_key)?;
            options = options.also_reads(KeyEncryptionKey::from_file(&old_key).map_err(failure)?);
        }
        if !has_key {
            output::note(format_args!(
                "created {}: it encrypts the private keys; keep a copy, separate from the backups",
                folder.key_file().display()
            ));
        }
        let node = Node::start(folder.store(), options, Arc::new(SystemClock)).map_err(failure)?;
        Ok(Opened {
            node,
            actor: self.actor.unwrap_or_else(user),
            folder,
        })
    }
}

/// Returns the name of the user, or `admin`.
fn user() -> String {
    let named = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    named("LOGNAME")
        .or_else(|| named("USER"))
        .unwrap_or_else(|| "admin".to_owned())
}

/// Returns the failure with a hint.
pub(super) fn failure(error: Error) -> Failure {
    let failure = Failure::error(error.to_string());
    match error {
        Error::NoStore(_) => failure
            .hint("to use another folder, add `--data DIR`; to create one, run `jeton admin issuer add @issuer.json`"),
        Error::Store(jeton_store::Error::InUse) => {
            failure.hint("to wait longer, add `--lock-timeout 1m`; stop the server that uses the folder")
        }
        Error::Store(jeton_store::Error::Unsafe(exposed)) => failure.hint(exposed.remedy()),
        Error::Store(jeton_store::Error::Damaged(_)) | Error::Record(_) => failure.hint(
            "to check the whole folder, run `jeton admin verify`; to use a backup, run `jeton admin restore FILE --data DIR`",
        ),
        Error::Store(jeton_store::Error::AlreadyThere) => {
            failure.hint("to restore to a new folder, add `--data DIR`")
        }
        Error::WrongKeyEncryptionKey { .. } => failure.hint(format!(
            "add `--key-encryption-key FILE`, or set {KEY_VARIABLE}"
        )),
        Error::UnknownIssuer => failure.hint("to list the issuers, run `jeton admin issuer list`"),
        Error::IssuerExists => failure.hint("to change its settings, run `jeton admin issuer set @issuer.json`"),
        Error::UnknownKey => failure.hint("to list the keys, run `jeton admin key list ISSUER`"),
        _ => failure,
    }
}
