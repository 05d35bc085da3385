//! Creates data folders.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::succeeds;

pub(crate) const ISS: &str = "https://id.example";
pub(crate) const SETTINGS: &str = r#"{"iss": "https://id.example", "profiles": [
    {"name": "access", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"]}]}"#;
/// An issuer with a signing key for each of two algorithms.
pub(crate) const TWO_ALGORITHMS: &str = r#"{"iss": "https://id.example", "profiles": [
    {"name": "access", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["api"]},
    {"name": "other", "alg": "EdDSA", "lifetime_seconds": 900, "audiences": ["api"]}]}"#;

/// Creates a folder with an issuer in `jeton-data`.
pub(crate) fn issuer() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    succeeds(folder.path(), &["admin", "issuer", "add", SETTINGS], b"");
    folder
}

pub(crate) fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_slice(&succeeds(folder, args, b"")).unwrap()
}

pub(crate) fn keys(folder: &Path) -> Vec<(String, String)> {
    let keys = json(folder, &["admin", "key", "list", ISS, "--json"]);
    let text = |key: &Value, name: &str| key[name].as_str().unwrap().to_owned();
    let keys = keys.as_array().unwrap().iter();
    keys.map(|key| (text(key, "kid"), text(key, "state")))
        .collect()
}

pub(crate) fn states(folder: &Path) -> Vec<String> {
    keys(folder).into_iter().map(|(_, state)| state).collect()
}

pub(crate) fn store(folder: &Path) -> PathBuf {
    folder.join("jeton-data/store.redb")
}

pub(crate) fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}
