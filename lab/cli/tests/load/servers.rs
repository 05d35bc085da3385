//! Tests `jeton-lab servers` and `jeton-lab load` with the real binary: against jeton's server, and faulty servers.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::alone;

const LAB: &str = env!("CARGO_BIN_EXE_jeton-lab");

/// The servers of the checkout.
pub(crate) const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../servers");

/// Returns a manifest of the checkout, with the tested binary instead of a build.
pub(crate) fn tested(id: &str) -> String {
    let text = fs::read_to_string(format!("{SERVERS}/{id}/server.toml")).unwrap();
    let jeton = jeton_testkit::program("jeton");
    let kept = text
        .lines()
        .filter(|line| !line.starts_with("build = ") && !line.starts_with("inputs = "));
    let manifest: Vec<String> = kept
        .map(|line| line.replace("{target}/dist/jeton", jeton.to_str().unwrap()))
        .collect();
    manifest.join("\n")
}

/// Adds jeton's server.
pub(crate) fn jeton_manifest(folder: &Path) {
    server(folder, "rust/jeton", &tested("rust/jeton"));
    let ready = format!("{SERVERS}/rust/jeton/ready.sh");
    fs::copy(ready, folder.join("rust/jeton/ready.sh")).unwrap();
}

pub(crate) fn server(folder: &Path, id: &str, manifest: &str) {
    let folder = folder.join(id);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("server.toml"), manifest).unwrap();
}

/// Adds a server that runs a shell command.
fn shell(folder: &Path, id: &str, line: &str, more: &str) {
    let manifest = format!(
        "name = \"a shell\"\nlanguage = \"sh\"\nlibraries = \"sh\"\nabout = \"no server\"\n\
         start = [\"sh\", \"-c\", \"{line}\"]\n{more}\n"
    );
    server(folder, id, &manifest);
}

fn servers(folder: &Path, more: &[&str]) -> Output {
    loaded_for(0.4, "0.5", folder, more)
}

/// Runs the servers until the rows are enough, each time with loads twice as long: the machine may be busy. The last
/// rows are returned in any case.
pub(crate) fn servers_until(
    folder: &Path,
    more: &[&str],
    enough: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    let mut seconds = 0.4;
    let mut last = Vec::new();
    for _ in 0..5 {
        last = rows(&loaded_for(seconds, "0.5", folder, more));
        if enough(&last) {
            break;
        }
        seconds *= 2.0;
    }
    last
}

/// Returns whether a server answered all calls of its rows, and at least this number of each.
fn answered(rows: &[Value], id: &str, calls: u64) -> bool {
    let mut of = rows.iter().filter(|row| row["subject"]["id"] == id);
    let enough = |row: &Value| row["statuses"]["OK"].as_u64().is_some_and(|ok| ok > calls);
    of.all(|row| row["status"] == "ok" && enough(row))
}

/// Runs the servers with loads of this number of seconds, and a first warm-up of at least this number.
fn loaded_for(seconds: f64, first_warm_up: &str, folder: &Path, more: &[&str]) -> Output {
    let _alone = alone();
    Command::new(LAB)
        .args(["servers", "--json", "--seed", "7"])
        .args(["--cores", "1", "--connections", "1", "--in-flight", "8"])
        .args(["--warm-up", "0.1", "--rounds", "2"])
        .args(["--seconds", &seconds.to_string()])
        .args(["--first-warm-up", first_warm_up])
        .arg("--servers")
        .arg(folder.join("servers"))
        .arg("--out")
        .arg(folder.join("out"))
        .args(more)
        .env_remove("JETON_KEY_ENCRYPTION_KEY")
        .output()
        .unwrap()
}

fn rows(out: &Output) -> Vec<Value> {
    let talk = String::from_utf8_lossy(&out.stderr);
    let result: Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {talk}"));
    result["rows"].as_array().unwrap().clone()
}

fn row<'r>(rows: &'r [Value], id: &str, alg: &str) -> &'r Value {
    let mut of = rows
        .iter()
        .filter(|r| r["subject"]["id"] == id && r["alg"] == alg);
    of.next().unwrap_or_else(|| panic!("no row of {id}"))
}

pub(crate) fn two_cores() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

