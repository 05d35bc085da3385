//! Cases for reads, scans and transactions.

use std::sync::atomic::{AtomicU64, Ordering};

use jeton_store::{Condition, Error, Outcome, Problem, Revision, Store, Txn, block_on, limits};

use super::{committed, contents, key, prefix, put, texts, value};
use crate::threads::at_once;
use crate::{Checked, Failed, Subject, ensure};

pub fn read_returns_written_entries(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let (one, two, none) = (key(&["t", "1"]), key(&["t", "a/b%c"]), key(&["t", "none"]));
    for round in 0..20 {
        let text = format!("value {round}");
        put(&*store, &one, &text)?;
        put(&*store, &two, "")?;
        let read = block_on(store.read(&[two.clone(), none.clone(), one.clone()]))?;
        let values: Vec<_> = read
            .entries
            .iter()
            .map(|entry| entry.as_ref().map(|entry| entry.value.as_slice()))
            .collect();
        ensure!(
            values == [Some(&b""[..]), None, Some(text.as_bytes())],
            "round {round} read other entries than written"
        );
        committed(&*store, Txn::new().delete(two.clone()))?;
        ensure!(
            value(&*store, &two)?.is_none(),
            "a deleted entry is still read"
        );
    }
    Ok(())
}

pub fn conditions_are_checked(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let (there, absent, out) = (
        key(&["c", "there"]),
        key(&["c", "absent"]),
        key(&["c", "out"]),
    );
    put(&*store, &there, "old")?;
    let changed = put(&*store, &there, "new")?;
    let before = Revision::from_number(changed.number() - 1);
    let after = Revision::from_number(changed.number() + 1);
    for (name, condition, holds) in [
        (&there, Condition::Absent, false),
        (&there, Condition::Present, true),
        (&there, Condition::Unchanged(changed), true),
        (&there, Condition::Unchanged(before), false),
        (&there, Condition::Unchanged(after), false),
        (&absent, Condition::Absent, true),
        (&absent, Condition::Present, false),
        (&absent, Condition::Unchanged(changed), false),
        (&absent, Condition::Unchanged(Revision::START), false),
    ] {
        let txn = Txn::new()
            .when(name.clone(), condition)
            .put(out.clone(), "x");
        let outcome = block_on(store.commit(txn))?;
        ensure!(
            matches!(outcome, Outcome::Committed(_)) == holds,
            "{name} {condition:?} should be {holds}"
        );
    }
    Ok(())
}

pub fn every_condition_counts(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let keys: Vec<_> = (0..10).map(|i| key(&["every", &i.to_string()])).collect();
    for failing in 0..keys.len() {
        put(&*store, &keys[failing], "there")?;
        let txn = keys
            .iter()
            .fold(Txn::new(), |txn, key| {
                txn.when(key.clone(), Condition::Absent)
            })
            .put(key(&["every", "out"]), "x");
        let outcome = block_on(store.commit(txn))?;
        ensure!(
            matches!(outcome, Outcome::Conflict(_)),
            "condition {failing} of {} was not checked",
            keys.len()
        );
        committed(&*store, Txn::new().delete(keys[failing].clone()))?;
    }
    Ok(())
}

pub fn conflict_changes_nothing(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["n"]);
    put(&*store, &key(&["n", "keep"]), "kept")?;
    put(&*store, &key(&["n", "drop", "1"]), "kept")?;
    let before = contents(&*store, &below)?;
    let newest = block_on(store.status())?.revision;
    let txn = Txn::new()
        .put(key(&["n", "new"]), "x")
        .delete(key(&["n", "keep"]))
        .delete_prefix(prefix(&["n", "drop"]))
        .when(key(&["n", "keep"]), Condition::Absent);
    let outcome = block_on(store.commit(txn))?;
    ensure!(
        matches!(outcome, Outcome::Conflict(_)),
        "a false condition held"
    );
    ensure!(
        contents(&*store, &below)? == before,
        "a conflict changed something"
    );
    ensure!(
        block_on(store.status())?.revision == newest,
        "a conflict has a revision"
    );
    Ok(())
}

