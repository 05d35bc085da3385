//! Tests nodes and data folders on a full disk, a small file system.
//!
//! Needs root to mount it. Otherwise it prints so and checks nothing.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jeton::{Clock as _, SystemClock};
use jeton_issuer::{
    DataFolder, Error, IssuerSettings, KeyEncryptionKey, KeyKind, KeySource, Missing, Node,
    Options, Revoke, back_up, restore, verify_audit,
};
use jeton_store::{Error as StoreError, block_on};
use jeton_testkit::{SmallDisk, until};

const ISS: &str = "https://id.example";

/// A data folder on a small disk.
struct Disk {
    disk: SmallDisk,
    _folder: tempfile::TempDir,
}

impl Disk {
    fn mount() -> Option<Disk> {
        let folder = tempfile::tempdir().unwrap();
        let disk = SmallDisk::mount(&folder.path().join("disk")).unwrap()?;
        Some(Disk {
            disk,
            _folder: folder,
        })
    }

    fn data(&self) -> PathBuf {
        self.disk.path().join("data")
    }

    fn open(&self) -> DataFolder {
        DataFolder::open(&self.data(), Missing::Make, Duration::ZERO).unwrap()
    }
}

fn settings(iss: &str) -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{iss}","profiles":[{{"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Each way of writing reports the fault and recovers.
#[test]
fn full_disk_is_a_fault_until_space_is_free() {
    let Some(disk) = Disk::mount() else { return };
    let folder = disk.open();
    let options = Options::new(KeyEncryptionKey::generate().unwrap());
    let node = Node::start(folder.store(), options, Arc::new(SystemClock)).unwrap();
    node.create_issuer("me", settings(ISS)).unwrap();
    let kind: KeyKind = "HS256".parse().unwrap();
    let jwk = r#"{"kty":"oct","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}"#;
    let expires_at = SystemClock.now().unix_seconds() + 3600;
    let mut round = 0;
    let mut revoke_one = || {
        round += 1;
        let revoke = Revoke::token(&round.to_string(), expires_at);
        block_on(node.revoke("me", ISS, revoke)).map(drop)
    };
    revoke_one().unwrap();
    assert!(node.status().is_ready() && node.status().is_writable);

    disk.disk.fill();
    until("the disk is full", || revoke_one().is_err());
    let full = || Error::Store(StoreError::Full);
    assert_eq!(revoke_one().unwrap_err(), full());
    assert_eq!(node.rotate("me", ISS, kind).unwrap_err(), full());
    assert_eq!(node.import("me", ISS, kind, jwk).unwrap_err(), full());
    assert_eq!(
        node.create_issuer("me", settings("new")).unwrap_err(),
        full()
    );
    let status = node.status();
    assert!(status.is_ready() && !status.ready.revoke && !status.is_writable);
    assert!(status.write_failures >= 5, "{}", status.write_failures);
    let fault = status.fault.unwrap();
    assert_eq!(fault, StoreError::Full.to_string());
    // Operations without writes continue.
    let backed_up = back_up(&*folder.store(), 0, &mut Vec::new()).unwrap();
    assert!(backed_up.entries > 0);

    disk.disk.free().unwrap();
    until("it can be written again", || node.status().ready.revoke);
    assert_eq!(node.status().fault, None);
    revoke_one().unwrap();
    node.rotate("me", ISS, kind).unwrap();
    node.create_issuer("me", settings("new")).unwrap();
    drop(node);
    let entries = block_on(verify_audit(&*folder.store())).unwrap();
    assert!(entries >= 5, "{entries}");
    drop(folder);
    DataFolder::verify(&disk.data(), Duration::from_secs(60)).unwrap();
}

/// A partial key would be reported as damaged and would prevent the folder from being opened.
#[test]
fn full_disk_leaves_no_partial_key_file() {
    let Some(disk) = Disk::mount() else { return };
    let folder = disk.open();
    disk.disk.fill();
    let refused = folder.options(KeySource::InFolder).unwrap_err();
    assert!(matches!(refused, Error::KeyEncryptionKey(_)), "{refused}");
    assert_eq!(names(&disk.data()), ["lock", "store.redb"]);
    disk.disk.free().unwrap();
    folder.options(KeySource::InFolder).unwrap();
    folder.options(KeySource::InFolder).unwrap();
    assert_eq!(
        names(&disk.data()),
        ["key-encryption-key", "lock", "store.redb"]
    );
}

#[test]
fn full_disk_leaves_no_partial_store() {
    let Some(disk) = Disk::mount() else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    let from = DataFolder::open(elsewhere.path(), Missing::Make, Duration::ZERO).unwrap();
    let mut backup = Vec::new();
    back_up(&*from.store(), 0, &mut backup).unwrap();
    fs::create_dir(disk.data()).unwrap();
    disk.disk.fill();
    let refused = DataFolder::open(&disk.data(), Missing::Make, Duration::ZERO).unwrap_err();
    assert_eq!(refused, Error::Store(StoreError::Full));
    assert_eq!(names(&disk.data()), ["lock"]);
    let refused = restore(&disk.data(), &mut &backup[..], 0).unwrap_err();
    assert_eq!(refused, Error::Store(StoreError::Full));
    assert_eq!(names(&disk.data()), ["lock"]);
    disk.disk.free().unwrap();
    restore(&disk.data(), &mut &backup[..], 0).unwrap();
    DataFolder::verify(&disk.data(), Duration::from_secs(60)).unwrap();
}
