//! A data folder in the first format.
//!
//! It is in `tests/fixtures/first_format`, with its configuration `jeton.toml`. Its tokens are `accepted` and
//! `revoked`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jeton_proto::v1::GetIssuerRequest;

use crate::harness::{ISS, TestServer, reason};
use crate::manual_clock::ManualClock;

fn fixture(name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/first_format");
    fixtures.join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(fixture(name)).unwrap()
}

/// Copies the data folder with the modes that a server requires.
fn copy_data(to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
    for file in ["store.redb", "key-encryption-key"] {
        let copy = to.join(file);
        fs::copy(fixture("data").join(file), &copy).unwrap();
        fs::set_permissions(copy, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// The settings of the issuer, and its keys as `kid` and state.
fn issuer(server: &TestServer) -> (String, Vec<(String, i32)>) {
    let request = GetIssuerRequest {
        issuer: ISS.to_owned(),
    };
    let mut admin = server.admin();
    let issuer = server.runtime.block_on(admin.get_issuer(request));
    let issuer = issuer.unwrap().into_inner();
    let keys = issuer.keys.into_iter().map(|key| (key.kid, key.state));
    (issuer.settings_json, keys.collect())
}

#[test]
fn data_folder_of_the_first_format_opens() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    copy_data(&data);
    for config in ["", &read("jeton.toml")] {
        let server = TestServer::in_folder(config, &data, Arc::new(ManualClock::new()));
        let (settings, keys) = issuer(&server);
        assert!(
            settings.contains("\"publish_before_use_seconds\":7200"),
            "{settings}"
        );
        let kids: Vec<&str> = keys.iter().map(|(kid, _)| kid.as_str()).collect();
        assert_eq!(kids, read("kids").lines().collect::<Vec<_>>());
        let accepted = server.verify(read("accepted").trim()).unwrap();
        assert_eq!(accepted.subject, "alice");
        let revoked = server.verify(read("revoked").trim()).unwrap_err();
        assert_eq!(reason(&revoked), "TOKEN_REVOKED");
        assert!(!server.issue("access", "alice").token.is_empty());
    }
}
