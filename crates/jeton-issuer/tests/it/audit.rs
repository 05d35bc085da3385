//! The audit log: chains of nodes, checkpoints, export, drop, and a log that an older version wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jeton_issuer::{
    AuditEntry, AuditFilter, AuditFolder, AuditPart, AuditPositions, Error, IssuerSettings,
    KeyEncryptionKey, MigrationSource, Node, Options, Revoke, Subject, audit_bases, back_up,
    check_audit, drop_audit, export_audit, limits, read_audit, read_audit_with, restore,
    verify_audit,
};
use jeton_store::{Entry, Key, MemoryStore, Mirror, Prefix, RedbStore, Store, Txn, block_on};
use jeton_testkit::until;
use sha2::{Digest as _, Sha256};

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";
/// The chains of nodes are sealed by then.
const LATER: i64 = START + limits::AUDIT_IDLE_SECONDS;
/// Revocations of each node.
const EACH: u64 = 5;

fn start(store: &Arc<dyn Store>) -> Node {
    let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
    Node::start(store.clone(), options, Arc::new(ManualClock::new())).unwrap()
}

fn revoke_tokens(node: &Node, name: &str) {
    for number in 0..EACH {
        let token = Revoke::token(&format!("{name}-{number}"), START + 600);
        block_on(node.revoke(name, ISS, token)).unwrap();
    }
}

/// The entries of an issuer and of two nodes.
fn filled(store: Arc<dyn Store>) -> Arc<dyn Store> {
    let settings = format!(
        r#"{{"iss": "{ISS}", "profiles":
            [{{"name": "p", "alg": "HS256", "lifetime_seconds": 900, "audiences": ["api"]}}]}}"#
    );
    let first = start(&store);
    first
        .create_issuer("setup", IssuerSettings::from_json(&settings).unwrap())
        .unwrap();
    revoke_tokens(&first, "a");
    revoke_tokens(&start(&store), "b");
    store
}

fn memory() -> Arc<dyn Store> {
    filled(Arc::new(MemoryStore::new()))
}

fn export(store: &Arc<dyn Store>, path: &Path, at: i64) -> Result<AuditFolder, Error> {
    let mut folder = AuditFolder::open(path)?;
    let ends = folder.ends(&audit_bases(&**store)?)?;
    export_audit(&**store, &ends, at, &mut |part| folder.write(part))?;
    Ok(folder)
}

/// What the store may drop.
fn droppable(store: &Arc<dyn Store>, folder: &AuditFolder, keep: usize) -> AuditPositions {
    let bases = audit_bases(&**store).unwrap();
    folder.droppable(&bases, keep).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn check(store: &Arc<dyn Store>, folder: &Path) -> Result<(u64, u64), Error> {
    let folder = AuditFolder::open(folder)?;
    let checked = block_on(check_audit(&**store, Some(&folder)))?;
    Ok((checked.entries, checked.exported))
}

fn names(store: &Arc<dyn Store>) -> Vec<Entry> {
    let log = block_on(Mirror::load(&**store, &Prefix::of(["a"]).unwrap())).unwrap();
    log.entries().cloned().collect()
}

fn read(
    store: &Arc<dyn Store>,
    folder: Option<&AuditFolder>,
    filter: &AuditFilter,
) -> Vec<AuditEntry> {
    let mut entries = Vec::new();
    let mut each = |entry| {
        entries.push(entry);
        true
    };
    match folder {
        None => block_on(read_audit(&**store, filter, &mut each)).unwrap(),
        Some(folder) => read_audit_with(
            folder,
            filter,
            &mut each,
            |error| error,
            |each| block_on(read_audit(&**store, filter, each)),
        )
        .unwrap(),
    }
    entries
}

#[test]
fn each_node_has_a_chain_and_a_checkpoint_joins_them() {
    let store = memory();
    let all = read(&store, None, &AuditFilter::default());
    assert_eq!(all.len() as u64, 1 + 2 * EACH);
    let chains: Vec<&str> = all.iter().map(|entry| entry.chain.as_str()).collect();
    assert_eq!(chains.iter().filter(|chain| chain.is_empty()).count(), 1);
    for actor in ["a", "b"] {
        let filter = AuditFilter {
            actor: Some(actor.to_owned()),
            ..AuditFilter::default()
        };
        let of_node = read(&store, None, &filter);
        let numbers: Vec<u64> = of_node.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, (1..=EACH).collect::<Vec<_>>());
        let chain = Some(of_node[0].chain.clone());
        let filter = AuditFilter {
            chain,
            after: 2,
            last: Some(2),
            ..AuditFilter::default()
        };
        assert_eq!(read(&store, None, &filter), of_node[3..]);
    }
    export_audit(&*store, &AuditPositions::default(), START, &mut |_| Ok(())).unwrap();
    let filter = AuditFilter {
        act: Some("audit.checkpoint".to_owned()),
        ..AuditFilter::default()
    };
    let checkpoints = read(&store, None, &filter);
    assert_eq!(checkpoints.len(), 1);
    assert_eq!(checkpoints[0].about.len(), 2);
    // Nothing new is joined again.
    export_audit(&*store, &AuditPositions::default(), START, &mut |_| Ok(())).unwrap();
    assert_eq!(read(&store, None, &filter), checkpoints);
}

