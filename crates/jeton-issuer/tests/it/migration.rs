//! Moves a data folder to another one. `jeton-cli` tests the same with an etcd.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jeton_issuer::{
    DataFolder, Error, Found, IfUnfinished, IssuerSettings, KeyEncryptionKey, MigrateError,
    MigrationEntry, MigrationSource, MigrationStep, MigrationTarget, Missing, Node, Options,
    Request, Revoke, Subject, count_records, verify_audit,
};
use jeton_store::{Error as StoreError, Key, Prefix, RedbStore, Store, Txn, block_on};

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";

const ENTRY: MigrationEntry<'static> = MigrationEntry {
    actor: "me",
    at: START + 60,
    from: "here",
};

fn open(path: &Path) -> DataFolder {
    DataFolder::open(path, Missing::Make, Duration::ZERO).unwrap()
}

fn start(folder: &DataFolder) -> Node {
    let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
    Node::start(folder.store(), options, Arc::new(ManualClock::new())).unwrap()
}

/// Creates a folder with an issuer and revocations. Returns a token of a revoked subject, and one that is valid.
fn filled(path: &Path) -> (DataFolder, [String; 2]) {
    let folder = open(path);
    let node = start(&folder);
    let settings = format!(
        r#"{{"iss": "{ISS}", "profiles":
            [{{"name": "p", "alg": "HS256", "lifetime_seconds": 900, "audiences": ["api"]}}]}}"#
    );
    node.create_issuer("setup", IssuerSettings::from_json(&settings).unwrap())
        .unwrap();
    let issue = |subject| {
        let issued = node.issue(ISS, &Request::new("p").subject(subject));
        issued.unwrap().token
    };
    let tokens = [issue("bad"), issue("good")];
    let revoke = |what| block_on(node.revoke("me", ISS, what)).unwrap();
    revoke(Revoke::all(Subject::Subject("bad".into())));
    for number in 0..300 {
        let id = format!("id-{number}");
        revoke(Revoke::token(&id, START + 600));
    }
    (folder, tokens)
}

fn entries(store: &dyn Store) -> BTreeMap<Key, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pages = block_on(store.scan(&Prefix::all())).unwrap();
    while let Some(page) = block_on(pages.next()).unwrap() {
        found.extend(page.into_iter().map(|entry| (entry.key, entry.value)));
    }
    found
}

/// The folder of an interrupted migration, with this content.
fn interrupted(to: &Path, source: &MigrationSource<'_>, txn: Txn) {
    let part = to.join(format!("migrating-{}", source.name()));
    let store = RedbStore::open(&part).unwrap();
    block_on(store.commit(txn)).unwrap();
}

