//! Tests of `jeton doctor` with the keys and tokens of `vectors/inputs`: each key has the result *signed*, *not signed* or
//! *undetermined*, and there is no error about a token that verifies.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{inputs as case, jeton, line, said};

const AT: [&str; 2] = ["--at", "1795656378"];

fn doctor(folder: &Path, args: &[&str]) -> (String, i32) {
    said(folder, &[&["doctor"], &AT[..], args].concat())
}

/// Asserts the texts and the exit code, and that no key has the result "not signed by".
#[track_caller]
fn answers(folder: &Path, args: &[&str], code: i32, texts: &[&str]) {
    let (said, ended) = doctor(folder, args);
    for text in texts {
        assert!(said.contains(text), "{text}: {said}");
    }
    assert!(!said.to_lowercase().contains("not signed by"), "{said}");
    assert!(!said.contains("was changed"), "{said}");
    assert_eq!(ended, code, "{said}");
}

/// Asserts that doctor and verify accept the token with the same options.
#[track_caller]
fn both_accept(folder: &Path, key: &str, token: &str, options: &[&str]) {
    let options = [&AT[..], options, &[token]].concat();
    let verify = [&["jwt", "verify", "--key", key], &options[..]].concat();
    let (verified, code) = said(folder, &verify);
    assert_eq!(code, 0, "{verified}");
    let (found, code) = said(folder, &[&["doctor", "--key", key], &options[..]].concat());
    assert_eq!(code, 0, "{found}");
    assert!(!found.contains("! "), "{found}");
    assert!(found.contains("signed by "), "{found}");
}

#[test]
fn doctor_coordinate_of_31_bytes_is_undetermined() {
    let args = ["--key", "short.json", "@t1"];
    let why = "x has 31 bytes, P-256 needs 32: a leading zero was removed";
    answers(
        &case("leading-zero"),
        &args,
        1,
        &["undetermined", "the key a", why],
    );
}

#[test]
fn doctor_coordinate_of_33_bytes_is_undetermined() {
    let args = ["--key", "long.json", "@t1"];
    let why = "x has 33 bytes, P-256 needs 32: a leading zero was added";
    answers(
        &case("leading-zero"),
        &args,
        1,
        &["undetermined", "the key a", why],
    );
}

#[test]
fn doctor_numeric_kid_is_undetermined() {
    let why = "`kid` must be a string, not a number";
    for token in ["@t1", "@tn"] {
        let args = ["--key", "numkid.json", token];
        answers(&case("leading-zero"), &args, 1, &["undetermined", why]);
    }
}

#[test]
fn verify_key_of_wrong_length_is_an_error_with_both_lengths() {
    let args = ["jwt", "verify", "--key", "short.json", "@t1"];
    let (said, code) = said(&case("leading-zero"), &args);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("x has 31 bytes, P-256 needs 32"), "{said}");
}

#[test]
fn doctor_unknown_crit_is_undetermined_with_its_names() {
    for keys in ["p.pem", "p.jwk"] {
        let args = ["--key", keys, "@ob"];
        let why = "http://openbanking.org.uk/iat";
        answers(
            &case("crit-and-b64"),
            &args,
            1,
            &["undetermined", "crit", why],
        );
    }
}

#[test]
fn doctor_b64_in_a_jwt_is_rejected_and_signed_by_its_key() {
    let args = ["--key", "p.pem", "@b64true"];
    answers(
        &case("crit-and-b64"),
        &args,
        1,
        &["signed by ", "jwt verify rejects it", "crit"],
    );
}

#[test]
fn doctor_padded_parts_are_signed_and_an_error() {
    let args = ["--key", "pub.pem", "@alb"];
    let texts = [
        "signed by ",
        "over padded base64, as AWS load balancers do",
        "jwt verify rejects it",
    ];
    answers(&case("aws-alb"), &args, 1, &texts);
    let (said, _) = doctor(&case("aws-alb"), &args);
    assert!(!said.contains("none of "), "{said}");
}

#[test]
fn doctor_changed_token_is_not_signed_by_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let from = case("typ-full");
    fs::copy(from.join("p.pem"), folder.path().join("p.pem")).unwrap();
    let [one, other] = ["full", "short"].map(|name| fs::read_to_string(from.join(name)).unwrap());
    let (signed, _) = one.trim().rsplit_once('.').unwrap();
    let (_, signature) = other.trim().rsplit_once('.').unwrap();
    let token = format!("{signed}.{signature}");
    let (said, code) = doctor(folder.path(), &["--key", "p.pem", &token]);
    assert!(said.contains("not signed by "), "{said}");
    assert!(!said.contains("undetermined"), "{said}");
    assert_eq!(code, 1, "{said}");
    // A signature of another length is not computed.
    let token = format!("{signed}.{}", &signature[..40]);
    let (said, code) = doctor(folder.path(), &["--key", "p.pem", &token]);
    assert!(
        said.contains("the signature has 30 bytes, ES256 requires 64"),
        "{said}"
    );
    assert!(!said.contains("not signed by"), "{said}");
    assert_eq!(code, 1, "{said}");
}

