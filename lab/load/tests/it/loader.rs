//! The loader against a correct server and faulty ones.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::grpc_server::{Behaviour, SECRET, serve};
use jeton_lab_load::loader::{Checker, End, Load, Loaded, Pace, Request, run};
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

/// The longest load of a test.
const LONGEST_MS: u64 = 10_000;

/// Makes a load until it is enough, each time for twice as long: the machine may be busy. `make` asserts what is true
/// of every load.
#[track_caller]
fn loaded_until(
    milliseconds: u64,
    make: impl Fn(u64) -> Loaded,
    enough: impl Fn(&Loaded) -> bool,
) -> Loaded {
    let mut lasting = milliseconds;
    for _ in 0..9 {
        let loaded = make(lasting);
        if enough(&loaded) {
            return loaded;
        }
        lasting = (lasting * 2).min(LONGEST_MS.max(milliseconds));
    }
    let loaded = make(lasting);
    assert!(enough(&loaded), "{loaded:?}");
    loaded
}

/// A load of a server that verifies some tokens.
fn checked(behaviour: Behaviour) -> impl Fn(u64) -> Loaded {
    let target = serve(behaviour);
    move |milliseconds| {
        let checker = Checker::hs256(SECRET).unwrap();
        let loaded = run(&load(target, milliseconds), Some(checker)).unwrap();
        assert_eq!(loaded.tokens(), loaded.latencies.count());
        loaded
    }
}

/// Returns whether calls ended in exactly these ways. On a busy machine some are not answered in time.
fn ended(loaded: &Loaded, names: &[&str]) -> bool {
    loaded.statuses.keys().eq(names.iter())
}

fn count(loaded: &Loaded, name: &str) -> u64 {
    loaded.statuses.get(name).copied().unwrap_or(0)
}

#[test]
fn loader_counts_answers_and_verifies_some_tokens() {
    let _alone = alone();
    let run = checked(Behaviour::Good);
    let make = |milliseconds| {
        let loaded = run(milliseconds);
        let seconds = milliseconds as f64 / 1e3;
        assert_eq!(loaded.per_second(), loaded.tokens() as f64 / seconds);
        assert_eq!(loaded.verified, loaded.tokens().div_ceil(1000));
        loaded
    };
    let loaded = loaded_until(500, make, |loaded| {
        ended(loaded, &["OK"]) && loaded.tokens() > 50
    });
    assert!(loaded.verified >= 1 && loaded.errors() == 0);
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
    let delayed = |loaded: &Loaded| -> u64 {
        let buckets = loaded.latencies.buckets().into_iter();
        let slow = buckets.filter(|(upper_ns, _)| *upper_ns > 800_000_000);
        slow.map(|(_, calls)| calls).sum()
    };
    let closed = |milliseconds| run(&load(stalls(), milliseconds), None).unwrap();
    // At most the eight calls in flight. They are few of all calls, even on a busy machine.
    loaded_until(4000, closed, |loaded| {
        let slow = delayed(loaded);
        (1..=8).contains(&slow) && slow * 100 < loaded.latencies.count()
    });
    let open = |_| {
        let open = load(stalls(), 4000).pace(Pace::Open { per_second: 200.0 });
        let loaded = run(&open.unwrap(), None).unwrap();
        // Exactly the due calls were made.
        let all: u64 = loaded.statuses.values().sum();
        let due = all - count(&loaded, "not connected");
        assert!((799..=801).contains(&due), "{:?}", loaded.statuses);
        loaded
    };
    loaded_until(4000, open, |loaded| {
        delayed(loaded) > 8 && loaded.latencies.percentile_ms(99.0).unwrap() > 800.0
    });
}

#[test]
fn loader_warm_up_is_not_counted() {
    let _alone = alone();
    let make = |milliseconds| {
        let target = serve(Behaviour::Stalls {
            after: Duration::ZERO,
            lasts: Duration::from_millis(600),
        });
        let cold = load(target, milliseconds).warm_up(Duration::from_secs(1));
        run(&cold.unwrap(), None).unwrap()
    };
    loaded_until(500, make, |loaded| {
        loaded.latencies.slowest_ms().is_some_and(|ms| ms < 550.0)
    });
}

