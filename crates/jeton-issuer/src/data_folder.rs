//! The data folder of a service on one machine.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use jeton_store::{RedbStore, Store};

use crate::check::sealed_under;
use crate::error::{Error, Result};
use crate::node::Options;
use crate::seal::KeyEncryptionKey;

/// Default file of the key-encryption key, in the folder.
pub const KEY_FILE: &str = "key-encryption-key";

/// Environment variable with the key-encryption key, 64 hexadecimal digits.
pub const KEY_VARIABLE: &str = "JETON_KEY_ENCRYPTION_KEY";

/// Retry interval while another process has the folder open.
const RETRY_EVERY: Duration = Duration::from_millis(20);

/// An open data folder: everything of a service on one machine. No other process has it open.
///
/// | in it | what |
/// |---|---|
/// | `store.redb` | the store: issuers, keyrings with encrypted private keys, revocations, audit chain |
/// | `key-encryption-key` | what the private keys are encrypted under, unless it is kept elsewhere |
/// | `lock` | keeps a second process out |
///
/// The folder has mode 0700 and its files 0600. It is rejected if other users can write it, or if its owner
/// is neither root nor the user of this process. Links in it are not followed: see
/// [`jeton_store::Exposure`]. Only one process has it open at a time. Another one waits for its timeout,
/// then fails without changing anything. So of several processes that start together, one creates the keys
/// and the others find them.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use jeton::SystemClock;
/// use jeton_issuer::{DataFolder, KeySource, Missing, Node};
///
/// let path = std::env::temp_dir().join(format!("jeton-data-doc-{}", std::process::id()));
/// let folder = DataFolder::open(&path, Missing::Make, Duration::from_secs(5))?;
/// let options = folder.options(KeySource::InFolder)?;
/// let node = Node::start(folder.store(), options, Arc::new(SystemClock))?;
/// assert!(path.join("key-encryption-key").exists() && node.status().issuers.is_empty());
/// # drop((node, folder));
/// # std::fs::remove_dir_all(&path).unwrap();
/// # Ok::<(), jeton_issuer::Error>(())
/// ```
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    store: Arc<RedbStore>,
}

/// What to do if the folder has no store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Create the store, and the folder if necessary.
    Make,
    /// Fail with [`Error::NoStore`]: the path may be mistyped.
    Refuse,
}

/// Source of the key-encryption key.
pub enum KeySource {
    /// [`KEY_FILE`] in the folder. Created if nothing has been encrypted yet.
    InFolder,
    /// A file that no other user can read.
    File(PathBuf),
    /// Already read: from the environment, or by a KMS hook.
    Given(KeyEncryptionKey),
}

impl DataFolder {
    /// Opens the folder. Waits up to `timeout` while another process has it open.
    ///
    /// # Errors
    ///
    /// [`Error::NoStore`]; [`Error::Store`] with [`InUse`](jeton_store::Error::InUse), and all errors of
    /// [`RedbStore::open`].
    pub fn open(path: &Path, missing: Missing, timeout: Duration) -> Result<DataFolder> {
        if missing == Missing::Refuse {
            exists(path)?;
        }
        let store = retry_until(timeout, || RedbStore::open(path))?;
        Ok(DataFolder {
            path: path.to_owned(),
            store: Arc::new(store),
        })
    }

    /// Verifies every page and every value of the store. No process may have it open.
    ///
    /// # Errors
    ///
    /// [`Error::NoStore`], and as [`RedbStore::verify`].
    pub fn verify(path: &Path, timeout: Duration) -> Result<()> {
        exists(path)?;
        retry_until(timeout, || RedbStore::verify(path))
    }

    /// Returns the path of the key-encryption key in the folder.
    pub fn key_file(&self) -> PathBuf {
        self.path.join(KEY_FILE)
    }

