//! The inputs of `vectors/inputs`, as users pass them: everyday files are accepted, and an error says what was found.

use std::fs;
use std::path::Path;

use jeton::jws::JwsSigner;
use jeton::key::SigningKey;

use crate::binary::{inputs, keys, line, said, succeeds};
use crate::data_folder::private;

const AT: [&str; 2] = ["--at", "1795656378"];

/// Asserts that the token is verified with this key.
#[track_caller]
fn verifies(folder: &str, key: &str, token: &str, more: &[&str]) -> String {
    let call = ["jwt", "verify", "--key", key, token];
    let (text, code) = said(&inputs(folder), &[&call[..], &AT, more].concat());
    assert_eq!(code, 0, "{folder}/{key}: {text}");
    text
}

/// Asserts the exit code and the first line of the error, and that the text of the hint is in it, if there is one.
#[track_caller]
fn fails(folder: &str, args: &[&str], code: i32, texts: &[&str]) {
    let (text, ended) = said(&inputs(folder), args);
    assert_eq!(ended, code, "{folder} {args:?}: {text}");
    for wanted in texts {
        assert!(text.contains(wanted), "{folder} {args:?}: {wanted}: {text}");
    }
}

#[test]
fn pem_of_any_line_length_is_accepted() {
    for file in [
        "after.pem",
        "blankfirst.pem",
        "bom.pem",
        "one.pem",
        "trailing.pem",
        "w60.pem",
        "w76.pem",
    ] {
        verifies("pem-forms", file, "@tok", &["--alg", "RS256"]);
    }
    verifies("pem-keycloak", "right.pem", "@tok", &["--alg", "RS256"]);
}

#[test]
fn bare_base64_key_needs_an_algorithm() {
    verifies("pem-keycloak", "bare.txt", "@tok", &["--alg", "RS256"]);
    let call = ["jwt", "verify", "--key", "bare.txt", "@tok"];
    fails(
        "pem-keycloak",
        &call,
        2,
        &["pass the algorithm", "--alg RS256"],
    );
}

#[test]
fn pem_label_is_named_with_the_content() {
    let why = "the block says RSA PUBLIC KEY but contains a PUBLIC KEY; change the label";
    let call = [
        "jwt",
        "verify",
        "--key",
        "wronglabel.pem",
        "--alg",
        "RS256",
        "@tok",
    ];
    fails("pem-keycloak", &call, 2, &[why]);
}

#[test]
fn json_without_a_key_is_named_with_what_to_take() {
    for (folder, file, why) in [
        (
            "pem-keycloak",
            "realm.json",
            "a Keycloak realm\nhint: take its `public_key`",
        ),
        ("google-x509", "x509.json", "certificates by key id"),
        ("google-x509", "x509.json", "…/jwk/…"),
    ] {
        fails(folder, &["jwt", "verify", "--key", file, "@tok"], 2, &[why]);
        fails(folder, &["doctor", "--key", file, "@tok"], 2, &[why]);
    }
}

#[test]
fn compressed_point_is_accepted() {
    verifies("ec-points", "compub.pem", "@tok", &[]);
    let public = line(&inputs("ec-points"), &["key", "public", "compub.pem"]);
    assert!(public.contains("\"y\":"), "{public}");
}

#[test]
fn rsa_key_without_primes_has_a_public_key() {
    for (file, alg) in [("min.jwk", "RS256"), ("enc.jwk", "RSA-OAEP-256")] {
        let public = line(&inputs("rsa-ned"), &["key", "public", file]);
        assert!(
            public.contains(alg) && !public.contains("\"d\""),
            "{public}"
        );
    }
    let why = "`p` and `q` are missing: export the key with its primes";
    fails(
        "rsa-ned",
        &["jws", "sign", "--key", "min.jwk", "x"],
        2,
        &[why],
    );
    fails(
        "rsa-ned",
        &["jwe", "decrypt", "--key", "enc.jwk", "a.b.c.d.e"],
        2,
        &[why],
    );
}

#[test]
fn key_store_is_named_with_the_command_for_it() {
    for (file, what, command) in [
        (
            "a.pfx",
            "a PKCS#12 file",
            "openssl pkcs12 -in a.pfx -nodes -nocerts",
        ),
        (
            "ks.jks",
            "a Java key store",
            "keytool -importkeystore -srckeystore ks.jks",
        ),
    ] {
        for call in [
            &["key", "public", file][..],
            &["jws", "sign", "--key", file, "x"],
            &["jwt", "verify", "--key", file, "x"],
            &["doctor", "--key", file],
        ] {
            fails("pkcs12", call, 2, &[what, command]);
        }
    }
}

