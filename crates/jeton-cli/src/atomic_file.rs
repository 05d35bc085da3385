//! Creates and replaces files so that a reader sees the old or the new content, never a part.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use crate::exit::{Failure, Outcome};
use crate::private_file::unwritable;
use crate::redact;

/// Creates a file that others may read. An existing file is an error. If writing fails, no file remains.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Outcome {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::error(format!("{} already exists", redact::name_of(path)))
        }
        _ => unwritable(path, &error),
    })?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| {
        let _ = fs::remove_file(path);
        unwritable(path, &error)
    })
}

/// Replaces the content of a regular file. The permissions stay, and a symbolic link stays a link.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Outcome {
    write_and_rename(path, bytes).map_err(|error| unwritable(path, &error))
}

fn write_and_rename(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path)?;
    let metadata = fs::metadata(&target)?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    let folder = target.parent().unwrap_or(Path::new("/"));
    // Readable only by its owner until it has the permissions of the old file.
    let mut file = tempfile::Builder::new()
        .prefix(".jeton-")
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(metadata.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    // The new name is in the folder.
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}