/// A chain is not found to be shorter, longer or another one than a checkpoint says.
#[test]
fn whole_chain_that_is_missing_or_rewritten_is_found() {
    let store = memory();
    export_audit(&*store, &AuditPositions::default(), START, &mut |_| Ok(())).unwrap();
    let log = names(&store);
    let is_of_node = |entry: &&Entry| entry.key.as_str().starts_with("/a/n");
    let chain = log
        .iter()
        .find(is_of_node)
        .unwrap()
        .key
        .parts()
        .nth(1)
        .unwrap();
    let last = Key::of(["a", &chain, &format!("{EACH:020}")]).unwrap();
    let head = Key::of(["a", "_chain", &chain]).unwrap();
    let without = Txn::new()
        .delete_prefix(Prefix::of(["a", &chain]).unwrap())
        .delete(head.clone());
    let value = |key: &Key| {
        let entry = log.iter().find(|entry| entry.key == *key).unwrap();
        String::from_utf8(entry.value.clone()).unwrap()
    };
    // The last entry and the head are changed together.
    let forged = value(&last).replace("\"actor\":\"", "\"actor\":\"x");
    let hash = |text: &str| hex(&Sha256::digest(text.as_bytes()));
    let other_head = value(&head).replace(&hash(&value(&last)), &hash(&forged));
    assert_ne!(other_head, value(&head));
    let rewritten = Txn::new().put(last, forged).put(head, other_head);
    for txn in [without, rewritten] {
        block_on(store.commit(txn)).unwrap();
        let broken = block_on(verify_audit(&*store)).unwrap_err();
        assert!(
            matches!(&broken, Error::Audit(what) if what.contains(&chain)),
            "{broken}"
        );
        let back = log.iter().fold(Txn::new(), |txn, entry| {
            txn.put(entry.key.clone(), entry.value.clone())
        });
        block_on(store.commit(back)).unwrap();
        block_on(verify_audit(&*store)).unwrap();
    }
}

#[test]
fn exported_log_is_dropped_and_read_with_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let redb = RedbStore::open(&folder.path().join("data")).unwrap();
    for (name, store) in [("memory", memory()), ("redb", filled(Arc::new(redb)))] {
        let path = folder.path().join(name);
        // The chains may still grow.
        assert_eq!(export(&store, &path, START).unwrap().count(), (0, 0));
        let before = read(&store, None, &AuditFilter::default());
        let exported = export(&store, &path, LATER).unwrap();
        assert_eq!(exported.count(), (2, 2 * EACH));
        assert_eq!(exported.verify(), Ok(2 * EACH));
        let entries = 1 + 2 * EACH + 2;
        assert_eq!(check(&store, &path), Ok((entries, 0)));
        // Both stay, then one, then none.
        for (keep, dropped) in [(2, 0), (1, EACH), (0, EACH), (0, 0)] {
            let folder = export(&store, &path, LATER).unwrap();
            let ends = droppable(&store, &folder, keep);
            assert_eq!(
                drop_audit(&*store, &ends, "me", LATER),
                Ok(dropped),
                "{keep}"
            );
        }
        let entries = entries + 2;
        assert_eq!(check(&store, &path), Ok((entries, 2 * EACH)));
        assert_eq!(block_on(verify_audit(&*store)), Ok(entries - 2 * EACH));
        // No record of the chains is left, and the store goes on.
        let left = names(&store);
        assert!(
            left.iter().all(|entry| !entry.key.as_str().contains("/n")),
            "{left:?}"
        );
        let node = start(&store);
        assert_eq!(node.status().audit_entries, entries - 2 * EACH);
        revoke_tokens(&node, "c");
        let folder = AuditFolder::open(&path).unwrap();
        let all = read(&store, Some(&folder), &AuditFilter::default());
        assert_eq!(all.len() as u64, entries + EACH);
        assert!(before.iter().all(|entry| all.contains(entry)));
        let last = AuditFilter {
            actor: Some("b".to_owned()),
            last: Some(2),
            ..AuditFilter::default()
        };
        let last = read(&store, Some(&folder), &last);
        assert_eq!(
            last.iter().map(|entry| entry.number).collect::<Vec<_>>(),
            [EACH - 1, EACH]
        );
        assert_eq!(check(&store, &path), Ok((entries + EACH, 2 * EACH)));
    }
}

