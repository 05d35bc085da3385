//! Which edits of a result of `lab servers` are refused, when it is read or checked.

use std::path::Path;

use jeton_lab_model::result::read_from;
use jeton_lab_report::multi_run::{check, recomputed};
use serde_json::{Value, json};

use crate::{sample, stored};

/// Edits the rows of one server in a stored run, and returns what reading or checking says first. All
/// derived figures are computed again, as an attacker would do.
fn said(edit: impl Fn(&mut Value)) -> Option<String> {
    let mut whole = serde_json::to_value(stored::run("servers")).unwrap();
    let rows = whole["rows"].as_array_mut().unwrap();
    let own = rows
        .iter_mut()
        .filter(|row| row["subject"]["id"] == "rust/jeton" && row["latencies"].is_object());
    own.for_each(edit);
    let bytes = serde_json::to_vec(&whole).unwrap();
    let result = match read_from(Path::new("edited"), bytes.as_slice()) {
        Ok(result) => result,
        Err(error) => return Some(error.to_string()),
    };
    let found = check(&recomputed(&result));
    found.first().map(|one| one.what.clone())
}

#[track_caller]
fn assert_said(what: &str, edit: impl Fn(&mut Value)) {
    let said = said(edit).unwrap_or_default();
    assert!(said.contains(what), "{what}: {said:?}");
}

fn times(value: &mut Value, by: f64) {
    *value = json!(value.as_f64().unwrap() * by);
}

fn repetitions(row: &mut Value) -> &mut Vec<Value> {
    row["repetitions"].as_array_mut().unwrap()
}

#[test]
fn check_unedited_servers_are_accepted() {
    assert_eq!(said(|_| {}), None);
}

/// The slowest call limits each percentile, and the sum makes the average.
#[test]
fn read_latencies_outside_of_their_histogram_are_refused() {
    assert_said("slowest_ns: is in no bucket", |row| {
        let p50 = row["latency_ms"]["p50"].as_f64().unwrap();
        row["latencies"]["slowest_ns"] = json!((p50 * 1e6) as u64);
    });
    assert_said("fastest_ns: is in no bucket", |row| {
        row["latencies"]["fastest_ns"] = json!(1);
    });
    assert_said("sum_ns: contradicts", |row| {
        row["latencies"]["sum_ns"] = json!(1_000);
    });
    assert_said("sum_ns: contradicts", |row| {
        let sum = row["latencies"]["sum_ns"].as_u64().unwrap();
        row["latencies"]["sum_ns"] = json!(sum * 2);
    });
}

#[test]
fn check_rates_and_durations_that_contradict_the_latencies_are_found() {
    for by in [1.2, 10.0, 1_000.0] {
        assert_said("the latencies add up to", |row| {
            for one in repetitions(row) {
                times(&mut one["requests_per_s"], by);
                times(&mut one["seconds"], 1.0 / by);
                one["cpu_us_per_request"] = json!(0.0);
            }
        });
        assert_said("the latencies add up to", |row| {
            for one in repetitions(row) {
                times(&mut one["requests_per_s"], 1.0 / by);
                times(&mut one["seconds"], by);
            }
        });
    }
    assert_said("the latencies add up to", |row| {
        let connections = row["connections"].as_u64().unwrap();
        row["connections"] = json!(connections * 2);
    });
}

#[test]
fn check_more_calls_than_were_due_are_found() {
    assert_said("were due in 9.0 s at this rate", |row| {
        row["rate"] = json!(10.0)
    });
    let slow = said(|row| row["rate"] = json!(1e6));
    assert_eq!(slow, None, "a server that answers less than what is due");
}

#[test]
fn check_more_cpu_time_than_cores_is_found() {
    assert_said("the CPU time of a repetition is that of", |row| {
        for one in repetitions(row) {
            times(&mut one["cpu_us_per_request"], 100.0);
        }
    });
    // Cores that the machine does not have give no room.
    assert_said("the CPU time of a repetition is that of", |row| {
        row["cores"] = json!(4_000_000_000_u32);
        for one in repetitions(row) {
            times(&mut one["cpu_us_per_request"], 100.0);
        }
    });
}

#[test]
fn read_repetitions_that_no_load_has_are_refused() {
    for (member, value, what) in [
        ("seconds", json!(-3.0), "a duration that is not positive"),
        ("seconds", json!(0.0), "a duration that is not positive"),
        ("requests_per_s", json!(-1.0), "a negative rate"),
        ("cpu_us_per_request", json!(-5.0), "a negative CPU time"),
    ] {
        assert_said(what, |row| repetitions(row)[1][member] = value.clone());
    }
    for (member, value, what) in [
        ("rate", json!(-10.0), "rate: is not a positive rate"),
        ("rate", json!(0.0), "rate: is not a positive rate"),
        ("cores", json!(0), "cores: is zero"),
        ("connections", json!(0), "connections: is zero"),
        ("in_flight", json!(0), "in_flight: is zero"),
    ] {
        assert_said(what, |row| row[member] = value.clone());
    }
}

#[test]
fn check_more_verified_tokens_than_tokens_are_found() {
    assert_said("tokens are verified", |row| {
        row["verified"] = json!(1_000_000_000_000_u64);
    });
}

/// Their sum once overflowed.
#[test]
fn read_too_many_calls_are_refused() {
    assert_said("statuses: has more than 1,000,000,000,000 calls", |row| {
        row["statuses"]["X"] = json!(u64::MAX);
        row["statuses"]["Y"] = json!(2);
    });
    assert_said("statuses: has more than 100 statuses", |row| {
        for i in 0..100 {
            row["statuses"][format!("X{i}")] = json!(0);
        }
    });
}

/// A machine without a core for the loader gives CPU times only.
#[test]
fn check_hidden_oversubscription_is_found() {
    let mut result = stored::run("servers");
    let rows = &mut result.rows.servers;
    let hidden = rows.iter_mut().filter(|row| row.oversubscribed);
    let count = hidden.map(|row| row.oversubscribed = false).count();
    assert!(count > 0);
    let found = check(&result);
    let said = found
        .iter()
        .filter(|one| one.what.contains("oversubscribed"));
    assert_eq!(said.count(), count);
}

/// A load with an invalid member was once taken for none, if the row had another reason.
#[test]
fn read_invalid_load_of_a_faulty_server_is_refused() {
    let edited = |edit: fn(&mut Value)| {
        let mut whole = serde_json::to_value(sample::servers()).unwrap();
        let row = &mut whole["rows"][1];
        assert_eq!(row["status"], "failed-preflight");
        edit(row);
        let bytes = serde_json::to_vec(&whole).unwrap();
        read_from(Path::new("edited"), bytes.as_slice())
            .unwrap_err()
            .to_string()
    };
    let said = edited(|row| row["latencies"]["sum_ns"] = json!(7));
    assert!(
        said.contains("rows[1].latencies: sum_ns: contradicts"),
        "{said}"
    );
    let said = edited(|row| row["repetitions"][0]["seconds"] = json!("3"));
    assert!(
        said.contains("rows[1].repetitions[0].seconds: invalid type"),
        "{said}"
    );
    let said = edited(|row| drop(row.as_object_mut().unwrap().remove("requests_per_s")));
    assert!(said.contains("missing field `requests_per_s`"), "{said}");
}
