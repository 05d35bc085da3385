//! A synthetic result of about sixty rows, like a quick run.

use std::collections::BTreeMap;

use jeton_lab_model::result::{
    AaPair, AttackOutcome, AttackRow, ClaimsSet, Disturbance, Environment, Evidence, Interop,
    InteropRow, KeyExchange, NoiseFloor, Party, Practice, Processor, Reader, Row, Rows, RunResult,
    SCHEMA, Status, Subject, Timing, Verdict, VerdictKind,
};

const ROUNDS: usize = 8;

/// Language, library, version, and its slowdown compared with the bare primitive.
const LIBRARIES: [(&str, &str, &str, f64); 6] = [
    ("rust", "jeton", "0.1.0", 1.0),
    ("rust", "jsonwebtoken", "11.0.0", 2.4),
    ("go", "golang-jwt", "5.3.1", 6.9),
    ("go", "cristalhq", "3.0.14", 3.6),
    ("go", "pascaldekloe", "1.9.0", 3.65),
    ("node", "fast-jwt", "6.0.2", 13.1),
];

/// Algorithm, bare signature and verification in nanoseconds, and token bytes.
const ALGORITHMS: [(&str, f64, f64, u64); 4] = [
    ("HS256", 310.0, 330.0, 313),
    ("ES256", 15_600.0, 49_000.0, 356),
    ("EdDSA", 9_100.0, 37_000.0, 356),
    ("RS256", 240_000.0, 15_600.0, 612),
];

/// Returns the whole sample: compared, confounded, failed, unavailable and reference rows.
pub(crate) fn result() -> RunResult {
    let mut rows = Vec::new();
    for operation in ["sign", "verify"] {
        for (alg, sign, verify, bytes) in ALGORITHMS {
            let bare = if operation == "sign" { sign } else { verify };
            for (index, (language, library, version, slower)) in LIBRARIES.iter().enumerate() {
                let subject = subject(language, library, version, "jwt", Some(alg));
                let mut row = row("libraries", operation, subject);
                // The overhead of a library is constant, so it matters less for a slow primitive.
                let ns = bare * (1.02 + index as f64 * 0.04) + slower * 420.0;
                row.ns_per_op = Some(timing(ns, 0.006 + 0.002 * index as f64));
                row.token_bytes = Some(bytes + if *library == "fast-jwt" { 7 } else { 0 });
                if *language != "node" {
                    row.bytes_per_op = Some(440.0 * slower);
                    row.allocs_per_op = Some((slower * 5.0).floor());
                }
                row.peak_rss_bytes = Some(9_000_000 * (index as u64 + 1));
                match (*library, alg) {
                    ("pascaldekloe", "EdDSA") => fail(
                        &mut row,
                        Status::FailedPreflight,
                        "accepted a token whose signature had one bit flipped",
                    ),
                    ("cristalhq", "RS256") => fail(
                        &mut row,
                        Status::Crashed,
                        "exit status 2 in round 3: panic: runtime error: index out of range [3] with length 3",
                    ),
                    ("fast-jwt", "ES256") if operation == "verify" => fail(
                        &mut row,
                        Status::TimedOut,
                        "did not answer `run` within 20 s",
                    ),
                    ("golang-jwt", "RS256") => {
                        row.status = Status::Disturbed;
                        row.reason =
                            Some("the hypervisor took 7 % of the CPU during round 5".to_owned());
                    }
                    _ => {}
                }
                rows.push(row);
            }
            let mut floor = row(
                "libraries",
                operation,
                subject("rust", "AWS-LC", "1.61.2", "bare", Some(alg)),
            );
            floor.reference = true;
            floor.ns_per_op = Some(timing(bare, 0.004));
            rows.push(floor);
        }
    }
    for operation in ["sign", "verify"] {
        for (language, library, version, format, ns, bytes) in [
            ("rust", "jeton", "0.1.0", "v4.local", 1_610.0, 331),
            ("go", "go-paseto", "1.6.0", "v4.local", 11_900.0, 331),
            ("rust", "jeton", "0.1.0", "v4.public", 10_400.0, 380),
            ("go", "go-paseto", "1.6.0", "v4.public", 34_100.0, 380),
            ("go", "golang-jwt", "5.3.1", "jwt", 3_260.0, 313),
        ] {
            let alg = (format == "jwt").then_some("HS256");
            let mut row = row(
                "formats",
                operation,
                subject(language, library, version, format, alg),
            );
            row.ns_per_op = Some(timing(ns, 0.009));
            row.token_bytes = Some(bytes);
            rows.push(row);
        }
        let java = subject("java", "nimbus-jose-jwt", "10.5", "jwt", Some("HS256"));
        let mut absent = row("libraries", operation, java);
        fail(
            &mut absent,
            Status::Unavailable,
            "`java` is not on PATH: install a JDK 21 and run again",
        );
        rows.push(absent);
    }
    let mut result = empty();
    result.verdicts = verdicts(&rows);
    result.rows.measured = rows;
    result
}

