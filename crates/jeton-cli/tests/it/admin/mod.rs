//! Tests of `jeton admin`: issuers, keys, revocations, backups, and concurrent processes.

pub(crate) mod audit;
mod backup_under_load;
mod damage;
mod hints;
pub(crate) mod page;
mod running;
pub(crate) mod upgrade;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use jeton::Clock as _;
use serde_json::Value;

use crate::binary::{ends, jeton, succeeds};
use crate::data_folder::{ISS, SETTINGS, TWO_ALGORITHMS, issuer, json, keys, states};

#[cfg(unix)]
#[test]
fn issuer_add_first_creates_a_private_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let output = jeton(
        folder,
        &["admin", "issuer", "add", "-"],
        SETTINGS.as_bytes(),
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("note: created jeton-data/key-encryption-key")
            && said.contains("added https"),
        "{said}"
    );
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("ES256  signing")
    );
    let mode = |name: &str| {
        let about = fs::metadata(folder.join("jeton-data").join(name)).unwrap();
        about.permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    for name in ["store.redb", "key-encryption-key", "lock"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(json(folder, &["admin", "issuer", "list", "--json"])[0], ISS);
    let status = json(folder, &["admin", "status", "--json"]);
    assert_eq!(
        (&status["is_ready"], &status["fault"]),
        (&Value::Bool(true), &Value::Null)
    );
    let again = ["admin", "issuer", "add", SETTINGS];
    ends(folder, &again, b"", 2, "the issuer exists already");
}

#[test]
fn key_rotate_import_withdraw_compromised_change_the_key_set() {
    let folder = issuer();
    let folder = folder.path();
    let first = keys(folder)[0].0.clone();

    // A signing key is rotated, not withdrawn.
    ends(
        folder,
        &["admin", "key", "withdraw", ISS, &first],
        b"",
        2,
        "it signs: rotate",
    );
    succeeds(folder, &["admin", "key", "rotate", ISS], b"");
    assert_eq!(states(folder), ["signing", "published"]);
    let rotate = ["admin", "key", "rotate", ISS];
    ends(folder, &rotate, b"", 2, "published already");
    let second = keys(folder)[1].0.clone();
    succeeds(folder, &["admin", "key", "withdraw", ISS, &second], b"");
    assert_eq!(keys(folder), [(first.clone(), "signing".to_owned())]);

    // An imported key keeps its id, and a thumbprint may begin with a hyphen.
    let jwk = succeeds(
        folder,
        &["key", "new", "--alg", "ES256", "--kid", "-old"],
        b"",
    );
    succeeds(folder, &["admin", "key", "import", ISS, "-"], &jwk);
    assert_eq!(keys(folder)[1], ("-old".to_owned(), "published".to_owned()));
    // An option may follow such an id.
    let nobodys = ["withdraw", ISS, "-nobody's", "--data", "jeton-data"];
    let withdraw = [&["admin", "key"], &nobodys[..]].concat();
    ends(folder, &withdraw, b"", 2, "has no key \"-nobody's\"");
    let import = ["admin", "key", "import", ISS, "-"];
    ends(
        folder,
        &import,
        &jwk,
        2,
        "`kid`: the issuer has a key with this id",
    );
    ends(
        folder,
        &import,
        b"{\"kty\":\"EC\",\"d\":\"secret-d\"}",
        2,
        "not a private key for ES256",
    );

    // Compromised: the key is removed at once, and the published key signs at once.
    succeeds(
        folder,
        &["admin", "key", "rotate", ISS, "--compromised", &first],
        b"",
    );
    assert_eq!(keys(folder), [("-old".to_owned(), "signing".to_owned())]);
    succeeds(
        folder,
        &["admin", "key", "rotate", ISS, "--compromised", "-old"],
        b"",
    );
    assert_eq!(states(folder), ["signing"]);
    let rules = json(folder, &["admin", "revoke", "list", ISS, "--json"]);
    assert_eq!(
        (&rules[0]["kind"], rules.as_array().unwrap().len()),
        (&"key".into(), 2)
    );
    ends(
        folder,
        &["admin", "key", "rotate", ISS, "--compromised", "nobody's"],
        b"",
        2,
        "has no key \"nobody's\"",
    );

    let mut pem = succeeds(folder, &["key", "new", "--alg", "ES256"], b"");
    fs::write(folder.join("new.jwk"), &pem).unwrap();
    pem = succeeds(folder, &["key", "convert", "--to", "pem", "new.jwk"], b"");
    succeeds(folder, &import, &pem);
    assert_eq!(states(folder), ["signing", "published"]);
}

/// The emergency command is typed before anyone has looked up an id.
#[test]
fn current_key_of_two_algorithms_needs_the_algorithm() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeeds(folder, &["admin", "issuer", "add", TWO_ALGORITHMS], b"");
    let listed = || {
        let keys = json(folder, &["admin", "key", "list", ISS, "--json"]);
        let text = |key: &Value, name: &str| key[name].as_str().unwrap().to_owned();
        let keys = keys.as_array().unwrap().iter();
        keys.map(|key| (text(key, "kid"), text(key, "alg"), text(key, "state")))
            .collect::<Vec<_>>()
    };
    let before = listed();
    let rotate = ["admin", "key", "rotate", ISS, "--compromised", "current"];
    let withdraw = ["admin", "key", "withdraw", ISS, "current"];
    let revoke = ["admin", "revoke", "signed-by", ISS, "current"];
    for args in [&rotate[..], &withdraw, &revoke] {
        let output = jeton(folder, args, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        for (kid, alg, _) in &before {
            assert!(said.contains(&format!("{kid} ({alg})")), "{said}");
            let command = format!("`jeton {} --alg {alg}`", args.join(" "));
            assert!(said.contains(&command), "{command}: {said}");
        }
    }
    assert_eq!(listed(), before);

    let of = |alg: &str| before.iter().find(|key| key.1 == alg).unwrap().0.clone();
    let (ec, ed) = (of("ES256"), of("EdDSA"));
    let named = [&revoke[..], &["--alg", "EdDSA"]].concat();
    succeeds(folder, &named, b"");
    let rules = json(folder, &["admin", "revoke", "list", ISS, "--json"]);
    assert_eq!(rules[0]["name"], ed);
    let wrong = ["admin", "key", "rotate", ISS, "--compromised", &ec];
    let wrong = [&wrong[..], &["--alg", "EdDSA"]].concat();
    ends(folder, &wrong, b"", 2, "is for ES256, not for EdDSA");
    succeeds(folder, &[&rotate[..], &["--alg", "ES256"]].concat(), b"");
    let after = listed();
    assert!(after.iter().all(|key| key.0 != ec), "{after:?}");
    assert!(after.contains(&(ed, "EdDSA".into(), "signing".into())));
    assert!(
        after
            .iter()
            .any(|key| key.1 == "ES256" && key.2 == "signing")
    );

    // The published key.
    let next = ["admin", "key", "withdraw", ISS, "next"];
    ends(folder, &next, b"", 2, "no key is published and signs later");
    succeeds(
        folder,
        &["admin", "key", "rotate", ISS, "--alg", "ES256"],
        b"",
    );
    assert_eq!(listed().len(), 3);
    succeeds(folder, &next, b"");
    assert_eq!(listed(), after);
}

#[test]
fn key_with_the_id_current_is_the_one_that_is_meant() {
    let folder = issuer();
    let folder = folder.path();
    let new = ["key", "new", "--alg", "ES256", "--kid", "current"];
    let jwk = succeeds(folder, &new, b"");
    succeeds(folder, &["admin", "key", "import", ISS, "-"], &jwk);
    let signing = keys(folder)[0].clone();
    succeeds(folder, &["admin", "key", "withdraw", ISS, "current"], b"");
    assert_eq!(keys(folder), [signing]);
}

#[test]
fn key_import_odd_id_leaves_a_folder_that_opens() {
    let folder = issuer();
    let folder = folder.path();
    for id in ["=", "=a", "==a", "_set", "/", "%3D"] {
        let jwk = succeeds(folder, &["key", "new", "--alg", "ES256", "--kid", id], b"");
        succeeds(folder, &["admin", "key", "import", ISS, "-"], &jwk);
        assert_eq!(keys(folder)[1], (id.to_owned(), "published".to_owned()));
        succeeds(folder, &["admin", "verify"], b"");
        succeeds(folder, &["admin", "key", "withdraw", ISS, id], b"");
        assert_eq!(states(folder), ["signing"]);
    }
}

#[test]
fn issuer_set_new_algorithm_waits_and_unused_key_retires() {
    let folder = issuer();
    let folder = folder.path();
    let both = SETTINGS.replace(
        r#""profiles": ["#,
        r#""profiles": [{"name": "p", "alg": "v4.public", "lifetime_seconds": 60, "audiences": ["b"]},"#,
    );
    succeeds(folder, &["admin", "issuer", "set", &both], b"");
    assert_eq!(states(folder), ["signing", "published"]);
    let rotate = ["admin", "key", "rotate", ISS];
    ends(
        folder,
        &rotate,
        b"",
        2,
        "the profiles of the issuer use several algorithms: v4.public, ES256",
    );
    succeeds(
        folder,
        &[
            "admin",
            "issuer",
            "set",
            &SETTINGS.replace("ES256", "v4.public"),
        ],
        b"",
    );
    assert_eq!(states(folder), ["retired", "published"]);
    let shown = json(folder, &["admin", "issuer", "show", ISS, "--json"]);
    assert_eq!(shown["settings"]["profiles"][0]["alg"], "v4.public");
    let set = SETTINGS.replace("id.example", "other.example");
    ends(
        folder,
        &["admin", "issuer", "set", &set],
        b"",
        2,
        "unknown issuer",
    );
}

#[test]
fn revocations_are_listed_counted_and_audited() {
    let folder = issuer();
    let folder = folder.path();
    let revoke = |args: &[&str]| {
        succeeds(folder, &[&["admin", "revoke"], args].concat(), b"");
    };
    let soon = (jeton::SystemClock.now().unix_seconds() + 3600).to_string();
    revoke(&["token", ISS, "1", "2", "3", "--expires-at", &soon]);
    revoke(&["token", ISS, "4"]);
    revoke(&["subject", ISS, "user-7", "--actor", "alice"]);
    revoke(&["client", ISS, "app"]);
    let keys = json(folder, &["admin", "key", "list", ISS, "--json"]);
    let kid = keys[0]["kid"].as_str().unwrap();
    revoke(&["signed-by", ISS, "--", kid]);
    revoke(&["subject", ISS, "--", "-user"]);
    let status = json(folder, &["admin", "status", "--json"]);
    assert_eq!(
        (&status["revoked_tokens"], &status["rules"]),
        (&3.into(), &5.into())
    );
    let rules = succeeds(folder, &["admin", "revoke", "list", ISS], b"");
    let rules = String::from_utf8(rules).unwrap();
    let words = rules.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("subject user-7 created 2"), "{rules}");
    assert!(words.contains("token 4 any issue time "), "{rules}");
    let verified = json(folder, &["admin", "verify", "--json"]);
    assert_eq!(verified["valid"], true);
    assert!(
        verified["audit_entries"].as_u64().unwrap() >= 6,
        "{verified}"
    );
    let backup = succeeds(folder, &["admin", "backup", "--output", "-"], b"");
    assert!(
        String::from_utf8(backup)
            .unwrap()
            .contains(r#"\"actor\":\"alice\""#)
    );
    // A wrong key id is reported with the list of keys.
    let unknown = ["admin", "revoke", "signed-by", ISS, "--", kid, "nokid"];
    let said = format!(
        "the issuer has no key \"nokid\"; nothing was changed\nhint: keys of this issuer: {kid} (ES256)"
    );
    ends(folder, &unknown, b"", 2, &said);
    for (at, said) in [
        ("1700000000", "the token has already expired"),
        ("4000000000", "s ahead, the limit is 31622"),
    ] {
        let never = ["admin", "revoke", "token", ISS, "5", "--expires-at", at];
        ends(folder, &never, b"", 2, said);
    }
    let status = json(folder, &["admin", "status", "--json"]);
    assert_eq!(
        (&status["revoked_tokens"], &status["rules"]),
        (&3.into(), &5.into())
    );
    let long = "x".repeat(1025);
    let too_long = ["admin", "revoke", "subject", ISS, &long];
    ends(
        folder,
        &too_long,
        b"",
        2,
        "`subject`: has 1025 bytes, the limit is 1024",
    );
    let elsewhere = ["admin", "revoke", "subject", "https://other.example", "a"];
    ends(folder, &elsewhere, b"", 2, "run `jeton admin issuer list`");
}

#[test]
fn backup_is_restored_exactly_and_damage_is_found() {
    let folder = issuer();
    let folder = folder.path();
    succeeds(folder, &["admin", "revoke", "subject", ISS, "user-7"], b"");
    let before = json(folder, &["admin", "issuer", "show", ISS, "--json"]);
    let write = ["admin", "backup", "--output", "a.backup"];
    succeeds(folder, &write, b"");
    ends(folder, &write, b"", 2, "backups are never overwritten");

    let restore = ["admin", "restore", "a.backup", "--data", "new"];
    let output = jeton(folder, &restore, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("copy this key-encryption key to new/key-encryption-key"),
        "{said}"
    );
    let show = ["admin", "issuer", "show", ISS, "--json", "--data", "new"];
    ends(folder, &show, b"", 2, "new/key-encryption-key is missing");
    let key = "jeton-data/key-encryption-key";
    assert_eq!(
        json(
            folder,
            &[&show[..], &["--key-encryption-key", key]].concat()
        ),
        before
    );
    fs::copy(folder.join(key), folder.join("new/key-encryption-key")).unwrap();
    assert_eq!(json(folder, &show), before);
    let rules = ["admin", "revoke", "list", ISS, "--json", "--data"];
    assert_eq!(
        json(folder, &[&rules[..], &["new"]].concat()),
        json(folder, &[&rules[..], &["jeton-data"]].concat())
    );
    ends(folder, &restore, b"", 2, "a store already exists");

    let whole = fs::read_to_string(folder.join("a.backup")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    for (damaged, said) in [
        (String::new(), "is truncated in line 1"),
        (
            "not a backup\n".to_owned(),
            "not a jeton backup (bad header)",
        ),
        (whole[..whole.len() - 20].to_owned(), "is truncated"),
        (joined(&lines[..lines.len() - 1]), "is truncated"),
        (joined(&lines) + "more\n", "continues after its last line"),
        (
            joined(&[&lines[..1], &lines[2..]].concat()),
            "does not match",
        ),
        (whole.replace("user-7", "user-8"), "does not match"),
        (
            whole.replacen("\"jeton_backup\":1", "\"jeton_backup\":2", 1),
            "has version 2",
        ),
        (
            whole.replacen("\\\"schema\\\":1", "\\\"schema\\\":4", 1),
            "which a newer version of jeton wrote",
        ),
    ] {
        let read = ["admin", "restore", "-", "--data", "never"];
        ends(folder, &read, damaged.as_bytes(), 2, said);
        assert!(!folder.join("never").exists(), "{said}");
    }
}

#[test]
fn folder_in_use_waits_or_fails_with_a_hint() {
    let folder = issuer();
    let folder = folder.path();
    let holder = jeton_store::RedbStore::open(&folder.join("jeton-data")).unwrap();
    let started = std::time::Instant::now();
    let list = ["admin", "issuer", "list", "--lock-timeout", "1s"];
    ends(folder, &list, b"", 2, "another process has the store open");
    assert!(started.elapsed() >= Duration::from_secs(1));
    let verify = ["admin", "verify", "--lock-timeout", "0s"];
    ends(folder, &verify, b"", 2, "add `--lock-timeout 1m`");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            drop(holder);
        });
        succeeds(
            folder,
            &["admin", "issuer", "list", "--lock-timeout", "1m"],
            b"",
        );
    });
}

#[test]
fn processes_started_together_create_one_key_set() {
    let folder = tempfile::tempdir().unwrap();
    let running: Vec<_> = (0..8)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_jeton"))
                .args(["admin", "issuer", "add", SETTINGS, "--lock-timeout", "2m"])
                .current_dir(folder.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut added = 0;
    for child in running {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => added += 1,
            code => {
                assert_eq!(code, Some(2), "{said}");
                assert!(said.contains("the issuer exists already"), "{said}");
            }
        }
    }
    assert_eq!(added, 1);
    assert_eq!(states(folder.path()), ["signing"]);
    let verified = json(folder.path(), &["admin", "verify", "--json"]);
    assert_eq!(verified["audit_entries"], 1);
}
