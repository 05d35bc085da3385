//! Tests of `jeton admin` on a store in etcd, beside running servers.

use std::fs;
use std::path::Path;
use std::process::Command;

use jeton_testkit::{Etcd, until};
use serde_json::Value;

use super::bad_input::call;
use super::{CONFIG, Cluster, ISSUER, write_key};
use crate::binary::{ends, jeton, succeeds};
use crate::data_folder::SETTINGS;

impl Cluster {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command on the store with this root.
    #[track_caller]
    fn admin(&self, args: &[&str], stdin: &[u8]) -> Vec<u8> {
        let store = self.etcd.url("/tokens");
        let on = ["--store", &store, "--config", "jeton.toml"];
        let end = args.iter().position(|arg| *arg == "--");
        let (options, names) = args.split_at(end.unwrap_or(args.len()));
        let args = [&["admin"], options, &on, names].concat();
        succeeds(self.path(), &args, stdin)
    }

    #[track_caller]
    fn admin_json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.admin(args, b"")).unwrap()
    }

    fn kid(&self, at: usize) -> String {
        let keys = self.admin_json(&["key", "list", ISSUER, "--json"]);
        keys[at]["kid"].as_str().unwrap().to_owned()
    }
}

/// The number of keys in an etcd that begin with this text.
pub(super) fn keys_under(etcd: &Etcd, prefix: &str) -> usize {
    let (key, end) = prefix_range(prefix);
    let body = format!(r#"{{"key":"{key}","range_end":"{end}","count_only":true}}"#);
    let url = format!("{}/v3/kv/range", etcd.member_url(0));
    let output = Command::new("curl")
        .args(["-sS", "--max-time", "60", "--data-binary", &body, &url])
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let count = answer["count"].as_str().unwrap_or("0");
    count.parse().unwrap()
}

/// The range of all keys that begin with this text, in base64.
pub(super) fn prefix_range(prefix: &str) -> (String, String) {
    // The end of the range: the next letter.
    let mut end = prefix.as_bytes().to_vec();
    *end.last_mut().unwrap() += 1;
    (base64(prefix), base64(std::str::from_utf8(&end).unwrap()))
}

pub(super) fn base64(text: &str) -> String {
    use base64ct::{Base64, Encoding as _};
    Base64::encode_string(text.as_bytes())
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_admin_every_verb_works_beside_a_running_server() {
    let cluster = Cluster::of(1);
    let server = cluster.serve();
    let token = cluster.issue(&server);
    let other = SETTINGS.replace("id.example", "other.example");
    cluster.admin(&["issuer", "add", &other], b"");
    cluster.admin(&["issuer", "set", &other.replace("900", "1200")], b"");
    assert_eq!(
        cluster.admin_json(&["issuer", "list", "--json"]),
        serde_json::json!([ISSUER, "https://other.example"])
    );
    let shown = cluster.admin_json(&["issuer", "show", "https://other.example", "--json"]);
    assert_eq!(shown["settings"]["profiles"][0]["lifetime_seconds"], 1200);
    cluster.admin(&["key", "rotate", ISSUER], b"");
    let second = cluster.kid(1);
    cluster.admin(&["key", "withdraw", ISSUER, &second], b"");
    let new = ["key", "new", "--alg", "ES256", "--kid", "-old"];
    let jwk = succeeds(cluster.path(), &new, b"");
    cluster.admin(&["key", "import", ISSUER, "-"], &jwk);
    cluster.admin(&["key", "reencrypt", "--old-key", "kek"], b"");
    cluster.admin(&["revoke", "client", ISSUER, "app"], b"");
    cluster.admin(&["revoke", "token", ISSUER, "id-1", "id-2"], b"");
    cluster.admin(&["revoke", "signed-by", ISSUER, "--", "-old"], b"");
    assert_eq!(cluster.verify(&server, &token).0, Some(0));
    // The running server follows: the key is compromised.
    let first = cluster.kid(0);
    cluster.admin(&["key", "rotate", ISSUER, "--compromised", &first], b"");
    until("it rejects the token", || {
        cluster.verify(&server, &token).0 == Some(1)
    });
    assert_eq!(cluster.kid(0), "-old");
    let rules = cluster.admin_json(&["revoke", "list", ISSUER, "--json"]);
    assert_eq!(rules.as_array().unwrap().len(), 5);
    let status = cluster.admin_json(&["status", "--json"]);
    assert_eq!(
        (&status["is_ready"], &status["engine"], &status["rules"]),
        (&true.into(), &"etcd".into(), &5.into())
    );
    assert_eq!(cluster.admin_json(&["verify", "--json"])["valid"], true);
    let audit = cluster.admin(&["audit", "--act", "revoke", "--json"], b"");
    // Revocations that wait together are one entry: on a busy machine the two ids may be apart.
    let audit = String::from_utf8(audit).unwrap();
    let entries = audit
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let revoked = entries.map(|entry: Value| entry["about"].as_array().unwrap().len());
    assert_eq!(revoked.sum::<usize>(), 4, "{audit}");
    let migrated = String::from_utf8(cluster.admin(&["migrate"], b"")).unwrap();
    assert!(migrated.starts_with("nothing to do: the store has format 1 and its "));
    cluster.admin(&["backup", "-o", "saved"], b"");
    let restore = ["admin", "restore", "saved", "--data", "restored"];
    succeeds(cluster.path(), &restore, b"");
    let restored = ["admin", "issuer", "list", "--json", "--data", "restored"];
    let with_key = [&restored[..], &["--key-encryption-key", "kek"]].concat();
    assert_eq!(
        succeeds(cluster.path(), &with_key, b""),
        cluster.admin(&["issuer", "list", "--json"], b"")
    );
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_admin_takes_the_store_of_the_configuration() {
    let cluster = Cluster::of(1);
    let config = format!("store = '{}'\n{CONFIG}", cluster.etcd.url("/tokens"));
    fs::write(cluster.path().join("with-store.toml"), config).unwrap();
    let list = ["admin", "issuer", "list", "--config", "with-store.toml"];
    let listed = succeeds(cluster.path(), &list, b"");
    assert_eq!(String::from_utf8(listed).unwrap(), format!("{ISSUER}\n"));
    // A named folder comes first.
    let folder = [&list[..], &["--data", "no-folder"]].concat();
    ends(cluster.path(), &folder, b"", 2, "no store in no-folder");
    // A backup is restored to an address without a store.
    let backup = ["admin", "backup", "-o", "saved"];
    let with = ["--config", "with-store.toml"];
    succeeds(cluster.path(), &[&backup[..], &with].concat(), b"");
    let restore = [&["admin", "restore", "saved"], &with[..]].concat();
    ends(cluster.path(), &restore, b"", 2, "a store already exists");
    fs::write(cluster.path().join("cut"), "").unwrap();
    let new = cluster.etcd.url("/restored");
    let cut = ["admin", "restore", "cut", "--store", &new];
    ends(cluster.path(), &cut, b"", 2, "is truncated in line 1");
    assert_eq!(keys_under(&cluster.etcd, "/restored"), 0);
    let to = [&restore[..3], &["--store", &new]].concat();
    let output = jeton(cluster.path(), &to, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("to {new}")), "{said}");
    assert!(
        said.contains("give this key-encryption key to every server"),
        "{said}"
    );
    let server = cluster.serve_under("/restored");
    assert_eq!(super::key_set(&server), super::key_set(&cluster.serve()));
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_admin_without_a_store_creates_none() {
    let cluster = Cluster::of(1);
    let store = cluster.etcd.url("/nothing");
    let on = ["--store", &store, "--config", "jeton.toml"];
    for args in [
        &["issuer", "add", SETTINGS][..],
        &["issuer", "list"],
        &["key", "rotate", ISSUER],
        &["revoke", "subject", ISSUER, "user-7"],
        &["status"],
        &["audit"],
        &["verify"],
        &["backup", "-o", "new"],
        &["migrate"],
    ] {
        let args = [&["admin"], args, &on].concat();
        let output = jeton(cluster.path(), &args, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        for words in [
            "error: the etcd has no store under /nothing: nothing was changed",
            "hint: to create a store, run `jeton serve --store URL`",
        ] {
            assert!(said.contains(words), "{args:?}: {said}");
        }
    }
    assert!(!cluster.path().join("new").exists());
    assert_eq!(keys_under(&cluster.etcd, "/nothing"), 0);
    // The hint works.
    drop(cluster.serve_under("/nothing").address());
    let list = [&["admin", "issuer", "list"], &on[..]].concat();
    let listed = succeeds(cluster.path(), &list, b"");
    assert_eq!(String::from_utf8(listed).unwrap(), format!("{ISSUER}\n"));
    // Another key-encryption key.
    write_key(cluster.path(), "other", '8');
    let other = ["--store", &store, "--key-encryption-key", "other"];
    let list = [&["admin", "issuer", "list"], &other[..]].concat();
    ends(cluster.path(), &list, b"", 2, "wrong key-encryption key");
}

#[test]
fn admin_etcd_invalid_calls_have_hints() {
    let folder = tempfile::tempdir().unwrap();
    write_key(folder.path(), "kek", '7');
    fs::write(folder.path().join("jeton.toml"), CONFIG).unwrap();
    let missing = format!("{CONFIG}\n[etcd]\nca = 'missing.pem'\n");
    fs::write(folder.path().join("missing.toml"), missing).unwrap();
    let status = |more: &[&'static str]| [&["admin", "status"], more].concat();
    let nobody = "etcd://127.0.0.1:1";
    let remote = "etcds://10.0.0.1:2379";
    for (args, words) in [
        (
            status(&["--store", "127.0.0.1:2379"]),
            "invalid store: not an etcd address: use etcd://HOST:PORT",
        ),
        (
            status(&["--store", "etcd://10.0.0.1:2379"]),
            "requires TLS: use etcds://",
        ),
        (status(&["--store", remote]), "add `--config FILE`"),
        (
            status(&["--store", remote, "--config", "missing.toml"]),
            "cannot read the file",
        ),
        (
            status(&["--store", nobody]),
            "hint: check the address and the certificates, and that a majority of the etcd runs",
        ),
        (
            status(&["--store", nobody, "--data", "d"]),
            "cannot be used with",
        ),
        (
            status(&["--store", nobody, "--server", "http://127.0.0.1:1"]),
            "cannot be used with",
        ),
        (
            vec!["admin", "migrate", "--from", "jeton-data"],
            "required arguments were not provided",
        ),
        (
            vec!["admin", "migrate", "--from", "no-data", "--to", nobody],
            "hint: name the data folder: `--from DIR`",
        ),
        (
            vec!["admin", "migrate", "--dry-run"],
            "required arguments were not provided",
        ),
    ] {
        ends(folder.path(), &args, b"", 2, words);
    }
    assert!(!folder.path().join("jeton-data").exists());
}

/// A password in an address would be in the list of processes.
#[test]
fn admin_etcd_address_with_a_password_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "admin",
        "status",
        "--store",
        "etcd://me:hunter2@127.0.0.1:1",
    ];
    let output = jeton(folder.path(), &args, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    let migrate = ["admin", "migrate", "--from", args[3], "--to", "d"];
    let output = jeton(folder.path(), &migrate, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("hunter2"), "{said}");
}

/// User and password, as a server takes them.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_admin_uses_the_password_of_the_configuration() {
    let cluster = Cluster::of(1);
    for (path, body) in [
        (
            "auth/user/add",
            r#"{"name":"root","password":"correct horse"}"#,
        ),
        ("auth/user/grant", r#"{"user":"root","role":"root"}"#),
        ("auth/enable", "{}"),
    ] {
        call(&cluster.etcd, path, body);
    }
    let store = cluster.etcd.url("/tokens");
    let list = ["admin", "issuer", "list", "--store", &store];
    let on = |config: &'static str| [&list[..], &["--config", config]].concat();
    for (name, password) in [("right", "correct horse\n"), ("wrong", "battery staple")] {
        let access = format!("user = 'root'\npassword_file = '{name}'");
        fs::write(cluster.path().join(name), password).unwrap();
        let config = format!("{CONFIG}\n[etcd]\n{access}\n");
        fs::write(cluster.path().join(format!("{name}.toml")), config).unwrap();
    }
    let listed = succeeds(cluster.path(), &on("right.toml"), b"");
    assert_eq!(String::from_utf8(listed).unwrap(), format!("{ISSUER}\n"));
    for config in ["wrong.toml", "jeton.toml"] {
        let output = jeton(cluster.path(), &on(config), b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("`user` and `password_file`"), "{said}");
        assert!(!said.contains("battery"), "{said}");
    }
}

/// TLS, as a server takes it.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_admin_over_tls_uses_the_files_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let at = |file: &str| folder.path().join(file).display().to_string();
    let ours = super::Authority::new(folder.path(), "ours");
    ours.certify_etcd(folder.path(), "etcd-server", &[[127, 0, 0, 1]]);
    ours.certify_client(folder.path(), "client");
    let (certificate, key, ca) = (at("etcd-server.pem"), at("etcd-server.key"), at("ours.pem"));
    let arguments = [
        "--cert-file",
        &certificate,
        "--key-file",
        &key,
        "--client-cert-auth",
        "--trusted-ca-file",
        &ca,
    ];
    let known = "ca = 'ours.pem'\ncertificate = 'client.pem'\nkey = 'client.key'";
    let config = format!("{CONFIG}\n[etcd]\n{known}\n");
    let cluster = Cluster::with(folder, 1, &arguments, &config);
    let listed = cluster.admin(&["issuer", "list"], b"");
    assert_eq!(String::from_utf8(listed).unwrap(), format!("{ISSUER}\n"));
    let store = cluster.etcd.url("/tokens");
    let without = ["admin", "issuer", "list", "--store", &store];
    ends(
        cluster.path(),
        &without,
        b"",
        2,
        "etcd over TLS requires a certificate authority",
    );
    // The same for a migration.
    let to = ["admin", "migrate", "--from", &store, "--to", "moved"];
    succeeds(
        cluster.path(),
        &[&to[..], &["--config", "jeton.toml"]].concat(),
        b"",
    );
    let list = ["admin", "issuer", "list", "--data", "moved"];
    let list = [&list[..], &["--key-encryption-key", "kek"]].concat();
    assert_eq!(
        succeeds(cluster.path(), &list, b""),
        format!("{ISSUER}\n").as_bytes()
    );
}
