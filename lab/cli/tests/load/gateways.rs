//! Tests `jeton-lab servers --scenarios gateways` with the real Envoy and nginx.
//!
//! `cargo xtask test --only proxies` sets the paths of the proxies.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::servers::{SERVERS, jeton_manifest, server, servers_until, tested, two_cores};

/// Adds the gateways of the checkout, and jeton's server, of which they use a file.
fn gateways(folder: &Path) {
    jeton_manifest(folder);
    copy(Path::new(SERVERS), folder, "gateway");
}

/// Copies a folder, with manifests of the tested binary.
fn copy(from: &Path, to: &Path, id: &str) {
    fs::create_dir_all(to.join(id)).unwrap();
    for entry in fs::read_dir(from.join(id)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{id}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            copy(from, to, &name);
        } else if name.ends_with("/server.toml") {
            server(to, id, &tested(id));
        } else {
            fs::copy(entry.path(), to.join(&name)).unwrap();
        }
    }
}

const CHECKS: [(&str, &str, bool); 4] = [
    ("gateway/envoy-ext-authz", "gateway/envoy", true),
    ("gateway/envoy-jwt-authn", "gateway/envoy", false),
    ("gateway/envoy-jwt-authn-cache", "gateway/envoy", false),
    ("gateway/nginx-auth-request", "gateway/nginx", true),
];

fn row<'r>(rows: &'r [Value], id: &str, call: &str) -> &'r Value {
    let mut of = rows
        .iter()
        .filter(|row| row["subject"]["id"] == id && row["call"] == call);
    of.next()
        .unwrap_or_else(|| panic!("no row of {id}: {call}"))
}

#[test]
#[ignore = "needs Envoy and nginx"]
fn gateways_show_what_their_checks_cost() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    gateways(&folder.path().join("servers"));
    let set = ["--scenarios", "gateways"];
    let rows = servers_until(folder.path(), &set, |rows| {
        let are_measured = |row: &Value| row["statuses"]["OK"].as_u64().is_some_and(|ok| ok > 10);
        let mut passing = rows.iter().filter(|row| row["call"] != "pass-revoked");
        passing.all(are_measured)
    });
    assert_eq!(rows.len(), 6 * 3);
    for call in ["pass", "pass-different", "pass-revoked"] {
        for id in ["gateway/envoy", "gateway/nginx"] {
            let row = row(&rows, id, call);
            assert_eq!(row["status"], "ok", "{row}");
            assert_eq!(row["subject"].get("bare"), None);
        }
        for (id, bare, knows_revocations) in CHECKS {
            let row = row(&rows, id, call);
            assert_eq!(row["subject"]["bare"], bare);
            if call != "pass-revoked" || knows_revocations {
                assert_eq!(row["status"], "ok", "{row}");
                let statuses = row["statuses"].as_object().unwrap();
                assert_eq!(statuses.keys().collect::<Vec<_>>(), ["OK"], "{row}");
            } else {
                let reason = row["reason"].as_str().unwrap();
                assert!(reason.starts_with("lets a revoked token pass: "), "{row}");
                assert!(row.get("requests_per_s").is_none(), "{row}");
            }
        }
    }
    // The proxies are named with their versions.
    let libraries = |id: &str| {
        row(&rows, id, "pass")["subject"]["libraries"]
            .as_str()
            .unwrap()
    };
    assert!(libraries("gateway/envoy").starts_with("Envoy 1."));
    assert!(libraries("gateway/nginx").starts_with("nginx 1."));
    let file = folder.path().join("out/results.json");
    let report = Command::new(env!("CARGO_BIN_EXE_jeton-lab"))
        .args(["report", "--md"])
        .arg(file)
        .output()
        .unwrap();
    let said = String::from_utf8(report.stdout).unwrap();
    for (id, bare, _) in CHECKS {
        let adds = said
            .lines()
            .find(|line| line.starts_with(&format!("- {id} adds ")));
        let adds = adds.unwrap_or_else(|| panic!("{id}: {said}"));
        assert!(
            adds.contains(&format!(" µs of CPU time for each request to {bare} (")),
            "{adds}"
        );
    }
    let rejected = "The revoked token is rejected by gateway/";
    assert!(
        said.contains(rejected) && said.contains("Two processes of gateway/envoy differ"),
        "{said}"
    );
}

/// A gateway that lets forged tokens pass, or refuses valid ones, is not measured.
#[test]
#[ignore = "needs Envoy and nginx"]
fn gateways_with_wrong_checks_have_reasons() {
    if !two_cores() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("servers");
    gateways(&all);
    fs::rename(
        all.join("gateway/envoy-jwt-authn"),
        all.join("gateway/refuses"),
    )
    .unwrap();
    let filter = all.join("gateway/refuses/filter.yaml");
    let text = fs::read_to_string(&filter).unwrap();
    fs::write(
        &filter,
        text.replace("audiences: [api]", "audiences: [other]"),
    )
    .unwrap();
    let open = format!("{}\nbare = \"gateway/envoy\"\n", tested("gateway/envoy"));
    server(&all, "gateway/open", &open);
    let chosen = [
        "--scenarios",
        "gateways",
        "--subject",
        "open",
        "--subject",
        "refuses",
    ];
    let rows = servers_until(folder.path(), &chosen, |_| true);
    for (id, reasons) in [
        (
            "gateway/open",
            &[
                "without a token pass",
                "with a forged token pass",
                "with an expired token pass",
            ][..],
        ),
        (
            "gateway/refuses",
            &["a request with a valid token does not pass: HTTP 403"][..],
        ),
    ] {
        let row = row(&rows, id, "pass");
        assert_eq!(row["status"], "failed-preflight", "{row}");
        for reason in reasons {
            assert!(row["reason"].as_str().unwrap().contains(reason), "{row}");
        }
        assert!(row.get("requests_per_s").is_none(), "{row}");
    }
    assert_eq!(row(&rows, "gateway/envoy", "pass")["status"], "ok");
}
