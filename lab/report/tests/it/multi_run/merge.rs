//! Merging several runs.

use jeton_lab_model::result::{
    AttackOutcome, AttackRow, Party, Practice, Rows, RunResult, Status, read, to_bytes,
};
use jeton_lab_report::multi_run::{Named, RUN_VALUES_MIN, merge};

use super::{run, scale_rounds};
use crate::sample;

fn named(results: impl IntoIterator<Item = RunResult>) -> Vec<Named> {
    let results = results.into_iter().enumerate();
    results
        .map(|(i, result)| Named {
            name: format!("{i}.json"),
            result,
        })
        .collect()
}

fn merged(results: impl IntoIterator<Item = RunResult>) -> RunResult {
    merge(named(results), "jeton-lab merge").unwrap()
}

fn refused(results: impl IntoIterator<Item = RunResult>) -> String {
    merge(named(results), "jeton-lab merge")
        .unwrap_err()
        .to_string()
}

#[test]
fn merge_of_one_plan_is_one_result() {
    let (mut second, first) = (run(2), run(1));
    second.environment.disturbance.disturbed = true;
    second.environment.disturbance.reasons = vec!["steal".into()];
    // The order is that of the runs, not of the arguments.
    let one = merged([second, first.clone()]);
    assert_eq!(one.environment.rounds_finished, 16);
    assert_eq!(one.runs.iter().map(|r| r.seed).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(one.environment.disturbance.reasons, ["run 2 of 2: steal"]);
    assert!(one.environment.disturbance.disturbed);
    let rounds = |r: &RunResult| {
        r.rows.measured[3]
            .ns_per_op
            .as_ref()
            .unwrap()
            .rounds
            .clone()
    };
    assert_eq!(rounds(&one).len(), 16);
    assert_eq!(rounds(&one)[..8], rounds(&first));
    assert_eq!(one.noise_floor.pairs[0].rounds[1].len(), 16);
    assert_eq!(one.verdicts.len(), 5);
    assert!(
        (one.verdicts[0].ratio - 2.0).abs() < 0.02,
        "verdicts are computed again"
    );
}

#[test]
fn merge_of_merges_is_the_merge_of_all() {
    let all = merged([run(1), run(2), run(3), run(4)]);
    let halves = merged([merged([run(1), run(2)]), merged([run(3), run(4)])]);
    assert_eq!(halves.rows.measured, all.rows.measured);
    assert_eq!(halves.runs, all.runs);
    assert_eq!(halves.verdicts, all.verdicts);
}

#[test]
fn merge_from_six_runs_on_uses_one_value_per_run() {
    // Each run's process is off by up to 4 % constantly, with almost no spread within the run.
    let run_values = |count: u64| {
        let results = (1..=count).map(|seed| {
            let mut result = run(seed);
            let off = 1.0 + 0.04 * (seed % 3) as f64;
            scale_rounds(&mut result.rows.measured[1], |_| off);
            result
        });
        let [low, high] = merged(results).verdicts[0].interval;
        (high / low).ln()
    };
    let (five, six) = (
        run_values(RUN_VALUES_MIN as u64 - 1),
        run_values(RUN_VALUES_MIN as u64),
    );
    assert!(
        six > 2.0 * five,
        "what lasts for a run is in the interval: {five} {six}"
    );
}

#[test]
fn merge_row_failed_in_one_run_is_not_measured() {
    let mut second = run(2);
    sample::fail(
        &mut second.rows.measured[2],
        Status::TimedOut,
        "did not answer",
    );
    let one = merged([run(1), second.clone()]);
    assert_eq!(one.rows.measured[2].status, Status::TimedOut);
    assert_eq!(
        one.rows.measured[2].reason.as_deref(),
        Some("in run 2 of 2: did not answer")
    );
    assert!(one.rows.measured[2].ns_per_op.is_none());
    assert_eq!(one.verdicts.len(), 4);
    // Verdicts against a missing baseline are dropped.
    sample::fail(&mut second.rows.measured[0], Status::Crashed, "died");
    assert!(merged([run(1), second]).verdicts.is_empty());
}

/// Returns attack results of one library that the runs measured.
fn attack_on(driver: &str) -> RunResult {
    let mut result = run(9);
    result.rows = Rows::default();
    (result.verdicts, result.noise_floor) = Default::default();
    result.command = "jeton-lab attack".into();
    result.environment.started = "2026-11-20T10:00:00Z".into();
    (
        result.environment.rounds_planned,
        result.environment.rounds_finished,
    ) = (0, 0);
    result.rows.attack = vec![AttackRow {
        status: Status::Ok,
        reason: None,
        attack: "alg-none".into(),
        family: "header".into(),
        subject: Party {
            driver: driver.into(),
            library: "b".into(),
            version: "1.0.0".into(),
            language: "go".into(),
        },
        format: "jwt".into(),
        practice: Practice::Documented,
        outcome: Some(AttackOutcome::Refused),
        tried: 1,
        void: 0,
        algs: vec!["HS256".into()],
        found: 0,
        evidence: Vec::new(),
        also: Vec::new(),
    }];
    result
}

#[test]
fn merge_combines_attacks_with_one_or_more_runs() {
    let whole = merged([run(1), attack_on("go/b")]);
    assert_eq!(whole.rows.measured, run(1).rows.measured);
    assert_eq!(whole.verdicts, run(1).verdicts);
    assert_eq!(whole.rows.attack.len(), 1);
    let rounds: Vec<u32> = whole.runs.iter().map(|run| run.rounds).collect();
    assert_eq!(rounds, [run(1).environment.rounds_finished, 0]);
    assert!(
        whole
            .runs
            .iter()
            .any(|run| run.command == "jeton-lab attack")
    );
    // With another run, the attacks are kept.
    let more = merged([whole.clone(), run(2)]);
    assert_eq!(more.rows.attack, whole.rows.attack);
    assert_eq!(more.runs.len(), 3);
    assert_eq!(more.verdicts, merged([run(1), run(2)]).verdicts);
}

#[test]
fn merge_of_attacks_on_other_code_is_rejected() {
    let mut newer = attack_on("go/b");
    newer.rows.attack[0].subject.version = "2.0.0".into();
    assert!(refused([run(1), newer]).contains("version of go/b: 1.0.0 / 2.0.0"));
    let mut rebuilt = attack_on("go/b");
    let hash = "0000".repeat(16);
    rebuilt.environment.drivers.insert("go/b".into(), hash);
    assert!(refused([run(1), rebuilt]).contains("lockfile of the driver go/b"));
    let twice = refused([run(1), attack_on("go/b"), attack_on("go/b")]);
    assert!(
        twice.contains("both have rows of alg-none on go/b (jwt, documented)"),
        "{twice}"
    );
    let untimed = refused([attack_on("go/a"), attack_on("go/b")]);
    assert!(
        untimed.starts_with("none of the results is from `jeton-lab run`"),
        "{untimed}"
    );
}

/// Returns a result of `lab servers`: each server under a load with this number of connections.
fn of_servers(seed: u64, loads: &[(&str, u32)]) -> RunResult {
    let rows = loads.iter().map(|(id, connections)| {
        serde_json::json!({
            "suite": "servers", "status": "ok", "cores": 1, "call": "generate-jwt", "connections": connections,
            "scenario": format!("1 core, {connections}×50"), "in_flight": 50, "alg": "HS256",
            "subject": {"id": id, "name": "a server", "language": "go", "libraries": "x 1.0"},
            "requests_per_s": 1000.0 * seed as f64, "cpu_us_per_request": 10.0,
            "client_cpu_us_per_request": 2.0,
            "repetitions": [{"seconds": 1.0, "requests_per_s": 1000.0 * seed as f64,
                             "cpu_us_per_request": 10.0}],
            "latency_ms": {}, "statuses": {"Unavailable": 3}, "verified": 0,
            "client_bound": seed == 2, "base_rss_bytes": 20_000_000,
            "peak_rss_bytes": 30_000_000 + seed,
            "latencies": jeton_lab_model::servers::Latencies::default()})
    });
    let mut result = attack_on("go/b");
    result.command = "jeton-lab servers".into();
    result.seed = seed;
    result.rows = serde_json::from_value(rows.collect()).unwrap();
    result
}

#[test]
fn merge_adds_repetitions_of_equal_loads() {
    let both = [("go/fixed", 5), ("rust/jeton", 5)];
    let two = of_servers(2, &[("go/fixed", 5), ("rust/jeton", 5), ("go/fixed", 1)]);
    let whole = merged([of_servers(1, &both), two, of_servers(3, &both)]);
    assert_eq!(whole.runs.len(), 3);
    let rows = &whole.rows.servers;
    assert_eq!(rows.len(), 3);
    let load = rows[0].load.as_ref().unwrap();
    assert_eq!(load.repetitions.len(), 3);
    assert_eq!(load.requests_per_s, 2000.0);
    assert_eq!(load.statuses["Unavailable"], 9);
    assert_eq!(load.client_bound, Some(true));
    assert_eq!(load.peak_rss_bytes, Some(30_000_003));
    // A load of only one run is kept unchanged.
    assert_eq!(rows[2].load.as_ref().unwrap().requests_per_s, 2000.0);
    assert_eq!(rows[2].connections, 1);
    // The file can be read and merged again.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("whole.json");
    std::fs::write(&file, to_bytes(&whole)).unwrap();
    assert_eq!(read(&file).unwrap(), whole);
    let more = merged([whole, of_servers(4, &both)]);
    assert_eq!(
        more.rows.servers[0]
            .load
            .as_ref()
            .unwrap()
            .repetitions
            .len(),
        4
    );
    assert_eq!(more.runs.len(), 4);
}

#[test]
fn merge_server_failed_in_one_run_is_not_measured() {
    let mut without = of_servers(2, &[("go/fixed", 5)]);
    let row = &mut without.rows.servers[0];
    (row.status, row.load) = (Status::Crashed, None);
    row.reason = Some("died".into());
    let whole = merged([of_servers(1, &[("go/fixed", 5)]), without]);
    let row = &whole.rows.servers[0];
    assert!(row.load.is_none() && row.status == Status::Crashed);
    assert_eq!(row.reason.as_deref(), Some("in run 2 of 2: died"));
}

#[test]
fn merge_of_different_server_sets_is_rejected() {
    let one = || of_servers(1, &[("go/fixed", 5)]);
    let beside = refused([one(), of_servers(2, &[("go/fixed", 5), ("rust/jeton", 5)])]);
    assert!(
        beside.contains("has rust/jeton in 1 core, 5×50, HS256"),
        "{beside}"
    );
    assert!(refused([one(), one()]).contains("are the same run"));
    let mut newer = of_servers(2, &[("go/fixed", 5)]);
    newer.rows.servers[0].subject.libraries = "x 2.0".into();
    assert!(refused([one(), newer]).contains("libraries of go/fixed in 1 core"));
    for other in [run(1), attack_on("go/b")] {
        let said = refused([one(), other]);
        assert!(said.contains("merge only with each other"), "{said}");
    }
}

#[test]
fn merge_of_different_runs_is_rejected() {
    assert_eq!(refused([run(1)]), "a merge requires at least two results");
    assert!(refused([run(1), run(1)]).contains("0.json and 1.json are the same run"));
    let edited = |edit: fn(&mut RunResult)| {
        let mut other = run(2);
        edit(&mut other);
        refused([run(1), other])
    };
    type Edit = (&'static str, fn(&mut RunResult));
    let edits: [Edit; 9] = [
        (
            "CPU: AMD EPYC 9R14 / another",
            (|r| r.environment.cpu = "another".into()),
        ),
        ("go: go1.26.8 / go2", |r| {
            r.environment.runtimes.insert("go".into(), "go2".into());
        }),
        ("only 0.json has sign go/e:", |r| {
            r.rows.measured.pop();
            r.verdicts.pop();
        }),
        ("only 1.json has verify go/e:", |r| {
            let mut more = r.rows.measured[5].clone();
            more.operation = "verify".into();
            r.rows.measured.push(more);
        }),
        (
            "version of sign go/b:jwt:HS256:prepared: 1.0.0 / 1.0.1",
            |r| {
                r.rows.measured[2].subject.version = "1.0.1".into();
            },
        ),
        ("sources or lockfile of the driver go/b", |r| {
            r.environment
                .drivers
                .insert("go/b".into(), "0000".repeat(16));
        }),
        (
            "claims of sign go/b:jwt:HS256:prepared: 160 bytes / 161 bytes",
            |r| {
                r.rows.measured[2].claims.bytes = 161;
            },
        ),
        (
            "token of sign go/b:jwt:HS256:prepared: 313 bytes / 320 bytes",
            |r| {
                r.rows.measured[2].token_bytes = Some(320);
            },
        ),
        (
            "1.json has a different number of rounds of sign go/b:",
            |r| {
                r.rows.measured[2].ns_per_op.as_mut().unwrap().rounds.pop();
            },
        ),
    ];
    for (said, edit) in edits {
        let refusal = edited(edit);
        assert!(refusal.contains(said), "{said}: {refusal}");
    }
}
