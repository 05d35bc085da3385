//! Several `--key` files, which together are a key set.

use std::fs;
use std::path::Path;

use crate::binary::{ends, keys, line, said, succeeds};

fn sign(key: &str) -> String {
    line(&keys(), &["jws", "sign", "--key", key, "text"])
}

#[test]
fn several_keys_verify_like_one_set() {
    let files = ["es256.pub.jwk", "rsa.pub.pem", "jwks-enc.pub.json"];
    let options = ["--key", files[0], "--key", files[1], "--alg", "RS256"];
    for token in [
        sign("es256.jwk"),
        line(
            &keys(),
            &["jws", "sign", "--key", "rsa.pem", "--alg", "RS256", "text"],
        ),
    ] {
        let call = [&["jws", "verify"], &options[..], &[&token]].concat();
        assert_eq!(succeeds(&keys(), &call, b""), b"text");
    }
    // A named file without a usable key is an error.
    let call = [
        "jws", "verify", "--key", files[0], "--key", files[2], "a.b.c",
    ];
    ends(&keys(), &call, b"", 2, files[2]);
    let call = [
        "jws", "verify", "--key", files[0], "--key", "missing", "a.b.c",
    ];
    ends(&keys(), &call, b"", 2, "missing");
    let call = ["jws", "verify", "--key", "-", "--key", "-", "a.b.c"];
    ends(&keys(), &call, b"{\"kty\":\"EC\"}", 2, "standard input");
}

/// While a key is rotated, the same key is in the old and in the new set.
#[test]
fn same_key_in_two_files_verifies() {
    let token = sign("es256.jwk");
    let call = ["--key", "jwks.json", "--key", "es256.pub.jwk", &token];
    succeeds(&keys(), &[&["jws", "verify"], &call[..]].concat(), b"");
}

#[test]
fn doctor_names_the_file_that_signed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let new = |name: &str| {
        let file = format!("{name}.jwk");
        succeeds(
            path,
            &["key", "new", "--alg", "ES256", "--no-kid", "-o", &file],
            b"",
        );
        let public = succeeds(path, &["key", "public", &file], b"");
        fs::write(path.join(format!("{name}.pub")), public).unwrap();
    };
    ["a", "b", "c"].into_iter().for_each(new);
    let claims = ["--claims", "{\"sub\":\"x\"}", "--expires-in", "15m"];
    let token = line(
        path,
        &[&["jwt", "sign", "--key", "b.jwk"], &claims[..]].concat(),
    );
    let doctor = |files: [&str; 2]| {
        said(
            path,
            &["doctor", "--key", files[0], "--key", files[1], &token],
        )
    };
    let (text, code) = doctor(["a.pub", "b.pub"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("signed by the key of b.pub"), "{text}");
    for file in ["keys a.pub", "keys b.pub"] {
        assert!(text.contains(file), "{text}");
    }
    let verify = ["jwt", "verify", "--key", "a.pub", "--key", "b.pub", &token];
    succeeds(path, &verify, b"");
    let (text, code) = doctor(["a.pub", "c.pub"]);
    assert_eq!(code, 1, "{text}");
    let verify = ["jwt", "verify", "--key", "a.pub", "--key", "c.pub", &token];
    ends(path, &verify, b"", 1, "signature");
}

#[test]
fn several_keys_for_a_paseto_are_an_error() {
    let token = line(&keys(), &["paseto", "sign", "--key", "k4.secret", "text"]);
    let call = ["doctor", "--key", "k4.public", "--key", "k3.public", &token];
    let (text, code) = said(Path::new(&keys()), &call);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("a PASETO has one key"), "{text}");
}