#[test]
fn servers_correct_server_has_all_figures() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    jeton_manifest(&folder.path().join("servers"));
    let rows = servers_until(folder.path(), &[], |rows| {
        let rates = rows.iter().map(|row| row["requests_per_s"].as_f64());
        let are_high = rates.into_iter().all(|rate| rate.is_some_and(|r| r > 10.0));
        answered(rows, "rust/jeton", 10) && are_high
    });
    assert_eq!(rows.len(), 2);
    for alg in ["HS256", "ES256"] {
        let row = row(&rows, "rust/jeton", alg);
        assert_eq!(
            (&row["status"], &row["scenario"]),
            (&"ok".into(), &"1 core, 1×8".into()),
            "{row}"
        );
        assert!(row["requests_per_s"].as_f64().unwrap() > 10.0, "{row}");
        assert!(
            row["verified"].as_u64().unwrap() >= 2,
            "one for each load: {row}"
        );
        assert_eq!(row["repetitions"].as_array().unwrap().len(), 2);
        assert!(row["statuses"]["OK"].as_u64().unwrap() > 10, "{row}");
        for name in [
            "average", "fastest", "p10", "p50", "p99", "p99.99", "slowest",
        ] {
            assert!(
                row["latency_ms"][name].as_f64().unwrap() > 0.0,
                "{name}: {row}"
            );
        }
        for name in ["cpu_us_per_request", "base_rss_bytes", "peak_rss_bytes"] {
            assert!(row[name].as_f64().unwrap() > 0.0, "{name}: {row}");
        }
    }
    // Each format shows the file.
    let file = folder.path().join("out/results.json");
    for form in [&[][..], &["--md"], &["--html"], &["--csv"]] {
        let again = Command::new(LAB)
            .args(["report"])
            .arg(&file)
            .args(form)
            .output()
            .unwrap();
        let said = String::from_utf8(again.stdout).unwrap();
        assert!(
            again.status.success() && said.contains("rust/jeton"),
            "{form:?}: {said}"
        );
    }
}

/// A server of a language with a runtime starts with that runtime, and the result names it.
#[test]
fn servers_result_names_the_runtimes() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("python3");
    let line = format!("command -v python3 > {}; exit 1", own.display());
    let manifest = format!(
        "name = \"none\"\nlanguage = \"python\"\nlibraries = \"none\"\nabout = \"ends at once\"\n\
         announces = \"listens on \"\nstart = [\"sh\", \"-c\", \"{line}\"]\n"
    );
    server(&folder.path().join("servers"), "python/none", &manifest);
    for which in ["path", "newest"] {
        let out = servers(folder.path(), &["--alg", "HS256", "--runtimes", which]);
        let result: Value = serde_json::from_slice(&out.stdout).unwrap();
        let used = result["environment"]["runtimes_used"].as_array().unwrap();
        let [python] = used.as_slice() else {
            panic!("{used:?}");
        };
        assert!(python["name"].as_str().unwrap().starts_with("CPython 3."));
        let program = fs::read_to_string(&own).unwrap();
        let version = Command::new(program.trim()).arg("--version").output();
        let version = String::from_utf8(version.unwrap().stdout).unwrap();
        let version = version.trim().replace("Python", "CPython");
        assert_eq!(python["name"], version.as_str(), "{which}");
    }
}

#[test]
fn servers_open_loop_makes_due_calls() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    jeton_manifest(&folder.path().join("servers"));
    let rate = ["--alg", "HS256", "--rate", "100"];
    let rows = servers_until(folder.path(), &rate, |rows| answered(rows, "rust/jeton", 0));
    let row = row(&rows, "rust/jeton", "HS256");
    assert_eq!(row["rate"], 100.0);
    let statuses = row["statuses"].as_object();
    let calls: u64 = statuses
        .unwrap_or_else(|| panic!("not measured: {row}"))
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum();
    let repetitions = row["repetitions"].as_array().unwrap().iter();
    let seconds: f64 = repetitions.map(|r| r["seconds"].as_f64().unwrap()).sum();
    let due = seconds * 100.0;
    assert!((calls as f64 - due).abs() <= 2.0, "{due} were due: {row}");
}

