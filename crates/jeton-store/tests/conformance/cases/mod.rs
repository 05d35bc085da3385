//! One case for each guarantee of `Store`.

mod durability;
mod follow;
mod freshness;
mod loading;
mod model;
mod transactions;

use jeton_store::{Key, Outcome, Pages, Prefix, Revision, Store, Txn, block_on, limits};

use crate::{Checked, Failed, Subject};

/// A case.
pub type Case = fn(&mut dyn Subject) -> Checked;

/// All cases. The name states the guarantee.
pub const ALL: &[(&str, Case)] = &[
    (
        "read_returns_written_entries",
        transactions::read_returns_written_entries,
    ),
    (
        "conditions_are_checked",
        transactions::conditions_are_checked,
    ),
    (
        "every_condition_counts",
        transactions::every_condition_counts,
    ),
    (
        "conflict_changes_nothing",
        transactions::conflict_changes_nothing,
    ),
    (
        "revisions_grow_with_changes",
        transactions::revisions_grow_with_changes,
    ),
    (
        "invalid_transaction_is_rejected",
        transactions::invalid_transaction_is_rejected,
    ),
    (
        "largest_transaction_is_accepted",
        transactions::largest_transaction_is_accepted,
    ),
    (
        "delete_prefix_keeps_other_keys",
        transactions::delete_prefix_keeps_other_keys,
    ),
    ("no_increment_is_lost", transactions::no_increment_is_lost),
    (
        "concurrent_creates_have_one_winner",
        transactions::concurrent_creates_have_one_winner,
    ),
    (
        "transactions_are_atomic_for_readers",
        transactions::transactions_are_atomic_for_readers,
    ),
    (
        "acknowledged_commit_is_visible_to_all",
        transactions::acknowledged_commit_is_visible_to_all,
    ),
    (
        "scan_of_full_pages_ends",
        transactions::scan_of_full_pages_ends,
    ),
    (
        "scan_is_ordered_at_one_revision",
        transactions::scan_is_ordered_at_one_revision,
    ),
    (
        "scan_after_skips_a_prefix",
        transactions::scan_after_skips_a_prefix,
    ),
    (
        "random_histories_match_the_model",
        model::random_histories_match_the_model,
    ),
    (
        "watch_reports_all_changes_in_order",
        follow::watch_reports_all_changes_in_order,
    ),
    (
        "watch_reports_whole_transactions",
        follow::watch_reports_whole_transactions,
    ),
    (
        "watch_resumes_at_position",
        follow::watch_resumes_at_position,
    ),
    (
        "watch_far_behind_catches_up",
        follow::watch_far_behind_catches_up,
    ),
    (
        "watch_with_dropped_calls_loses_nothing",
        follow::watch_with_dropped_calls_loses_nothing,
    ),
    (
        "watch_of_compacted_revision_fails",
        follow::watch_of_compacted_revision_fails,
    ),
    (
        "watch_of_future_revision_is_rejected",
        follow::watch_of_future_revision_is_rejected,
    ),
    (
        "quiet_watch_reports_progress",
        follow::quiet_watch_reports_progress,
    ),
    (
        "idle_store_watch_reports_progress",
        follow::idle_store_watch_reports_progress,
    ),
    (
        "as_of_follows_all_acknowledged_commits",
        freshness::as_of_follows_all_acknowledged_commits,
    ),
    (
        "as_of_is_time_of_the_question",
        freshness::as_of_is_time_of_the_question,
    ),
    (
        "as_of_advances_while_others_write",
        freshness::as_of_advances_while_others_write,
    ),
    (
        "load_ends_despite_compaction",
        loading::load_ends_despite_compaction,
    ),
    (
        "load_during_writes_has_one_revision",
        loading::load_during_writes_has_one_revision,
    ),
    (
        "acknowledged_commit_survives_power_cut",
        durability::acknowledged_commit_survives_power_cut,
    ),
    (
        "power_cut_leaves_whole_transactions",
        durability::power_cut_leaves_whole_transactions,
    ),
    (
        "watch_resumes_after_power_cut",
        durability::watch_resumes_after_power_cut,
    ),
];

fn key(parts: &[&str]) -> Key {
    Key::of(parts).unwrap()
}

fn prefix(parts: &[&str]) -> Prefix {
    Prefix::of(parts).unwrap()
}

fn put(store: &dyn Store, key: &Key, value: &str) -> Result<Revision, Failed> {
    committed(store, Txn::new().put(key.clone(), value))
}

fn committed(store: &dyn Store, txn: Txn) -> Result<Revision, Failed> {
    match block_on(store.commit(txn))? {
        Outcome::Committed(revision) => Ok(revision),
        Outcome::Conflict(_) => Err(Failed(
            "a transaction without contention conflicts".to_owned(),
        )),
    }
}

fn value(store: &dyn Store, key: &Key) -> Result<Option<String>, Failed> {
    let read = block_on(store.read(std::slice::from_ref(key)))?;
    let entry = read.entries.into_iter().next().flatten();
    Ok(entry.map(|entry| String::from_utf8(entry.value).unwrap()))
}

/// Returns all entries under a prefix as text.
fn contents(store: &dyn Store, prefix: &Prefix) -> Result<Vec<(String, String)>, Failed> {
    texts(block_on(store.scan(prefix))?)
}

fn texts(mut pages: Box<dyn Pages>) -> Result<Vec<(String, String)>, Failed> {
    let mut all = Vec::new();
    while let Some(page) = block_on(pages.next())? {
        all.extend(page.into_iter().map(|entry| {
            (
                entry.key.as_str().to_owned(),
                String::from_utf8(entry.value).unwrap(),
            )
        }));
    }
    Ok(all)
}

/// More commits than the history of an engine has.
pub fn fill_history(store: &dyn Store) {
    let key = key(&["fill"]);
    for _ in 0..=limits::HISTORY_COMMITS / 4096 {
        fill(store, &key, 4096);
    }
}

/// A tenth of that.
pub fn fill_a_part_of_history(store: &dyn Store) {
    let key = key(&["fill"]);
    let count = limits::HISTORY_COMMITS / 10;
    fill(store, &key, usize::try_from(count).unwrap());
}

fn fill(store: &dyn Store, key: &Key, count: usize) {
    let waiting: Vec<_> = (0..count)
        .map(|_| store.commit(Txn::new().put(key.clone(), "")))
        .collect();
    for pending in waiting {
        block_on(pending).unwrap();
    }
}