/// Returns a result of `lab interop`: two libraries with each other's tokens, and an absent one.
pub(crate) fn interop() -> RunResult {
    let mut result = empty();
    result.command = "jeton-lab interop".to_owned();
    let pem_refused = exchange("go/fake-x", "go/fake-y", Interop::Refused);
    let mut absent = exchange("java/absent", "java/absent", Interop::NotOffered);
    absent.status = Status::Unavailable;
    absent.outcome = None;
    absent.reason = Some("needs `java`, which is not on PATH".to_owned());
    absent.keys.clear();
    result.rows.interop = vec![
        exchange("go/fake-x", "go/fake-x", Interop::Verified),
        pem_refused,
        exchange("go/fake-y", "go/fake-x", Interop::Void),
        exchange("go/fake-y", "go/fake-y", Interop::NotOffered),
        absent,
    ];
    result
}

/// Returns a result of `lab servers`: a correct server, one with the bugs of a report, and an
/// absent one.
pub(crate) fn servers() -> RunResult {
    let mut result = empty();
    result.command = "jeton-lab servers".to_owned();
    let row = |id: &str, status: &str, reason: Option<&str>, measured: bool| {
        let mut row = serde_json::json!({
            "suite": "servers", "status": status, "scenario": "1 core, 5×50", "cores": 1, "call": "generate-jwt",
            "connections": 5, "in_flight": 50, "alg": "HS256",
            "subject": {"id": id, "name": "a server", "language": "go", "libraries": "x 1.0"}});
        if let Some(reason) = reason {
            row["reason"] = reason.into();
            row["subject"]["as_published"] = measured.into();
        }
        if measured {
            let load = serde_json::json!({
                "requests_per_s": 1000.5, "cpu_us_per_request": 12.25,
                "client_cpu_us_per_request": null,
                "repetitions": [
                    {"seconds": 1.0, "requests_per_s": 1000.5, "cpu_us_per_request": 12.25}],
                "latency_ms": {}, "statuses": {"Unavailable": 3}, "verified": 0,
                "client_bound": false, "base_rss_bytes": 20_000_000, "peak_rss_bytes": 30_000_000,
                "latencies": jeton_lab_model::servers::Latencies::default()});
            for (name, value) in load.as_object().unwrap() {
                row[name] = value.clone();
            }
        }
        row
    };
    let rows = serde_json::json!([
        row("go/fixed", "ok", None, true),
        row(
            "go/published",
            "failed-preflight",
            Some("signs HS256 with an empty key"),
            true
        ),
        row(
            "java/absent",
            "unavailable",
            Some("needs `java`, which is not on PATH"),
            false
        ),
    ]);
    result.rows = serde_json::from_value(rows).unwrap();
    result
}

