//! The loader against a correct server and faulty ones.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::grpc_server::{Behaviour, SECRET, serve};
use jeton_lab_load::loader::{Checker, End, Load, LoadError, Loaded, Pace, Request, run};
use jeton_lab_model::servers::{Algorithm, Call};

/// Parallel loads would be measured too.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load(target: SocketAddr, milliseconds: u64) -> Load {
    let request = Request::generate_jwt(Algorithm::Hs256);
    Load::new(target, request, 2, 4, Duration::from_millis(milliseconds)).unwrap()
}

/// Returns the first load in which anything happened: the machine may be busy.
fn loaded(behaviour: Behaviour, milliseconds: u64) -> Loaded {
    let target = serve(behaviour);
    let once = || {
        let checker = Checker::hs256(SECRET).unwrap();
        run(&load(target, milliseconds), Some(checker)).unwrap()
    };
    let mut tries = std::iter::repeat_with(once).take(10);
    tries.find(|l| !l.statuses.is_empty()).unwrap()
}

#[test]
fn loader_counts_answers_and_verifies_some_tokens() {
    let _alone = alone();
    let loaded = loaded(Behaviour::Good, 500);
    assert_eq!(loaded.statuses.keys().collect::<Vec<_>>(), ["OK"]);
    assert_eq!(loaded.tokens(), loaded.latencies.count());
    assert!(loaded.tokens() > 50, "{}", loaded.tokens());
    assert!(loaded.verified >= 1 && loaded.errors() == 0);
    assert_eq!(loaded.per_second(), loaded.tokens() as f64 / 0.5);
    assert!(loaded.latencies.fastest_ms() <= loaded.latencies.mean_ms());
}

/// A server that stalls for one second delays every call of that second. A closed loop sends no
/// calls meanwhile; only its few calls in flight show the stall.
#[test]
fn loader_stall_affects_p99_only_in_open_loop() {
    let _alone = alone();
    let stalls = || {
        serve(Behaviour::Stalls {
            after: Duration::from_millis(1500),
            lasts: Duration::from_secs(1),
        })
    };
    let closed = run(&load(stalls(), 4000), None).unwrap();
    let open = load(stalls(), 4000).pace(Pace::Open { per_second: 200.0 });
    let open = run(&open.unwrap(), None).unwrap();

    let p99 = |loaded: &Loaded| loaded.latencies.percentile_ms(99.0).unwrap();
    assert!(p99(&closed) < 500.0, "closed: {}", p99(&closed));
    assert!(p99(&open) > 800.0, "open: {}", p99(&open));
    // Both saw the stall.
    for loaded in [&closed, &open] {
        assert!(loaded.latencies.slowest_ms().unwrap() > 800.0);
    }
    // Exactly the due calls were made.
    let due: u64 = open.statuses.values().sum();
    assert!((799..=801).contains(&due), "{:?}", open.statuses);
}

#[test]
fn loader_warm_up_is_not_counted() {
    let _alone = alone();
    let target = serve(Behaviour::Stalls {
        after: Duration::ZERO,
        lasts: Duration::from_millis(600),
    });
    let cold = load(target, 500).warm_up(Duration::from_secs(1)).unwrap();
    let loaded = run(&cold, None).unwrap();
    assert!(loaded.latencies.slowest_ms().unwrap() < 550.0);
}

#[test]
fn loader_warm_up_tokens_are_not_verified() {
    let _alone = alone();
    let checker = || Some(Checker::hs256(SECRET).unwrap());
    let warm = load(serve(Behaviour::Good), 100).warm_up(Duration::from_millis(500));
    let loaded = run(&warm.unwrap(), checker()).unwrap();
    assert!(loaded.tokens() > 0);
    assert_eq!(loaded.verified, loaded.tokens().div_ceil(1000));
}

#[test]
fn loader_fast_errors_are_not_throughput() {
    let _alone = alone();
    let loaded = loaded(Behaviour::Status(8), 300);
    assert_eq!(
        loaded.statuses.keys().collect::<Vec<_>>(),
        ["ResourceExhausted"]
    );
    assert!(loaded.errors() > 20);
    assert_eq!((loaded.tokens(), loaded.latencies.count()), (0, 0));
    assert_eq!(loaded.latencies.percentile_ms(50.0), None);
}

