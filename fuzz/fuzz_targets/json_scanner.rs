//! The strict scanner compared with serde_json. Accepted texts have the same values. Rejected texts are rejected
//! by serde_json too, or are nested too deep or have a duplicate member.
#![no_main]

#[path = "../../crates/jeton/src/json/mod.rs"]
#[allow(dead_code, unused_imports)]
mod json;

use jeton_fuzz::seeds;
use json::{Kind, ScanError};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

const DEPTH: u32 = 32;

fuzz_target!(
    init: seeds::write(seeds::claims),
    |bytes: &[u8]| {
        let mut members = Vec::new();
        let outcome = json::text(bytes).and_then(|text| json::read_object(text, DEPTH, |name, value| {
            members.push((name, value));
            Ok::<_, ScanError>(())
        }));
        let reference = serde_json::from_slice::<Map<String, Value>>(bytes);
        match outcome {
            Ok(()) => {
                // A number that does not fit into an f64 is JSON, but serde_json rejects it.
                let Ok(reference) = reference else {
                    assert!(has_huge_number(bytes), "serde_json rejects it");
                    return;
                };
                assert_eq!(members.len(), reference.len());
                for (name, value) in members {
                    same(value, &reference[&*name.to_cow()]);
                }
            }
            Err(ScanError::Syntax) => assert!(reference.is_err(), "serde_json accepts it"),
            Err(ScanError::Depth { .. } | ScanError::Duplicate) => {}
            Err(ScanError::TooMany) => panic!("this limit is not set"),
        }
    }
);

fn has_huge_number(bytes: &[u8]) -> bool {
    let error = serde_json::from_slice::<Value>(bytes).map_err(|error| error.to_string());
    error.is_err_and(|error| error.starts_with("number out of range"))
}

fn same(value: json::Value<'_>, reference: &Value) {
    let kind = match reference {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Bool,
        Value::Number(_) => Kind::Number,
        Value::String(text) => {
            assert_eq!(value.string().expect("a string").to_cow(), text.as_str());
            Kind::String
        }
        Value::Array(elements) => {
            let own: Vec<_> = value.elements().expect("an array").collect();
            assert_eq!(own.len(), elements.len());
            for (own, element) in own.into_iter().zip(elements) {
                same(own, element);
            }
            Kind::Array
        }
        Value::Object(_) => {
            assert_eq!(
                serde_json::from_str::<Value>(value.raw()).as_ref().ok(),
                Some(reference)
            );
            Kind::Object
        }
    };
    assert_eq!(value.kind(), kind);
}