#[test]
fn doctor_json_has_all_three_results() {
    let answer = |name: &str, args: &[&str]| {
        let call = [&["doctor", "--json"], &AT[..], args].concat();
        let output = jeton(&case(name), &call, b"");
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let token = all.as_array().unwrap().last().unwrap().clone();
        assert_eq!(token["about"], "token");
        assert!(token["findings"].is_array());
        token["keys"][0].clone()
    };
    let signed = answer("typ-full", &["--key", "p.pem", "--typ", "at+jwt", "@full"]);
    assert_eq!(signed["answer"], "signed", "{signed}");
    let short = answer("leading-zero", &["--key", "short.json", "@t1"]);
    assert_eq!(short["answer"], "undetermined", "{short}");
    assert_eq!(short["kid"], "a");
    assert!(
        short["reason"].as_str().unwrap().contains("31 bytes"),
        "{short}"
    );
    let other = answer("typ-full", &["--key", "../pasted/p.pem", "@full"]);
    assert_eq!(other["answer"], "not-signed", "{other}");
}

#[test]
fn doctor_typ_with_application_prefix_is_accepted() {
    let folder = case("typ-full");
    for token in ["@full", "@short"] {
        for typ in ["at+jwt", "application/at+jwt", "AT+JWT"] {
            both_accept(&folder, "p.pem", token, &["--typ", typ]);
        }
    }
}

#[test]
fn doctor_keys_without_alg_use_the_alg_option() {
    let folder = case("entra-keycloak");
    both_accept(&folder, "entra.json", "@tok", &["--alg", "RS256"]);
    // Without it both reject the token, and the doctor names the key and the option.
    let (said, code) = doctor(&folder, &["--key", "entra.json", "@tok"]);
    assert_eq!(code, 1, "{said}");
    for text in ["signed by the key kid1", "--alg RS256"] {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn doctor_key_for_another_use_is_not_reported() {
    let folder = case("entra-keycloak");
    both_accept(&folder, "keycloak.json", "@tok", &[]);
    let (said, code) = doctor(&folder, &["--key", "keycloak.json", "@tok"]);
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("enc1"), "{said}");
    let (said, code) = doctor(&folder, &["-v", "--key", "keycloak.json", "@tok"]);
    assert_eq!(code, 0, "{said}");
    for kid in ["enc1", "odd", "ed448", "new"] {
        assert!(said.contains(kid), "{kid}: {said}");
    }
}

#[test]
fn verify_skipped_keys_are_listed_with_v_or_if_no_key_fits() {
    let folder = case("entra-keycloak");
    let verify = ["jwt", "verify", "--key", "keycloak.json", "--at", AT[1]];
    let (plain, code) = said(&folder, &[&verify[..], &["@tok"]].concat());
    assert_eq!(code, 0, "{plain}");
    assert!(
        !plain.contains("skipped") && !plain.contains("left out"),
        "{plain}"
    );
    let (listed, code) = said(&folder, &[&verify[..], &["-v", "@tok"]].concat());
    assert_eq!(code, 0, "{listed}");
    assert_eq!(listed.matches("note: skipped: ").count(), 4, "{listed}");
    // No key of the set fits this token.
    let tokens = case("typ-full");
    let token = fs::read_to_string(tokens.join("full")).unwrap();
    let call = [&verify[..], &["--typ", "at+jwt", token.trim()]].concat();
    let (none, code) = said(&folder, &call);
    assert_eq!(code, 1, "{none}");
    assert_eq!(none.matches("note: skipped: ").count(), 4, "{none}");
}

#[test]
fn doctor_paserk_verifies_its_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let at = ["--at", "1795656378"];
    for version in ["v4", "v3"] {
        let write = |name: &str, text: &str| binary_private(&path.join(name), text);
        let public = format!("{version}.public");
        write("secret", &line(path, &["key", "new", "--paseto", &public]));
        write("public", &line(path, &["key", "public", "secret"]));
        let local = format!("{version}.local");
        write("local", &line(path, &["key", "new", "--paseto", &local]));
        let claims = r#"{"iss":"https://id.example","aud":"api","exp":"2126-01-01T00:00:00Z"}"#;
        let issue = |command, key, more: &[&str]| {
            let call = ["paseto", command, "--key", key, "--claims", claims];
            line(path, &[&call[..], more].concat())
        };
        let signed = issue("sign", "secret", &[]);
        let hidden = issue("encrypt", "local", &["--footer", "f", "--implicit", "t"]);
        for (key, token, more) in [
            ("public", &signed, &[][..]),
            ("public", &signed, &["--issuer", "https://id.example"]),
            ("local", &hidden, &["--implicit", "t"]),
            ("local", &hidden, &["--implicit", "t", "--footer", "f"]),
        ] {
            let call = [&["doctor", "--key", key], more, &[token.as_str()]].concat();
            let (found, code) = said(path, &call);
            assert_eq!(code, 0, "{found}");
            assert!(!found.contains("! "), "{found}");
            assert!(found.contains("verified"), "{found}");
        }
        for (key, token, more, text) in [
            ("public", &signed, &["--issuer", "other"][..], "iss"),
            ("public", &signed, &["--at", "4999999999"], "expired"),
            ("public", &signed, &["--footer", "f"], "footer"),
            ("local", &hidden, &[], "cannot be decrypted"),
            ("local", &signed, &[], "undetermined"),
            ("secret", &signed, &[], "jeton key public"),
        ] {
            let call = [&["doctor", "--key", key], more, &[token.as_str()]].concat();
            let (found, code) = said(path, &call);
            assert_eq!(code, 1, "{found}");
            assert!(found.contains(text), "{text}: {found}");
        }
    }
    // The PASERK of the case is a valid key.
    let (found, code) = said(
        &case("paseto-paserk"),
        &[&["doctor", "--key", "p.paserk"], &at[..]].concat(),
    );
    assert_eq!(code, 0, "{found}");
}

