//! Three members of an etcd, servers on it, and everything that can happen between them.
//!
//! `cargo xtask test --only etcd` runs these for seconds, `cargo xtask soak --only chaos` for minutes.

mod availability;
mod cluster;
mod faults;
mod history;
mod load;
mod minority;
mod network;
mod paused;
pub(crate) mod proxy;
mod rolling;
mod spread;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use availability::{Availability, REFUSED_FOR};
pub(crate) use cluster::libfaketime;
use cluster::{Cluster, FRESHNESS, Program};
use faults::Fault;
use load::{Load, Random, Record};

/// The environment variable with the minutes of the long form.
const MINUTES: &str = "JETON_CHAOS_MINUTES";

/// The environment variable with the number of servers of the long form.
const SERVERS: &str = "JETON_CHAOS_SERVERS";

/// How long a clock is apart in the short histories: longer than good tokens may be refused.
const CLOCK_APART: Duration = REFUSED_FOR.saturating_add(Duration::from_secs(12));

/// How much of its history the store loses there.
const STORE_BACK: Duration = Duration::from_secs(4);

/// A node that does not hear from the store for longer than the freshness bound does not know all revocations, and must
/// not issue either: the judges rely on it.
fn settings() -> String {
    format!("store_outage_issuing_seconds = {}", FRESHNESS.as_secs())
}

/// Breaks things one after the other until `more` returns none, and returns how often each happened.
fn break_things(
    cluster: &Cluster,
    load: &Load,
    mut next: impl FnMut(Duration) -> Option<(Fault, Duration)>,
) -> BTreeMap<Fault, u32> {
    let begun = Instant::now();
    let mut random = Random::new(7);
    let mut happened = BTreeMap::new();
    while let Some((fault, time)) = next(begun.elapsed()) {
        let what = fault.happen(cluster, load, time, &mut random);
        let healed = cluster.all_are_ready();
        let count: u32 = happened.values().sum();
        load.rotate(cluster, count % 2 == 1);
        *happened.entry(fault).or_default() += 1;
        println!(
            "{:>4} s: {fault} ({what}) for {:.1} s; all ready after {:.1} s; {} calls",
            begun.elapsed().as_secs(),
            time.as_secs_f64(),
            healed.as_secs_f64(),
            load.calls()
        );
    }
    happened
}

/// Judges what the clients saw, with the negative controls, and prints the figures.
fn judge(cluster: &Cluster, record: &Record, faults: &BTreeMap<Fault, u32>) {
    let calls = &history::of_tokens(record, FRESHNESS);
    let count = |outcome| calls.iter().filter(|call| call.outcome == outcome).count();
    println!("\nfaults:");
    for (fault, times) in faults {
        println!("  {times:>4} {fault}");
    }
    println!("operations:");
    for (name, outcome) in [
        ("revocations acknowledged", history::Outcome::Acknowledged),
        (
            "revocations without acknowledgement",
            history::Outcome::Unknown,
        ),
        ("verifications: accepted", history::Outcome::Accepted),
        (
            "verifications: refused as revoked",
            history::Outcome::Refused,
        ),
    ] {
        println!("  {:>7} {name}", count(outcome));
    }
    println!(
        "  {:>7} of these are of subjects, clients and keys",
        record.rules.len()
    );
    for (what, times) in &record.others {
        println!("  {times:>7} {what}");
    }
    let violations = history::violations(calls, FRESHNESS);
    let file = cluster.folder().join("history.jsonl");
    let judged = history::judged(calls, FRESHNESS, &file);
    println!("violations of the freshness bound: {}", violations.len());
    let unknown_keys = history::unknown_keys(calls, &record.tokens, FRESHNESS);
    println!(
        "keys that a node did not know in time: {}",
        unknown_keys.len()
    );
    println!(
        "nodes that were ready and refused to verify: {}",
        record.not_ready.len()
    );
    let availability = Availability::of(record, calls);
    println!("good tokens that ready nodes refused: {availability}");
    println!(
        "porcupine: {}",
        judged.as_ref().unwrap_or_else(|wrong| wrong)
    );
    let kept = || {
        let kept = std::env::temp_dir().join("jeton-chaos-history.jsonl");
        let _ = std::fs::copy(&file, &kept);
        format!("the history is {}", kept.display())
    };
    assert!(violations.is_empty(), "{violations:#?}; {}", kept());
    assert!(judged.is_ok(), "{judged:?}; {}", kept());
    assert!(record.not_ready.is_empty(), "{:#?}", record.not_ready);
    assert!(unknown_keys.is_empty(), "{unknown_keys:#?}");
    assert!(availability.is_within_bounds(), "{availability}");
    let caught = history::controls_are_caught(calls, FRESHNESS, &file);
    let caught = caught + history::rule_controls_are_caught(record, FRESHNESS, &file);
    println!("negative controls caught by both judges: {caught} of {caught}");
}

