//! Runs `jeton admin` on a running server, and compares it with the folder of the stopped server.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{ends, jeton, succeeds};
use crate::data_folder::{ISS, SETTINGS};
use crate::serving::Serving;

const CONFIG: &str = r#"
[[issuer]]
iss = "https://id.example"
profiles = [{ name = "access", alg = "ES256", lifetime_seconds = 900, audiences = ["api"] }]
"#;

/// A server with an issuer and without clients.
pub(super) struct Running {
    folder: tempfile::TempDir,
    pub(super) server: Serving,
    pub(super) url: String,
}

impl Running {
    pub(super) fn start() -> Running {
        Running::with(CONFIG)
    }

    fn with(config: &str) -> Running {
        Running::configured(tempfile::tempdir().unwrap(), config)
    }

    /// Starts it on an existing data folder.
    pub(super) fn on(folder: tempfile::TempDir) -> Running {
        Running::configured(folder, CONFIG)
    }

    fn configured(folder: tempfile::TempDir, config: &str) -> Running {
        fs::write(folder.path().join("jeton.toml"), config).unwrap();
        let server = Serving::any_port(folder.path(), &["--config", "jeton.toml"]);
        let url = server.admin_address();
        server.wait_for("ready");
        Running {
            folder,
            server,
            url,
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command on the server.
    #[track_caller]
    pub(super) fn admin(&self, args: &[&str], stdin: &[u8]) -> Vec<u8> {
        let server = ["--server", &self.url];
        let end = args.iter().position(|arg| *arg == "--");
        let (options, names) = args.split_at(end.unwrap_or(args.len()));
        let args = [&["admin"], options, &server, names].concat();
        succeeds(self.path(), &args, stdin)
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.admin(args, b"")).unwrap()
    }

    fn kid(&self, at: usize) -> String {
        let keys = self.json(&["key", "list", ISS, "--json"]);
        keys[at]["kid"].as_str().unwrap().to_owned()
    }

    pub(super) fn stop(self) -> tempfile::TempDir {
        self.server.signal("-TERM");
        let (code, said) = self.server.end();
        assert_eq!(code, Some(0), "{said}");
        self.folder
    }
}

#[test]
fn every_verb_on_a_server_changes_what_the_folder_shows() {
    let running = Running::start();
    let other = SETTINGS.replace("id.example", "other.example");
    running.admin(&["issuer", "add", &other], b"");
    let longer = other.replace("900", "1200");
    running.admin(&["issuer", "set", &longer], b"");
    assert_eq!(
        running.json(&["issuer", "list", "--json"]),
        serde_json::json!([ISS, "https://other.example"])
    );
    running.admin(&["key", "rotate", ISS], b"");
    let second = running.kid(1);
    running.admin(&["key", "withdraw", ISS, &second], b"");
    let new = ["key", "new", "--alg", "ES256", "--kid", "-old"];
    let jwk = succeeds(running.path(), &new, b"");
    running.admin(&["key", "import", ISS, "-"], &jwk);
    let first = running.kid(0);
    running.admin(&["key", "rotate", ISS, "--compromised", &first], b"");
    assert_eq!(running.kid(0), "-old");
    running.admin(&["key", "reencrypt"], b"");
    running.admin(&["revoke", "subject", ISS, "user-7"], b"");
    running.admin(&["revoke", "client", ISS, "app"], b"");
    running.admin(&["revoke", "client", ISS, "--", "-mistake"], b"");
    running.admin(&["revoke", "end", "client", ISS, "--", "-mistake"], b"");
    running.admin(&["revoke", "token", ISS, "id-1", "id-2"], b"");
    running.admin(
        &["revoke", "token", ISS, "id-3", "--expires-at", &soon()],
        b"",
    );
    running.admin(&["revoke", "signed-by", ISS, "--", "-old"], b"");
    let status = running.json(&["status", "--json"]);
    assert_eq!(
        (&status["is_ready"], &status["engine"], &status["version"]),
        (
            &Value::Bool(true),
            &"redb".into(),
            &env!("CARGO_PKG_VERSION").into()
        )
    );
    assert_eq!(running.json(&["verify", "--json"])["valid"], true);
    running.admin(&["backup", "-o", "saved"], b"");

    let reads: [&[&str]; 6] = [
        &["issuer", "show", ISS, "--json"],
        &["issuer", "show", "https://other.example", "--json"],
        &["key", "list", ISS, "--json"],
        &["key", "list", ISS],
        &["revoke", "list", ISS, "--json"],
        &["audit", "--json"],
    ];
    let told: Vec<_> = reads.iter().map(|args| running.admin(args, b"")).collect();
    let folder = running.stop();
    let shown = |args: &[&str], more: &[&str]| {
        let args = [&["admin"], args, more].concat();
        String::from_utf8(succeeds(folder.path(), &args, b"")).unwrap()
    };
    for (args, told) in reads.iter().zip(told) {
        assert_eq!(
            String::from_utf8(told).unwrap(),
            shown(args, &[]),
            "{args:?}"
        );
    }
    // The backup of the running server has the same content.
    succeeds(
        folder.path(),
        &["admin", "restore", "saved", "--data", "restored"],
        b"",
    );
    let key = ["--key-encryption-key", "jeton-data/key-encryption-key"];
    let restored = [&["--data", "restored"][..], &key].concat();
    for args in &reads[..5] {
        assert_eq!(shown(args, &restored), shown(args, &[]), "{args:?}");
    }
}

/// An hour from now.
fn soon() -> String {
    use jeton::Clock as _;
    (jeton::SystemClock.now().unix_seconds() + 3600).to_string()
}

#[test]
fn locked_folder_error_has_the_command_for_the_server() {
    let running = Running::start();
    let folder = running.path();
    for args in [
        &["admin", "key", "list", ISS, "--lock-timeout", "0s"][..],
        &["admin", "status", "--lock-timeout=0s", "--actor", "me"],
        &[
            "admin",
            "revoke",
            "subject",
            ISS,
            "--lock-timeout",
            "0s",
            "--",
            "-a",
        ],
        &["admin", "audit", "--lock-timeout", "0s"],
        &["admin", "verify", "--lock-timeout", "0s"],
        &["admin", "backup", "-o", "saved", "--lock-timeout", "0s"],
        &[
            "admin",
            "issuer",
            "list",
            "--config",
            "jeton.toml",
            "--lock-timeout",
            "0s",
        ],
    ] {
        let output = jeton(folder, args, b"");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        let hint = stderr.lines().find_map(|line| line.strip_prefix("hint: "));
        let command = hint.and_then(|hint| hint.split('`').nth(1));
        let command = command.unwrap_or_else(|| panic!("no command: {stderr}"));
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "jeton", "{command}");
        assert!(command.contains(&running.url), "{command}");
        succeeds(folder, &words[1..], b"");
    }
    // Without `--lock-timeout`, `migrate` has no command for a server.
    let migrate = ["admin", "migrate", "--lock-timeout", "0s"];
    ends(folder, &migrate, b"", 2, "hint: ");
}

