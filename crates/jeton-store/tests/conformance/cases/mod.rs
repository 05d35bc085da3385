//! The promises of `Store`, one case each.

mod durability;
mod follow;
mod freshness;
mod loading;
mod model;
mod transactions;

use jeton_store::{Key, Outcome, Prefix, Revision, Store, Txn, block_on, limits};

use crate::{Checked, Failed, Subject};

/// A case.
pub type Case = fn(&mut dyn Subject) -> Checked;

/// All of them. Names say what is promised.
pub const ALL: &[(&str, Case)] = &[
    (
        "what_is_written_is_read",
        transactions::what_is_written_is_read,
    ),
    (
        "each_condition_holds_or_does_not",
        transactions::each_condition_holds_or_does_not,
    ),
    (
        "every_condition_counts",
        transactions::every_condition_counts,
    ),
    (
        "a_conflict_changes_nothing",
        transactions::a_conflict_changes_nothing,
    ),
    (
        "revisions_grow_and_name_what_changed",
        transactions::revisions_grow_and_name_what_changed,
    ),
    (
        "what_no_store_takes_is_refused",
        transactions::what_no_store_takes_is_refused,
    ),
    (
        "the_largest_transaction_is_taken",
        transactions::the_largest_transaction_is_taken,
    ),
    (
        "a_prefix_is_deleted_and_nothing_beside_it",
        transactions::a_prefix_is_deleted_and_nothing_beside_it,
    ),
    ("no_increment_is_lost", transactions::no_increment_is_lost),
    (
        "of_many_that_start_together_one_wins",
        transactions::of_many_that_start_together_one_wins,
    ),
    (
        "nobody_sees_half_a_transaction",
        transactions::nobody_sees_half_a_transaction,
    ),
    (
        "what_is_acknowledged_is_seen_by_all",
        transactions::what_is_acknowledged_is_seen_by_all,
    ),
    (
        "a_scan_of_full_pages_ends",
        transactions::a_scan_of_full_pages_ends,
    ),
    (
        "a_scan_is_in_order_and_of_one_revision",
        transactions::a_scan_is_in_order_and_of_one_revision,
    ),
    (
        "random_histories_match_the_model",
        model::random_histories_match_the_model,
    ),
    (
        "a_watch_tells_everything_once_in_order",
        follow::a_watch_tells_everything_once_in_order,
    ),
    (
        "a_watch_tells_whole_transactions",
        follow::a_watch_tells_whole_transactions,
    ),
    (
        "a_watch_resumes_where_it_was_left",
        follow::a_watch_resumes_where_it_was_left,
    ),
    (
        "a_watch_far_behind_catches_up",
        follow::a_watch_far_behind_catches_up,
    ),
    (
        "a_watch_that_is_not_waited_for_loses_nothing",
        follow::a_watch_that_is_not_waited_for_loses_nothing,
    ),
    (
        "a_watch_of_what_is_forgotten_says_so",
        follow::a_watch_of_what_is_forgotten_says_so,
    ),
    (
        "a_watch_of_the_future_is_refused",
        follow::a_watch_of_the_future_is_refused,
    ),
    (
        "a_quiet_watch_reports_progress",
        follow::a_quiet_watch_reports_progress,
    ),
    (
        "a_watch_of_a_store_that_is_left_alone_reports_progress",
        follow::a_watch_of_a_store_that_is_left_alone_reports_progress,
    ),
    (
        "as_of_is_told_with_all_that_was_acknowledged_before",
        freshness::as_of_is_told_with_all_that_was_acknowledged_before,
    ),
    (
        "as_of_is_when_the_store_was_asked",
        freshness::as_of_is_when_the_store_was_asked,
    ),
    (
        "as_of_goes_on_while_others_write",
        freshness::as_of_goes_on_while_others_write,
    ),
    (
        "a_load_ends_though_history_is_forgotten_meanwhile",
        loading::a_load_ends_though_history_is_forgotten_meanwhile,
    ),
    (
        "a_load_while_others_write_is_of_one_revision",
        loading::a_load_while_others_write_is_of_one_revision,
    ),
    (
        "what_is_acknowledged_outlives_a_power_cut",
        durability::what_is_acknowledged_outlives_a_power_cut,
    ),
    (
        "a_power_cut_leaves_whole_transactions",
        durability::a_power_cut_leaves_whole_transactions,
    ),
    (
        "a_watch_resumes_after_a_power_cut",
        durability::a_watch_resumes_after_a_power_cut,
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

/// Everything under a prefix, as key and value texts.
fn contents(store: &dyn Store, prefix: &Prefix) -> Result<Vec<(String, String)>, Failed> {
    let mut pages = block_on(store.scan(prefix))?;
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

/// More commits than an engine's own history holds.
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
