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
    assert_eq!(config.when_stale, WhenStale::Verify);
    assert_eq!(config.store_outage_issuing_seconds, Some(600));
    assert_eq!(config.hosts.unwrap(), ["gateway.internal"]);
    assert_eq!(config.limits.batch_items, 100);
    assert_eq!(config.limits.calls_per_connection, 50);
    assert_eq!(config.limits.revocation_watchers, 10);
    assert_eq!(config.limits.client_stall_timeout_seconds, 10);
    assert_eq!(config.limits.worker_delay_milliseconds, 300);
    assert_eq!(config.clients[1].bearer_subject.as_deref(), Some("gateway"));
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
fn new_names_of_settings_are_read() {
    let new = [
        ("when_stale = \"answer\"", "when_stale = \"verify\""),
        (
            "issue_without_store_seconds",
            "store_outage_issuing_seconds",
        ),
        ("\nstreams = ", "\ncalls_per_connection = "),
        ("\nwatchers = ", "\nrevocation_watchers = "),
        ("\nstall_seconds", "\nclient_stall_timeout_seconds"),
        ("\nlag_milliseconds", "\nworker_delay_milliseconds"),
        ("\nsubject = ", "\nbearer_subject = "),
        ("\nlead_seconds", "\npublish_before_use_seconds"),
    ];
    let former = read("full.toml");
    let renamed = new.iter().fold(former.clone(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    let [former, renamed] =
        [former, renamed].map(|text| format!("{:?}", Config::from_toml(&text).unwrap()));
    assert_eq!(former, renamed);
}

#[test]
fn error_names_the_line_of_a_former_name() {
    for (text, expected) in [
        (
            "[limits]\nstreams = 0\n",
            "line 2: `limits.calls_per_connection`: must be between 1 and 100000",
        ),
        (
            "[limits]\nstreams = 1\ncalls_per_connection = 1\n",
            "line 1: `limits`: set as `calls_per_connection` and as `streams`, its former name: \
             remove `streams`",
        ),
        (
            "store_outage_issuing_seconds = 60\nissue_without_store_seconds = 60\n",
            "line 1: `store_outage_issuing_seconds`: set as `store_outage_issuing_seconds` and as \
             `issue_without_store_seconds`, its former name: remove `issue_without_store_seconds`",
        ),
    ] {
        let error = Config::from_toml(text).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
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
