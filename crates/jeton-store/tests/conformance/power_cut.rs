//! Cuts the power of an etcd: what its disk has at the moment of an answer is all that is left.
//!
//! etcd writes to a file system on a loop device. Its image has what was flushed, and not what the kernel still keeps
//! in memory. So a copy of the image is the disk after a power cut.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use jeton_store::{Error, EtcdAccess, EtcdAddress, EtcdStore, Key, Prefix, Store, Txn, block_on};
use jeton_testkit::Etcd;
use tempfile::TempDir;

use crate::{Checked, Failed, ensure};

/// Two segments of the log of etcd, 64 MB each, and the data.
const IMAGE: &str = "256M";

/// The journal of the file system is not written by itself during the test.
const OPTIONS: &str = "loop,commit=300";

/// Commits before the power cut.
const COMMITS: usize = 20;

/// Start timeout of etcd on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Whether this process may mount an image.
pub fn is_possible() -> bool {
    let folder = TempDir::new().unwrap();
    Disk::new(folder.path(), "probe").is_some()
}

/// Every acknowledged commit is on the disk.
pub fn acknowledged_commits_survive() -> Checked {
    let left = commits_left(&[])?;
    ensure!(left == COMMITS, "{left} of {COMMITS} commits are left");
    Ok(())
}

/// The negative control: an etcd that does not flush loses commits that it has acknowledged.
pub fn unflushed_commits_are_lost() -> Checked {
    let left = commits_left(&["--unsafe-no-fsync"])?;
    ensure!(left < COMMITS, "no commit is lost without a flush");
    Ok(())
}

/// Commits, cuts the power at the last answer, and counts what a new etcd finds.
fn commits_left(arguments: &[&str]) -> Result<usize, Failed> {
    let folder = TempDir::new().unwrap();
    let mut disk = Disk::new(folder.path(), "before").unwrap();
    let server = Etcd::start_with(&disk.at, 1, arguments).unwrap();
    let store = open(&server)?;
    run("sync", &["-f", disk.path()]);
    for number in 0..COMMITS {
        let key = Key::of(["k", &number.to_string()])?;
        block_on(store.commit(Txn::new().put(key, b"1")))?;
    }
    server.pause_member(0).unwrap();
    let copy = disk.copied(folder.path(), "after");
    drop(store);
    drop(server);
    disk.unmount();
    let disk = copy.unwrap();
    let server = Etcd::start_with(&disk.at, 1, &[]).unwrap();
    let store = open(&server)?;
    let mut pages = block_on(store.scan(&Prefix::of(["k"])?))?;
    let mut left = 0;
    while let Some(page) = block_on(pages.next())? {
        left += page.len();
    }
    Ok(left)
}

fn open(server: &Etcd) -> Result<EtcdStore, Failed> {
    let address = EtcdAddress::parse(&server.url("/cut"))?;
    let begun = Instant::now();
    loop {
        match EtcdStore::open(&address, EtcdAccess::default()) {
            Err(Error::Io(..)) if begun.elapsed() < TIMEOUT => {
                thread::sleep(Duration::from_millis(50));
            }
            opened => return Ok(opened?),
        }
    }
}

/// A mounted file system in an image.
struct Disk {
    image: PathBuf,
    at: PathBuf,
    is_mounted: bool,
}

impl Disk {
    fn new(folder: &Path, name: &str) -> Option<Disk> {
        let image = folder.join(format!("{name}.img"));
        let path = image.to_str()?;
        let made = run("truncate", &["-s", IMAGE, path]) && run("mkfs.ext4", &["-q", "-F", path]);
        made.then(|| Disk::mount(folder, name, image)).flatten()
    }

    /// The disk after a power cut at this moment.
    fn copied(&self, folder: &Path, name: &str) -> Option<Disk> {
        let image = folder.join(format!("{name}.img"));
        let (from, to) = (self.image.to_str()?, image.to_str()?);
        let made = run("cp", &["--sparse=always", from, to]);
        made.then(|| Disk::mount(folder, name, image)).flatten()
    }

    fn mount(folder: &Path, name: &str, image: PathBuf) -> Option<Disk> {
        let at = folder.join(name);
        std::fs::create_dir(&at).unwrap();
        let is_mounted = run("mount", &["-o", OPTIONS, image.to_str()?, at.to_str()?]);
        let disk = Disk {
            image,
            at,
            is_mounted,
        };
        is_mounted.then_some(disk)
    }

    fn path(&self) -> &str {
        self.at.to_str().unwrap()
    }

    fn unmount(&mut self) {
        if std::mem::take(&mut self.is_mounted) {
            run("umount", &["-l", self.path()]);
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.unmount();
    }
}

/// Returns whether the program exists and succeeds.
fn run(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}
