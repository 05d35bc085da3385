//! Edits every member of a file: each is either an input, which is listed here, or refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{AaPair, RunResult, read_from, to_bytes};
use jeton_lab_model::servers::Latencies;
use jeton_lab_report::multi_run::{check, recomputed};
use jeton_lab_report::recommendation::recommend;
use serde_json::{Value, json};

use crate::{sample, stored};

/// Members that a run observes: nothing else in the file tells their value.
const INPUTS: &[&str] = &[
    "command",
    "seed",
    "environment.started",
    "environment.elapsed_s",
    "environment.complete",
    "environment.rounds_planned",
    "environment.cpu",
    "environment.cores",
    "environment.flags[]",
    "environment.processor.*",
    "environment.kernel",
    "environment.hypervisor",
    "environment.governor",
    "environment.commit",
    "environment.jeton",
    "environment.runtimes.*",
    "environment.runtimes_used[].*",
    "environment.drivers.*",
    "environment.taint.steal",
    "environment.taint.load",
    "environment.taint.shared",
    "environment.taint.pressure",
    "environment.taint.unwatched[]",
    // Which comparison a verdict belongs to.
    "verdicts[].comparison",
    "verdicts[].suite",
    "rows[].suite",
    "rows[].reason",
    "rows[].status",
    "rows[].subject.library",
    "rows[].subject.version",
    "rows[].subject.language",
    "rows[].subject.runtime",
    "rows[].subject.released",
    "rows[].subject.superseded_by",
    "rows[].claims.bytes",
    "rows[].token_bytes",
    "rows[].ns_per_op.unsettled",
    "rows[].bytes_per_op",
    "rows[].allocs_per_op",
    "rows[].peak_rss_bytes",
    // Another requirement asks for other advice.
    "recommendation.allow_noisy",
];

/// The same for a result of `lab servers`.
const INPUTS_OF_SERVERS: &[&str] = &[
    "rows[].cores",
    "rows[].connections",
    "rows[].in_flight",
    "rows[].alg",
    "rows[].subject.id",
    "rows[].subject.name",
    "rows[].subject.language",
    "rows[].subject.libraries",
    "rows[].subject.as_published",
    "rows[].client_cpu_us_per_request",
    "rows[].verified",
    "rows[].client_bound",
    // A histogram has ranges, and not each time.
    "rows[].latencies.fastest_ns",
    "rows[].latencies.slowest_ns",
    "rows[].latencies.sum_ns",
    "rows[].base_rss_bytes",
    "rows[].peak_rss_bytes",
    "rows[].suite",
    "rows[].reason",
    "rows[].status",
];

/// A part of a stored run that has everything a file can have, in a hundredth of the rows.
fn part_of_a_run() -> RunResult {
    let mut result = stored::run("full");
    let chosen = ["ES256, sign", "ES256, verify"];
    let is_chosen = |title: &str| {
        chosen.contains(&title) || title == "report 4's pair: HS256 (claims report4), sign"
    };
    result
        .verdicts
        .retain(|verdict| is_chosen(&verdict.comparison));
    let verdicts = &result.verdicts;
    let is_compared = |row: &jeton_lab_model::result::Row| {
        verdicts
            .iter()
            .any(|v| v.is_about(row, &v.subject) || v.is_about(row, &v.baseline))
    };
    result.rows.measured.retain(is_compared);
    // What an attack found is an input.
    result.rows.attack.clear();
    let rows = &result.rows.measured;
    let is_left = |pair: &AaPair| {
        let mut own = rows.iter().filter(|row| row.subject.id == pair.subject);
        own.any(|row| row.operation == pair.operation)
    };
    result.noise_floor.pairs.retain(is_left);
    let mut result = recomputed(&result);
    result.recommendation = Some(recommend(&result, &Requirements::default(), false));
    result
}