#[test]
fn audit_filters_select_the_same_entries_everywhere() {
    let running = Running::start();
    running.admin(&["revoke", "subject", ISS, "user-7"], b"");
    let kid = running.kid(0);
    running.admin(&["key", "rotate", ISS], b"");
    let filters: [(&[&str], usize); 9] = [
        (&["--act", "issuer.create"], 1),
        (&["--act", "issuer.*"], 1),
        (&["--act", "key.*", "--actor", "admin-token"], 2),
        (&["--act", "revoke", "--issuer", ISS], 1),
        (&["--act", "revoke", "--issuer", "https://other.example"], 0),
        (&["--about", &kid], 1),
        (&["--last", "2"], 2),
        (&["--since", "2100-01-01T00:00:00Z"], 0),
        (&["--until", "2000-01-01T00:00:00Z"], 0),
    ];
    let lines = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let all = lines(running.admin(&["audit", "--json"], b""));
    let numbers: Vec<u64> = all
        .iter()
        .map(|entry| entry["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=all.len() as u64).collect::<Vec<_>>());
    let mut told = Vec::new();
    for (filter, count) in &filters {
        let args = [&["audit", "--json"], *filter].concat();
        let entries = lines(running.admin(&args, b""));
        assert_eq!(entries.len(), *count, "{filter:?}: {all:#?}");
        assert!(entries.iter().all(|entry| all.contains(entry)));
        told.push((args, entries));
    }
    let after = ["audit", "--json", "--after", "2"];
    assert_eq!(lines(running.admin(&after, b"")), all[2..]);
    let folder = running.stop();
    for (args, entries) in told {
        let args = [&["admin"], &*args].concat();
        assert_eq!(lines(succeeds(folder.path(), &args, b"")), entries);
    }
}

#[test]
fn server_without_the_token_or_without_a_listener_is_an_error() {
    let running = Running::start();
    let elsewhere = tempfile::tempdir().unwrap();
    let status = ["admin", "status", "--server", &running.url];
    ends(elsewhere.path(), &status, b"", 2, "no admin token");
    let data = running.path().join("jeton-data");
    let data = data.to_str().unwrap();
    let named = [&status[..], &["--data", data]].concat();
    succeeds(elsewhere.path(), &named, b"");
    fs::write(elsewhere.path().join("wrong"), "0".repeat(64)).unwrap();
    let wrong = [&status[..], &["--bearer", "wrong"]].concat();
    ends(elsewhere.path(), &wrong, b"", 2, "no admin token");
    // The token is not sent to another machine without TLS.
    let far = [
        "admin",
        "status",
        "--server",
        "http://192.0.2.1:1",
        "--bearer",
    ];
    let far = [&far[..], &["wrong"]].concat();
    ends(elsewhere.path(), &far, b"", 2, "requires an https:// URL");
    let nobody = ["admin", "status", "--server", "http://127.0.0.1:1"];
    ends(elsewhere.path(), &nobody, b"", 2, "run `jeton serve`");
    let unknown = ["admin", "key", "list", "nobody", "--server", &running.url];
    ends(
        running.path(),
        &unknown,
        b"",
        2,
        "run `jeton admin issuer list --server URL`",
    );
    for folder_only in [
        ["--actor", "me"],
        ["--key-encryption-key", "wrong"],
        ["--lock-timeout", "1s"],
    ] {
        let both = [&status[..], &folder_only].concat();
        ends(running.path(), &both, b"", 2, "cannot be used with");
    }
    let folder = running.stop();
    // The files of the running server are gone.
    for name in ["admin-url", "admin-token"] {
        assert!(!folder.path().join("jeton-data").join(name).exists());
    }
}

#[test]
fn key_list_shows_when_the_next_key_is_published() {
    let running = Running::start();
    let keys = running.json(&["key", "list", ISS, "--json"]);
    let second = |name: &str| {
        let text = keys[0][name].as_str().unwrap();
        text.parse::<jiff::Timestamp>().unwrap().as_second()
    };
    let signs_from = second("signs_from");
    // 30 days, and an hour before it.
    assert_eq!(second("successor_signs_from"), signs_from + 2_592_000);
    assert_eq!(second("successor_published_at"), signs_from + 2_588_400);
    let shown = String::from_utf8(running.admin(&["key", "list", ISS], b"")).unwrap();
    let date = keys[0]["successor_published_at"].as_str().unwrap();
    assert!(
        shown.contains(&format!("next key published {date}")),
        "{shown}"
    );
}

#[test]
fn key_encryption_key_of_a_server_changes_without_an_outage_of_its_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, digit) in [("old.key", "1"), ("new.key", "2"), ("other.key", "3")] {
        crate::data_folder::private(&path.join(name), &digit.repeat(64));
    }
    let write = |more: &str| fs::write(path.join("jeton.toml"), format!("{more}{CONFIG}")).unwrap();
    let start = || {
        let server = Serving::any_port(path, &["--config", "jeton.toml"]);
        (server.admin_address(), server)
    };
    write("key_encryption_key_file = 'old.key'\n");
    let (url, server) = start();
    let status = ["admin", "status", "--json", "--server", &url];
    let old: Value = serde_json::from_slice(&succeeds(path, &status, b"")).unwrap();
    server.signal("-TERM");
    server.end();

    // Under a key that is not the one before, the server does not start.
    write("key_encryption_key_file = 'new.key'\nold_key_encryption_key_file = 'other.key'\n");
    let (code, said) = Serving::any_port(path, &["--config", "jeton.toml"]).end();
    assert_eq!(code, Some(2), "{said}");

    write("key_encryption_key_file = 'new.key'\nold_key_encryption_key_file = 'old.key'\n");
    let (url, server) = start();
    let reencrypt = ["admin", "key", "reencrypt", "--server", &url];
    let output = jeton(path, &reencrypt, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("re-encrypted 1 private keys"), "{said}");
    let status = ["admin", "status", "--json", "--server", &url];
    let new: Value = serde_json::from_slice(&succeeds(path, &status, b"")).unwrap();
    assert_ne!(old["key_encryption_keys"], new["key_encryption_keys"]);
    server.signal("-TERM");
    server.end();

    write("key_encryption_key_file = 'new.key'\n");
    let (_, server) = start();
    server.wait_for("ready");
}

