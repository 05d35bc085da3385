//! Runs every command that reads untrusted files with a memory limit.

use std::fs::{self, File};
use std::process::Stdio;

use jeton_testkit::is_sampled;

use crate::confined::confined;
use crate::hostile::{self, PAYLOAD_BYTES, documents};

/// Endless files and endless standard input are read up to a limit.
#[test]
fn endless_input_is_an_error_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    for zeros in ["/dev/zero", "-"] {
        for call in [
            &["report", zeros][..],
            &["report", "--html", zeros],
            &["compare", zeros, "/dev/zero"],
            &["gate", "--baseline", zeros],
            &["merge", zeros, "/dev/zero"],
            &["import", "/dev/zero", "--name", "a", "--cores", "1"],
            &["load", "merge", "/dev/zero"],
            &["run", "--claims", zeros],
        ] {
            let endless = File::open("/dev/zero").unwrap();
            let ended = confined(folder.path(), call, Stdio::from(endless));
            assert_ne!(ended.code, 0, "{call:?}");
        }
    }
}

#[test]
fn hostile_results_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = jeton_lab_model::result::read(&crate::stored_result()).unwrap();
    let run = serde_json::to_value(run).unwrap();
    let with = |member: &str, value: &str| {
        let mut run = run.clone();
        run[member] = serde_json::Value::from("@@");
        run.to_string().replace("\"@@\"", value)
    };
    let mut rows = run["rows"].as_array().unwrap().clone();
    let row = rows[0].to_string();
    rows[0]["ns_per_op"]["rounds"] = "@@".into();
    let rounds = serde_json::Value::from(rows.clone()).to_string();
    let rounds = rounds.replace("\"@@\"", &format!("[{}]", hostile::list(20_000_000, "1")));
    let exchange = |number: usize| {
        let party = |role: &str| {
            let id = format!("{role}/{number}");
            serde_json::json!({"driver": id, "library": id, "version": "1", "language": "go"})
        };
        serde_json::json!({"suite": "interop", "status": "ok", "minter": party("m"),
            "verifier": party("v"), "format": "jwt", "alg": "HS256", "outcome": "verified"})
    };
    let exchanges: serde_json::Value = (0..2000).map(exchange).collect();
    let mut all = vec![
        ("exchanges", with("rows", &exchanges.to_string())),
        (
            "rows",
            with("rows", &format!("[{}]", hostile::list(30_000_000, &row))),
        ),
        ("rounds", with("rows", &rounds)),
        (
            "command",
            with("command", &format!("\"{}\"", "\\u001b".repeat(1_000_000))),
        ),
        (
            "no end",
            format!("{{\"schema\":1,\"command\":\"{}", "a".repeat(60_000_000)),
        ),
        ("blanks", " ".repeat(60_000_000)),
    ];
    let gigabyte = packed_zeros();
    for (index, (name, document)) in documents(PAYLOAD_BYTES).into_iter().enumerate() {
        if is_sampled(index, 10) {
            all.push((name, with("published", &format!("[{document}]"))));
            all.push((name, document));
        }
    }
    let results = all
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()));
    for (name, bytes) in results.chain([("packed zeros", gigabyte)]) {
        fs::write(folder.join("hostile"), bytes).unwrap();
        for call in [
            &["report", "hostile"][..],
            &["report", "--html", "hostile"],
            &["compare", "hostile", "hostile"],
            &["gate", "--baseline", "hostile", "hostile"],
            &["merge", "hostile", "hostile"],
            &["import", "hostile", "--name", "a", "--cores", "1"],
            &["load", "merge", "hostile"],
        ] {
            let ended = confined(folder, call, Stdio::null());
            let said = match name {
                _ if ["import", "load"].contains(&call[0]) => continue,
                "rows" => "timed rows exceed the limit of 20000",
                "exchanges" => "16000000 cells of interop matrices exceed the limit of 500000",
                "rounds" => "bytes; the limit is 1048576",
                _ => continue,
            };
            assert_eq!(ended.code, 2, "{name}: {call:?}: {}", ended.stderr);
            assert!(ended.stderr.contains(said), "{call:?}: {}", ended.stderr);
        }
    }
}

/// A gigabyte, compressed to a megabyte with gzip (RFC 1952).
fn packed_zeros() -> Vec<u8> {
    let zeros = std::process::Command::new("sh")
        .args(["-c", "head -c 1000000000 /dev/zero | gzip -1"])
        .output()
        .unwrap();
    zeros.stdout
}
