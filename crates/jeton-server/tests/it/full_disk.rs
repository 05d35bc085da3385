//! `AdminService.Status` of a server with a full disk.
//!
//! The test mounts a small file system, which requires root. Otherwise it prints a line and checks nothing.

use std::sync::Arc;

use jeton::SystemClock;
use jeton_proto::v1::revoke_request::What;
use jeton_proto::v1::{RevokeRequest, RotateKeyRequest, StatusRequest, StatusResponse};
use jeton_testkit::{SmallDisk, until};
use tonic::Code;

use crate::harness::{ISS, ISSUER, TestServer, reason};

#[test]
fn full_disk_is_a_fault_until_space_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk")).unwrap() else {
        return;
    };
    let data = disk.path().join("data");
    let fixture = TestServer::in_folder(ISSUER, &data, Arc::new(SystemClock));
    let mut admin = fixture.admin();
    let mut tokens = fixture.tokens();
    let mut status = || -> StatusResponse {
        let asked = admin.status(StatusRequest {});
        fixture.runtime.block_on(asked).unwrap().into_inner()
    };
    until("it can revoke", || status().can_revoke);
    assert_eq!(status().fault, "");

    disk.fill();
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
    assert!(full.is_ready && full.can_issue && full.can_verify && !full.can_revoke);
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

    disk.free().unwrap();
    until("it can revoke again", || status().can_revoke);
    assert_eq!(status().fault, "");
    let rotated = admin.rotate_key(rotate);
    fixture.runtime.block_on(rotated).unwrap();
}
