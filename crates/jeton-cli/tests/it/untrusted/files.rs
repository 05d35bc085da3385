//! Runs every command that reads untrusted files with a memory limit: backups, settings, configurations, and the files of
//! the lab.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use jeton_testkit::is_sampled;

use super::confined::confined;
use super::hostile::{self, PAYLOAD_BYTES, documents};
use crate::binary::succeeds;
use crate::data_folder::{ISS, SETTINGS};

fn backups() -> Vec<hostile::Named> {
    let first = "{\"jeton_backup\":1,\"revision\":1,\"at\":1}\n";
    let line =
        |key: &str, value: &str| format!("{}\n", serde_json::json!({"key": key, "value": value}));
    let record = |inner: &str| format!("{{\"schema\":1,\"record\":{inner}}}");
    let many = (0..60_000).map(|number| line(&format!("/i/{number}"), &record("{}")));
    let large = "a".repeat(250_000);
    let wide =
        (0..200).map(|number| line(&format!("/i/{number}"), &record(&format!("\"{large}\""))));
    let deep = hostile::nested(250_000, "[", "", "]");
    vec![
        ("one line", format!("{first}{}", "a".repeat(4_000_000))),
        ("first line", hostile::nested(4_000_000, "[", "", "]")),
        (
            "arrays",
            format!("{first}{}\n", hostile::nested(1_000_000, "[", "", "]")),
        ),
        (
            "deep record",
            format!("{first}{}", line("/i/a", &record(&deep))),
        ),
        (
            "many records",
            format!("{first}{}", many.collect::<String>()),
        ),
        (
            "large records",
            format!("{first}{}", wide.collect::<String>()),
        ),
        ("blank lines", format!("{first}{}", "\n".repeat(1_000_000))),
        (
            "members",
            format!("{first}{{{}}}\n", hostile::members(1_000_000)),
        ),
    ]
}

#[test]
fn hostile_backups_and_settings_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeeds(folder, &["admin", "issuer", "add", SETTINGS], b"");
    for (name, backup) in backups() {
        fs::write(folder.join("backup"), backup).unwrap();
        let restore = ["admin", "restore", "--data", "restored", "backup"];
        let ended = confined(folder, &restore, Stdio::null());
        assert_eq!(ended.code, 2, "{name}: {}", ended.stderr);
        assert!(!folder.join("restored").exists(), "{name}");
    }
    for (_, document) in documents(PAYLOAD_BYTES) {
        let settings = format!(r#"{{"iss":"https://id.example","profiles":[{document}]}}"#);
        for text in [&document, &settings] {
            fs::write(folder.join("hostile"), text).unwrap();
            for call in [
                &["admin", "issuer", "add", "@hostile"][..],
                &["admin", "issuer", "set", "@hostile"],
                &[
                    "admin",
                    "key",
                    "list",
                    ISS,
                    "--key-encryption-key",
                    "hostile",
                ],
            ] {
                assert_ne!(confined(folder, call, Stdio::null()).code, 0);
            }
        }
    }
}

#[test]
fn serve_hostile_configuration_is_an_error_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let bytes = 4_000_000;
    let client = "[[client]]\nname = 'a'\nmay = ['verify']\nissuers = ['*']\n";
    let mut all = vec![
        (
            "arrays",
            format!("a = {}", hostile::nested(bytes, "[", "", "]")),
        ),
        (
            "tables",
            format!("a = {}", hostile::nested(bytes, "{a=", "1", "}")),
        ),
        ("dotted", format!("a{} = 1", ".a".repeat(bytes / 2))),
        ("dotted table", format!("[a{}]", ".a".repeat(bytes / 2))),
        ("no end", format!("a = '{}", "a".repeat(bytes))),
        ("comments", format!("{}a = 1", "#\n".repeat(bytes / 2))),
        (
            "keys",
            hostile::members(bytes).replace(':', "=").replace(',', "\n"),
        ),
        (
            "issuers",
            "[[issuer]]\niss='https://a'\nprofiles=[]\n".repeat(bytes / 50),
        ),
        ("clients", client.repeat(bytes / client.len())),
        (
            "escapes",
            format!("a = \"{}\"", "\\u0000".repeat(bytes / 6)),
        ),
        ("longer", "\n".repeat(bytes + 1_000_000)),
    ];
    for (name, document) in documents(PAYLOAD_BYTES) {
        all.push((name, document));
    }
    for (name, text) in all {
        fs::write(folder.join("jeton.toml"), text).unwrap();
        let serve = ["serve", "--config", "jeton.toml", "--data", "data"];
        // Not an address of this machine, so that a valid configuration ends too.
        let nowhere = ["--listen", "192.0.2.1:1", "--admin-listen", "192.0.2.1:2"];
        let ended = confined(folder, &[&serve[..], &nowhere].concat(), Stdio::null());
        assert_eq!(ended.code, 2, "{name}: {}", ended.stderr);
    }
}

#[test]
fn hostile_lab_files_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/runs");
    let run = fs::read_to_string(runs.join("2026-11-24-full/results.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
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
            &["lab", "report", "hostile"][..],
            &["lab", "report", "--html", "hostile"],
            &["lab", "compare", "hostile", "hostile"],
            &["lab", "gate", "--baseline", "hostile", "hostile"],
            &["lab", "merge", "hostile", "hostile"],
            &["lab", "import", "hostile", "--name", "a", "--cores", "1"],
            &["lab", "load", "merge", "hostile"],
        ] {
            let ended = confined(folder, call, Stdio::null());
            let said = match name {
                _ if ["import", "load"].contains(&call[1]) => continue,
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
