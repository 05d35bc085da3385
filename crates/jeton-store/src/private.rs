//! Checks that only the owner can change a folder or file. Anyone else who can write it could replace the
//! store, the lock or a key.

use std::fs::{File, OpenOptions};
use std::path::Path;

use crate::error::{Error, Result};
use crate::exposure::{Exposed, Exposure};

/// Opens a file that only the owner can write, without following a final symbolic link.
///
/// # Errors
///
/// [`Error::Unsafe`] if it is a link or not a regular file, its mode lets others write, or its owner is
/// neither the user of this process nor root. [`Error::Io`] if it cannot be opened.
pub fn open_private(path: &Path, options: &mut OpenOptions) -> Result<File> {
    let file = match without_links(options).open(path) {
        Ok(file) => file,
        Err(_) if path.is_symlink() => return Err(exposed(path, Exposure::Link)),
        // Opening a pipe without a reader would block.
        Err(_) if path.exists() && !path.is_file() => {
            return Err(exposed(path, Exposure::NotAFile));
        }
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(exposed(path, Exposure::NotAFile));
    }
    check_private(path, &file)?;
    Ok(file)
}

/// Checks that only the user of this process and root can write an open file.
///
/// # Errors
///
/// [`Error::Unsafe`], [`Error::Io`].
pub fn check_private(path: &Path, file: &File) -> Result<()> {
    match owned(&file.metadata()?) {
        Some(how) => Err(exposed(path, how)),
        None => Ok(()),
    }
}

/// Checks that only the user of this process and root can change or replace a folder. A parent folder that
/// its group can write is accepted: with a umask of 002 the group of each user can write.
///
/// # Errors
///
/// [`Error::Unsafe`] if others can change it or its parent folder. [`Error::Io`] if it cannot be read.
pub fn check_folder(folder: &Path) -> Result<()> {
    if let Some(how) = owned(&folder.metadata()?) {
        return Err(exposed(folder, how));
    }
    // The parents of the folder, and of the link if the path is one.
    let named = folder.parent().filter(|parent| *parent != Path::new(""));
    let real = folder.canonicalize()?;
    let parents = [
        named.unwrap_or(Path::new(".")),
        real.parent().unwrap_or(&real),
    ];
    for parent in parents {
        if let Some(mode) = anybodys(&parent.metadata()?) {
            return Err(exposed(parent, Exposure::Parent(mode)));
        }
    }
    Ok(())
}

fn exposed(path: &Path, how: Exposure) -> Error {
    Error::Unsafe(Exposed {
        path: path.to_owned(),
        how,
    })
}

#[cfg(unix)]
mod system {
    use std::fs::{Metadata, OpenOptions};
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

    use rustix::fs::OFlags;

    use super::Exposure;

    const WRITE_BY_GROUP: u32 = 0o020;
    const WRITE_BY_ALL: u32 = 0o002;
    const STICKY: u32 = 0o1000;

    pub(super) fn owned(about: &Metadata) -> Option<Exposure> {
        let process = rustix::process::geteuid().as_raw();
        let (owner, mode) = (about.uid(), about.mode() & 0o7777);
        if owner != process && owner != 0 {
            return Some(Exposure::Owner { owner, process });
        }
        (mode & (WRITE_BY_GROUP | WRITE_BY_ALL) != 0).then_some(Exposure::Mode(mode))
    }

    pub(super) fn anybodys(about: &Metadata) -> Option<u32> {
        let mode = about.mode() & 0o7777;
        (mode & WRITE_BY_ALL != 0 && mode & STICKY == 0).then_some(mode)
    }

    pub(super) fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
        // Without this flag, opening a pipe would block.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{Metadata, OpenOptions};

    use super::Exposure;

    pub(super) fn owned(_about: &Metadata) -> Option<Exposure> {
        None
    }

    pub(super) fn anybodys(_about: &Metadata) -> Option<u32> {
        None
    }

    pub(super) fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }
}

use system::{anybodys, owned, without_links};
