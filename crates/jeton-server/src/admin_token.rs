//! The bearer token for AdminService in trial mode.
//!
//! A server without configured clients serves every local process. Administration is limited to callers
//! that can read a file in the data folder, so to the user who started the server.

use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::limits::ADMIN_TOKEN_BYTES as BYTES;

/// The file with the admin token, in the data folder.
pub const ADMIN_TOKEN_FILE: &str = "admin-token";

/// A bearer token for AdminService, generated at each start.
///
/// Memory holds only its digest; the token itself is in the file.
pub(crate) struct AdminToken {
    digest: [u8; 32],
    file: PathBuf,
}

impl AdminToken {
    /// Generates a token and writes it to the folder.
    ///
    /// An existing file is replaced. A symbolic link is not followed.
    pub(crate) fn create(folder: &Path) -> Result<AdminToken> {
        let file = folder.join(ADMIN_TOKEN_FILE);
        let text = random().map_err(|error| unwritable(&file, error))?;
        let digest = sha256(text.as_bytes());
        write(folder, &file, &text).map_err(|error| unwritable(&file, error))?;
        Ok(AdminToken { digest, file })
    }

    /// Compares a presented token in constant time.
    pub(crate) fn matches(&self, presented: &[u8]) -> bool {
        verify_slices_are_equal(&sha256(presented), &self.digest).is_ok()
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Removes the file, unless another server has replaced its content.
    pub(crate) fn remove_file(&self) {
        let mut text = Zeroizing::new(Vec::with_capacity(4 * BYTES));
        let read = fs::File::open(&self.file).and_then(|file| {
            let limit = 4 * BYTES as u64;
            file.take(limit).read_to_end(&mut text)
        });
        if read.is_ok() && self.matches(text.trim_ascii()) {
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
        .map_err(|_| io::Error::other("the system random generator failed"))?;
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
    // Full capacity from the start: growing would move the text and leave a copy in memory.
    let mut text = Zeroizing::new(String::with_capacity(2 * BYTES));
    for byte in *bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 0xf));
    }
    Ok(text)
}

/// Writes a temporary file with a random name and renames it.
///
/// A concurrent reader sees either the old content or the new content.
fn write(folder: &Path, file: &Path, text: &str) -> io::Result<()> {
    create_private(folder)?;
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

/// Creates the folder for its owner only. With a local store it already exists.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    builder.create(folder)?;
    // Another user who can write the folder could replace the token with one that they know.
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

    /// With an etcd store, the data folder may not exist yet.
    #[test]
    fn missing_folder_is_created_for_the_owner() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/data");
        let token = AdminToken::create(&folder).unwrap();
        assert_eq!((mode(&folder), mode(token.file())), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let text = fs::read_to_string(token.file()).unwrap();
        assert!(token.matches(text.trim_end().as_bytes()) && !token.matches(text.as_bytes()));
        assert!(!format!("{token:?}").contains(text.trim_end()));
        token.remove_file();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn folder_writable_by_others_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for wide in [0o720, 0o702, 0o777] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(wide)).unwrap();
            let error = AdminToken::create(folder.path()).unwrap_err().to_string();
            assert!(error.contains("other users can write it"), "{error}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(AdminToken::create(folder.path()).is_ok());
    }
}
