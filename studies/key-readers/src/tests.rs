use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use base64_simd::STANDARD;
use serde_json::{Value, json};

use crate::case::{self, Case};
use crate::readers::{Format, Others, read_by_jeton};
use crate::reasons;
use crate::seeds::{self, Seed};
use crate::study::{self, Limits, Verdict};

/// How many inputs a test makes; `JETON_CASES` makes more.
const CASES: u64 = 1_500;

/// Set to write the cases of the reasons and the page again.
const WRITE: &str = "JETON_WRITE";

fn path(relative: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), relative].iter().collect()
}

/// The documented cases: the format and the input of each reason.
fn documented() -> BTreeMap<String, (Format, Vec<u8>)> {
    let text = fs::read_to_string(path("cases.json")).unwrap_or("{}".into());
    let cases: BTreeMap<String, Value> = serde_json::from_str(&text).expect("an object");
    let of = |value: &Value| {
        let format = (Format::ALL.into_iter()).find(|format| value["format"] == format.name());
        let input = STANDARD.decode_to_vec(value["input"].as_str().expect("base64"));
        (format.expect("a format"), input.expect("base64"))
    };
    cases
        .iter()
        .map(|(id, value)| (id.clone(), of(value)))
        .collect()
}

fn nothing_is_found(format: Format) {
    let cases = std::env::var("JETON_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    let limits = Limits {
        time: Duration::from_secs(900),
        cases: cases.unwrap_or(CASES),
    };
    let outcome = study::run(format, 1, limits).expect("all libraries answer");
    assert_eq!(outcome.findings(), 0, "{}", outcome.log(0));
    assert_eq!(outcome.cases(), limits.cases);
    if std::env::var_os(WRITE).is_some() {
        let mut all = documented();
        for (verdict, id, class) in outcome.classes() {
            if verdict == Verdict::DocumentedReason {
                all.entry(id.into())
                    .or_insert((format, class.input.clone()));
            }
        }
        let text = |(format, input): (Format, Vec<u8>)| json!({ "format": format.name(), "input": STANDARD.encode_to_string(input) });
        let all: BTreeMap<String, Value> =
            all.into_iter().map(|(id, case)| (id, text(case))).collect();
        let text = serde_json::to_string_pretty(&all).expect("JSON") + "\n";
        fs::write(path("cases.json"), text).expect("written");
    }
}

#[test]
fn pem_reader_of_jeton_has_no_finding() {
    nothing_is_found(Format::Pem);
}

#[test]
fn der_reader_of_jeton_has_no_finding() {
    nothing_is_found(Format::Der);
}

#[test]
fn jwk_reader_of_jeton_has_no_finding() {
    nothing_is_found(Format::Jwk);
}

#[test]
fn case_with_the_same_number_is_repeated() {
    for format in Format::ALL {
        let seeds = seeds::all(format);
        let mut changed = 0;
        for number in 0..500 {
            let one = case::make(format, &seeds, 7, number);
            let again = case::make(format, &seeds, 7, number);
            assert_eq!((one.input, &one.changes), (again.input, &again.changes));
            changed += usize::from(!one.changes.is_empty());
        }
        assert!(changed > 300, "{format:?}: {changed}");
    }
}

#[test]
fn every_reason_has_a_case_that_is_judged_so() {
    let cases = documented();
    let ids: Vec<&str> = reasons::ALL.iter().map(|reason| reason.id).collect();
    assert_eq!(cases.keys().map(String::as_str).collect::<Vec<_>>(), {
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted
    });
    for (id, (format, input)) in &cases {
        let seed = Seed {
            name: id.clone(),
            bytes: input.clone(),
            signed: None,
        };
        let case = Case {
            number: 0,
            seed: &seed,
            changes: Vec::new(),
            input: input.clone(),
        };
        let mut others = Others::start(*format).expect("all libraries answer");
        let answers = others.ask(&[(input, None)]).expect("answers");
        let jeton = read_by_jeton(*format, input);
        let judged = study::judge(*format, &case, &jeton, &answers[0]);
        assert_eq!(judged, (Verdict::DocumentedReason, id.clone()), "{jeton:?}");
    }
}

#[test]
fn page_of_the_reasons_is_current() {
    let page = path("../../docs/reference/key-readers.md");
    let mut text = include_str!("page.md").to_owned();
    let cases = documented();
    for reason in reasons::ALL {
        let format = cases.get(reason.id).map_or("", |(format, _)| format.name());
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            reason.id,
            format.to_uppercase(),
            reason.what,
            reason.why
        );
    }
    if std::env::var_os(WRITE).is_some() {
        fs::write(&page, &text).expect("written");
    }
    let current = fs::read_to_string(&page).unwrap_or_default();
    assert_eq!(current, text, "set {WRITE}=1 to write the page again");
}