#[test]
fn loader_warm_up_tokens_are_not_verified() {
    let _alone = alone();
    let checker = || Some(Checker::hs256(SECRET).unwrap());
    let make = |milliseconds| {
        let warm = load(serve(Behaviour::Good), milliseconds).warm_up(Duration::from_millis(500));
        let loaded = run(&warm.unwrap(), checker()).unwrap();
        assert_eq!(loaded.verified, loaded.tokens().div_ceil(1000));
        loaded
    };
    loaded_until(100, make, |loaded| loaded.tokens() > 0);
}

#[test]
fn loader_fast_errors_are_not_throughput() {
    let _alone = alone();
    let run = checked(Behaviour::Status(8));
    let make = |milliseconds| {
        let loaded = run(milliseconds);
        assert_eq!((loaded.tokens(), loaded.latencies.count()), (0, 0));
        assert_eq!(loaded.latencies.percentile_ms(50.0), None);
        loaded
    };
    loaded_until(300, make, |loaded| {
        ended(loaded, &["ResourceExhausted"]) && loaded.errors() > 20
    });
}

#[test]
fn loader_invalid_answer_is_garbage() {
    let _alone = alone();
    for behaviour in [
        Behaviour::Html,
        Behaviour::NoStatus,
        Behaviour::HalfAMessage,
    ] {
        let run = checked(behaviour);
        let make = |milliseconds| {
            let loaded = run(milliseconds);
            assert_eq!(loaded.tokens(), 0, "{behaviour:?}");
            loaded
        };
        loaded_until(300, make, |loaded| ended(loaded, &["garbage"]));
    }
    let run = checked(Behaviour::NoHttp2);
    let make = |milliseconds| {
        let loaded = run(milliseconds);
        assert_eq!(loaded.tokens(), 0);
        loaded
    };
    loaded_until(300, make, |loaded| loaded.errors() > 0);
}

#[test]
fn loader_token_of_another_key_is_wrong() {
    let _alone = alone();
    let run = checked(Behaviour::OtherKey);
    let make = |milliseconds| {
        let loaded = run(milliseconds);
        assert_eq!(loaded.verified, 0);
        // One in a thousand is verified, including the first.
        let is_wrong = count(&loaded, "wrong token") >= 1;
        assert!(is_wrong || loaded.tokens() == 0, "{:?}", loaded.statuses);
        assert_eq!(loaded.wrong_token.is_some(), is_wrong);
        loaded
    };
    loaded_until(300, make, |loaded| count(loaded, "wrong token") >= 1);
}

#[test]
fn loader_reconnects_without_a_busy_loop() {
    let _alone = alone();
    let run = checked(Behaviour::Closes);
    let make = |milliseconds| {
        let loaded = run(milliseconds);
        assert_eq!(loaded.tokens(), 0);
        assert!(loaded.errors() < milliseconds, "{:?}", loaded.statuses);
        loaded
    };
    loaded_until(400, make, |loaded| loaded.errors() > 0);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let make = |milliseconds| {
        let loaded = jeton_lab_load::loader::run(&load(nobody, milliseconds), None).unwrap();
        assert!(loaded.errors() < milliseconds / 10, "{:?}", loaded.statuses);
        loaded
    };
    loaded_until(400, make, |loaded| ended(loaded, &["not connected"]));
}

#[test]
fn loader_unanswered_calls_are_counted() {
    let _alone = alone();
    let took = Cell::new(Duration::MAX);
    let run = checked(Behaviour::Silent);
    let make = |_| {
        let began = Instant::now();
        let loaded = run(300);
        took.set(began.elapsed());
        loaded
    };
    loaded_until(300, make, |loaded| {
        count(loaded, "unanswered") == 8 && took.get() < Duration::from_secs(60)
    });
}

#[test]
fn loader_open_loop_counts_unsent_calls() {
    let _alone = alone();
    let make = |_| {
        let open = load(serve(Behaviour::Silent), 300).pace(Pace::Open { per_second: 100.0 });
        run(&open.unwrap(), None).unwrap()
    };
    loaded_until(300, make, are_unanswered_or_unsent);
}

