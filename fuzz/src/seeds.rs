//! The first inputs. Without them, a fuzzer would spend its time on finding valid base64url.
//!
//! They are not stored in the repository: a target writes its seeds when it starts.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Writes the seeds to the folder in the environment variable, if it is set. Existing files stay, so that a corpus
/// grows over many runs.
pub fn write<S: AsRef<[u8]>>(seeds: impl FnOnce() -> Vec<S>) {
    let Some(folder) = std::env::var_os("JETON_FUZZ_SEEDS") else {
        return;
    };
    for (number, seed) in seeds().into_iter().enumerate() {
        let path = Path::new(&folder).join(format!("seed-{number:04}"));
        fs::write(path, seed).expect("the corpus can be written to");
    }
}

/// Returns every text of the official vectors for which `wanted` is true.
pub fn from_vectors(wanted: impl Fn(&Found) -> bool) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let mut all = Vec::new();
    folder(&root, &mut |found| {
        let text = match &found {
            Found::Text(text) => text.clone(),
            Found::Object(object) => object.to_string(),
        };
        if text.len() < 20_000 && wanted(&found) {
            all.push(text);
        }
    });
    all.sort();
    all.dedup();
    all
}

/// A value in a vector file.
pub enum Found {
    Text(String),
    Object(Value),
}

impl Found {
    /// Whether it is a compact token with this number of parts.
    pub fn is_compact(&self, parts: usize) -> bool {
        matches!(self, Found::Text(text)
            if text.split('.').count() == parts && text.starts_with("ey") && !text.contains(' '))
    }

    /// Whether it is a text with this prefix.
    pub fn starts_with(&self, start: &str) -> bool {
        matches!(self, Found::Text(text) if text.starts_with(start))
    }

    /// Whether it is an object with this member.
    pub fn has(&self, member: &str) -> bool {
        matches!(self, Found::Object(object) if object.get(member).is_some())
    }
}

fn folder(path: &Path, take: &mut impl FnMut(Found)) {
    let entries = fs::read_dir(path).expect("vectors/ is next to fuzz/");
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            folder(&path, take);
        } else if let Ok(text) = fs::read_to_string(&path) {
            match serde_json::from_str(&text) {
                Ok(json) => walk(json, take),
                Err(_) => take(Found::Text(text.trim().to_owned())),
            }
        }
    }
}

fn walk(value: Value, take: &mut impl FnMut(Found)) {
    match value {
        Value::String(text) => take(Found::Text(text)),
        Value::Array(elements) => {
            for element in elements {
                walk(element, take);
            }
        }
        Value::Object(members) => {
            take(Found::Object(Value::Object(members.clone())));
            for (_, value) in members {
                walk(value, take);
            }
        }
        _ => {}
    }
}

/// Seeds that start with different numbers of two bytes, for targets that select a case by their first bytes.
pub fn numbers(count: usize) -> Vec<[u8; 32]> {
    (0..count)
        .map(|number| {
            let mut seed = [0; 32];
            seed[..2].copy_from_slice(&(number as u16).to_be_bytes());
            // The form, number and positions of mutations differ for every number.
            for (at, byte) in seed[2..].iter_mut().enumerate() {
                *byte = (number * 31 + at * 17) as u8;
            }
            seed
        })
        .collect()
}

/// JSON objects that are or could be claims.
pub fn claims() -> Vec<String> {
    let mut all = from_vectors(|found| {
        found.starts_with("{") || found.has("exp") || found.has("alg") || found.has("data")
    });
    all.extend(
        [
            r#"{"iss":"i","sub":"s","aud":"a","exp":1900000000,"nbf":0,"iat":0.5,"jti":"j"}"#,
            r#"{"aud":["a","b"],"exp":1.9e9,"x":{"y":[1,true,null,"\u00e9\ud83d\ude00"]}}"#,
            r#"{"sub":"s","name":"J\u00e9","admin":true,"iat":1,"data":{"a":[1,"b"]}}"#,
            r#"{"exp":"2039-01-01T00:00:00+00:00","iat":"2022-01-01T00:00:00.5Z"}"#,
        ]
        .map(str::to_owned),
    );
    all
}