/// ES256 tokens between two drivers, with the key as JWK and as PEM; PEM has the worse outcome.
fn exchange(issuer: &str, verifier: &str, outcome: Interop) -> InteropRow {
    let party = |driver: &str| Party {
        driver: driver.to_owned(),
        library: driver.split('/').next_back().unwrap().to_owned(),
        version: "1.2.3".to_owned(),
        language: driver.split('/').next().unwrap().to_owned(),
    };
    let key = |encoding: &str, read_by, outcome| KeyExchange {
        encoding: encoding.to_owned(),
        issued_with: Some("jwk".to_owned()),
        read_by: Some(read_by),
        outcome,
    };
    let bad = outcome.needs_explaining();
    InteropRow {
        status: Status::Ok,
        issuer: party(issuer),
        verifier: party(verifier),
        format: "jwt".to_owned(),
        alg: Some("ES256".to_owned()),
        enc: None,
        outcome: Some(outcome),
        reason: bad.then(|| "claim `nbf` is missing".to_owned()),
        explanation: bad.then(|| "unexplained: claim `nbf` is missing".to_owned()),
        keys: vec![
            key("jwk", Reader::Driver, outcome.min(Interop::Verified)),
            key("pem", Reader::Library, outcome),
        ],
    }
}

/// Returns a result of `lab attack`: one attack of each outcome.
pub(crate) fn attack() -> RunResult {
    let mut result = empty();
    result.command = "jeton-lab attack".to_owned();
    let mut void = attacked("other-key", None);
    void.status = Status::FailedPreflight;
    void.reason = Some("void: the positive control is rejected too: no".to_owned());
    result.rows.attack = vec![
        attacked("alg-none", Some(AttackOutcome::Refused)),
        attacked("crit-unknown", Some(AttackOutcome::Accepted)),
        attacked("dots", Some(AttackOutcome::OverLimit)),
        attacked("deep-claims", Some(AttackOutcome::Crashed)),
        attacked("deep-header", Some(AttackOutcome::Hung)),
        attacked("ecdsa-zero", Some(AttackOutcome::NotApplicable)),
        attacked("jwk-off-curve", Some(AttackOutcome::NotOffered)),
        void,
    ];
    result
}

fn attacked(attack: &str, outcome: Option<AttackOutcome>) -> AttackRow {
    let counts = outcome.is_some_and(|o| o >= AttackOutcome::Refused);
    let found = outcome.filter(|o| o.is_finding());
    let evidence = found.map(|outcome| Evidence {
        alg: Some("HS256".to_owned()),
        spelling: "<one>".to_owned(),
        outcome,
        token: Some("e30.e30.".to_owned()),
        key: Some(serde_json::json!({"kty": "oct", "k": ""})),
        seen: Some("accepted".to_owned()),
    });
    AttackRow {
        status: match outcome {
            Some(AttackOutcome::Crashed) => Status::Crashed,
            Some(AttackOutcome::Hung) => Status::TimedOut,
            _ => Status::Ok,
        },
        reason: None,
        attack: attack.to_owned(),
        family: "header".to_owned(),
        subject: Party {
            driver: "go/fake-x".to_owned(),
            library: "fake-x".to_owned(),
            version: "1.2.3".to_owned(),
            language: "go".to_owned(),
        },
        format: "jwt".to_owned(),
        practice: Practice::Documented,
        outcome,
        tried: if counts { 3 } else { 0 },
        void: 0,
        algs: vec!["HS256".to_owned()],
        found: if found.is_some() { 2 } else { 0 },
        evidence: evidence.into_iter().collect(),
        also: found.iter().map(|_| "HS256 <two>".to_owned()).collect(),
    }
}

