//! `jeton key import`: a JWK from every format.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{ends, inputs, keys, line, said, succeeds};
use crate::data_folder::private;

fn imported(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&line(folder, &[&["key", "import"], args].concat())).unwrap()
}

#[test]
fn import_key_file_of_every_format_is_a_jwk() {
    for (args, kty, is_private) in [
        (&["es256.pem"][..], "EC", true),
        (&["es256.der"], "EC", true),
        (&["es256-sec1.der"], "EC", true),
        (&["es256.pub.pem"], "EC", false),
        (&["es256.pub.der"], "EC", false),
        (&["rsa.pem", "--alg", "PS256"], "RSA", true),
        (&["rsa-pkcs1.der", "--alg", "RS256"], "RSA", true),
        (&["rsa-pkcs1.pub.der", "--alg", "RS256"], "RSA", false),
        (&["rsa.pem", "--alg", "RSA-OAEP-256"], "RSA", true),
        (&["x25519.pem"], "OKP", true),
        (&["ed25519.pub.pem"], "OKP", false),
        (&["k4.secret"], "OKP", true),
        (&["k4.public"], "OKP", false),
    ] {
        let jwk = imported(&keys(), args);
        assert_eq!(jwk["kty"], kty, "{args:?}");
        assert_eq!(jwk.get("d").is_some(), is_private, "{args:?}");
        let folder = tempfile::tempdir().unwrap();
        private(&folder.path().join("jwk"), &jwk.to_string());
        let thumbprint = line(folder.path(), &["key", "thumbprint", "jwk"]);
        assert_eq!(jwk["kid"], *thumbprint, "{args:?}");
    }
}

#[test]
fn import_keeps_or_sets_the_kid() {
    assert_eq!(imported(&keys(), &["es256.jwk"])["kid"], "test-es");
    let named = imported(&keys(), &["es256.pem", "--kid", "a"]);
    assert_eq!(named["kid"], "a");
    assert_eq!(
        imported(&keys(), &["es256.pem", "--no-kid"]).get("kid"),
        None
    );
}

#[test]
fn import_bare_base64_needs_an_algorithm() {
    let folder = inputs("pem-keycloak");
    let bare = ["key", "import", "bare.txt"];
    ends(&folder, &bare, b"", 2, "hint: add `--alg RS256`");
    let jwk = imported(&folder, &["bare.txt", "--alg", "RS256"]);
    assert_eq!((&jwk["kty"], &jwk["alg"]), (&"RSA".into(), &"RS256".into()));
}

#[test]
fn import_encrypted_key_needs_its_password() {
    let folder = inputs("encrypted");
    let password = tempfile::tempdir().unwrap();
    let file = password.path().join("password");
    private(&file, "password\n");
    let file = file.to_str().unwrap();
    for key in ["pbkdf2.pem", "scrypt.pem"] {
        let call = ["key", "import", key];
        ends(&folder, &call, b"", 2, "add `--key-password-file FILE`");
        let jwk = imported(&folder, &[key, "--key-password-file", file]);
        assert!(jwk.get("d").is_some(), "{key}");
    }
}

#[test]
fn import_certificate_only_if_asked_for() {
    let call = ["key", "import", "certificate.pem"];
    ends(&keys(), &call, b"", 2, "this is a certificate");
    let call = ["key", "import", "--from-certificate", "certificate.pem"];
    let (text, code) = said(&keys(), &call);
    assert_eq!(code, 0, "{text}");
    let note = "note: certificate.pem: nothing checked the certificate";
    assert!(text.contains(note), "{text}");
    assert!(!text.contains("\"d\""), "{text}");
    // A file that has a key too: the key of the certificate is taken.
    let both = ["both.pem", "--from-certificate", "--alg", "RS256"];
    let public = imported(&inputs("pkcs12"), &both);
    let private = imported(&inputs("pkcs12"), &["both.pem", "--alg", "RS256"]);
    assert_eq!(public["n"], private["n"]);
    assert!(public.get("d").is_none() && private.get("d").is_some());
}

#[test]
fn import_certificate_of_a_key_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad"), [0x30, 0x03, 0x30, 0x01, 0x00]).unwrap();
    ends(
        folder.path(),
        &["key", "import", "--from-certificate", "bad"],
        b"",
        2,
        "bad: key rejected: certificate: ",
    );
    let call = ["key", "import", "--from-certificate", "es256.pem"];
    ends(&keys(), &call, b"", 2, "remove `--from-certificate`");
}

#[test]
fn import_writes_a_private_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::copy(keys().join("es256.pem"), path.join("es256.pem")).unwrap();
    let call = ["key", "import", "es256.pem", "-o", "key.jwk"];
    succeeds(path, &call, b"");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path.join("key.jwk")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
    ends(path, &call, b"", 2, "already exists");
}