/// A load of a server whose figures follow from two repetitions.
fn server() -> RunResult {
    let mut result = sample::servers();
    result.noise_floor = jeton_lab_model::result::NoiseFloor::default();
    result.rows.servers.truncate(1);
    let load = result.rows.servers[0].load.as_mut().unwrap();
    // 250 calls in flight for two seconds, and 3,000 calls: 1/6 s each.
    let mut latencies = Latencies::default();
    for i in 1..=3_000_u64 {
        latencies.record(166_666_667 + (i % 100) * 1_000);
    }
    load.latencies = latencies;
    load.statuses = BTreeMap::from([("OK".to_owned(), 3_000)]);
    let first = load.repetitions[0];
    load.repetitions = [1_000.0, 2_000.0]
        .map(|requests_per_s| jeton_lab_model::result::Repetition {
            requests_per_s,
            ..first
        })
        .to_vec();
    recomputed(&result)
}

/// Returns the places of all values below this one, each with its pattern: `verdicts[].tier`.
fn places(value: &Value, at: &str, pattern: &str, all: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                let dot = if pattern.is_empty() { "" } else { "." };
                let pattern = format!("{pattern}{dot}{name}");
                places(inner, &format!("{at}/{escaped}"), &pattern, all);
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{i}"), &format!("{pattern}[]"), all);
            }
        }
        Value::Null => {}
        _ => all.push((at.to_owned(), pattern.to_owned())),
    }
}

/// Returns another value that the schema allows.
fn edited(value: &Value) -> Value {
    let others = |names: &[&str], is: &str| {
        let other = names.iter().find(|name| **name != is);
        json!(other)
    };
    const VERDICTS: [&str; 4] = ["faster", "slower", "equivalent", "cannot-tell"];
    const ANSWERS: [&str; 4] = ["holds", "does-not-hold", "artefact", "not-measured"];
    match value {
        Value::Bool(is) => json!(!is),
        Value::Number(number) => match number.as_u64() {
            Some(number) => json!(number + 1),
            None => json!(number.as_f64().unwrap() * 1.01),
        },
        Value::String(text) if VERDICTS.contains(&text.as_str()) => others(&VERDICTS, text),
        Value::String(text) if ANSWERS.contains(&text.as_str()) => others(&ANSWERS, text),
        Value::String(text) => json!(format!("{text}x")),
        other => other.clone(),
    }
}

fn matches(pattern: &str, input: &str) -> bool {
    match input.strip_suffix('*') {
        Some(start) => pattern.starts_with(start),
        None => pattern == input,
    }
}

/// Edits the first and the last value of each pattern, and returns the patterns that nothing refused.
fn accepted(result: &RunResult) -> BTreeSet<String> {
    let found = check(result);
    assert_eq!(found, [], "before any edit");
    let whole: Value = serde_json::from_slice(&to_bytes(result)).unwrap();
    let mut all = Vec::new();
    places(&whole, "", "", &mut all);
    let mut by_pattern: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (at, pattern) in &all {
        by_pattern.entry(pattern).or_default().push(at);
    }
    let mut accepted = BTreeSet::new();
    for (pattern, places) in by_pattern {
        for at in BTreeSet::from([places[0], places[places.len() - 1]]) {
            let mut json = whole.clone();
            let value = json.pointer_mut(at).unwrap();
            *value = edited(value);
            let bytes = serde_json::to_vec(&json).unwrap();
            let Ok(result) = read_from(Path::new("edited"), bytes.as_slice()) else {
                continue;
            };
            if check(&result).is_empty() {
                accepted.insert(pattern.to_owned());
            }
        }
    }
    accepted
}

fn assert_inputs(accepted: &BTreeSet<String>, inputs: &[&str]) {
    let unlisted: Vec<&String> = accepted
        .iter()
        .filter(|pattern| !inputs.iter().any(|input| matches(pattern, input)))
        .collect();
    assert!(unlisted.is_empty(), "edits were accepted: {unlisted:#?}");
}

#[test]
fn check_edit_of_each_derived_member_is_refused() {
    assert_inputs(&accepted(&part_of_a_run()), INPUTS);
}

#[test]
fn check_edit_of_each_derived_member_of_servers_is_refused() {
    let inputs = [INPUTS, INPUTS_OF_SERVERS].concat();
    assert_inputs(&accepted(&server()), &inputs);
}