#[test]
fn servers_full_rates_come_from_lowest_peak() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("servers");
    jeton_manifest(&all);
    shell(
        &all,
        "bad/absent",
        "true",
        "announces = \"on \"\nneeds = [\"jeton-no-such-tool\"]",
    );
    let full = ["--alg", "HS256", "--full"];
    let rows = servers_until(folder.path(), &full, |rows| answered(rows, "rust/jeton", 0));
    let of =
        |id: &str| -> Vec<&Value> { rows.iter().filter(|r| r["subject"]["id"] == id).collect() };
    let jeton = of("rust/jeton");
    assert_eq!(jeton.len(), 4, "{rows:?}");
    assert!(
        jeton[0].get("rate").is_none(),
        "the peak load must be first"
    );
    let peak = jeton[0]["requests_per_s"].as_f64().unwrap();
    for (row, part) in jeton[1..].iter().zip([0.5, 0.7, 0.9]) {
        assert_eq!(
            row["rate"].as_f64().unwrap(),
            (peak * part).floor(),
            "{row}"
        );
        for name in ["p50", "p99.99"] {
            assert!(row["latency_ms"][name].as_f64().unwrap() > 0.0, "{row}");
        }
    }
    // An unavailable server has a row for each load, and no peak.
    assert_eq!(of("bad/absent").len(), 4);
}

#[test]
fn servers_faulty_servers_have_reasons() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("servers");
    jeton_manifest(&all);
    // This server uses its own keys instead of the run's keys.
    let own_keys = fs::read_to_string(all.join("rust/jeton/server.toml")).unwrap();
    let jeton = jeton_testkit::program("jeton");
    let jeton = jeton.to_str().unwrap();
    let prepare = format!(
        "prepare = [[\"{jeton}\", \"admin\", \"issuer\", \"add\", \"--data\", \"{{run}}/data\", \
         \"@{{run}}/issuer.json\"]]"
    );
    let own_keys: Vec<&str> = own_keys
        .lines()
        .map(|l| {
            if l.starts_with("prepare = ") {
                prepare.as_str()
            } else {
                l
            }
        })
        .collect();
    server(&all, "bad/own-keys", &own_keys.join("\n"));
    shell(
        &all,
        "bad/dies",
        "echo out of memory >&2; exit 3",
        "announces = \"on \"",
    );
    shell(
        &all,
        "bad/far",
        "echo on 192.0.2.1:80; sleep 20",
        "announces = \"on \"",
    );
    shell(
        &all,
        "bad/absent",
        "true",
        "announces = \"on \"\nneeds = [\"jeton-no-such-tool\"]",
    );
    shell(
        &all,
        "bad/build",
        "true",
        "announces = \"on \"\nbuild = [[\"false\"]]",
    );
    shell(&all, "bad/garbage", GARBAGE, "announces = \"on \"");

    let rows = servers_until(folder.path(), &["--alg", "HS256"], |rows| {
        answered(rows, "rust/jeton", 0)
    });
    for (id, status, reason) in [
        (
            "bad/own-keys",
            "failed-preflight",
            "do not verify with the configured key",
        ),
        ("bad/dies", "unavailable", "out of memory"),
        (
            "bad/far",
            "unavailable",
            "does not listen on a loopback address",
        ),
        ("bad/absent", "unavailable", "needs `jeton-no-such-tool`"),
        ("bad/build", "unavailable", "build failed"),
        (
            "bad/garbage",
            "failed-preflight",
            "a call with HS256 ended with: ",
        ),
    ] {
        let row = row(&rows, id, "HS256");
        assert_eq!(row["status"], status, "{row}");
        assert!(row["reason"].as_str().unwrap().contains(reason), "{row}");
        assert!(row.get("requests_per_s").is_none(), "{row}");
    }
    assert_eq!(row(&rows, "rust/jeton", "HS256")["status"], "ok");
}

#[test]
fn servers_beyond_calls_are_loaded() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("servers");
    jeton_manifest(&all);
    shell(&all, "any/other", "sleep 20", "announces = \"on \"");
    let beyond = ["--scenarios", "beyond", "--alg", "HS256"];
    let rows = servers_until(folder.path(), &beyond, |rows| {
        answered(rows, "rust/jeton", 0)
    });
    for (call, tokens, verifies) in [
        ("issue", 1, true),
        ("issue-batch", 256, true),
        ("issue-stream", 1, true),
        ("verify", 1, false),
        ("verify-batch", 256, false),
        ("verify-stream", 1, false),
        ("verify-revoked", 1, false),
        ("introspect", 1, false),
    ] {
        let of = |id: &str| {
            let mut of = rows.iter().filter(|r| r["call"] == call);
            of.find(|r| r["subject"]["id"] == id).unwrap()
        };
        let row = of("rust/jeton");
        assert_eq!(row["status"], "ok", "{row}");
        let answers = row["statuses"]["OK"].as_u64().unwrap();
        let counted: f64 = (row["repetitions"].as_array().unwrap().iter())
            .map(|r| r["seconds"].as_f64().unwrap() * r["requests_per_s"].as_f64().unwrap())
            .sum();
        assert_eq!(counted.round() as u64, answers * tokens, "{row}");
        let verified = row["verified"].as_u64().unwrap();
        assert_eq!(verified > 0, verifies, "{row}");
        assert_eq!(of("any/other")["reason"], "does not offer this call");
    }
}