#[test]
fn loader_invalid_answer_is_garbage() {
    let _alone = alone();
    for behaviour in [
        Behaviour::Html,
        Behaviour::NoStatus,
        Behaviour::HalfAMessage,
    ] {
        let loaded = loaded(behaviour, 300);
        assert_eq!(
            loaded.statuses.keys().collect::<Vec<_>>(),
            ["garbage"],
            "{behaviour:?}"
        );
    }
    let loaded = loaded(Behaviour::NoHttp2, 300);
    assert_eq!(loaded.tokens(), 0);
    assert!(loaded.errors() > 0);
}

#[test]
fn loader_token_of_another_key_is_wrong() {
    let _alone = alone();
    let loaded = loaded(Behaviour::OtherKey, 300);
    // One in a thousand is verified, including the first.
    assert!(loaded.statuses["wrong token"] >= 1);
    assert_eq!(loaded.verified, 0);
    assert!(loaded.wrong_token.is_some());
}

#[test]
fn loader_reconnects_without_a_busy_loop() {
    let _alone = alone();
    let loaded = loaded(Behaviour::Closes, 400);
    assert_eq!(loaded.tokens(), 0);
    assert!(
        loaded.errors() > 0 && loaded.errors() < 400,
        "{:?}",
        loaded.statuses
    );
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let loaded = run(&load(nobody, 400), None).unwrap();
    assert_eq!(
        loaded.statuses.keys().collect::<Vec<_>>(),
        ["not connected"]
    );
    assert!(loaded.errors() < 40, "{:?}", loaded.statuses);
}