/// Of 30 due calls, 8 can be in flight.
fn are_unanswered_or_unsent(loaded: &Loaded) -> bool {
    count(loaded, "unanswered") == 8 && count(loaded, "not sent") == 22
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

#[test]
fn loader_gateway_passes_or_refuses() {
    let _alone = alone();
    for (behaviour, call, outcome) in [
        (Behaviour::Passes, Call::PassDifferent, "OK"),
        (Behaviour::Refuses, Call::Pass, "HTTP 401"),
        (Behaviour::Html, Call::Pass, "HTTP 404"),
        (Behaviour::Passes, Call::PassRevoked, "accepted"),
        (Behaviour::Refuses, Call::PassRevoked, "OK"),
    ] {
        let target = serve(behaviour);
        let make = |milliseconds| {
            let request = Request::pass(call, Algorithm::Es256, "a.b.c\nd.e.f\n").unwrap();
            let load = Load::new(target, request, 2, 4, Duration::from_millis(milliseconds));
            run(&load.unwrap(), None).unwrap()
        };
        loaded_until(200, make, |loaded| {
            ended(loaded, &[outcome]) && count(loaded, outcome) > 10
        });
    }
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
    let good = |milliseconds| {
        let loaded = run(&streamed(Behaviour::Good, milliseconds), checker()).unwrap();
        assert_eq!(loaded.call, Call::IssueStream);
        assert_eq!(loaded.tokens(), loaded.latencies.count());
        assert_eq!(loaded.verified, loaded.tokens().div_ceil(1000));
        loaded
    };
    loaded_until(500, good, |loaded| {
        ended(loaded, &["OK"]) && loaded.tokens() > 50
    });
    let other_key = |milliseconds| {
        let loaded = run(&streamed(Behaviour::OtherKey, milliseconds), checker()).unwrap();
        assert_eq!(loaded.verified, 0);
        loaded
    };
    loaded_until(300, other_key, |loaded| count(loaded, "wrong token") >= 1);
}

#[test]
fn loader_stream_item_error_is_its_status() {
    let _alone = alone();
    let make = |milliseconds| {
        let loaded = run(&streamed(Behaviour::Status(8), milliseconds), None).unwrap();
        assert_eq!(loaded.tokens(), 0);
        loaded
    };
    loaded_until(300, make, |loaded| {
        ended(loaded, &["ResourceExhausted"]) && loaded.errors() > 20
    });
}

#[test]
fn loader_ended_stream_is_reopened() {
    let _alone = alone();
    let make = |milliseconds| {
        let ends = streamed(Behaviour::EndsStreams(10), milliseconds);
        run(&ends, None).unwrap()
    };
    loaded_until(500, make, |loaded| {
        // More than the answers of two streams.
        let is_reopened = loaded.tokens() > 20 && loaded.errors() < loaded.tokens();
        is_reopened && ended(loaded, &["OK", "Unavailable"])
    });
}

#[test]
fn loader_stream_messages_are_due_at_the_rate() {
    let _alone = alone();
    let open = |behaviour, milliseconds| {
        let paced = streamed(behaviour, milliseconds).pace(Pace::Open { per_second: 100.0 });
        run(&paced.unwrap(), None).unwrap()
    };
    let all = BTreeMap::from([("OK".to_owned(), 50)]);
    loaded_until(
        500,
        |_| open(Behaviour::Good, 500),
        |loaded| loaded.statuses == all,
    );
    loaded_until(
        300,
        |_| open(Behaviour::Silent, 300),
        are_unanswered_or_unsent,
    );
}

#[test]
fn loader_files_of_parallel_loaders_merge_exactly() {
    let _alone = alone();
    let target = serve(Behaviour::Good);
    let make = |_| run(&load(target, 200), None).unwrap();
    let one = |_| loaded_until(200, make, |loaded| loaded.tokens() > 0);
    let files: Vec<String> = (0..3)
        .map(|number| serde_json::to_string(&one(number)).unwrap())
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
    let said = Loaded::merge(&[all[0].clone(), other]).unwrap_err();
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
        (0, 1, second, "calls in flight on each"),
        (1, 0, second, "calls in flight on each"),
        (4096, 4096, second, "calls in flight on each"),
        (5000, 1, second, "calls in flight on each"),
        (1, 1, Duration::from_millis(1), "a load must take"),
        (1, 1, Duration::from_hours(2), "a load must take"),
    ] {
        let load = Load::new(target, request(), connections, in_flight, time);
        assert!(load.unwrap_err().contains(wrong));
    }
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
        let load = Load::new(target, request(), 1, 1, second).unwrap();
        let paced = load.pace(Pace::Open { per_second: rate });
        assert!(paced.unwrap_err().contains("a rate must be above 0"));
    }
}
