//! `jeton admin audit`: export to a folder, drop, and read and verify both, on a folder and on a server.

use std::fs;
use std::path::Path;

use jeton_issuer::limits::AUDIT_SEGMENT_ENTRIES;
use jeton_store::{Key, RedbStore, Store as _, Txn, block_on};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::running::Running;
use crate::binary::{ends, jeton, succeeds};
use crate::data_folder::{ISS, issuer};

/// Appends entries to the main chain of a folder until so many segments are full, and one more.
pub(crate) fn fill(data: &Path, segments: u64) {
    let last = AUDIT_SEGMENT_ENTRIES * segments + 1;
    let store = RedbStore::open(data).unwrap();
    let key = |parts: &[&str]| Key::of(parts).unwrap();
    let head = block_on(store.read(&[key(&["a", "_head"])])).unwrap();
    let head = head.entries[0].as_ref().unwrap().value.clone();
    let head: Value = serde_json::from_slice(&head).unwrap();
    let first = head["record"]["number"].as_u64().unwrap() + 1;
    let mut previous = head["record"]["hash"].as_str().unwrap().to_owned();
    let mut txn = Txn::new();
    for number in first..=last {
        let entry = format!(
            r#"{{"schema":1,"record":{{"number":{number},"at":1800000000,"actor":"me","act":"revoke","iss":"{ISS}","about":["x"],"previous":"{previous}"}}}}"#
        );
        let digest = Sha256::digest(entry.as_bytes());
        previous = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        txn = txn.put(key(&["a", &format!("{number:020}")]), entry);
        if txn.operations().len() == 100 || number == last {
            let head =
                format!(r#"{{"schema":1,"record":{{"number":{number},"hash":"{previous}"}}}}"#);
            block_on(store.commit(txn.put(key(&["a", "_head"]), head))).unwrap();
            txn = Txn::new();
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn audit_log_of_a_folder_is_exported_dropped_and_verified() {
    let folder = issuer();
    let folder = folder.path();
    let audit = |args: &[&str]| text(succeeds(folder, &[&["admin", "audit"], args].concat(), b""));
    // Without a full segment there is nothing to export.
    let output = jeton(folder, &["admin", "audit", "export", "log"], b"");
    let said = text(output.stderr);
    assert!(
        said.contains("exported 0 segments with 0 entries; log has 0"),
        "{said}"
    );
    fill(&folder.join("jeton-data"), 1);
    let all = audit(&["--json"]);
    let output = jeton(
        folder,
        &[
            "admin", "audit", "export", "log", "--drop", "--keep", "0", "--actor", "alice",
        ],
        b"",
    );
    let said = text(output.stderr);
    assert!(
        said.contains("exported 1 segments with 4096 entries; log has 1"),
        "{said}"
    );
    assert!(
        said.contains("dropped 4096 entries from the store"),
        "{said}"
    );
    let drop = audit(&["--act", "audit.drop"]);
    assert!(drop.contains("  alice  audit.drop  "), "{drop}");
    assert!(drop.contains("  main 4096 "), "{drop}");
    assert_eq!(audit(&["--json"]).lines().count(), 2);
    let both = audit(&["--json", "--exported", "log"]);
    assert!(both.starts_with(&all), "{} lines", both.lines().count());
    assert_eq!(both.lines().count(), all.lines().count() + 1);
    let last = audit(&[
        "--json",
        "--exported",
        "log",
        "--last",
        "3",
        "--chain",
        "main",
    ]);
    assert!(both.ends_with(&last) && last.lines().count() == 3, "{last}");
    let valid = audit(&["verify", "--exported", "log"]);
    let expected = "valid: 4098 audit log entries, 4096 of them only in files, last hash ";
    assert!(valid.starts_with(expected), "{valid}");
    assert!(audit(&["verify"]).starts_with("valid: 2 audit log entries, last hash "));
    succeeds(folder, &["admin", "verify"], b"");
    // A backup has what the store has.
    succeeds(folder, &["admin", "backup", "-o", "saved"], b"");
    succeeds(
        folder,
        &["admin", "restore", "saved", "--data", "restored"],
        b"",
    );
    let restored = audit(&["verify", "--data", "restored", "--exported", "log"]);
    assert_eq!(restored, valid);
    // Files of another store, a missing folder, and a file that was cut.
    let other = issuer();
    let log = folder.join("log");
    let log = log.to_str().unwrap();
    let export = ["admin", "audit", "export", log];
    ends(
        other.path(),
        &export,
        b"",
        2,
        "the folder has the log of another store",
    );
    let verify = ["admin", "audit", "verify", "--exported", log];
    ends(
        other.path(),
        &verify,
        b"",
        1,
        "the folder has the log of another store",
    );
    let missing = ["admin", "audit", "--exported", "none"];
    ends(folder, &missing, b"", 2, "hint: to export the audit log");
    let file = fs::read_dir(log).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let verify = ["admin", "audit", "verify", "--exported", "log"];
    ends(
        folder,
        &verify,
        b"",
        1,
        "is incomplete: delete it, and export again",
    );
    fs::remove_file(&file).unwrap();
    ends(
        folder,
        &verify,
        b"",
        1,
        "entries 1 to 4096 of chain main are neither",
    );
    fs::write(&file, &whole).unwrap();
    assert_eq!(audit(&["verify", "--exported", "log"]), valid);
}

#[test]
fn audit_log_of_a_server_is_exported_and_dropped() {
    let folder = issuer();
    fill(&folder.path().join("jeton-data"), 1);
    let running = Running::on(folder);
    let audit = |args: &[&str]| text(running.admin(&[&["audit"], args].concat(), b""));
    let all = audit(&["--json"]);
    audit(&["export", "log", "--drop", "--keep", "0"]);
    assert_eq!(
        audit(&["--json"]).lines().count() + 4096,
        all.lines().count() + 1
    );
    let both = audit(&["--json", "--exported", "log"]);
    assert_eq!(both.lines().count(), all.lines().count() + 1);
    assert!(both.starts_with(&all), "{} lines", both.lines().count());
    let valid = audit(&["verify", "--exported", "log"]);
    assert!(
        valid.contains(" in the store, 4096 in files, last hash "),
        "{valid}"
    );
    // Once more: nothing is new, and nothing is dropped twice.
    audit(&["export", "log", "--drop", "--keep", "0"]);
    let folder = running.stop();
    let verify = ["admin", "audit", "verify", "--exported", "log"];
    let valid = text(succeeds(folder.path(), &verify, b""));
    assert!(valid.contains(", 4096 of them only in files"), "{valid}");
}
