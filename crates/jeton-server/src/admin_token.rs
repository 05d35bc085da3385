//! Who may administer a server without clients: whoever can read a file of its data folder.
//!
//! Such a server is for trying it out, and answers every process of its machine. Keys and issuers are
//! more than that: they are for the user who started it.

use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Its name in the data folder.
const FILE: &str = "admin-token";
/// Random bytes of a token, which is twice as long in hexadecimal digits.
const BYTES: usize = 32;

/// A bearer token for AdminService, new at each start. Only its digest is kept; the token itself is in
/// the file.
pub(crate) struct AdminToken {
    digest: [u8; 32],
    file: PathBuf,
}

impl AdminToken {
    /// Makes one, and writes it to the folder. A file that is there is replaced, and a link is not
    /// followed.
    pub(crate) fn make(folder: &Path) -> Result<AdminToken> {
        let file = folder.join(FILE);
        let text = random().map_err(|error| unwritable(&file, error))?;
        let digest = sha256(text.as_bytes());
        write(folder, &file, &text).map_err(|error| unwritable(&file, error))?;
        Ok(AdminToken { digest, file })
    }

    /// Takes the same time whatever is shown.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        verify_slices_are_equal(&sha256(shown), &self.digest).is_ok()
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Removes the file, unless another server has written its own there.
    pub(crate) fn forget(&self) {
        let mut text = Zeroizing::new(Vec::with_capacity(4 * BYTES));
        let read = fs::File::open(&self.file).and_then(|file| {
            let most = 4 * BYTES as u64;
            file.take(most).read_to_end(&mut text)
        });
        if read.is_ok() && self.is(text.trim_ascii()) {
            let _ = fs::remove_file(&self.file);
        }
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminToken")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

fn random() -> io::Result<Zeroizing<String>> {
    let mut bytes = Zeroizing::new([0; BYTES]);
    rand::fill(bytes.as_mut_slice())
        .map_err(|_| io::Error::other("the system has no randomness"))?;
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
    // Not larger than at first: what is moved leaves a copy behind.
    let mut text = Zeroizing::new(String::with_capacity(2 * BYTES));
    for byte in *bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 0xf));
    }
    Ok(text)
}

/// Whole under a name that nobody can know before, and then under its own: who reads it while it is
/// written reads the old one or the new one.
fn write(folder: &Path, file: &Path, text: &str) -> io::Result<()> {
    make_private(folder)?;
    let mut unfinished = tempfile::Builder::new();
    unfinished.prefix(".admin-token-");
    #[cfg(unix)]
    unfinished.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    let mut unfinished = unfinished.tempfile_in(folder)?;
    unfinished.write_all(text.as_bytes())?;
    unfinished.write_all(b"\n")?;
    unfinished.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// The folder is there already, unless the store is an etcd.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut make = fs::DirBuilder::new();
    make.recursive(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
    }
    make.create(folder)?;
    // Who can write there can put a token of its own in the place of this one, for others to show.
    jeton_store::check_folder(folder).map_err(io::Error::other)
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut array = [0; 32];
    array.copy_from_slice(digest(&SHA256, bytes).as_ref());
    array
}

fn unwritable(file: &Path, error: io::Error) -> Error {
    Error::AdminToken(file.to_owned(), error)
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    /// As of a server whose store is an etcd.
    #[test]
    fn folder_that_is_missing_is_made_for_the_owner() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a/data");
        let token = AdminToken::make(&folder).unwrap();
        assert_eq!((mode(&folder), mode(token.file())), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let text = fs::read_to_string(token.file()).unwrap();
        assert!(token.is(text.trim_end().as_bytes()) && !token.is(text.as_bytes()));
        assert!(!format!("{token:?}").contains(text.trim_end()));
        token.forget();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn folder_that_others_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for wide in [0o720, 0o702, 0o777] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(wide)).unwrap();
            let error = AdminToken::make(folder.path()).unwrap_err().to_string();
            assert!(error.contains("other users can write it"), "{error}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(AdminToken::make(folder.path()).is_ok());
    }
}
