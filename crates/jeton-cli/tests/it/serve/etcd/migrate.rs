//! Tests of `jeton admin migrate` between a data folder and an etcd.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use jeton_testkit::until;
use serde_json::Value;

use super::admin::keys_under;
use super::{Cluster, ISSUER, has_started};
use crate::admin::upgrade::{ISS as FIRST_ISSUER, first_format};
use crate::binary::{ends, jeton, succeeds};
use crate::data_folder::{SETTINGS, json};
use crate::operating::{Machine, blocks, page};
use crate::serving::Serving;

const KEY: [&str; 2] = ["--key-encryption-key", "kek"];

/// Creates `name`, a data folder with an issuer, revocations and this many revoked tokens.
fn folder(path: &Path, name: &str, tokens: usize) {
    let on = ["--data", name, KEY[0], KEY[1]];
    let run = |args: &[&str]| {
        succeeds(path, &[&["admin"], args, &on].concat(), b"");
    };
    run(&["issuer", "add", SETTINGS]);
    run(&["key", "rotate", ISSUER]);
    run(&["revoke", "subject", ISSUER, "user-7"]);
    let ids: Vec<String> = (0..tokens).map(|number| format!("id-{number}")).collect();
    let soon = soon();
    for ids in ids.chunks(5000) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let revoke = ["revoke", "token", ISSUER, "--expires-at", &soon];
        run(&[&revoke[..], &ids].concat());
    }
}

/// An hour from now.
fn soon() -> String {
    use jeton::Clock as _;
    (jeton::SystemClock.now().unix_seconds() + 3600).to_string()
}

/// The records of a store, from a backup of it.
fn records(path: &Path, on: &[&str]) -> BTreeMap<String, String> {
    let backup = succeeds(path, &[&["admin", "backup", "-o", "-"], on].concat(), b"");
    let text = String::from_utf8(backup).unwrap();
    let lines = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| Some(line[name].as_str()?.to_owned());
        text("key").zip(text("value"))
    });
    lines.flatten().collect()
}

