//! Which folder, who administers it, and what its errors ask for.

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

/// A data folder that need not be decrypted.
#[derive(Debug, Args)]
pub(super) struct Folder {
    /// The data folder
    #[arg(long = "data", value_name = "DIR", default_value = "jeton-data")]
    path: PathBuf,

    /// How long to wait while another process has the folder
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time::duration)]
    wait: Duration,
}

/// A data folder, and who does something to it.
#[derive(Debug, Args)]
pub(super) struct Administered {
    #[command(flatten)]
    folder: Folder,

    #[command(flatten)]
    key: EncryptionKey,

    /// Who does it, for the audit log [default: the user's name]
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,

    #[arg(skip)]
    also_reads: Option<PathBuf>,
}

/// Where the key-encryption key is.
#[derive(Debug, Args)]
pub(super) struct EncryptionKey {
    /// The file with the key-encryption key [default: key-encryption-key in the data folder, or the
    /// environment's JETON_KEY_ENCRYPTION_KEY]
    #[arg(long, value_name = "FILE")]
    key_encryption_key: Option<PathBuf>,
}

/// A node on the folder. The folder is free again when it is dropped.
pub(super) struct Opened {
    pub(super) node: Node,
    pub(super) actor: String,
    pub(super) folder: DataFolder,
}

impl Folder {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open(&self) -> Outcome<DataFolder> {
        DataFolder::open(&self.path, Missing::Refuse, self.wait).map_err(failure)
    }

    /// Looks at every page, then opens it. The errors tell what is wrong with it from what is in the way.
    pub(super) fn verify(&self) -> Result<DataFolder, Error> {
        DataFolder::verify(&self.path, self.wait)?;
        DataFolder::open(&self.path, Missing::Refuse, self.wait)
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
                return Err(Failure::error(format!("{KEY_VARIABLE}: not text")));
            }
        };
        let variable = variable.as_ref().map(|text| text.as_str());
        KeySource::choose(self.key_encryption_key, variable).map_err(failure)
    }
}

impl Administered {
    /// Private keys may also be under the key-encryption key in that file.
    pub(super) fn also_reads(mut self, older: PathBuf) -> Administered {
        self.also_reads = Some(older);
        self
    }

    /// What is there already.
    pub(super) fn open(self) -> Outcome<Opened> {
        self.start(Missing::Refuse)
    }

    /// What is there, or a new folder.
    pub(super) fn open_or_make(self) -> Outcome<Opened> {
        self.start(Missing::Make)
    }

    fn start(self, missing: Missing) -> Outcome<Opened> {
        let source = self.key.source()?;
        let folder = DataFolder::open(&self.folder.path, missing, self.folder.wait);
        let folder = folder.map_err(failure)?;
        let has_key = !matches!(source, KeySource::InFolder) || folder.has_key_file();
        let mut options = folder.options(source).map_err(failure)?;
        if let Some(older) = self.also_reads {
            input::must_be_a_name(&older)?;
            options = options.also_reads(KeyEncryptionKey::from_file(&older).map_err(failure)?);
        }
        if !has_key {
            output::note(format_args!(
                "made {}: the private keys are encrypted under it; keep a copy where the backups are not",
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

/// The name that the system gave this session, or none's.
fn user() -> String {
    let named = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    named("LOGNAME")
        .or_else(|| named("USER"))
        .unwrap_or_else(|| "admin".to_owned())
}

/// What went wrong, and what to do about it.
pub(super) fn failure(error: Error) -> Failure {
    let said = Failure::error(error.to_string());
    match error {
        Error::NoStore(_) => said
            .hint("--data DIR names the data folder; `jeton admin issuer add` makes a new one"),
        Error::Store(jeton_store::Error::InUse) => {
            said.hint("--wait 1m waits for it; a service on the folder is asked through its admin listener")
        }
        Error::Store(jeton_store::Error::Unsafe(exposed)) => said.hint(exposed.remedy()),
        Error::Store(jeton_store::Error::Damaged(_)) | Error::Record(_) => said.hint(
            "`jeton admin verify` looks at everything; `jeton admin restore` makes a new folder of a backup",
        ),
        Error::Store(jeton_store::Error::AlreadyThere) => {
            said.hint("restore into a new folder: --data DIR")
        }
        Error::WrongKeyEncryptionKey { .. } => said.hint(format!(
            "--key-encryption-key FILE names the file with it, or {KEY_VARIABLE} holds it"
        )),
        Error::UnknownIssuer => said.hint("`jeton admin issuer list` lists them"),
        Error::IssuerExists => said.hint("`jeton admin issuer set` changes its settings"),
        Error::UnknownKey => said.hint("`jeton admin key list ISSUER` lists them"),
        _ => said,
    }
}
