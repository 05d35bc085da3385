use std::fmt;
use std::path::PathBuf;

/// A folder or file that other users could change, or that has the wrong type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The path.
    pub path: PathBuf,
    /// What is wrong with it.
    pub how: Exposure,
}

/// Why a folder or file is unsafe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exposure {
    /// Its mode allows writing by the group or by others.
    Mode(u32),
    /// Its owner is neither the user of this process nor root.
    Owner {
        /// User id of the owner.
        owner: u32,
        /// Effective user id of this process.
        process: u32,
    },
    /// Everyone can write the parent folder, which has no sticky bit, and so can replace this folder.
    Parent(u32),
    /// It is a symbolic link. These are not followed here.
    Link,
    /// It is not a regular file.
    NotAFile,
}

impl Exposed {
    /// Returns the command or action that fixes it.
    pub fn remedy(&self) -> String {
        let path = self.path.display();
        match self.how {
            Exposure::Mode(_) if self.path.is_dir() => format!("chmod 700 {path}"),
            Exposure::Mode(_) => format!("chmod 600 {path}"),
            // The service runs as the owner: root must not take the folder from it.
            Exposure::Owner { owner, process: 0 } => {
                format!("run this process as user {owner}, the owner of {path}")
            }
            Exposure::Owner { owner, process } => format!(
                "run this process as user {owner}, or change the owner: chown -R {process} {path}"
            ),
            Exposure::Parent(_) => format!("chmod o-w {path}"),
            Exposure::Link => format!("replace the link at {path} with the file"),
            Exposure::NotAFile => format!("move {path} away"),
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
                "{path} belongs to user {owner}, and this process runs as user {process}: its owner can write it"
            ),
            Exposure::Parent(mode) => write!(
                f,
                "{path} has mode {mode:04o}: every user can replace the data folder in it"
            ),
            Exposure::Link => write!(f, "{path} is a symbolic link: links are not followed"),
            Exposure::NotAFile => write!(f, "{path} is not a regular file"),
        }
    }
}