/// Segments of the main chain, of which the last entry always stays.
#[test]
fn full_segment_of_the_main_chain_is_exported_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    let node = start(&store);
    let name = MigrationSource::check(&*store).unwrap().name().to_owned();
    let rules = (0..limits::AUDIT_SEGMENT_ENTRIES).map(|number| {
        let subject = Subject::Subject(format!("user-{}", number % 7));
        node.revoke("me", ISS, Revoke::all(subject))
    });
    // One after the other: those that wait together have one entry.
    for rule in rules {
        block_on(rule).unwrap();
    }
    let path = folder.path().join("audit");
    let exported = export(&store, &path, START).unwrap();
    assert_eq!(exported.count(), (1, limits::AUDIT_SEGMENT_ENTRIES));
    let ends = droppable(&store, &exported, 0);
    let dropped = drop_audit(&*store, &ends, "me", START);
    assert_eq!(dropped, Ok(limits::AUDIT_SEGMENT_ENTRIES));
    let (entries, exported) = check(&store, &path).unwrap();
    assert_eq!(exported, limits::AUDIT_SEGMENT_ENTRIES);
    until("the node knows what was dropped", || {
        node.status().audit_entries == entries - exported
    });
    // It is the same store, also restored from a backup.
    assert_eq!(MigrationSource::check(&*store).unwrap().name(), name);
    let mut backup = Vec::new();
    back_up(&*store, START, &mut backup).unwrap();
    let restored = folder.path().join("restored");
    restore(&restored, &mut backup.as_slice(), START).unwrap();
    let restored: Arc<dyn Store> = Arc::new(RedbStore::open(&restored).unwrap());
    assert_eq!(check(&restored, &path), Ok((entries, exported)));
    revoke_tokens(&start(&restored), "later");
    assert_eq!(check(&restored, &path), Ok((entries + EACH, exported)));
}

#[test]
fn interrupted_export_and_drop_are_continued() {
    let folder = tempfile::tempdir().unwrap();
    let (store, path) = (memory(), folder.path().join("audit"));
    let mut half = AuditFolder::open(&path).unwrap();
    let mut parts = 0;
    let ended = export_audit(&*store, &AuditPositions::default(), LATER, &mut |part| {
        parts += 1;
        if parts > 3 {
            return Err(Error::Contended);
        }
        half.write(part)
    });
    assert_eq!(ended, Err(Error::Contended));
    drop(half);
    // A part of a file is not a segment.
    assert_eq!(AuditFolder::open(&path).unwrap().count(), (0, 0));
    let exported = export(&store, &path, LATER).unwrap();
    assert_eq!(exported.count(), (2, 2 * EACH));
    // Parts in another order.
    let mut other = AuditFolder::open(&folder.path().join("other")).unwrap();
    for part in [AuditPart::End, AuditPart::Entry(b"{}".to_vec())] {
        assert!(matches!(other.write(part), Err(Error::AuditExport(_))));
    }
    // The deletion of entries was interrupted: some are left.
    let log = names(&store);
    let ends = droppable(&store, &exported, 0);
    drop_audit(&*store, &ends, "me", LATER).unwrap();
    let chain = ends.chains.keys().next().unwrap();
    let base = format!(
        r#"{{"schema":3,"record":{{"last":{{"number":{EACH},"hash":"{}"}}}}}}"#,
        ends.chains[chain].hash
    );
    let left = log.iter().filter(|entry| {
        let parts: Vec<String> = entry.key.parts().collect();
        let is_entry = parts[1] == *chain && parts[2] >= format!("{:020}", 3);
        is_entry || (parts[1] == "_chain" && parts[2] == *chain)
    });
    let again = left.fold(Txn::new(), |txn, entry| {
        // As the checkpoint has sealed it.
        let value = String::from_utf8(entry.value.clone()).unwrap();
        txn.put(entry.key.clone(), value)
    });
    let again = again.put(Key::of(["a", "_base", chain]).unwrap(), base);
    block_on(store.commit(again)).unwrap();
    let (entries, exported) = check(&store, &path).unwrap();
    assert_eq!(exported, EACH + 2);
    assert_eq!(drop_audit(&*store, &ends, "me", LATER), Ok(0));
    assert_eq!(check(&store, &path), Ok((entries, 2 * EACH)));
    assert!(
        names(&store)
            .iter()
            .all(|entry| !entry.key.as_str().contains(chain.as_str()))
    );
}

