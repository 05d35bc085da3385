//! Configurations and data folders that were written before settings were renamed.
//!
//! The fixtures are in `tests/fixtures/former_names`: `full.toml` has every key, `jeton.toml` is the
//! configuration of the data folder `data`. Its tokens are `accepted` and `revoked`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jeton_proto::v1::GetIssuerRequest;
use jeton_server::{Config, Permission, WhenStale};

use crate::harness::{ISS, TestServer, reason};
use crate::manual_clock::ManualClock;

fn fixture(name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/former_names");
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
fn configuration_with_former_names_is_read() {
    let config = Config::from_file(&fixture("full.toml")).unwrap();
    assert_eq!(config.data, fixture("data"));
    assert_eq!(config.workers, Some(2));
    assert_eq!(config.freshness_seconds, 20);
    assert_eq!(config.when_stale, WhenStale::Answer);
    assert_eq!(config.issue_without_store_seconds, Some(600));
    assert_eq!(config.hosts.unwrap(), ["gateway.internal"]);
    assert_eq!(config.limits.batch_items, 100);
    assert_eq!(
        config.clients[0].may,
        [Permission::Issue, Permission::Admin]
    );
    let settings = serde_json::to_value(&config.issuers[0]).unwrap();
    assert_eq!(settings["publish_before_use_seconds"], 7200);
    assert_eq!(settings["max_age_seconds"], 600);
}

#[test]
fn both_names_of_a_setting_are_an_error() {
    let both = read("full.toml").replace(
        "lead_seconds = 7200",
        "lead_seconds = 7200\npublish_before_use_seconds = 7200",
    );
    let error = Config::from_toml(&both).unwrap_err().to_string();
    assert!(error.contains("`publish_before_use_seconds`"), "{error}");
    assert!(error.contains("`lead_seconds`"), "{error}");
}

#[test]
fn data_folder_with_former_names_opens() {
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