/// Returns a result without rows.
pub(crate) fn empty() -> RunResult {
    RunResult {
        schema: SCHEMA,
        command: "jeton-lab run --quick".to_owned(),
        seed: 7_211_983_105,
        environment: Environment {
            started: "2026-11-20T09:00:00Z".to_owned(),
            elapsed_s: 83.4,
            complete: true,
            rounds_planned: ROUNDS as u32,
            rounds_finished: ROUNDS as u32,
            cpu: "AMD EPYC 9R14".to_owned(),
            cores: 2,
            flags: ["aes", "avx2", "avx512f", "sha_ni", "vaes"]
                .map(str::to_owned)
                .to_vec(),
            processor: processor(),
            kernel: "Linux 6.12.8".to_owned(),
            hypervisor: Some("KVM".to_owned()),
            governor: None,
            jeton: "0.1.0".to_owned(),
            commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            runtimes: BTreeMap::from([
                ("go".to_owned(), "go1.26.8".to_owned()),
                ("node".to_owned(), "v20.20.2".to_owned()),
                ("rust".to_owned(), "1.95.0".to_owned()),
            ]),
            runtimes_used: Vec::new(),
            drivers: BTreeMap::from([
                ("go/golang-jwt".to_owned(), "9f2c".repeat(16)),
                ("rust/jeton".to_owned(), "41d7".repeat(16)),
            ]),
            disturbance: Disturbance {
                disturbed: false,
                reasons: Vec::new(),
                steal: Some(0.002),
                load: Some(0.21),
                shared: None,
                pressure: Some(0.02),
                throttled: None,
                unwatched: vec![
                    "The CPU frequency governor is not visible in this virtual machine.".to_owned(),
                    "Thermal throttling is not visible in this virtual machine.".to_owned(),
                ],
            },
        },
        noise_floor: NoiseFloor {
            floor: Some(0.012),
            managed: Some(0.034),
            threads: Vec::new(),
            pairs: vec![
                AaPair {
                    subject: "rust/jeton:jwt:HS256:prepared".to_owned(),
                    operation: "sign".to_owned(),
                    threads: 1,
                    ratio: 1.004,
                    interval: [0.993, 1.012],
                    verdict: VerdictKind::Equivalent,
                    rounds: Default::default(),
                },
                AaPair {
                    subject: "go/golang-jwt:jwt:HS256:prepared".to_owned(),
                    operation: "verify".to_owned(),
                    threads: 1,
                    ratio: 0.997,
                    interval: [0.989, 1.006],
                    verdict: VerdictKind::Equivalent,
                    rounds: Default::default(),
                },
            ],
        },
        published: Vec::new(),
        verdicts: Vec::new(),
        claims_answered: Vec::new(),
        recommendation: None,
        runs: Vec::new(),
        rows: Rows::default(),
    }
}

fn processor() -> Processor {
    let known = |text: &str| Some(text.to_owned());
    Processor {
        vendor: known("AuthenticAMD"),
        family: known("25"),
        model: known("17"),
        stepping: known("1"),
        microcode: known("0xa101148"),
        flags_looked_for: ["aes", "avx2", "avx512f", "avx512ifma", "sha_ni", "vaes"]
            .map(str::to_owned)
            .to_vec(),
    }
}

pub(crate) fn subject(
    language: &str,
    library: &str,
    version: &str,
    format: &str,
    alg: Option<&str>,
) -> Subject {
    Subject {
        id: format!(
            "{language}/{library}:{format}:{}:prepared",
            alg.unwrap_or("-")
        ),
        library: library.to_owned(),
        version: version.to_owned(),
        language: language.to_owned(),
        format: format.to_owned(),
        alg: alg.map(str::to_owned),
        enc: None,
        key_bits: None,
        runtime: None,
        released: None,
        superseded_by: None,
        key_handling: "prepared".to_owned(),
    }
}

pub(crate) fn row(suite: &str, operation: &str, subject: Subject) -> Row {
    Row {
        suite: suite.to_owned(),
        operation: operation.to_owned(),
        status: Status::Ok,
        reason: None,
        subject,
        reference: false,
        claims: ClaimsSet {
            name: "standard".to_owned(),
            bytes: 160,
        },
        token_bytes: None,
        threads: 1,
        ns_per_op: None,
        bytes_per_op: None,
        allocs_per_op: None,
        peak_rss_bytes: None,
        loads_wrong_keys: Vec::new(),
    }
}

pub(crate) fn fail(row: &mut Row, status: Status, reason: &str) {
    row.status = status;
    row.reason = Some(reason.to_owned());
    row.ns_per_op = None;
    row.token_bytes = None;
}