#[test]
fn pem_with_key_and_certificate_signs() {
    let sign = ["jws", "sign", "--key", "both.pem", "--alg", "RS256", "x"];
    succeeds(&inputs("pkcs12"), &sign, b"");
}

#[test]
fn encrypted_key_is_decrypted_with_its_password() {
    let folder = inputs("encrypted");
    let password = tempfile::tempdir().unwrap();
    let file = password.path().join("password");
    private(&file, "password\n");
    let file = file.to_str().unwrap();
    for key in ["pbkdf2.pem", "scrypt.pem"] {
        let (text, code) = said(&folder, &["jws", "sign", "--key", key, "x"]);
        assert_eq!(code, 2, "{text}");
        let hint = "hint: to decrypt it, add `--key-password-file FILE`";
        assert!(text.contains(hint), "{text}");
        let sign = [
            "jws",
            "sign",
            "--key",
            key,
            "x",
            "--key-password-file",
            file,
        ];
        succeeds(&folder, &sign, b"");
        // A command without the option names one that has it.
        let (text, code) = said(&folder, &["jws", "verify", "--key", key, "x"]);
        assert_eq!(code, 2, "{text}");
        let hint = format!("jeton key public --key-password-file PASSWORD_FILE {key}");
        assert!(text.contains(&hint), "{text}");
        let public = ["key", "public", "--key-password-file", file, key];
        succeeds(&folder, &public, b"");
    }
    // It is never ignored.
    let call = [
        "jwt",
        "verify",
        "--key",
        "plain.pem",
        "--key-password-file",
        file,
        "x",
    ];
    let (text, code) = said(&folder, &call);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("--decrypt-key <FILE>"), "{text}");
}

#[test]
fn key_of_wrong_length_is_named_with_both_lengths() {
    for (file, why) in [
        (
            "short.json",
            "x has 31 bytes, P-256 needs 32: a leading zero was removed",
        ),
        (
            "long.json",
            "x has 33 bytes, P-256 needs 32: a leading zero was added",
        ),
        ("numkid.json", "`kid` must be a string, not a number"),
    ] {
        fails(
            "leading-zero",
            &["jwt", "verify", "--key", file, "@t1"],
            2,
            &[why],
        );
    }
}