fn spawn(path: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_jeton"))
        .args(args)
        .current_dir(path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_migrate_to_etcd_and_back_keeps_every_record() {
    let cluster = Cluster::of(1);
    let path = cluster.path();
    folder(path, "old", 2500);
    // Tokens of the old service.
    let serve = ["--config", "jeton.toml", "--data", "old"];
    let server = Serving::any_port(path, &serve);
    let (kept, revoked) = (cluster.issue(&server), cluster.issue(&server));
    assert_eq!(cluster.revoke(&server, &revoked).0, Some(0));
    let store = cluster.etcd.url("/moved");
    let migrate = ["admin", "migrate", "--from", "old", "--to", &store];
    // A server has it open.
    let now = [&migrate[..], &["--lock-timeout", "0s"]].concat();
    ends(
        path,
        &now,
        b"",
        2,
        "hint: stop the server that uses the folder",
    );
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));
    let before = records(path, &["--data", "old"]);

    let dry = jeton(path, &[&migrate[..], &["--dry-run"]].concat(), b"");
    let (counts, said) = (
        String::from_utf8(dry.stdout).unwrap(),
        String::from_utf8(dry.stderr).unwrap(),
    );
    assert_eq!(dry.status.code(), Some(0), "{said}");
    let words: Vec<&str> = counts.split_whitespace().collect();
    let counts = words.join(" ");
    for count in [
        "issuers 1 keyrings 1 private keys 2 revoked tokens 2501 revocation rules 1 rule counter 1 used ids 0",
        "audit log head 1",
    ] {
        assert!(counts.contains(count), "{counts}");
    }
    assert!(said.contains("has no store: nothing was written"), "{said}");
    assert_eq!(keys_under(&cluster.etcd, "/moved"), 0);

    let output = jeton(path, &migrate, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let total = before.len();
    for words in [
        &format!("copied {total} of {total} records"),
        &format!("compared {total} of {total} records"),
        &format!("migrated {total} records from old to {store}: all are equal"),
        "give this key-encryption key to every server",
        "old still has its store",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // Every record is the same. The audit log has one entry more.
    let on = ["--store", &store];
    let after = records(path, &on);
    let same = |after: &BTreeMap<String, String>, more: usize| {
        let is_same = |(key, value): &(&String, &String)| after.get(*key) == Some(value);
        let differing: Vec<_> = before.iter().filter(|pair| !is_same(pair)).collect();
        assert_eq!(differing.len(), 1, "{differing:?}");
        assert_eq!(differing[0].0, "/a/_head");
        assert_eq!(after.len(), total + more);
    };
    same(&after, 1);
    succeeds(path, &[&["admin", "verify"], &on[..]].concat(), b"");
    let audit = ["admin", "audit", "--json", "--act", "store.migrate"];
    let entry = json(path, &[&audit, &on[..]].concat());
    assert_eq!(entry["about"][0], "from old");

    // The service goes on. The first rule of a process begins a higher epoch.
    let server = cluster.serve_under("/moved");
    assert_eq!(cluster.verify(&server, &kept).0, Some(0));
    let (code, said) = cluster.verify(&server, &revoked);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("revoked"), "{said}");
    let next = [
        "admin", "revoke", "subject", ISSUER, "user-8", KEY[0], KEY[1],
    ];
    succeeds(path, &[&next[..], &on].concat(), b"");
    let rules = ["admin", "revoke", "list", ISSUER, "--json", KEY[0], KEY[1]];
    let rules = json(path, &[&rules[..], &on].concat());
    let (old, new) = (&rules[0]["stamp"], &rules[1]["stamp"]);
    assert!(new["epoch"].as_u64() > old["epoch"].as_u64(), "{rules}");
    drop(server);

    // There is a store now.
    let again = [&migrate[..], &["--start-over"]].concat();
    for args in [&migrate[..], &again] {
        let output = jeton(path, args, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("hint: name a target without a store"),
            "{said}"
        );
    }
    let before_return = records(path, &on);
    let back = ["admin", "migrate", "--from", &store, "--to", "new"];
    let output = jeton(path, &back, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("to new/key-encryption-key"), "{said}");
    let returned = records(path, &["--data", "new"]);
    assert_eq!(returned.len(), before_return.len() + 1);
    let verified = json(path, &["admin", "verify", "--json", "--data", "new"]);
    // And the record of the server that was killed, which no backup has.
    assert_eq!(verified["records"], returned.len() + 1);
    let serve = ["--config", "jeton.toml", "--data", "new"];
    let server = Serving::any_port(path, &serve);
    assert_eq!(cluster.verify(&server, &kept).0, Some(0));
    assert_eq!(cluster.verify(&server, &revoked).0, Some(1));
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_migrate_killed_is_continued_and_serves_nothing_before() {
    let cluster = Cluster::of(1);
    let path = cluster.path();
    folder(path, "old", 30_000);
    for (root, how) in [("/one", "--continue"), ("/two", "--start-over")] {
        let store = cluster.etcd.url(root);
        let migrate = ["admin", "migrate", "--from", "old", "--to", &store];
        let mut running = spawn(path, &migrate);
        until("it copies", || {
            keys_under(&cluster.etcd, &format!("{root}/")) > 0
        });
        cluster.etcd.pause_member(0).unwrap();
        running.kill().unwrap();
        running.wait().unwrap();
        cluster.etcd.resume_member(0).unwrap();
        // Its last transactions may arrive now. It had more to write.
        let copied = || keys_under(&cluster.etcd, &format!("{root}/"));
        until("it has ended", || {
            let now = copied();
            std::thread::sleep(std::time::Duration::from_millis(300));
            copied() == now
        });
        assert!(copied() < 30_000, "it was not interrupted");

        let server = cluster.serve_under(root);
        assert!(!has_started(&server));
        let (code, said) = server.end();
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains("a migration to this store has not finished"),
            "{said}"
        );
        assert!(said.contains("--continue"), "{said}");
        assert!(
            said.contains("the same `jeton admin restore` again"),
            "{said}"
        );
        let list = ["admin", "issuer", "list", "--store", &store, KEY[0], KEY[1]];
        ends(
            path,
            &list,
            b"",
            2,
            "a migration to this store has not finished",
        );
        let dry = jeton(path, &[&migrate[..], &["--dry-run"]].concat(), b"");
        let said = String::from_utf8(dry.stderr).unwrap();
        assert!(
            said.contains("a part of an interrupted migration"),
            "{said}"
        );
        let output = jeton(path, &migrate, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("add `--continue`"), "{said}");

        let output = jeton(path, &[&migrate[..], &[how]].concat(), b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{how}: {said}");
        assert_eq!(said.contains("deleted "), how == "--start-over", "{said}");
        let (old, new) = (
            records(path, &["--data", "old"]),
            records(path, &["--store", &store]),
        );
        assert_eq!(new.len(), old.len() + 1);
        assert!(
            old.iter()
                .all(|(key, value)| key == "/a/_head" || new.get(key) == Some(value))
        );
        drop(cluster.serve_under(root).address());
    }
}

/// A folder in which all entries of the audit log are in one chain.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_migrate_of_a_first_format_goes_on_in_chains() {
    let cluster = Cluster::of(1);
    let path = cluster.path();
    first_format(&path.join("old"));
    let store = cluster.etcd.url("/first");
    let before = json(path, &["admin", "verify", "--json", "--data", "old"]);
    let migrate = ["admin", "migrate", "--from", "old", "--to", &store];
    succeeds(path, &migrate, b"");
    let on = ["--store", &store, KEY[0], "old/key-encryption-key"];
    let soon = soon();
    for revoke in [
        &["token", FIRST_ISSUER, "id-1", "--expires-at", &soon][..],
        &["subject", FIRST_ISSUER, "user-7"],
    ] {
        succeeds(path, &[&["admin", "revoke"], revoke, &on].concat(), b"");
    }
    let after = json(path, &["admin", "verify", "--json", "--store", &store]);
    let entries = |verified: &Value| verified["audit_entries"].as_u64().unwrap();
    assert_eq!(entries(&after), entries(&before) + 3);
    let audit = [
        "admin", "audit", "--json", "--act", "revoke", "--last", "2", "--store", &store,
    ];
    let audit = String::from_utf8(succeeds(path, &audit, b"")).unwrap();
    let chains = audit
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_nodes = chains.filter(|entry| entry["chain"].is_string());
    assert_eq!(of_nodes.count(), 1, "{audit}");
}

#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_migrate_of_another_source_changes_nothing() {
    let mut cluster = Cluster::of(1);
    folder(cluster.path(), "old", 10);
    folder(cluster.path(), "other", 10);
    let path = cluster.path();
    let store = cluster.etcd.url("/half");
    // A part of a migration: the format and one record.
    let source = cluster.etcd.url("/tokens");
    let put = |key: &str, value: &str| super::bad_input::put(&cluster.etcd, key, value);
    put("/half!format", "filling 00112233445566778899aabbccddeeff");
    put("/half/i/x", "{}");
    for from in ["old", "other", &source] {
        for how in ["--dry-run", "--continue", "--start-over"] {
            let migrate = ["admin", "migrate", "--from", from, "--to", &store, how];
            let output = jeton(path, &migrate, b"");
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(
                said.contains("a migration of another store to this one has not finished"),
                "{said}"
            );
        }
    }
    assert_eq!(keys_under(&cluster.etcd, "/half"), 2);
    // The deletion of the hint leaves a store whose root begins with the same text.
    drop(cluster.serve_under("/half-2").address());
    let beside = keys_under(&cluster.etcd, "/half-2");
    let migrate = ["admin", "migrate", "--from", "old", "--to", &store];
    let said = String::from_utf8(jeton(path, &migrate, b"").stderr).unwrap();
    let prefixes = said.split("`etcdctl del --prefix '").skip(1);
    let prefixes: Vec<&str> = prefixes.filter_map(|one| one.split('\'').next()).collect();
    assert_eq!(prefixes.len(), 2, "{said}");
    for prefix in prefixes {
        super::bad_input::delete_prefix(&cluster.etcd, prefix);
    }
    assert_eq!(keys_under(&cluster.etcd, "/half!"), 0);
    assert_eq!(keys_under(&cluster.etcd, "/half/"), 0);
    assert_eq!(keys_under(&cluster.etcd, "/half-2"), beside);
    drop(cluster.serve_under("/half-2").address());
    succeeds(path, &migrate, b"");
    // Keys of another program.
    put("/alien/x", "1");
    let alien = cluster.etcd.url("/alien");
    let migrate = ["admin", "migrate", "--from", "old", "--to", &alien];
    for args in [&[&migrate[..], &["--dry-run"]].concat(), &migrate[..]] {
        ends_with_counts(path, args, "other keys are under the root of this etcd");
    }
    // A folder that cannot be created is no matter of the etcd.
    std::fs::write(path.join("file"), "").unwrap();
    let migrate = ["admin", "migrate", "--from", &source, "--to", "file/new"];
    let said = String::from_utf8(jeton(path, &migrate, b"").stderr).unwrap();
    assert!(
        said.contains("error: reading or writing the store failed"),
        "{said}"
    );
    assert!(!said.contains("password_file"), "{said}");
    // Damage in an etcd.
    put("/tokens/i/damaged", "{}");
    for args in [
        &["admin", "migrate", "--from", &source, "--to", "new"][..],
        &["admin", "migrate", "--store", &source],
        &[
            "admin", "key", "list", ISSUER, "--store", &source, KEY[0], KEY[1],
        ],
    ] {
        let said = String::from_utf8(jeton(path, args, b"").stderr).unwrap();
        for hint in [
            "`jeton admin verify --store URL`",
            "`jeton admin restore FILE --store URL`",
        ] {
            assert!(said.contains(hint), "{args:?}: {said}");
        }
    }
    // An etcd that is gone.
    cluster.etcd.kill_member(0);
    let path = cluster.folder.path();
    let migrate = ["admin", "migrate", "--from", &source, "--to", "new"];
    ends(path, &migrate, b"", 2, "that a majority of the etcd runs");
    assert!(!path.join("new").exists());
}