pub(crate) fn timing(median: f64, spread: f64) -> Timing {
    let at = |round: usize| median * (1.0 + spread * (round as f64 - 3.5) / 3.5);
    Timing {
        median,
        interval: [median * (1.0 - spread), median * (1.0 + spread)],
        rounds: (0..ROUNDS).map(at).collect(),
        outliers: u32::from(spread > 0.012),
        unsettled: spread > 0.015,
    }
}

fn verdicts(rows: &[Row]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for operation in ["sign", "verify"] {
        for (alg, ..) in ALGORITHMS {
            let title = format!("{alg} {operation} across libraries");
            let among = |row: &&Row| {
                row.suite == "libraries"
                    && row.operation == operation
                    && !row.reference
                    && row.subject.alg.as_deref() == Some(alg)
            };
            compare(
                &mut verdicts,
                &title,
                &["library"],
                "golang-jwt",
                rows.iter().filter(among),
            );
        }
        for (format, name) in [("v4.local", "v4.local"), ("v4.public", "v4.public")] {
            let title = format!("PASETO {name} {operation} across libraries");
            let among = |row: &&Row| {
                row.suite == "formats" && row.operation == operation && row.subject.format == format
            };
            compare(
                &mut verdicts,
                &title,
                &["library"],
                "go-paseto",
                rows.iter().filter(among),
            );
        }
        let title =
            format!("JWT HS256 against PASETO v4.public, as report 1 paired them, {operation}");
        let among = |row: &&Row| {
            row.suite == "formats"
                && row.operation == operation
                && row.subject.library != "jeton"
                && row.subject.format != "v4.local"
        };
        compare(
            &mut verdicts,
            &title,
            &["format", "algorithm", "library"],
            "golang-jwt",
            rows.iter().filter(among),
        );
    }
    verdicts
}

/// A simplified rule that produces every kind of verdict.
fn compare<'a>(
    verdicts: &mut Vec<Verdict>,
    title: &str,
    factors: &[&str],
    baseline: &str,
    rows: impl Iterator<Item = &'a Row>,
) {
    let mut measured: Vec<(&Row, f64)> = rows
        .filter_map(|r| Some((r, r.ns_per_op.as_ref()?.median)))
        .collect();
    measured.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some((base, base_ns)) = measured
        .iter()
        .find(|(r, _)| r.subject.library == baseline)
        .copied()
    else {
        return;
    };
    let (mut group, mut last) = (0, 0.0);
    let mut groups = Vec::new();
    for (_, ns) in &measured {
        if *ns > last * 1.02 {
            (group, last) = (group + 1, *ns);
        }
        groups.push(group);
    }
    let base_group = measured
        .iter()
        .zip(&groups)
        .find(|((r, _), _)| r.subject.id == base.subject.id)
        .map(|(_, group)| *group);
    for ((row, ns), group) in measured.into_iter().zip(groups) {
        if row.subject.id == base.subject.id {
            continue;
        }
        let ratio = ns / base_ns;
        let interval = [ratio * 0.985, ratio * 1.0153];
        let verdict = match interval {
            [_, high] if high < 0.98 => VerdictKind::Faster,
            [low, _] if low > 1.02 => VerdictKind::Slower,
            [low, high] if low > 0.98 && high < 1.02 => VerdictKind::Equivalent,
            _ => VerdictKind::Undecided,
        };
        verdicts.push(Verdict {
            claims: "standard".into(),
            threads: 1,
            suite: row.suite.clone(),
            operation: row.operation.clone(),
            comparison: title.to_owned(),
            factors: factors.iter().map(|f| (*f).to_owned()).collect(),
            confounded: factors.len() > 1,
            baseline: base.subject.id.clone(),
            subject: row.subject.id.clone(),
            ratio,
            interval,
            verdict,
            group,
            baseline_group: base_group,
            more_rounds: (verdict == VerdictKind::Undecided).then_some(6),
            p_value: 0.001,
        });
    }
}