#[test]
fn servers_with_own_keys_are_verified() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    jeton_manifest(&folder.path().join("servers"));
    for (alg, is_verified) in [("RS256", true), ("v4.public", true), ("v4.local", false)] {
        let beyond = ["--scenarios", "beyond", "--alg", alg];
        let rows = servers_until(folder.path(), &beyond, |rows| {
            let issue = rows.iter().find(|row| row["call"] == "issue");
            issue.is_some_and(|row| answered(std::slice::from_ref(row), "rust/jeton", 0))
        });
        let row = rows.iter().find(|r| r["call"] == "issue").unwrap();
        assert_eq!(row["status"], "ok", "{row}");
        let verified = row["verified"].as_u64().unwrap();
        assert_eq!(verified > 0, is_verified, "{row}");
    }
}

/// A shell command that answers each connection with a line that is not HTTP/2.
const GARBAGE: &str = "exec python3 -c 'import socket; s = socket.create_server((\\\"127.0.0.1\\\", 0)); \
     print(\\\"on 127.0.0.1:%d\\\" % s.getsockname()[1], flush=True)\\n\
     while True: c = s.accept()[0]; c.sendall(b\\\"220 mail.test ready\\\\r\\\\n\\\" * 9); c.close()'";

#[test]
fn servers_budget_skips_the_rest() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    jeton_manifest(&folder.path().join("servers"));
    // This time limit ends during the warm-up on every machine.
    let budget = ["--alg", "HS256", "--budget", "1s"];
    let out = loaded_for(0.4, "30", folder.path(), &budget);
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("time limit reached"), "{said}");
    assert!(said.contains("× 1 repetitions"), "{said}");
    let result: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(result["environment"]["complete"], false);
    let rows = result["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(row["status"], "unavailable", "{row}");
    }
}

#[test]
fn servers_missing_requirements_fail_before_building() {
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("servers");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let built = folder.path().join("built");
    let more = format!(
        "address = \"{address}\"\nbuild = [[\"touch\", \"{}\"]]",
        built.display()
    );
    shell(&all, "any/taken", "sleep 20", &more);
    if two_cores() {
        let out = servers(folder.path(), &[]);
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(
            said.contains("any/taken") && said.contains("is in use"),
            "{said}"
        );
    }
    for (more, what) in [
        (&["--subject", "cobol"][..], "no server id contains `cobol`"),
        (&["--alg", "none"], "HS256, ES256, RS256"),
        (&["--scenarios", "mine"], "beyond"),
        (
            &["--scenarios", "beyond"],
            "none of the selected servers offers",
        ),
    ] {
        let out = servers(folder.path(), more);
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains(what), "{said}");
    }
    assert!(!built.exists());
}

#[test]
fn load_merge_adds_files() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let load = |name: &str, connections: &str, seconds: f64| {
        let out = Command::new(LAB)
            .args([
                "load",
                &nobody.to_string(),
                "--seconds",
                &seconds.to_string(),
                "--warm-up",
                "0",
            ])
            .args(["--connections", connections, "-o", name])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
    };
    let merge = |files: &[&str]| {
        Command::new(LAB)
            .args(["load", "merge"])
            .args(files)
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    // On a busy machine a short load may make no call.
    let makes_calls = |seconds: &f64| {
        load("1.json", "1", *seconds);
        load("2.json", "1", *seconds);
        let merged: Value = serde_json::from_slice(&merge(&["1.json", "2.json"]).stdout).unwrap();
        assert_eq!(merged["loaders"], 2);
        let calls = merged["statuses"]["not connected"].as_u64();
        calls.is_some_and(|calls| calls >= 2)
    };
    let seconds = [0.2, 0.4, 0.8, 1.6, 3.2].into_iter().find(makes_calls);
    load("other.json", "2", seconds.expect("it makes calls"));
    let refused = merge(&["1.json", "other.json"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(2) && said.contains("connections"),
        "{said}"
    );
}