#[test]
fn loader_unanswered_calls_are_counted() {
    let _alone = alone();
    let began = Instant::now();
    let loaded = loaded(Behaviour::Silent, 300);
    assert_eq!(loaded.statuses["unanswered"], 8);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn loader_open_loop_counts_unsent_calls() {
    let _alone = alone();
    let open = load(serve(Behaviour::Silent), 300).pace(Pace::Open { per_second: 100.0 });
    let loaded = run(&open.unwrap(), None).unwrap();
    assert_eq!(loaded.statuses["unanswered"], 8);
    assert_eq!(loaded.statuses["not sent"], 22);
}

#[test]
fn loader_server_accepting_revoked_token_is_not_loaded() {
    let prepare = |behaviour| {
        let target = serve(behaviour);
        Request::prepare(target, Call::VerifyRevoked, Algorithm::Hs256).map(|_| ())
    };
    assert_eq!(prepare(Behaviour::Good), Err(End::Accepted));
    // It rejects everything, which is no answer about revocation.
    assert_eq!(prepare(Behaviour::Status(9)), Err(End::Status(9)));
}

/// Two connections with one stream each and four messages in flight.
fn streamed(behaviour: Behaviour, milliseconds: u64) -> Load {
    let target = serve(behaviour);
    let request = Request::prepare(target, Call::IssueStream, Algorithm::Hs256).unwrap();
    Load::new(target, request, 2, 4, Duration::from_millis(milliseconds)).unwrap()
}

#[test]
fn loader_stream_message_counts_as_call() {
    let _alone = alone();
    let checker = || Some(Checker::hs256(SECRET).unwrap());
    let loaded = run(&streamed(Behaviour::Good, 500), checker()).unwrap();
    assert_eq!(loaded.statuses.keys().collect::<Vec<_>>(), ["OK"]);
    assert_eq!(loaded.call, Call::IssueStream);
    assert!(loaded.tokens() > 50, "{}", loaded.tokens());
    assert_eq!(loaded.tokens(), loaded.latencies.count());
    assert_eq!(loaded.verified, loaded.tokens().div_ceil(1000));

    let loaded = run(&streamed(Behaviour::OtherKey, 300), checker()).unwrap();
    assert!(loaded.statuses["wrong token"] >= 1);
    assert_eq!(loaded.verified, 0);
}

#[test]
fn loader_stream_item_error_is_its_status() {
    let _alone = alone();
    let loaded = run(&streamed(Behaviour::Status(8), 300), None).unwrap();
    assert_eq!(
        loaded.statuses.keys().collect::<Vec<_>>(),
        ["ResourceExhausted"]
    );
    assert!(loaded.errors() > 20 && loaded.tokens() == 0);
}

#[test]
fn loader_ended_stream_is_reopened() {
    let _alone = alone();
    let loaded = run(&streamed(Behaviour::EndsStreams(10), 500), None).unwrap();
    let names: Vec<&String> = loaded.statuses.keys().collect();
    assert_eq!(names, ["OK", "Unavailable"], "{:?}", loaded.statuses);
    // More than the answers of two streams.
    assert!(loaded.tokens() > 20, "{:?}", loaded.statuses);
    assert!(loaded.errors() < loaded.tokens(), "{:?}", loaded.statuses);
}

#[test]
fn loader_stream_messages_are_due_at_the_rate() {
    let _alone = alone();
    let open = |behaviour, milliseconds| {
        let paced = streamed(behaviour, milliseconds).pace(Pace::Open { per_second: 100.0 });
        run(&paced.unwrap(), None).unwrap()
    };
    let loaded = open(Behaviour::Good, 500);
    assert_eq!(loaded.statuses, BTreeMap::from([("OK".to_owned(), 50)]));
    let loaded = open(Behaviour::Silent, 300);
    assert_eq!(loaded.statuses["unanswered"], 8);
    assert_eq!(loaded.statuses["not sent"], 22);
}

#[test]
fn loader_files_of_parallel_loaders_merge_exactly() {
    let _alone = alone();
    let target = serve(Behaviour::Good);
    let files: Vec<String> = (0..3)
        .map(|_| serde_json::to_string(&run(&load(target, 200), None).unwrap()).unwrap())
        .collect();
    let all: Vec<Loaded> = files.iter().map(|f| Loaded::read(f).unwrap()).collect();
    let merged = Loaded::merge(&all).unwrap();
    assert_eq!(merged.loaders, 3);
    assert_eq!(merged.tokens(), all.iter().map(Loaded::tokens).sum::<u64>());
    assert_eq!(merged.latencies.count(), merged.tokens());
    // Exactly, through their files, as if one loader had made all calls.
    let mut buckets = BTreeMap::<u64, u64>::new();
    for (upper_ns, calls) in all.iter().flat_map(|one| one.latencies.buckets()) {
        *buckets.entry(upper_ns).or_default() += calls;
    }
    assert_eq!(merged.latencies.buckets(), Vec::from_iter(buckets));
    let mut other = all[0].clone();
    other.in_flight = 5;
    let said = Loaded::merge(&[all[0].clone(), other])
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("load file 2") && said.contains("in_flight"),
        "{said}"
    );
    assert!(Loaded::merge(&[]).is_err());
}

#[test]
fn loader_limits_are_enforced() {
    let _alone = alone();
    let request = || Request::generate_jwt(Algorithm::Es256);
    let target: SocketAddr = "127.0.0.1:1".parse().unwrap();
    let second = Duration::from_secs(1);
    for (connections, in_flight, time, wrong) in [
        (0, 1, second, LoadError::Calls),
        (1, 0, second, LoadError::Calls),
        (4096, 4096, second, LoadError::Calls),
        (5000, 1, second, LoadError::Calls),
        (1, 1, Duration::from_millis(1), LoadError::Time),
        (1, 1, Duration::from_hours(2), LoadError::Time),
    ] {
        let load = Load::new(target, request(), connections, in_flight, time);
        assert_eq!(load.unwrap_err(), wrong);
    }
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
        let load = Load::new(target, request(), 1, 1, second).unwrap();
        let paced = load.pace(Pace::Open { per_second: rate });
        assert_eq!(paced.unwrap_err(), LoadError::Rate);
    }
}