#[test]
fn null_and_malformed_members_are_noted() {
    for (file, why) in [
        ("x5cnull.json", "`x5c` is null: ignored"),
        ("x5ctext.json", "`x5c` is malformed: ignored"),
    ] {
        let text = verifies("jwk-nulls", file, "@tok", &[]);
        assert!(
            text.contains(&format!("note: {file}, key 1: {why}\n")),
            "{text}"
        );
        let call = [&["doctor", "--key", file, "@tok"], &AT[..]].concat();
        fails("jwk-nulls", &call, 0, &[why]);
    }
    // The keys of Keycloak and of Microsoft Entra have well-formed ones.
    let text = verifies("entra-keycloak", "keycloak.json", "@tok", &[]);
    assert!(!text.contains("x5"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    for (member, why) in [
        (r#""x5t":7"#, "`x5t` is malformed: ignored"),
        (r#""x5t#S256":["a"]"#, "`x5t#S256` is malformed: ignored"),
        (r#""x5c":["a-b"]"#, "`x5c` is malformed: ignored"),
        (r#""use":null"#, "`use` is null: ignored"),
        (r#""key_ops":null"#, "`key_ops` is null: ignored"),
    ] {
        let key = fs::read_to_string(keys().join("es256.pub.jwk")).unwrap();
        let key = key.replacen('{', &format!("{{{member},"), 1);
        fs::write(folder.path().join("key"), key).unwrap();
        let (text, code) = said(folder.path(), &["key", "thumbprint", "key"]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains(&format!("note: key: {why}\n")), "{text}");
    }
}

#[test]
fn null_key_material_is_an_error_with_its_name() {
    for (file, why) in [
        ("algnull.json", "`alg` is null: remove it"),
        ("nulls.json", "`d` is null: remove it"),
    ] {
        fails(
            "jwk-nulls",
            &["jwt", "verify", "--key", file, "@tok"],
            2,
            &[why],
        );
        fails("jwk-nulls", &["doctor", "--key", file, "@tok"], 1, &[why]);
    }
}

#[test]
fn key_of_another_type_is_named_with_the_needed_one() {
    for (key, alg, why) in [
        (
            "es256.pub.pem",
            "RS256",
            "found EC P-256, expected RSA for RS256",
        ),
        (
            "rsa.pub.pem",
            "ES256",
            "found RSA, expected EC P-256 for ES256",
        ),
        ("es256.pub.jwk", "RS256", "found ES256, expected RS256"),
    ] {
        let call = ["jwt", "verify", "--key", key, "--alg", alg, "x"];
        let (text, code) = said(&keys(), &call);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(why), "{why}: {text}");
    }
}

#[test]
fn text_that_is_no_token_is_named() {
    const SD_JWT: &str = "this is an SD-JWT: the JWT is the part before the first ~";
    for (folder, token, why) in [
        ("sd-jwt", "@sd", SD_JWT),
        ("sd-jwt", "@kb", SD_JWT),
        (
            "pasted",
            "@dots",
            "the token was shortened: the part at the dots is missing",
        ),
        (
            "pasted",
            "@two",
            "these are 2 tokens: JWT, ES256; JWT, ES256",
        ),
        (
            "paseto-paserk",
            "@pub",
            "this is a PASERK, which is a key, not a token",
        ),
    ] {
        let verify = ["jwt", "verify", "--key", "es256.pub.jwk"];
        let jws = ["jws", "verify", "--key", "es256.pub.jwk"];
        let path = format!("@{}", inputs(folder).join(&token[1..]).display());
        for call in [
            &verify[..],
            &jws,
            &["doctor", "--key", "es256.pub.jwk"],
            &["doctor"],
        ] {
            let (text, code) = said(&keys(), &[call, &[&path]].concat());
            assert_eq!(code, 1, "{token}: {text}");
            let is_exact = !call.contains(&"doctor");
            // A command that takes a token exactly does not split the text.
            let why = match token {
                "@two" if is_exact => "the text is more than a token",
                _ => why,
            };
            assert!(text.contains(why), "{token}: {call:?}: {text}");
            assert!(!text.contains("JWE"), "{token}: {text}");
        }
        if !token.ends_with("pub") {
            let (text, code) = said(&keys(), &["inspect", &path]);
            assert_eq!(code, 1, "{text}");
            assert!(text.contains(why) && !text.contains("JWE"), "{text}");
        }
    }
    // The JWT of an SD-JWT is a token.
    let text = fs::read_to_string(inputs("sd-jwt").join("kb")).unwrap();
    let (jwt, _) = text.split_once('~').unwrap();
    verifies("sd-jwt", "p.pem", jwt, &["--typ", "dc+sd-jwt"]);
}

#[test]
fn jwk_in_place_of_a_token_is_named() {
    let (text, code) = said(
        &keys(),
        &["jwt", "verify", "--key", "es256.pub.jwk", "@hs256.jwk"],
    );
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("this is a key (JWK), not a token"), "{text}");
}

#[test]
fn long_kid_and_header_are_accepted() {
    for key in ["jwks.json", "rsa.jwk"] {
        verifies("long-kid", key, "@rsa.tok", &[]);
        let call = [&["doctor", "--key", key, "@rsa.tok"], &AT[..]].concat();
        fails("long-kid", &call, 0, &["signed by the key did:jwk:"]);
    }
    verifies("long-header", "p.pem", "@t5", &["--alg", "RS256"]);
    let call = [
        &["doctor", "--key", "p.pem", "--alg", "RS256", "@t5"],
        &AT[..],
    ]
    .concat();
    fails(
        "long-header",
        &call,
        0,
        &["x5c, x5t#S256 in the header: ignored"],
    );
    verifies("many-keys", "many.json", "@kid", &[]);
}

/// Asserts that verify and doctor have the error and the option, and that both accept the token with the option.
#[track_caller]
fn has_option(folder: &Path, key: &str, token: &str, more: &[&str], error: &str, option: &str) {
    let more = [&AT[..], more].concat();
    let verify = [&["jwt", "verify", "--key", key, token], &more[..]].concat();
    let doctor = [&["doctor", "--key", key, token], &more[..]].concat();
    let (text, code) = said(folder, &verify);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.starts_with(&format!("rejected: {error}\nhint: ")),
        "{text}"
    );
    assert!(text.contains(&format!("add `{option}`")), "{text}");
    let (text, code) = said(folder, &doctor);
    assert_eq!(code, 1, "{text}");
    // The cause is the error, or the result of the command if no finding explains it.
    let result = format!("! jeton jwt verify rejects it: {error}\n");
    let is_cause = text.contains(&format!("! {error}\n"))
        && text.contains("    so: jeton jwt verify rejects it\n");
    assert!(is_cause || text.contains(&result), "{text}");
    assert!(text.contains(&format!("add `{option}`")), "{text}");
    assert!(!text.to_lowercase().contains("not signed by"), "{text}");
    // The doctor says it once, and nothing else is wrong.
    assert_eq!(text.matches("\n! ").count(), 1, "{text}");
    let (name, value) = option.split_once(' ').unwrap();
    let limit = |call: &[&str]| -> Vec<String> {
        let mut call: Vec<String> = call.iter().map(|word| (*word).to_owned()).collect();
        if let Some(at) = call.iter().position(|word| word == name) {
            call.drain(at..=at + 1);
        }
        call.extend([name.to_owned(), value.to_owned()]);
        call
    };
    for call in [verify, doctor] {
        let call = limit(&call);
        let call: Vec<&str> = call.iter().map(String::as_str).collect();
        let (text, code) = said(folder, &call);
        assert_eq!(code, 0, "{call:?}: {text}");
    }
}

#[test]
fn limit_of_the_header_has_an_option() {
    has_option(
        &inputs("long-header"),
        "p.pem",
        "@t5",
        &["--alg", "RS256", "--max-header-bytes", "9905"],
        "the header has 9906 bytes, limit 9905",
        "--max-header-bytes 9906",
    );
}

#[test]
fn limit_of_the_header_does_not_apply_to_other_checks() {
    let key = ["--key", "p.pem", "--alg", "RS256", "@t5"];
    let call = [&["doctor"], &key[..], &AT, &["--max-header-bytes", "5"]].concat();
    fails(
        "long-header",
        &call,
        1,
        &["the header has 9906 bytes, limit 5", "found: 1 error"],
    );
}

#[test]
fn limit_of_the_keys_tried_has_an_option() {
    has_option(
        &inputs("many-keys"),
        "nine.json",
        "@nokid",
        &[],
        "the token has no `kid`, and 9 keys match its `alg`: at most 8 are tried",
        "--max-keys-tried 9",
    );
}

#[test]
fn limit_of_the_token_has_an_option() {
    has_option(
        &inputs("many-keys"),
        "nine.json",
        "@kid",
        &["--max-bytes", "240"],
        "the token has 241 bytes, limit 240",
        "--max-bytes 241",
    );
}

#[test]
fn limit_of_the_kid_has_an_option() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let key = line(path, &["key", "new", "--alg", "ES256", "--no-kid"]);
    let kid = "k".repeat(1100);
    let key = key.replacen('{', &format!("{{\"kid\":\"{kid}\","), 1);
    private(&path.join("key"), &key);
    let public = line(path, &["key", "public", "key"]);
    fs::write(path.join("set"), format!("{{\"keys\":[{public}]}}")).unwrap();
    fs::write(path.join("public"), public).unwrap();
    let claims = r#"{"exp":1795659778}"#;
    let key = SigningKey::from_jwk(&key).unwrap();
    let token = JwsSigner::new(&key).sign(claims.as_bytes()).unwrap();
    for key in ["set", "public"] {
        has_option(
            path,
            key,
            &token,
            &[],
            "the `kid` in the header has 1100 bytes, limit 1024",
            "--max-kid-bytes 1100",
        );
    }
}

#[test]
fn limits_of_decrypt_and_of_paseto_have_options() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "ecdh.jwk",
        "ecdh.pub.jwk",
        "k4.secret",
        "k4.public",
        "k4.local",
    ] {
        private(
            &folder.path().join(name),
            &fs::read_to_string(keys().join(name)).unwrap(),
        );
    }
    let path = folder.path();
    let issue = |args: &[&str]| line(path, args);
    let jwe = issue(&["jwe", "encrypt", "--key", "ecdh.pub.jwk", "text"]);
    let signed = issue(&["paseto", "sign", "--key", "k4.secret", "text"]);
    let hidden = issue(&["paseto", "encrypt", "--key", "k4.local", "text"]);
    let decrypt = ["jwe", "decrypt", "--key", "ecdh.jwk", &jwe];
    let verify = ["paseto", "verify", "--raw", "--key", "k4.public", &signed];
    let read = ["paseto", "decrypt", "--raw", "--key", "k4.local", &hidden];
    for (call, option) in [
        (&decrypt[..], "--max-bytes"),
        (&decrypt, "--max-header-bytes"),
        (&decrypt, "--max-kid-bytes"),
        (&verify, "--max-bytes"),
        (&read, "--max-bytes"),
    ] {
        let (text, code) = said(path, &[call, &[option, "5"]].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("limit 5\nhint: "), "{option}: {text}");
        let (_, value) = text.split_once(&format!("add `{option} ")).unwrap();
        let (value, _) = value.split_once('`').unwrap();
        succeeds(path, &[call, &[option, value]].concat(), b"");
    }
}

#[test]
fn limit_option_above_its_maximum_is_an_error() {
    for (option, value) in [
        ("--max-bytes", "134217729"),
        ("--max-header-bytes", "1048577"),
        ("--max-kid-bytes", "16385"),
        ("--max-keys-tried", "257"),
        ("--max-keys-tried", "0"),
    ] {
        let call = [
            "jwt",
            "verify",
            "--key",
            "es256.pub.jwk",
            option,
            value,
            "x",
        ];
        let (text, code) = said(&keys(), &call);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(option), "{text}");
    }
}