pub fn revisions_grow_with_changes(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let (a, b) = (key(&["rev", "a"]), key(&["rev", "b"]));
    let mut last = block_on(store.status())?.revision;
    for round in 0..30 {
        let other = if round % 3 == 0 { &b } else { &a };
        let revision = put(&*store, other, "v")?;
        ensure!(revision > last, "revision {revision} after {last}");
        let read = block_on(store.read(std::slice::from_ref(other)))?;
        let changed = read.entries[0].as_ref().map(|entry| entry.changed);
        ensure!(
            changed == Some(revision),
            "an entry says {changed:?}, its commit {revision}"
        );
        ensure!(
            read.revision >= revision,
            "a read has an older revision than its entries"
        );
        last = revision;
    }
    Ok(())
}

pub fn invalid_transaction_is_rejected(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let k = |part: &str| key(&["bad", part]);
    let many = |count| (0..count).fold(Txn::new(), |txn, i| txn.put(k(&format!("{i}")), "v"));
    let cases = [
        (Txn::new(), Problem::NothingToDo),
        (many(limits::TXN_OPERATIONS + 1), Problem::TooManyOperations),
        (
            Txn::new().put(k("a"), "1").delete(k("a")),
            Problem::KeyTwice,
        ),
        (
            Txn::new().put(k("a"), "1").delete_prefix(prefix(&["bad"])),
            Problem::KeyTwice,
        ),
        (
            Txn::new().put(k("a"), vec![0; limits::VALUE_BYTES + 1]),
            Problem::ValueTooLong,
        ),
    ];
    for (txn, problem) in cases {
        let refused = block_on(store.commit(txn));
        ensure!(
            refused == Err(Error::Invalid(problem)),
            "{problem:?} was reported as {refused:?}"
        );
    }
    ensure!(
        contents(&*store, &prefix(&["bad"]))?.is_empty(),
        "a rejected transaction changed something"
    );
    let keys: Vec<_> = (0..=limits::READ_KEYS).map(|i| k(&i.to_string())).collect();
    ensure!(
        matches!(
            block_on(store.read(&keys)),
            Err(Error::Invalid(Problem::TooManyKeys))
        ),
        "a read of too many keys succeeds"
    );
    Ok(())
}

pub fn largest_transaction_is_accepted(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let value = vec![b'x'; limits::TXN_BYTES / limits::TXN_OPERATIONS - 64];
    let txn = (0..limits::TXN_OPERATIONS).fold(Txn::new(), |txn, i| {
        txn.put(key(&["large", &format!("{i:03}")]), value.clone())
    });
    committed(&*store, txn)?;
    let found = contents(&*store, &prefix(&["large"]))?.len();
    ensure!(
        found == limits::TXN_OPERATIONS,
        "{found} entries of a full transaction"
    );
    Ok(())
}

pub fn delete_prefix_keeps_other_keys(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let inside = [key(&["r", "i", "7", "1"]), key(&["r", "i", "7", "2", "3"])];
    let beside = [
        key(&["r", "i", "7"]),
        key(&["r", "i", "70", "1"]),
        key(&["r", "i", "6", "1"]),
        key(&["r", "i", "7.", "1"]),
        key(&["r", "i/7", "1"]),
        key(&["r", "i", "70"]),
    ];
    for key in inside.iter().chain(&beside) {
        put(&*store, key, "v")?;
    }
    committed(&*store, Txn::new().delete_prefix(prefix(&["r", "i", "7"])))?;
    let mut expected: Vec<_> = beside.iter().map(|key| key.as_str().to_owned()).collect();
    expected.sort();
    let left: Vec<_> = contents(&*store, &prefix(&["r"]))?
        .into_iter()
        .map(|(key, _)| key)
        .collect();
    ensure!(
        left == expected,
        "remaining: {left:?}, expected {expected:?}"
    );
    // A second deletion finds nothing and changes nothing.
    let newest = block_on(store.status())?.revision;
    committed(&*store, Txn::new().delete_prefix(prefix(&["r", "i", "7"])))?;
    ensure!(
        block_on(store.status())?.revision == newest,
        "deleting nothing has a revision"
    );
    Ok(())
}