/// Runs every command of docs/nodes.md, in the order of a move to an etcd and back.
#[test]
#[ignore = "needs etcd: cargo xtask test --only etcd"]
fn etcd_every_command_of_the_manual_works() {
    const ISSUER_TOML: &str = "[[issuer]]\niss = \"https://id.example\"\nprofiles = [{ name = \"access\", \
         alg = \"ES256\", lifetime_seconds = 900, audiences = [\"api\"] }]\n";
    let cluster = Cluster::of(1);
    let mut machine = Machine::new();
    machine.etcd = Some(cluster.etcd.url("/jeton"));
    machine.run(&format!(
        "cat >> /etc/jeton/jeton.toml <<'EOF'\n{ISSUER_TOML}EOF"
    ));
    let at = "--server http://127.0.0.1:8420";
    let issue = format!("jeton token issue {at} --profile access --subject user-7 > token");
    machine.run(&format!("systemctl start jeton\n{issue}"));
    let page = page("nodes.md");
    // The chapter about administration is about a server on the etcd.
    let (before, moving) = page.split_once("## Move a data folder to an etcd").unwrap();
    let (moving, back) = moving.split_once("## Move back to a data folder").unwrap();
    let mut commands = 0;
    for chapter in [moving, before, back] {
        for (language, block) in blocks(chapter) {
            assert_eq!(language, "sh");
            machine.run(&block);
            commands += block.lines().count();
        }
        machine.run(&format!("jeton token verify {at} --audience api @token"));
    }
    assert!(commands > 15, "{commands}");
    let audit = "jeton admin audit --act store.migrate --config /etc/jeton/jeton.toml --server http://127.0.0.1:8421";
    assert_eq!(machine.run(audit).lines().count(), 2);
}

/// The counts of the source are on standard output.
#[track_caller]
fn ends_with_counts(path: &Path, args: &[&str], words: &str) {
    let output = jeton(path, args, b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(words), "{said}");
}
