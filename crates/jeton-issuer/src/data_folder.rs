//! The data folder: what lies in it, and the one way to open it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use jeton_store::{Prefix, RedbStore, Store, block_on};

use crate::error::{Error, Result};
use crate::node::Options;
use crate::record::{self, SealedKey};
use crate::seal::KeyEncryptionKey;

/// Where the key-encryption key is, if nobody says otherwise: a file in the folder itself.
pub const KEY_FILE: &str = "key-encryption-key";

/// Where the key-encryption key may be in the environment, as 64 hexadecimal digits.
pub const KEY_VARIABLE: &str = "JETON_KEY_ENCRYPTION_KEY";

/// How often a folder that another process holds is tried again.
const RETRY_EVERY: Duration = Duration::from_millis(20);

/// A folder that holds everything of a service that lives on one machine, opened: nobody else has it.
///
/// | in it | what |
/// |---|---|
/// | `store.redb` | the store: issuers, keyrings with encrypted private keys, revocations, audit chain |
/// | `key-encryption-key` | what the private keys are encrypted under, unless it is kept elsewhere |
/// | `lock` | keeps a second process out |
///
/// The folder has mode 0700, its files 0600. A folder or file that other users can write, or that belongs
/// to another user than root and this process's, is refused, and links in the folder are not followed: see
/// [`jeton_store::Exposure`]. One process has it at a time; whoever comes second waits
/// as long as it likes and is then told so, and has changed nothing. So of several that start
/// together one makes the keys, and the others find them made.
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

/// What happens if there is no store in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It is made, and the folder if need be.
    Make,
    /// [`Error::NoStore`]: the path may be mistyped.
    Refuse,
}

/// Where the key-encryption key comes from.
pub enum KeySource {
    /// [`KEY_FILE`] in the folder. It is made if nothing has been encrypted yet.
    InFolder,
    /// A file that no other user can read.
    File(PathBuf),
    /// Read already: from the environment, or by a KMS hook.
    Given(KeyEncryptionKey),
}

impl DataFolder {
    /// Opens the folder, and waits that long while another process has it.
    ///
    /// # Errors
    ///
    /// [`Error::NoStore`]; [`Error::Store`] with [`InUse`](jeton_store::Error::InUse), and with all
    /// that [`RedbStore::open`] refuses.
    pub fn open(path: &Path, missing: Missing, patience: Duration) -> Result<DataFolder> {
        if missing == Missing::Refuse {
            exists(path)?;
        }
        let store = patiently(patience, || RedbStore::open(path))?;
        Ok(DataFolder {
            path: path.to_owned(),
            store: Arc::new(store),
        })
    }

    /// Looks at every page and every value of the folder's store, which nobody may have open.
    ///
    /// # Errors
    ///
    /// [`Error::NoStore`], and as [`RedbStore::verify`].
    pub fn verify(path: &Path, patience: Duration) -> Result<()> {
        exists(path)?;
        patiently(patience, || RedbStore::verify(path))
    }

    /// Where the folder's own key-encryption key is, or would be.
    pub fn key_file(&self) -> PathBuf {
        self.path.join(KEY_FILE)
    }

    /// Whether the folder has a key-encryption key of its own.
    pub fn has_key_file(&self) -> bool {
        self.key_file().exists()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its store.
    pub fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// What a node on it starts with. A key-encryption key is made only for a folder in which nothing
    /// has been encrypted: the one that is missing cannot be replaced.
    ///
    /// # Errors
    ///
    /// [`Error::KeyEncryptionKey`] if the file cannot be read, is no key, or others can read it;
    /// [`Error::Store`] with [`Unsafe`](jeton_store::Error::Unsafe) if others can write it;
    /// [`Error::NoKeyEncryptionKey`] if private keys are there and their key is not.
    pub fn options(&self, source: KeySource) -> Result<Options> {
        Ok(Options::new(match source {
            KeySource::Given(key) => key,
            KeySource::File(path) => KeyEncryptionKey::from_file(&path)?,
            KeySource::InFolder => self.own_key()?,
        }))
    }

    /// The ids of the key-encryption keys that private keys in the store are encrypted under.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], [`Error::Record`], [`Error::NewerRecord`].
    pub fn sealed_under(&self) -> Result<Vec<String>> {
        let mut ids = Vec::new();
        let mut pages = block_on(self.store.scan(&Prefix::of(["k"])?))?;
        while let Some(page) = block_on(pages.next())? {
            for entry in page {
                if entry.key.parts().last().is_some_and(|part| part == "_set") {
                    continue;
                }
                let sealed: SealedKey = record::read(&entry)?;
                if !ids.contains(&sealed.under) {
                    ids.push(sealed.under);
                }
            }
        }
        Ok(ids)
    }

    fn own_key(&self) -> Result<KeyEncryptionKey> {
        let path = self.key_file();
        let there = path
            .try_exists()
            .map_err(|error| unusable(&path, "read", &error))?;
        // A link that leads nowhere is there too, and refused.
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
        // The store is open, so no other process makes one at the same time.
        let key = KeyEncryptionKey::generate()?;
        write_key(&self.path, &key).map_err(|error| unusable(&path, "written", &error))?;
        Ok(key)
    }
}

impl KeySource {
    /// What a file that was named and [`KEY_VARIABLE`] come to: one of them, or the folder's own.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if both are given, [`Error::KeyEncryptionKey`] if the variable holds no key.
    pub fn choose(file: Option<PathBuf>, variable: Option<&str>) -> Result<KeySource> {
        match (file, variable) {
            (Some(_), Some(_)) => Err(Error::rule(
                "key_encryption_key",
                format!("a file is named and {KEY_VARIABLE} is set: which of the two is meant?"),
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
    match RedbStore::is_in(folder)? {
        true => Ok(()),
        false => Err(Error::NoStore(folder.display().to_string())),
    }
}

/// Again and again while another process has it.
fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> jeton_store::Result<T>,
) -> Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(jeton_store::Error::InUse) if begun.elapsed() < patience => {
                thread::sleep(RETRY_EVERY);
            }
            ended => return Ok(ended?),
        }
    }
}

/// Written whole under another name first: half a key would lock everything away.
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
        // Half a key is of no use to anybody.
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