fn migrate(
    source: &MigrationSource<'_>,
    to: &Path,
    if_unfinished: IfUnfinished,
) -> Result<u64, Error> {
    let target = MigrationTarget::folder(to, source, Duration::ZERO)?;
    source.copy_to(target, if_unfinished, ENTRY, &mut |_, _| {})
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn every_record_is_copied_and_the_counter_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (from, tokens) = filled(&folder.path().join("from"));
    let store = from.store();
    let source = MigrationSource::check(&*store).unwrap();
    let counts = *source.counts();
    assert_eq!(
        (counts.issuers, counts.private_keys, counts.rules),
        (1, 1, 1)
    );
    assert_eq!((counts.revoked_tokens, counts.rule_counters), (300, 1));
    let to = folder.path().join("to");
    let mut steps = Vec::new();
    let target = MigrationTarget::folder(&to, &source, Duration::ZERO).unwrap();
    let copied = source.copy_to(target, IfUnfinished::Refuse, ENTRY, &mut |step, passed| {
        steps.push((step, passed));
    });
    assert_eq!(copied, Ok(counts.total()));
    let total = counts.total();
    assert_eq!(
        steps,
        [
            (MigrationStep::Copy, total),
            (MigrationStep::Compare, total)
        ]
    );
    // No part is left.
    assert_eq!(names(&to), ["lock", "store.redb"]);

    let moved = open(&to);
    let (before, after) = (entries(&*store), entries(&*moved.store()));
    let head = Key::of(["a", "_head"]).unwrap();
    let differing: Vec<&Key> = (after.iter())
        .filter(|(key, value)| before.get(*key) != Some(*value))
        .map(|(key, _)| key)
        .collect();
    // The main chain has the issuer and the rule. The tokens are in the chain of the node.
    let entry = format!("{:020}", 3);
    assert_eq!(differing, [&Key::of(["a", &entry]).unwrap(), &head]);
    assert_eq!(after.len(), before.len() + 1);
    let numbered = block_on(verify_audit(&*moved.store())).unwrap();
    assert_eq!(numbered, counts.audit_entries + 1);
    let written = String::from_utf8(after[differing[0]].clone()).unwrap();
    let records = format!("{total} records");
    for word in ["\"store.migrate\"", "\"me\"", "from here", &records] {
        assert!(written.contains(word), "{written}");
    }

    // The counter goes on. The first rule of a node begins an epoch.
    let (old, new) = (start(&from), start(&moved));
    let stamp = |node: &Node, name: &str| {
        let rules = node.rules(ISS).unwrap();
        let rule = rules.into_iter().find(|rule| rule.name == name);
        rule.unwrap().stamp.unwrap()
    };
    let again = Revoke::all(Subject::Subject("next".into()));
    block_on(new.revoke("me", ISS, again)).unwrap();
    assert_eq!(stamp(&new, "bad"), stamp(&old, "bad"));
    assert!(stamp(&new, "next").epoch > stamp(&old, "bad").epoch);
    assert!(stamp(&new, "next") > stamp(&old, "bad"));
    let [revoked, valid] = &tokens;
    assert_eq!(new.verify(ISS, "api", revoked).unwrap_err(), Error::Revoked);
    assert!(new.verify(ISS, "api", valid).is_ok());
}

#[test]
fn interrupted_migration_is_continued_or_started_over() {
    let folder = tempfile::tempdir().unwrap();
    let (from, _) = filled(&folder.path().join("from"));
    let store = from.store();
    let source = MigrationSource::check(&*store).unwrap();
    let before = entries(&*store);
    let (first, value) = before.first_key_value().unwrap();
    for how in [IfUnfinished::Continue, IfUnfinished::StartOver] {
        let to = folder.path().join(format!("{how:?}"));
        // A record as in the source, one that has changed since, and one that it no longer has.
        let part = Txn::new()
            .put(first.clone(), value.clone())
            .put(Key::of(["i", ISS]).unwrap(), "{}")
            .put(Key::of(["i", "gone"]).unwrap(), "{}");
        interrupted(&to, &source, part);
        let found = MigrationTarget::look_at_folder(&to, &source);
        assert_eq!(found, Ok(Found::Unfinished));
        assert_eq!(
            migrate(&source, &to, IfUnfinished::Refuse),
            Err(MigrateError::Unfinished.into())
        );
        // A server does not find a part.
        let opened = DataFolder::open(&to, Missing::Refuse, Duration::ZERO);
        assert!(matches!(opened, Err(Error::NoStore(_))));
        assert_eq!(migrate(&source, &to, how), Ok(source.counts().total()));
        let counts = block_on(count_records(&*open(&to).store())).unwrap();
        assert_eq!(counts.total(), source.counts().total() + 1, "{how:?}");
        assert_eq!(counts.issuers, 1);
        assert_eq!(names(&to), ["lock", "store.redb"]);
    }
}