fn binary_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn doctor_jwe_with_its_key_agrees_with_verify() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let new = |name: &str, args: &[&str]| {
        let key = line(path, &[&["key", "new"], args].concat());
        binary_private(&path.join(name), &key);
        let public = line(path, &["key", "public", name]);
        binary_private(&path.join(format!("{name}.pub")), &public);
    };
    new("author", &["--alg", "ES256"]);
    new("reader", &["--alg", "ECDH-ES+A256KW", "--curve", "X25519"]);
    new("other", &["--alg", "ECDH-ES+A256KW", "--curve", "X25519"]);
    let token = line(
        path,
        &[
            "jwt",
            "sign",
            "--key",
            "author",
            "--encrypt-key",
            "reader.pub",
            "--claims",
            r#"{"aud":"api"}"#,
            "--expires-in",
            "15m",
        ],
    );
    for (args, code, text) in [
        (&[][..], 0, "encrypted"),
        (&["--decrypt-key", "reader"], 0, "decrypted"),
        (
            &["--key", "author.pub", "--decrypt-key", "reader"],
            0,
            "verified",
        ),
        (
            &[
                "--key",
                "author.pub",
                "--decrypt-key",
                "reader",
                "--audience",
                "x",
            ],
            1,
            "aud is api",
        ),
        (
            &["--key", "author.pub", "--decrypt-key", "other"],
            1,
            "cannot be decrypted",
        ),
        (&["--decrypt-key", "other"], 1, "cannot be decrypted"),
        (&["--key", "author.pub"], 1, "--decrypt-key"),
        (&["--key", "reader"], 1, "--decrypt-key"),
    ] {
        let (found, ended) = said(path, &[&["doctor"], args, &[token.as_str()]].concat());
        assert_eq!(ended, code, "{args:?}: {found}");
        assert!(found.contains(text), "{args:?}: {text}: {found}");
    }
}

#[test]
fn doctor_text_around_a_token_is_removed() {
    let folder = case("pasted");
    let keys = ["--key", "p.pem"];
    for (token, code) in [
        ("@tok", 0),
        ("@bearer", 0),
        ("@quotes", 0),
        ("@nlnl", 0),
        ("@comma", 0),
        ("@dots", 1),
    ] {
        let (said, ended) = doctor(&folder, &[&keys[..], &[token]].concat());
        assert_eq!(ended, code, "{token}: {said}");
    }
    // With --text, it is part of the token, as for every other verifier.
    let token = fs::read_to_string(folder.join("tok")).unwrap();
    let line = format!("{}\n", token.trim());
    let (said, code) = doctor(&folder, &[&keys[..], &["--text", &line]].concat());
    assert_eq!(code, 1, "{said}");
}
