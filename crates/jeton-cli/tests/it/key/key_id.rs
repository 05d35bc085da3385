//! The key id of new keys.

use serde_json::Value;

use super::json;
use crate::binary::{ends, keys, line, succeeds};

#[test]
fn new_key_has_its_thumbprint_as_kid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (alg, more) in [
        ("ES256", &[][..]),
        ("RS256", &[]),
        ("EdDSA", &[]),
        ("ECDH-ES", &["--curve", "X25519"]),
    ] {
        let file = format!("{alg}.jwk");
        let new = ["key", "new", "--alg", alg, "-o", &file];
        succeeds(path, &[&new[..], more].concat(), b"");
        let thumbprint = line(path, &["key", "thumbprint", &file]);
        assert_eq!(json(path, &file)["kid"], *thumbprint, "{alg}");
        // The public key, and tokens, have the same id.
        let public: Value = serde_json::from_str(&line(path, &["key", "public", &file])).unwrap();
        assert_eq!(public["kid"], *thumbprint, "{alg}");
    }
    let token = line(path, &["jws", "sign", "--key", "ES256.jwk", "text"]);
    let shown = line(path, &["inspect", "--json", &token]);
    let thumbprint = line(path, &["key", "thumbprint", "ES256.jwk"]);
    assert!(shown.contains(&thumbprint), "{shown}");
}

#[test]
fn new_key_takes_another_kid_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let new = |more: &[&str]| -> Value {
        let new = ["key", "new", "--alg", "ES256"];
        serde_json::from_str(&line(folder.path(), &[&new[..], more].concat())).unwrap()
    };
    assert_eq!(new(&["--kid", "2026-11"])["kid"], "2026-11");
    assert_eq!(new(&["--no-kid"]).get("kid"), None);
    let both = ["key", "new", "--alg", "ES256", "--kid", "a", "--no-kid"];
    ends(folder.path(), &both, b"", 2, "cannot be used with");
    let paseto = ["key", "new", "--paseto", "v4.public", "--no-kid"];
    ends(folder.path(), &paseto, b"", 2, "cannot be used with");
}

/// Its thumbprint is a hash of the secret, and each token would contain it.
#[test]
fn new_symmetric_key_has_no_kid() {
    for alg in ["HS256", "A256KW", "A256GCM"] {
        let jwk = line(&keys(), &["key", "new", "--alg", alg]);
        let jwk: Value = serde_json::from_str(&jwk).unwrap();
        assert_eq!(jwk.get("kid"), None, "{alg}");
    }
    let named = line(&keys(), &["key", "new", "--alg", "HS256", "--kid", "a"]);
    assert!(named.contains("\"kid\":\"a\""));
}