    /// Returns whether the folder has its own key-encryption key.
    pub fn has_key_file(&self) -> bool {
        self.key_file().exists()
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the store.
    pub fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Creates the options of a node. A key-encryption key is created only if nothing has been encrypted
    /// yet: a missing key cannot be replaced.
    ///
    /// # Errors
    ///
    /// [`Error::KeyEncryptionKey`] if the file cannot be read, has no key, or others can read it;
    /// [`Error::Store`] with [`Unsafe`](jeton_store::Error::Unsafe) if others can write it;
    /// [`Error::NoKeyEncryptionKey`] if private keys exist and their key-encryption key is missing.
    pub fn options(&self, source: KeySource) -> Result<Options> {
        Ok(Options::new(match source {
            KeySource::Given(key) => key,
            KeySource::File(path) => KeyEncryptionKey::from_file(&path)?,
            KeySource::InFolder => self.own_key()?,
        }))
    }

    /// Returns the ids of the key-encryption keys that are in use in the store.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], [`Error::Record`], [`Error::NewerRecord`].
    pub fn sealed_under(&self) -> Result<Vec<String>> {
        sealed_under(&*self.store)
    }

    fn own_key(&self) -> Result<KeyEncryptionKey> {
        let path = self.key_file();
        let there = path
            .try_exists()
            .map_err(|error| unusable(&path, "read", &error))?;
        // A dangling link exists too, and is rejected.
        if there || path.is_symlink() {
            let file = jeton_store::open_private(&path, OpenOptions::new().read(true))?;
            return KeyEncryptionKey::read(&path, file);
        }
        if let Some(needed) = self.sealed_under()?.pop() {
            return Err(Error::NoKeyEncryptionKey {
                file: path.display().to_string(),
                needed,
            });
        }
        // The store is locked, so no other process creates one at the same time.
        let key = KeyEncryptionKey::generate()?;
        write_key(&self.path, &key).map_err(|error| unusable(&path, "written", &error))?;
        Ok(key)
    }
}

impl KeySource {
    /// Chooses the source: a configured file, [`KEY_VARIABLE`], or the file in the folder.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if both are given, [`Error::KeyEncryptionKey`] if the variable has no valid key.
    pub fn choose(file: Option<PathBuf>, variable: Option<&str>) -> Result<KeySource> {
        match (file, variable) {
            (Some(_), Some(_)) => Err(Error::rule(
                "key_encryption_key",
                format!("a file is configured and {KEY_VARIABLE} is set: use only one"),
            )),
            (Some(file), None) => Ok(KeySource::File(file)),
            (None, Some(text)) => Ok(KeySource::Given(KeyEncryptionKey::from_hex(text)?)),
            (None, None) => Ok(KeySource::InFolder),
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::InFolder => f.write_str("InFolder"),
            KeySource::File(path) => f.debug_tuple("File").field(path).finish(),
            KeySource::Given(key) => f.debug_tuple("Given").field(key).finish(),
        }
    }
}

fn exists(folder: &Path) -> Result<()> {
    if RedbStore::is_in(folder)? {
        Ok(())
    } else {
        Err(Error::NoStore(folder.display().to_string()))
    }
}

/// Retries while another process has the folder open.
pub(crate) fn retry_until<T>(
    timeout: Duration,
    mut attempt: impl FnMut() -> jeton_store::Result<T>,
) -> Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(jeton_store::Error::InUse) if begun.elapsed() < timeout => {
                thread::sleep(RETRY_EVERY);
            }
            ended => return Ok(ended?),
        }
    }
}

/// Written under another name first: a partial key would make the keys unreadable.
fn write_key(folder: &Path, key: &KeyEncryptionKey) -> std::io::Result<()> {
    let unfinished = folder.join(format!("{KEY_FILE}.new"));
    let _ = fs::remove_file(&unfinished);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&unfinished)?;
    let written = file
        .write_all(key.to_hex().as_bytes())
        .and_then(|()| file.write_all(b"\n"))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, folder.join(KEY_FILE)));
    if written.is_err() {
        // Removes a partial key.
        let _ = fs::remove_file(&unfinished);
    }
    written?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

fn unusable(path: &Path, verb: &str, error: &std::io::Error) -> Error {
    Error::KeyEncryptionKey(format!("{} cannot be {verb}: {error}", path.display()))
}
