//! The payloads of the four public reports, unchanged.

use serde_json::{Map, Value, json};

/// Report 1's sets with descriptions; its five sizes of one string are in the sweep.
pub(super) const NAMES: [(&str, &str); 7] = [
    ("report1-string", "a text"),
    ("report1-simple", "a struct with one member"),
    ("report1-complex", "a struct of structs"),
    (
        "report1-complex-round-trip",
        "another payload that report 1 published under the same name",
    ),
    ("report1-concurrency", "what its concurrent benchmarks sign"),
    ("report1-large", "100 entries"),
    ("report1-very-large", "1,000 entries"),
];

/// Returns the value under `data` of one of report 1's sets, or of a sweep's set.
pub(super) fn data(name: &str) -> Option<Value> {
    Some(match name {
        "report1-string" => json!("benchmark test string"),
        "report1-simple" => json!({"message": "benchmark test message"}),
        "report1-complex" => complex(true),
        "report1-complex-round-trip" => complex(false),
        "report1-concurrency" => json!({"message": "concurrency test"}),
        "report1-large" => entries(100, "some_longer_content_for_benchmarking"),
        "report1-very-large" => entries(
            1_000,
            "extensive_content_for_performance_benchmarking_purposes",
        ),
        other => {
            let bytes = other.strip_prefix("text-")?.parse().ok()?;
            (text_of(bytes) == other && bytes <= super::MAX_CLAIMS_BYTES)
                .then(|| json!("x".repeat(bytes)))?
        }
    })
}

/// Finds the set with a string of the given size: `text-1000`.
pub(super) fn text_of(bytes: usize) -> String {
    format!("text-{bytes}")
}

/// Report 1's nested struct. The report signed the time of the run, so its length varied; here the time
/// is fixed. Role, tenant and region are unknown; these values give its 214 bytes.
fn complex(with_region: bool) -> Value {
    let mut metadata = json!({"role": "admin", "tenant": "benchmark-tenant"});
    if with_region {
        metadata["region"] = json!("us-east-1");
    }
    json!({
        "user": {"id": 123, "username": "benchmarkuser", "email": "benchmark@example.com"},
        "metadata": metadata,
        "timestamp": "2025-01-02T03:04:05.678901234Z",
        "active": true,
    })
}

fn entries(count: usize, content: &str) -> Value {
    let entries = (0..count).map(|i| {
        let value = format!("value_{i}_with_{content}");
        (format!("key_{i}"), Value::String(value))
    });
    Value::Object(entries.collect())
}

/// Report 2's claims: ten, each with the 26 lower-case letters, 375 bytes of JSON. Their names are not
/// published; these have the right lengths. The first value is rotated by `index`, so that all values
/// differ.
pub(super) fn letters(index: usize) -> Value {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    const NAMES: [&str; 10] = [
        "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
        "juliett",
    ];
    let mut claims = Map::new();
    for (place, name) in NAMES.into_iter().enumerate() {
        let turn = if place == 0 { index % 26 } else { 0 };
        let (tail, head) = LETTERS.split_at(turn);
        claims.insert(name.to_owned(), Value::String(format!("{head}{tail}")));
    }
    Value::Object(claims)
}
