//! A small file system, to test what happens when a disk is full.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system of 12 MiB in memory. It is unmounted when this is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Creates this folder, and mounts the file system there. Only root may mount: for others it prints a line and
    /// returns `None`.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn mount(at: &Path) -> io::Result<Option<SmallDisk>> {
        fs::create_dir(at)?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=12m,mode=0700", "jeton-test"])
            .arg(at)
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Ok(Some(SmallDisk(at.to_owned())));
        }
        eprintln!("not checked: a disk cannot be mounted here (it takes root)");
        Ok(None)
    }

    /// Returns the folder where it is mounted.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Takes all free space with other files.
    pub fn fill(&self) {
        let room = [0; 4096];
        let mut number = 0;
        while fs::write(self.0.join(format!("other-{number}")), room).is_ok() {
            number += 1;
        }
    }

    /// Deletes all files in its first folder.
    ///
    /// # Errors
    ///
    /// A file cannot be deleted.
    pub fn free(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let path = entry?.path();
            if path.is_file() {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
