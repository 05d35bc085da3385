//! The JSON test suite as payloads of tokens: `n_` and `i_` must be rejected, `y_` must be accepted.

use serde_json::json;

use super::Case;
use super::make::{HEADER, Label, hs256, slug, vectors, verify};

/// The maximum length of a file. Longer files test the depth, which other cases test.
const LONGEST: u64 = 4096;

pub(crate) fn cases() -> Vec<Case> {
    let folder = std::fs::read_dir(vectors("json-test-suite/test_parsing")).unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if file.metadata().unwrap().len() > LONGEST || !name.contains("object") {
            continue;
        }
        let payload = std::fs::read(&file).unwrap();
        let id = format!("json-{}-{}", slug(name), cases.len());
        let options = json!({"any_issuer": true, "any_audience": true, "without_expiry": true});
        let case = verify(&id, hs256(HEADER, &payload), options);
        let label = match &name[..2] {
            "n_" => Label::Invalid,
            // Duplicate members are valid JSON, but rejected in claims.
            "y_" if name.contains("duplicated") => Label::Code("TOKEN_DUPLICATE_MEMBER"),
            "y_" => Label::Valid,
            // Lone surrogates: implementations may accept or reject them. jeton rejects them.
            _ => Label::Invalid,
        };
        cases.push(case.labelled(label));
    }
    cases
}