pub fn no_increment_is_lost(subject: &mut dyn Subject) -> Checked {
    const EACH: u64 = 40;
    let store = subject.store();
    let counter = key(&["counter"]);
    put(&*store, &counter, "0")?;
    at_once(6, |_| {
        for _ in 0..EACH {
            increment(&*store, &counter)?;
        }
        Ok(())
    })?;
    let total = value(&*store, &counter)?;
    ensure!(
        total == Some((6 * EACH).to_string()),
        "{} increments made {total:?}",
        6 * EACH
    );
    Ok(())
}

fn increment(store: &dyn Store, counter: &jeton_store::Key) -> Checked {
    loop {
        let read = block_on(store.read(std::slice::from_ref(counter)))?;
        let entry = read.entries.into_iter().next().flatten();
        let entry = entry.ok_or_else(|| Failed("the counter is gone".to_owned()))?;
        let count: u64 = String::from_utf8(entry.value).unwrap().parse().unwrap();
        let txn = Txn::new()
            .when(counter.clone(), Condition::Unchanged(entry.changed))
            .put(counter.clone(), (count + 1).to_string());
        if let Outcome::Committed(_) = block_on(store.commit(txn))? {
            return Ok(());
        }
    }
}

pub fn concurrent_creates_have_one_winner(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    for round in 0..20 {
        let set = key(&["k", &round.to_string(), "_set"]);
        let winners = AtomicU64::new(0);
        at_once(8, |me| {
            let txn = Txn::new()
                .when(set.clone(), Condition::Absent)
                .put(set.clone(), me.to_string())
                .put(key(&["k", &round.to_string(), &me.to_string()]), "key");
            if let Outcome::Committed(_) = block_on(store.commit(txn))? {
                winners.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        })?;
        let made = contents(&*store, &prefix(&["k", &round.to_string()]))?;
        ensure!(
            winners.into_inner() == 1,
            "not exactly one of 8 won in round {round}"
        );
        ensure!(
            made.len() == 2,
            "the key set of round {round} has several writers: {made:?}"
        );
    }
    Ok(())
}

pub fn transactions_are_atomic_for_readers(subject: &mut dyn Subject) -> Checked {
    const ROUNDS: u64 = 150;
    let store = subject.store();
    let pair = [key(&["pair", "a"]), key(&["pair", "b"])];
    let write = |round: u64| {
        let txn = pair.iter().fold(Txn::new(), |txn, key| {
            txn.put(key.clone(), round.to_string())
        });
        committed(&*store, txn)
    };
    write(0)?;
    let written = AtomicU64::new(0);
    at_once(4, |me| {
        if me == 0 {
            for round in 1..=ROUNDS {
                write(round)?;
                written.store(round, Ordering::Release);
            }
            return Ok(());
        }
        while written.load(Ordering::Acquire) < ROUNDS {
            let read = block_on(store.read(&pair))?;
            let values: Vec<_> = read
                .entries
                .iter()
                .flatten()
                .map(|e| e.value.clone())
                .collect();
            ensure!(
                values.len() == 2 && values[0] == values[1],
                "a read shows a part of a transaction"
            );
            let scanned = contents(&*store, &prefix(&["pair"]))?;
            ensure!(
                scanned.len() == 2 && scanned[0].1 == scanned[1].1,
                "a scan shows a part of a transaction"
            );
        }
        Ok(())
    })
}

pub fn acknowledged_commit_is_visible_to_all(subject: &mut dyn Subject) -> Checked {
    const ROUNDS: u64 = 100;
    let store = subject.store();
    let fresh = key(&["fresh"]);
    put(&*store, &fresh, "0")?;
    let acknowledged = AtomicU64::new(0);
    at_once(4, |me| {
        if me == 0 {
            for round in 1..=ROUNDS {
                put(&*store, &fresh, &round.to_string())?;
                acknowledged.store(round, Ordering::Release);
            }
            return Ok(());
        }
        loop {
            let known = acknowledged.load(Ordering::Acquire);
            let seen: u64 = value(&*store, &fresh)?
                .unwrap_or_default()
                .parse()
                .unwrap_or(0);
            ensure!(
                seen >= known,
                "{known} was acknowledged, and {seen} is read"
            );
            let scanned = contents(&*store, &prefix(&["fresh"]))?;
            ensure!(scanned.is_empty(), "a key is scanned below itself");
            if known == ROUNDS {
                return Ok(());
            }
        }
    })
}

pub fn scan_of_full_pages_ends(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["full"]);
    for (pages, total) in [0, limits::PAGE_ENTRIES, 2 * limits::PAGE_ENTRIES]
        .into_iter()
        .enumerate()
    {
        let there = total.min(pages.saturating_sub(1) * limits::PAGE_ENTRIES);
        for batch in (there..total).step_by(64) {
            let txn = (batch..batch + 64).fold(Txn::new(), |txn, i| {
                txn.put(key(&["full", &format!("{i:05}")]), "v")
            });
            committed(&*store, txn)?;
        }
        let mut scan = block_on(store.scan(&below))?;
        let mut seen = 0;
        while let Some(page) = block_on(scan.next())? {
            ensure!(!page.is_empty(), "an empty page");
            seen += page.len();
        }
        ensure!(seen == total, "{seen} of {total} entries are seen");
        ensure!(
            block_on(scan.next())?.is_none(),
            "there is a page after the last"
        );
    }
    Ok(())
}

