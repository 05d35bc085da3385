//! The arguments for the data folder, and the hints for its errors.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jeton::SystemClock;
use jeton_issuer::{DataFolder, Error, KEY_VARIABLE, KeyEncryptionKey, KeySource, Missing, Node};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::input;
use crate::output;
use crate::time;

/// The arguments of a command that does not decrypt keys.
#[derive(Debug, Args)]
pub(super) struct FolderArgs {
    /// Data folder
    #[arg(long = "data", value_name = "DIR", default_value = "jeton-data")]
    path: PathBuf,

    /// How long to wait for the folder while another process uses it, for example 30s or 1m
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time::duration)]
    lock_timeout: Duration,
}

/// The arguments of a command that decrypts keys and writes to the audit log.
#[derive(Debug, Args)]
pub(super) struct AdminArgs {
    #[command(flatten)]
    folder: FolderArgs,

    #[command(flatten)]
    key: EncryptionKey,

    /// Name in the audit log [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,

    #[arg(skip)]
    also_reads: Option<PathBuf>,
}

/// The argument for the key-encryption key.
#[derive(Debug, Args)]
pub(super) struct EncryptionKey {
    /// File with the key-encryption key [default: JETON_KEY_ENCRYPTION_KEY, or key-encryption-key in the data folder]
    #[arg(long, value_name = "FILE")]
    key_encryption_key: Option<PathBuf>,
}

/// A node with an open data folder. Dropping it releases the folder.
pub(super) struct Opened {
    pub(super) node: Node,
    pub(super) actor: String,
    pub(super) folder: DataFolder,
}

impl FolderArgs {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open(&self) -> Outcome<DataFolder> {
        DataFolder::open(&self.path, Missing::Refuse, self.lock_timeout).map_err(failure)
    }

    /// Verifies every page, then opens the folder. The error distinguishes damage from other problems.
    pub(super) fn verify(&self) -> Result<DataFolder, Error> {
        DataFolder::verify(&self.path, self.lock_timeout)?;
        DataFolder::open(&self.path, Missing::Refuse, self.lock_timeout)
    }
}

impl EncryptionKey {
    pub(super) fn source(self) -> Outcome<KeySource> {
        if let Some(path) = &self.key_encryption_key {
            input::must_be_a_name(path)?;
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

    /// Opens an existing folder.
    pub(super) fn open(self) -> Outcome<Opened> {
        self.start(Missing::Refuse)
    }

    /// Opens a folder, or creates it.
    pub(super) fn open_or_create(self) -> Outcome<Opened> {
        self.start(Missing::Make)
    }

    fn start(self, missing: Missing) -> Outcome<Opened> {
        let source = self.key.source()?;
        let folder = DataFolder::open(&self.folder.path, missing, self.folder.lock_timeout);
        let folder = folder.map_err(failure)?;
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
            failure.hint("to wait longer, add `--lock-timeout 1m`; if a service uses the folder, call its admin listener")
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
