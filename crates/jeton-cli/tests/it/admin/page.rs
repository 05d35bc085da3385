//! The page of a running server, as `jeton admin page` opens it. The browser test looks at the pages that are kept here.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::running::Running;
use crate::binary::{ends, line};
use crate::data_folder::{ISS, TWO_ALGORITHMS};

/// Writes a page to the target folder for the browser test.
pub(crate) fn keep(name: &str, page: &str) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    fs::write(target.join(name), page).unwrap();
}

/// Opens a new link, as a browser does.
pub(crate) fn page(folder: &Path, server: &str) -> String {
    let link = line(folder, &["admin", "page", "--server", server]);
    let output = Command::new("curl")
        .args(["-sS", "--fail", &link])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The texts of a JSON value, without its truth values.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(leaves).collect(),
        Value::Object(all) => all.values().flat_map(leaves).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Bool(_) | Value::Null => Vec::new(),
    }
}

#[test]
fn page_has_the_facts_of_status_and_the_keys_of_each_issuer() {
    let running = Running::start();
    let other = TWO_ALGORITHMS.replace("id.example", "other.example");
    running.admin(&["issuer", "add", &other], b"");
    running.admin(&["key", "rotate", ISS], b"");
    running.admin(&["key", "rotate", ISS, "--compromised", "current"], b"");
    running.admin(&["key", "rotate", ISS], b"");
    running.admin(&["revoke", "subject", ISS, "user-7"], b"");
    let page = page(running.path(), &running.url);
    keep("serve-ready.html", &page);
    assert!(page.contains("Ready: the server issues, verifies and revokes."));
    let json = |args: &[&str]| -> Value {
        serde_json::from_slice(&running.admin(&[args, &["--json"]].concat(), b"")).unwrap()
    };
    let status = json(&["status"]);
    let facts = leaves(&status);
    assert!(facts.len() > 10, "{facts:?}");
    for fact in facts {
        assert!(page.contains(&fact), "{fact}: {page}");
    }
    // The newest entries of the audit log, as all of it has them.
    let log = running.admin(&["audit", "--last", "10", "--json"], b"");
    let entries = String::from_utf8(log).unwrap();
    assert!(entries.lines().count() > 4, "{entries}");
    for line in entries.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        for name in ["actor", "act", "iss"] {
            let text = entry[name].as_str().unwrap();
            assert!(
                page.contains(&format!("<td>{text}</td>")),
                "{name} {text}: {page}"
            );
        }
    }
    assert!(page.contains("user-7"), "{page}");
    assert!(page.contains("<td>running, answers</td>"), "{page}");
    for issuer in status["issuers"].as_array().unwrap() {
        let issuer = issuer.as_str().unwrap();
        for key in json(&["key", "list", issuer]).as_array().unwrap() {
            for name in ["kid", "alg", "state", "published_at", "signs_from"] {
                let text = key[name].as_str().unwrap();
                assert!(page.contains(text), "{name} {text}: {page}");
            }
        }
    }
}

#[test]
fn page_needs_a_running_server() {
    let folder = crate::data_folder::issuer();
    let said = "a store has no page: a server shows it";
    ends(folder.path(), &["admin", "page"], b"", 2, said);
}