/// A part of the faults, each for seconds.
#[test]
#[ignore = "needs etcd and network namespaces: cargo xtask test --only etcd"]
fn chaos_short_history_is_linearizable() {
    let cluster = Cluster::start(&settings());
    let load = Load::start(&cluster);
    let short = Duration::from_millis(1500);
    let faults = [
        (Fault::IsolateLeader, Duration::from_millis(3500)),
        (Fault::OneWayNode, short),
        (Fault::Loss, short),
        (Fault::Delay, short),
        (Fault::FullDisk, short),
        (Fault::ClockAhead, CLOCK_APART),
        (Fault::StoreBack, STORE_BACK),
        (Fault::OlderNode, short),
    ];
    let mut faults = faults.into_iter().filter(|(fault, _)| fault.is_possible());
    let happened = break_things(&cluster, &load, |_| faults.next());
    judge(&cluster, &load.end(&cluster), &happened);
}

/// How often a fault happens at most before a judge must notice it. Between the loss of a revocation and its repetition,
/// a client may ask for none of the tokens.
const CONTROLS: u64 = 8;

/// The judges of both short histories notice that servers do not know when the store goes back, and are ready with a
/// clock that is apart.
#[test]
#[ignore = "needs etcd and network namespaces: cargo xtask test --only etcd"]
fn chaos_judges_notice_what_is_not_protected() {
    let mut open = vec![
        (Fault::ClockAhead, CLOCK_APART),
        (Fault::StoreBack, STORE_BACK),
        (Fault::StoreBack, STORE_BACK),
        (Fault::StoreBack, STORE_BACK),
    ];
    open.retain(|(fault, _)| fault.is_possible());
    for round in 0..CONTROLS {
        let noticed = noticed_without_protection(&open, round);
        open.retain(|(fault, _)| !noticed.contains(fault));
        if open.is_empty() {
            return;
        }
    }
    panic!("no judge noticed: {open:?}");
}

/// Lets faults happen to servers without protection. Returns those that a judge noticed.
fn noticed_without_protection(faults: &[(Fault, Duration)], seed: u64) -> Vec<Fault> {
    let program = Program::With("JETON_TEST_WITHOUT=history,clocks");
    let cluster = Cluster::running(cluster::EACH, &program, &settings());
    let load = Load::start(&cluster);
    let mut random = Random::new(seed);
    for (fault, time) in faults {
        let what = fault.happen(&cluster, &load, *time, &mut random);
        println!("{fault} ({what}); {} calls", load.calls());
    }
    let record = load.end(&cluster);
    let calls = history::of_tokens(&record, FRESHNESS);
    let violations = history::violations(&calls, FRESHNESS);
    println!("without protection: {} violations", violations.len());
    let file = cluster.folder().join("history.jsonl");
    let is_seen = !violations.is_empty() && history::judged(&calls, FRESHNESS, &file).is_err();
    let availability = Availability::of(&record, &calls);
    println!("good tokens that ready nodes refused: {availability}");
    let is_refused = !availability.is_within_bounds();
    let all = [(Fault::StoreBack, is_seen), (Fault::ClockAhead, is_refused)];
    let noticed = all.into_iter().filter(|(_, is_noticed)| *is_noticed);
    noticed.map(|(fault, _)| fault).collect()
}

/// Every fault, many times, in an order that differs in each round.
#[test]
#[ignore = "takes minutes: cargo xtask soak --only chaos"]
fn chaos_long_history_is_linearizable() {
    let Some(minutes) = std::env::var(MINUTES)
        .ok()
        .and_then(|text| text.parse::<u64>().ok())
    else {
        return;
    };
    let time = Duration::from_secs(60 * minutes);
    let servers = std::env::var(SERVERS).ok();
    let servers = servers.map_or(cluster::EACH, |text| text.parse().unwrap());
    let cluster = Cluster::with_nodes(servers, &settings());
    println!("{servers} servers");
    let load = Load::start(&cluster);
    let mut random = Random::new(1);
    let mut round: Vec<Fault> = Vec::new();
    let happened = break_things(&cluster, &load, |elapsed| {
        if elapsed >= time {
            return None;
        }
        if round.is_empty() {
            round = Fault::ALL
                .iter()
                .copied()
                .filter(|fault| fault.is_possible())
                .collect();
        }
        let fault = round.swap_remove(random.below(round.len()));
        // From shorter than an election to longer than the freshness bound.
        Some((
            fault,
            Duration::from_millis(1500 + random.below(11_000) as u64),
        ))
    });
    judge(&cluster, &load.end(&cluster), &happened);
}
