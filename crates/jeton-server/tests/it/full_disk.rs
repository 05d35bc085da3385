//! `AdminService.Status` of a server with a full disk.
//!
//! The test mounts a small file system, which requires root. Otherwise it prints a line and checks nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jeton::SystemClock;
use jeton_proto::v1::revoke_request::What;
use jeton_proto::v1::{RevokeRequest, RotateKeyRequest, StatusRequest, StatusResponse};
use tonic::Code;

use crate::harness::{ISS, ISSUER, TestServer, reason};

/// Time limit for a condition, generous for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn mount(at: &Path) -> Option<Mounted> {
    fs::create_dir(at).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=12m,mode=0700", "jeton-test"])
        .arg(at)
        .stderr(Stdio::null())
        .status();
    if mounted.is_ok_and(|status| status.success()) {
        return Some(Mounted(at.to_owned()));
    }
    eprintln!("not checked: mounting a file system requires root");
    None
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "timeout: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn full_disk_is_a_fault_until_space_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    let Some(_mounted) = mount(&disk) else { return };
    let data = disk.join("data");
    let fixture = TestServer::in_folder(ISSUER, &data, Arc::new(SystemClock));
    let mut admin = fixture.admin();
    let mut tokens = fixture.tokens();
    let mut status = || -> StatusResponse {
        let asked = admin.status(StatusRequest {});
        fixture.runtime.block_on(asked).unwrap().into_inner()
    };
    until("it is ready", || status().is_ready);
    assert_eq!(status().fault, "");

    let other = |number: usize| disk.join(format!("other-{number}"));
    let mut number = 0;
    while fs::write(other(number), [0; 4096]).is_ok() {
        number += 1;
    }
    let refused = loop {
        let request = RevokeRequest {
            what: Some(What::Token(fixture.issue("access", "alice").token)),
            ..RevokeRequest::default()
        };
        if let Err(refused) = fixture.runtime.block_on(tokens.revoke(request)) {
            break refused;
        }
    };
    assert_eq!(refused.code(), Code::Unavailable);
    assert_eq!(reason(&refused), "STORE");
    assert!(refused.message().contains("no space left"), "{refused}");
    let full = status();
    assert!(!full.is_ready);
    assert!(
        full.fault.contains("no space left for the store"),
        "{}",
        full.fault
    );
    let mut admin = fixture.admin();
    let rotate = RotateKeyRequest {
        issuer: ISS.to_owned(),
        kind: "ES256".to_owned(),
    };
    let rotated = admin.rotate_key(rotate.clone());
    let refused = fixture.runtime.block_on(rotated).unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);

    (0..=number).for_each(|number| drop(fs::remove_file(other(number))));
    until("it is ready again", || status().is_ready);
    assert_eq!(status().fault, "");
    let rotated = admin.rotate_key(rotate);
    fixture.runtime.block_on(rotated).unwrap();
}