#[test]
fn other_target_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (from, _) = filled(&folder.path().join("from"));
    let (other, _) = filled(&folder.path().join("other"));
    let (from, other) = (from.store(), other.store());
    let source = MigrationSource::check(&*from).unwrap();
    let other = MigrationSource::check(&*other).unwrap();
    let to = folder.path().join("to");
    interrupted(
        &to,
        &other,
        Txn::new().put(Key::of(["i", "x"]).unwrap(), "{}"),
    );
    for how in [
        IfUnfinished::Refuse,
        IfUnfinished::Continue,
        IfUnfinished::StartOver,
    ] {
        let refused = migrate(&source, &to, how).unwrap_err();
        assert_eq!(refused, Error::Store(StoreError::OtherSource));
    }
    let looked = MigrationTarget::look_at_folder(&to, &source);
    assert_eq!(looked, Err(StoreError::OtherSource.into()));
    let part = to.join(format!("migrating-{}", other.name()));
    let store = RedbStore::open(&part).unwrap();
    assert_eq!(entries(&store).len(), 1);
    drop(store);
    // A folder with a store.
    migrate(&other, &to, IfUnfinished::Continue).unwrap();
    let there: Error = StoreError::AlreadyThere.into();
    let looked = MigrationTarget::look_at_folder(&to, &other);
    assert_eq!(looked, Err(there.clone()));
    for how in [IfUnfinished::Refuse, IfUnfinished::StartOver] {
        assert_eq!(migrate(&other, &to, how), Err(there.clone()));
    }
    // A source without an issuer.
    let empty = open(&folder.path().join("empty")).store();
    let refused = MigrationSource::check(&*empty).unwrap_err();
    assert_eq!(refused, MigrateError::Empty.into());
}

/// In an etcd: a store whose root is inside the root of the part.
#[test]
fn part_with_keys_of_others_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (from, _) = filled(&folder.path().join("from"));
    let store = from.store();
    let source = MigrationSource::check(&*store).unwrap();
    for other in [&["b!format"][..], &["b", "i", ISS], &["name"]] {
        let to = folder.path().join(other.concat().replace(['/', ':'], ""));
        let part = Txn::new()
            .put(Key::of(["i", "gone"]).unwrap(), "{}")
            .put(Key::of(other).unwrap(), "1");
        interrupted(&to, &source, part);
        for how in [IfUnfinished::Continue, IfUnfinished::StartOver] {
            let other = Key::of(other).unwrap().to_string();
            let refused = migrate(&source, &to, how).unwrap_err();
            assert_eq!(refused, MigrateError::OtherKey(other).into(), "{how:?}");
        }
        let part = to.join(format!("migrating-{}", source.name()));
        assert_eq!(entries(&RedbStore::open(&part).unwrap()).len(), 2);
    }
}

#[test]
fn source_that_changes_during_the_copy_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (from, _) = filled(&folder.path().join("from"));
    let store = from.store();
    let source = MigrationSource::check(&*store).unwrap();
    let key = |name: &str| Key::of(["rule", ISS, "subject", name]).unwrap();
    let rule = format!(r#"{{"schema":1,"record":{{"not_before":{START},"until":{START}}}}}"#);
    for (name, txn) in [
        ("added", Txn::new().put(key("s"), rule.clone())),
        ("changed", Txn::new().put(key("bad"), rule)),
        ("deleted", Txn::new().delete(key("bad"))),
    ] {
        let to = folder.path().join(name);
        let target = MigrationTarget::folder(&to, &source, Duration::ZERO).unwrap();
        let mut txn = Some(txn);
        let ended = source.copy_to(target, IfUnfinished::Refuse, ENTRY, &mut |step, _| {
            if step == MigrationStep::Copy
                && let Some(txn) = txn.take()
            {
                block_on(store.commit(txn)).unwrap();
            }
        });
        assert!(
            matches!(&ended, Err(Error::Migrate(MigrateError::SourceChanged(key))) if key.contains("rule")),
            "{name}: {ended:?}"
        );
        // It is not finished, and can be continued.
        assert!(!RedbStore::is_in(&to).unwrap());
        migrate(&source, &to, IfUnfinished::Continue).unwrap();
        assert!(RedbStore::is_in(&to).unwrap());
    }
}