pub fn scan_is_ordered_at_one_revision(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let total = limits::PAGE_ENTRIES * 2 + 7;
    for batch in 0..total.div_ceil(100) {
        let last = total.min((batch + 1) * 100);
        let txn = (batch * 100..last).fold(Txn::new(), |txn, i| {
            txn.put(key(&["scan", &format!("{:05}", (i * 7919) % total)]), "old")
        });
        committed(&*store, txn)?;
    }
    put(&*store, &key(&["scab"]), "beside")?;
    put(&*store, &key(&["scan"]), "above")?;
    put(&*store, &key(&["scan.", "1"]), "beside")?;
    let mut pages = block_on(store.scan(&prefix(&["scan"])))?;
    let revision = pages.revision();
    let mut seen = Vec::new();
    while let Some(page) = block_on(pages.next())? {
        ensure!(
            !page.is_empty() && page.len() <= limits::PAGE_ENTRIES,
            "a page of {} entries",
            page.len()
        );
        for entry in page {
            ensure!(entry.value == b"old", "an older scan shows a later write");
            ensure!(entry.changed <= revision, "an entry is newer than the scan");
            seen.push(entry.key);
        }
        // Written during the scan, before and after its position.
        put(&*store, &key(&["scan", "00000"]), "new")?;
        put(
            &*store,
            &key(&["scan", &format!("{:05}", total - 1)]),
            "new",
        )?;
        put(&*store, &key(&["scan", "99999"]), "new")?;
    }
    ensure!(
        seen.len() == total,
        "{} of {total} entries were scanned",
        seen.len()
    );
    ensure!(seen.is_sorted_by(|a, b| a < b), "a scan is out of order");
    Ok(())
}

pub fn scan_after_skips_a_prefix(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let total = limits::PAGE_ENTRIES + 7;
    for first in (0..total).step_by(60) {
        let txn = (first..total.min(first + 60)).fold(Txn::new(), |txn, i| {
            let number = format!("{i:05}");
            txn.put(key(&["skip", "in", &number]), "")
                .put(key(&["skip0", &number]), "")
        });
        committed(&*store, txn)?;
    }
    for beside in [&["skip"][..], &["skip-", "1"], &["ski"]] {
        put(&*store, &key(beside), "")?;
    }
    for is_pinned in [true, false] {
        let mut scanned = texts(block_on(store.scan_after(&prefix(&["skip"]), is_pinned))?)?;
        // Other cases write to the same store.
        scanned.retain(|(name, _)| name.starts_with("/ski"));
        let expected = (0..total).map(|i| (format!("/skip0/{i:05}"), String::new()));
        ensure!(
            scanned == expected.collect::<Vec<_>>(),
            "{} of {total} entries after the prefix are scanned",
            scanned.len()
        );
    }
    Ok(())
}
