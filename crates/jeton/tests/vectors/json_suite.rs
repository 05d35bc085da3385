//! Runs JSONTestSuite with the strict scanner. The result for the undefined cases is listed here.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]
// The scanner is compiled into this test without its unit tests and its other users.
#![allow(dead_code, unreachable_pub, unused_imports)]

#[path = "../../src/json/mod.rs"]
mod json;

use std::fs;
use std::path::Path;

use crate::support::{Trial, trial};

/// The suite has undefined cases with a depth of 500; the limit for tokens is lower.
const DEPTH: u32 = 600;

/// Undefined cases that jeton accepts. Only the syntax of numbers is checked, because no claim that jeton reads
/// can contain these. The depth is limited separately.
const OPEN_ACCEPTED: [&str; 8] = [
    "i_number_double_huge_neg_exp.json",
    "i_number_huge_exp.json",
    "i_number_neg_int_huge_exp.json",
    "i_number_pos_double_huge_exp.json",
    "i_number_real_neg_overflow.json",
    "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json",
    "i_structure_500_nested_arrays.json",
];

/// The same for integers of more than 64 bits.
const OPEN_ACCEPTED_INTEGERS: [&str; 3] = [
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
];

/// Cases that JSON allows and jeton rejects: duplicate members.
const DUPLICATES: [&str; 2] = [
    "y_object_duplicated_key.json",
    "y_object_duplicated_key_and_value.json",
];

pub(crate) fn trials() -> Vec<Trial> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/json-test-suite/test_parsing");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 150, "only {} cases found", files.len());
    let trials = files.into_iter().map(|file| {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let expected = match &name[..2] {
            "y_" => !DUPLICATES.contains(&name.as_str()),
            "n_" => false,
            "i_" => {
                OPEN_ACCEPTED.contains(&name.as_str())
                    || OPEN_ACCEPTED_INTEGERS.contains(&name.as_str())
            }
            other => panic!("unknown expectation {other}"),
        };
        let verdict = if expected { "accepted" } else { "rejected" };
        trial(format!("{name}_is_{verdict}"), move || {
            // The scanner reads objects, so the case is the value of a member.
            let object = [b"{\"case\":".as_slice(), &fs::read(&file)?, b"}"].concat();
            let answer =
                json::text(&object).and_then(|text| json::read_object(text, DEPTH, |_, _| Ok(())));
            if answer.is_ok() == expected {
                Ok(())
            } else {
                Err(format!("{answer:?}").into())
            }
        })
    });
    trials.collect()
}
