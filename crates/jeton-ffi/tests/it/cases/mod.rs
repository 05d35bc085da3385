//! `sdk/testdata/cases.jsonl`: cases with the same result in every language. `JETON_WRITE=1` writes it.
//!
//! A case is written by hand or created from a vector. The Rust library computes the expected result, which is compared
//! with the label of the author or the vector. Then the C functions run every case of the file.

mod attacks;
mod claims;
mod cookbook;
mod headers;
mod issuers;
mod issuing;
mod json_suite;
mod keys;
mod make;
mod paseto;
mod run_c;
mod run_rust;
mod unverified;
mod wycheproof;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A line of the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Case {
    /// Unique, lower case with dashes.
    pub(crate) id: String,
    /// `verify`, `verify-bytes`, `unverified`, `issue` or `import`.
    #[serde(rename = "do")]
    pub(crate) action: String,
    /// One key: of a verifier, of an issuer, or to be imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<KeyData>,
    /// The key set of a verifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<KeyData>,
    /// The issuers of a verifier for several issuers. C has no such verifier.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) issuers: Vec<Trusted>,
    /// The keys that decrypt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) decryption: Vec<KeyData>,
    /// The options of the verifier or the issuer.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) options: Map<String, Value>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    /// The detached content of a JWS, base64url.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    /// The claims to issue, JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claims: Option<String>,
    pub(crate) expect: Expected,
}

/// One of several issuers: its keys and its policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Trusted {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<KeyData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<KeyData>,
    pub(crate) options: Map<String, Value>,
}

/// The text of a key or a key set, and the options to import it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct KeyData {
    pub(crate) data: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) options: Map<String, Value>,
}

/// The expected result. An error has only `code`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expected {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// The claims of a verified token, as the token has them, or what an unverified token says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alg: Option<String>,
    /// The protected header of a verified token, as the token has it. A PASETO has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) typ: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) footer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) audiences: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_before: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) issued_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_id: Option<String>,
    /// The bytes of `verify-bytes`, base64url.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) payload: Option<String>,
    /// The issued token, with a deterministic algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    /// `symmetric`, `private` or `public`, of an imported key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thumbprint: Option<String>,
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../sdk/testdata/cases.jsonl")
}

fn all() -> Vec<Case> {
    [
        claims::cases(),
        headers::cases(),
        attacks::cases(),
        issuers::cases(),
        json_suite::cases(),
        wycheproof::cases(),
        cookbook::cases(),
        paseto::cases(),
        keys::cases(),
        issuing::cases(),
        unverified::cases(),
    ]
    .concat()
}

fn line(case: &Case) -> String {
    serde_json::to_string(case).unwrap()
}

#[test]
fn file_is_what_the_generator_writes() {
    let all = all();
    let text: String = all.iter().map(|case| line(case) + "\n").collect();
    if std::env::var_os("JETON_WRITE").is_some() {
        std::fs::create_dir_all(file().parent().unwrap()).unwrap();
        std::fs::write(file(), &text).unwrap();
    }
    let written = std::fs::read_to_string(file()).unwrap_or_default();
    for (written, case) in written.lines().zip(&all) {
        assert_eq!(written, line(case), "stale: cargo xtask sdk cases");
    }
    assert!(
        written == text,
        "cases.jsonl is stale: cargo xtask sdk cases"
    );

    let ids: BTreeSet<&str> = all.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), all.len(), "an id occurs twice");
    assert!(all.len() >= 400, "{} cases", all.len());
}

/// The cases include each kind of input and result.
#[test]
fn cases_cover_formats_and_results() {
    let all = all();
    let count = |is: &dyn Fn(&Case) -> bool| all.iter().filter(|case| is(case)).count();
    let format = |case: &Case, format: &str| {
        case.options
            .get("format")
            .and_then(Value::as_str)
            .unwrap_or("jwt")
            == format
    };
    for (name, at_least) in [("jwt", 150), ("jws", 150), ("jwe", 40), ("paseto", 30)] {
        let found = count(&|case| case.action.starts_with("verify") && format(case, name));
        assert!(found >= at_least, "{name}: {found}");
    }
    for action in ["issue", "import", "unverified"] {
        let found = count(&|case| case.action == action);
        assert!(found >= 20, "{action}: {found}");
    }
    let accepted = count(&|case| case.expect.code.is_none());
    assert!(
        accepted >= 100 && all.len() - accepted >= 200,
        "{accepted} of {}",
        all.len()
    );
}

#[test]
fn rust_library_passes_every_case() {
    each(run_rust::run);
}

#[test]
fn c_functions_pass_every_case() {
    each(|case| {
        if case.issuers.is_empty() {
            run_c::run(case)
        } else {
            case.expect.clone()
        }
    });
}

fn each(run: impl Fn(&Case) -> Expected) {
    let text = std::fs::read_to_string(file()).unwrap();
    let mut failed = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let case: Case = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("line {}: {error}", number + 1));
        let found = run(&case);
        if found != case.expect {
            failed.push(format!(
                "{}: {found:?}, expected {:?}",
                case.id, case.expect
            ));
        }
    }
    assert!(
        failed.is_empty(),
        "{}\n{} failed",
        failed.join("\n"),
        failed.len()
    );
}
