//! Whether a folder or file is its owner's alone to change: who can write it can put another store, lock
//! or key there.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A folder or file that other users of the machine could change, or that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// Which.
    pub path: PathBuf,
    /// How.
    pub how: Exposure,
}

/// How something can be changed by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exposure {
    /// Its mode lets the group or everybody write.
    Mode(u32),
    /// It belongs to that user, who is neither this process's nor root.
    Owner {
        /// The owner's id.
        owner: u32,
        /// This process's effective user id.
        process: u32,
    },
    /// The folder above it can be written by everybody and has no sticky bit, so everybody can put
    /// another in its place.
    Parent(u32),
    /// It is a symbolic link, and those are not followed here.
    Link,
    /// It is no regular file.
    NotAFile,
}

impl Exposed {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        let path = self.path.display();
        match self.how {
            Exposure::Mode(_) if self.path.is_dir() => format!("chmod 700 {path}"),
            Exposure::Mode(_) => format!("chmod 600 {path}"),
            Exposure::Owner { owner, process } => format!(
                "run it as the owner, user {owner}, or give it to this user: chown -R {process} {path}"
            ),
            Exposure::Parent(_) => format!("chmod o-w {path}"),
            Exposure::Link => format!("put the file itself at {path}"),
            Exposure::NotAFile => format!("move away what is at {path}"),
        }
    }
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.how {
            Exposure::Mode(mode) => {
                write!(f, "{path} has mode {mode:04o}: other users can write it")
            }
            Exposure::Owner { owner, process } => write!(
                f,
                "{path} belongs to user {owner}, and this process runs as user {process}: the owner can write it"
            ),
            Exposure::Parent(mode) => write!(
                f,
                "{path} has mode {mode:04o}: every user can put another data folder there"
            ),
            Exposure::Link => write!(f, "{path} is a symbolic link, which is not followed"),
            Exposure::NotAFile => write!(f, "{path} is not a regular file"),
        }
    }
}

/// Opens a file that nobody else can write, without following a link at its end.
///
/// # Errors
///
/// [`Error::Unsafe`]: it is a link or no regular file, its mode lets others write, or it belongs to a
/// user who is neither this process's nor root. [`Error::Io`] if it cannot be opened.
pub fn open_private(path: &Path, options: &mut OpenOptions) -> Result<File> {
    let file = match without_links(options).open(path) {
        Ok(file) => file,
        Err(_) if path.is_symlink() => return Err(exposed(path, Exposure::Link)),
        // Not waited for: a pipe that nobody reads.
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

/// Whether nobody but this process's user and root can write an open file.
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

/// Whether nobody but this process's user and root can change what is in a folder, or put another in its
/// place. A group that can write the folder *above* is let pass: with a umask of 002 every user's own group
/// can.
///
/// # Errors
///
/// [`Error::Unsafe`]: it, or the folder above it, can be changed by others. [`Error::Io`] if it cannot be
/// looked at.
pub fn check_folder(folder: &Path) -> Result<()> {
    if let Some(how) = owned(&folder.metadata()?) {
        return Err(exposed(folder, how));
    }
    // Of the folder itself, and of the link to it if it is named by one.
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
        // Nor is anything waited for: opening a pipe would.
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