#[test]
fn serve_check_reports_the_errors_of_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let check = ["serve", "--config", "jeton.toml", "--check"];
    let write = |text: &str| fs::write(path.join("jeton.toml"), text).unwrap();
    write(CONFIG);
    let said = String::from_utf8(succeeds(path, &check, b"")).unwrap();
    assert_eq!(said, "valid: 0 clients, 1 issuers, 0 trust entries\n");
    for (text, what) in [
        ("listen = '0.0.0.0:1'", "the address is not loopback"),
        ("listen = 'x'", "`listen`"),
        ("key_encryption_key_file = 'missing'", "missing"),
        ("old_key_encryption_key_file = 'missing'", "missing"),
        ("[tls]\ncertificate = 'no'\nkey = 'no'", "no"),
        ("[etcd]\nca = 'no'", "`store`"),
    ] {
        write(text);
        ends(path, &check, b"", 2, what);
    }
    let with_store = |store: &str, more: &str| {
        write(&format!(
            "store = '{store}'\nkey_encryption_key_file = 'kek'\n{more}"
        ));
    };
    crate::data_folder::private(&path.join("kek"), &"7".repeat(64));
    fs::write(path.join("not.pem"), "no certificate").unwrap();
    for (store, more, what) in [
        ("127.0.0.1:2379", "", "etcd://HOST:PORT"),
        ("etcd://10.0.0.1:2379", "", "requires TLS"),
        (
            "etcds://10.0.0.1:2379",
            "",
            "requires a certificate authority",
        ),
        ("etcds://10.0.0.1:2379", "[etcd]\nca = 'no'", "`etcd.ca`"),
        (
            "etcds://10.0.0.1:2379",
            "[etcd]\nca = 'not.pem'",
            "has no certificate",
        ),
        (
            "etcd://127.0.0.1:1",
            "[etcd]\nuser = 'jeton'\npassword_file = 'no'",
            "`etcd.password_file`",
        ),
    ] {
        with_store(store, more);
        ends(path, &check, b"", 2, what);
    }
    // Nobody has to be there.
    with_store("etcd://127.0.0.1:1", "");
    succeeds(path, &check, b"");
    // Nothing was created.
    assert!(!path.join("jeton-data").exists());
}