#[test]
fn damaged_incomplete_or_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (store, path) = (memory(), folder.path().join("audit"));
    let exported = export(&store, &path, LATER).unwrap();
    drop_audit(&*store, &droppable(&store, &exported, 0), "me", LATER).unwrap();
    let whole = check(&store, &path).unwrap();
    for file in files(&path) {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let cut = |count: usize| format!("{}\n", lines[..count].join("\n"));
        for (changed, said) in [
            (String::new(), "is not an exported segment"),
            (format!("x{text}"), "is not an exported segment"),
            (text[..text.len() / 2].to_owned(), "is incomplete"),
            (cut(1), "is incomplete"),
            (cut(lines.len() - 1), "is incomplete"),
            (format!("{text}x"), "was changed"),
            (text.replacen("\"revoke\"", "\"nothing\"", 1), "was changed"),
            (text.replacen("\"ended\":", "\"ended\":1", 1), "was changed"),
            (
                text.replacen("\"jeton_audit\":1", "\"jeton_audit\":2", 1),
                "newer version",
            ),
        ] {
            fs::write(&file, changed).unwrap();
            let broken = check(&store, &path).unwrap_err().to_string();
            assert!(broken.contains(said), "{said}: {broken}");
            assert!(broken.contains(file.to_str().unwrap()), "{broken}");
        }
        fs::remove_file(&file).unwrap();
        let missing = check(&store, &path).unwrap_err().to_string();
        assert!(missing.contains("entries 1 to 5 of chain n"), "{missing}");
        assert!(
            missing.contains("are neither in the folder nor in the store"),
            "{missing}"
        );
        fs::write(&file, text).unwrap();
        assert_eq!(check(&store, &path), Ok(whole));
    }
}

#[test]
fn folder_of_another_store_or_history_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let (store, other) = (memory(), memory());
    let mut backup = Vec::new();
    back_up(&*store, START, &mut backup).unwrap();
    revoke_tokens(&start(&store), "after the backup");
    let exported = export(&store, &path, LATER).unwrap();
    assert_eq!(exported.count(), (3, 3 * EACH));
    let before = files(&path);
    let bases = audit_bases(&*store).unwrap();
    let ends = exported.ends(&bases).unwrap();
    for failed in [
        export(&other, &path, LATER).map(drop),
        check(&other, &path).map(drop),
        export_audit(&*other, &ends, LATER, &mut |_| Ok(())),
        drop_audit(&*other, &ends, "me", LATER).map(drop),
    ] {
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains("of another store"), "{failed}");
    }
    // Restored: its chains end earlier, and have other entries than the files where they go on.
    let restored = folder.path().join("restored");
    restore(&restored, &mut backup.as_slice(), START).unwrap();
    let restored: Arc<dyn Store> = Arc::new(RedbStore::open(&restored).unwrap());
    block_on(verify_audit(&*restored)).unwrap();
    let chains = ends.chains.into_keys();
    let grown: Vec<Entry> = names(&restored);
    let is_known = |chain: &String| {
        grown
            .iter()
            .any(|entry| entry.key.as_str().contains(chain.as_str()))
    };
    let known = chains.filter(is_known).count();
    assert_eq!(known, 2);
    // One chain of an older moment.
    let head = grown
        .iter()
        .find(|entry| entry.key.as_str().starts_with("/a/_chain/"))
        .unwrap();
    let chain = head.key.parts().nth(2).unwrap();
    let older = Txn::new().delete(Key::of(["a", &chain, &format!("{EACH:020}")]).unwrap());
    block_on(restored.commit(older)).unwrap();
    let refused = export(&restored, &path, START)
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("restored from an older backup"),
        "{refused}"
    );
    assert_eq!(files(&path), before);
}

/// A log with one chain, as the version before wrote it: also tokens are in the main chain.
#[test]
fn log_of_the_version_before_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (mut txn, mut previous) = (Txn::new(), String::new());
    for number in 1..=3 {
        let entry = format!(
            r#"{{"schema":1,"record":{{"number":{number},"at":{START},"actor":"me","act":"revoke","iss":"{ISS}","about":["/r/{number}"],"previous":"{previous}"}}}}"#
        );
        previous = hex(&Sha256::digest(entry.as_bytes()));
        txn = txn.put(Key::of(["a", &format!("{number:020}")]).unwrap(), entry);
    }
    let head = format!(r#"{{"schema":1,"record":{{"number":3,"hash":"{previous}"}}}}"#);
    block_on(store.commit(txn.put(Key::of(["a", "_head"]).unwrap(), head))).unwrap();
    assert_eq!(block_on(verify_audit(&*store)), Ok(3));
    let store = filled(store);
    let path = folder.path().join("audit");
    let exported = export(&store, &path, LATER).unwrap();
    assert_eq!(exported.count(), (2, 2 * EACH));
    assert_eq!(check(&store, &path), Ok((3 + 1 + 2 * EACH + 1, 0)));
    let numbers = read(&store, None, &AuditFilter::default());
    let main = numbers.iter().filter(|entry| entry.chain.is_empty());
    assert_eq!(
        main.map(|entry| entry.number).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
