//! What a command writes, the command for it reads by default. Claims of a new token can be options.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{ends, jeton, keys, line, said, succeeds};

const MIB: usize = 1024 * 1024;

/// A folder with the keys of the tests and a payload.
fn folder(payload: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for key in [
        "es256.jwk",
        "es256.pub.jwk",
        "ecdh.jwk",
        "ecdh.pub.jwk",
        "k4.secret",
        "k4.public",
        "k4.local",
    ] {
        fs::copy(keys().join(key), folder.path().join(key)).unwrap();
    }
    fs::write(folder.path().join("payload"), payload).unwrap();
    folder
}

/// The commands that write a token of a payload, and those that read it.
const PAIRS: [(&[&str], &[&str]); 4] = [
    (
        &["jwe", "encrypt", "--key", "ecdh.pub.jwk"],
        &["jwe", "decrypt", "--key", "ecdh.jwk"],
    ),
    (
        &["jws", "sign", "--key", "es256.jwk"],
        &["jws", "verify", "--key", "es256.pub.jwk"],
    ),
    (
        &["paseto", "sign", "--key", "k4.secret"],
        &["paseto", "verify", "--raw", "--key", "k4.public"],
    ),
    (
        &["paseto", "encrypt", "--key", "k4.local"],
        &["paseto", "decrypt", "--raw", "--key", "k4.local"],
    ),
];

fn written(folder: &Path, write: &[&str], options: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let output = jeton(folder, &[write, options, &["@payload"]].concat(), b"");
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), output.stdout, stderr)
}

#[test]
fn token_that_the_reader_rejects_is_not_written() {
    let payload = vec![b'a'; 3 * MIB];
    let folder = folder(&payload);
    let path = folder.path();
    for (write, read) in PAIRS {
        let (code, stdout, stderr) = written(path, write, &[]);
        assert_eq!(code, Some(2), "{write:?}: {stderr}");
        assert!(stdout.is_empty(), "{write:?}");
        assert!(
            stderr.starts_with("error: the token has ") && stderr.contains("limit 2097152"),
            "{stderr}"
        );
        // The hint is right, for both sides.
        let size = stderr
            .split("`--max-bytes ")
            .nth(1)
            .unwrap()
            .split('`')
            .next()
            .unwrap();
        let (code, token, stderr) = written(path, write, &["--max-bytes", size]);
        assert_eq!(code, Some(0), "{write:?}: {stderr}");
        assert!(stderr.contains("to read it, add `--max-bytes"), "{stderr}");
        fs::write(path.join("token"), &token).unwrap();
        let (text, code) = said(path, &[read, &["@token"]].concat());
        assert_eq!(code, 1, "{read:?}");
        assert!(
            text.contains(&format!("add `--max-bytes {size}`")),
            "{text}"
        );
        let read = [read, &["--max-bytes", size, "@token"]].concat();
        assert_eq!(succeeds(path, &read, b""), payload, "{read:?}");
    }
}

#[test]
fn longest_token_of_the_default_limit_is_read() {
    // The token has at most 2 MiB.
    let payload = vec![b'a'; 3 * MIB / 2 - 1024];
    let folder = folder(&payload);
    for (write, read) in PAIRS {
        let (code, token, stderr) = written(folder.path(), write, &[]);
        assert_eq!(code, Some(0), "{write:?}: {stderr}");
        assert!(!stderr.contains("--max-bytes"), "{stderr}");
        fs::write(folder.path().join("token"), &token).unwrap();
        let shown = succeeds(folder.path(), &[read, &["@token"]].concat(), b"");
        assert_eq!(shown, payload, "{read:?}");
    }
}

/// A file that the caller names on both sides.
#[test]
fn payload_of_60_mb_is_encrypted_and_decrypted_by_an_option() {
    let payload = vec![b'a'; 60_000_000];
    let folder = folder(&payload);
    let path = folder.path();
    let (write, read) = PAIRS[0];
    let (code, stdout, stderr) = written(path, write, &[]);
    assert_eq!((code, stdout.len()), (Some(2), 0), "{stderr}");
    let size = ["--max-bytes", "90000000"];
    let (code, token, stderr) = written(path, write, &size);
    assert_eq!(code, Some(0), "{stderr}");
    fs::write(path.join("token"), &token).unwrap();
    let shown = succeeds(path, &[read, &size, &["@token"]].concat(), b"");
    assert!(shown == payload, "the payload differs");
}

/// The program does not read such a file, and knows its length.
#[test]
fn token_of_80_mb_has_a_hint_for_max_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, bytes) in [("token", 80_000_000), ("longer", 134_217_731)] {
        let file = fs::File::create(path.join(name)).unwrap();
        file.set_len(bytes).unwrap();
    }
    let key = keys().join("a128kw.jwk");
    let key = key.to_str().unwrap();
    let secret = keys().join("hs256.jwk");
    let secret = secret.to_str().unwrap();
    for call in [
        &["jwe", "decrypt", "--key", key][..],
        &["jwt", "verify", "--key", secret],
        &["verify", "--key", secret],
        &["inspect"],
        &["doctor"],
    ] {
        let (text, code) = said(path, &[call, &["@token"]].concat());
        assert_ne!(code, 0, "{call:?}");
        assert!(
            text.contains("token: too long, the limit is 64 MiB"),
            "{text}"
        );
        assert!(text.contains("add `--max-bytes 80000000`"), "{text}");
        let (text, _) = said(path, &[call, &["@longer"]].concat());
        assert!(text.contains("too long"), "{text}");
        assert!(!text.contains("--max-bytes"), "{text}");
    }
    let token = fs::read(path.join("token")).unwrap();
    let decrypt = ["jwe", "decrypt", "--key", key];
    let (text, _) = said(
        path,
        &[&decrypt[..], &["--max-bytes", "80000000", "@token"]].concat(),
    );
    assert!(!text.contains("too long"), "{text}");
    let output = jeton(path, &[&decrypt[..], &["-"]].concat(), &token);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("add `--max-bytes 134217728`"), "{text}");
}

#[test]
fn header_that_the_reader_rejects_is_not_written() {
    let folder = keys();
    let long = format!("x={}", "x".repeat(20_000));
    for call in [
        [
            "jws",
            "sign",
            "--key",
            "es256.jwk",
            "--header",
            &long,
            "text",
        ],
        [
            "jwe",
            "encrypt",
            "--key",
            "ecdh.pub.jwk",
            "--header",
            &long,
            "text",
        ],
    ] {
        ends(&folder, &call, b"", 2, "the header is too large");
    }
}

#[test]
fn plaintext_that_inflates_too_far_is_not_compressed() {
    for payload in [vec![b'a'; 5 * MIB], vec![b'a'; MIB]] {
        let folder = folder(&payload);
        let zip = ["--zip", "--allow", "zip"];
        let (code, stdout, stderr) = written(folder.path(), PAIRS[0].0, &zip);
        assert_eq!((code, stdout.len()), (Some(2), 0), "{stderr}");
        assert!(stderr.ends_with("hint: remove `--zip`\n"), "{stderr}");
    }
    let payload: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let folder = folder(&payload);
    let (code, token, stderr) = written(folder.path(), PAIRS[0].0, &["--zip", "--allow", "zip"]);
    assert_eq!(code, Some(0), "{stderr}");
    fs::write(folder.path().join("token"), token).unwrap();
    let read = [PAIRS[0].1, &["--allow", "zip", "@token"]].concat();
    assert_eq!(succeeds(folder.path(), &read, b""), payload);
}

/// Signs with these options, and returns the claims.
fn claims(options: &[&str]) -> Value {
    let folder = keys();
    let sign = ["jwt", "sign", "--key", "es256.jwk", "--expires-in", "15m"];
    let token = line(&folder, &[&sign[..], options].concat());
    let verify = ["jwt", "verify", "--key", "es256.pub.jwk", &token];
    let mut claims: Value = serde_json::from_str(&line(&folder, &verify)).unwrap();
    let members = claims.as_object_mut().unwrap();
    assert!(members.remove("exp").is_some() && members.remove("iat").is_some());
    claims
}

#[test]
fn claims_are_set_by_options() {
    let registered = [
        "--issuer",
        "https://id.example",
        "--audience",
        "api",
        "--subject",
        "7",
    ];
    let expected = json!({"iss": "https://id.example", "aud": "api", "sub": "7"});
    assert_eq!(claims(&registered), expected);
    assert_eq!(
        claims(&["--audience", "a", "--audience", "b"]),
        json!({"aud": ["a", "b"]})
    );
    let typed = [
        ("role=admin", json!("admin")),
        ("role=", json!("")),
        ("role=a=b", json!("a=b")),
        ("role=true", json!(true)),
        ("role=7", json!(7)),
        ("role=-7", json!(-7)),
        ("role=007", json!("007")),
        (r#"role="7""#, json!("7")),
        (r#"role=["a",{"b":null}]"#, json!(["a", {"b": null}])),
        ("role=[a", json!("[a")),
    ];
    for (claim, value) in typed {
        assert_eq!(
            claims(&["--claim", claim]),
            json!({"role": value}),
            "{claim}"
        );
    }
    let both = [
        "--claims",
        r#" {"a":1, "b":{}} "#,
        "--subject",
        "me",
        "--claim",
        "c=2",
    ];
    assert_eq!(claims(&both), json!({"a": 1, "b": {}, "sub": "me", "c": 2}));
    assert_eq!(
        claims(&["--claims", "{ }", "--claim", "c=2"]),
        json!({"c": 2})
    );
}

/// The digits of a number stay.
#[test]
fn claim_of_an_option_is_written_byte_for_byte() {
    let folder = keys();
    let sign = [
        "jwt",
        "sign",
        "--key",
        "es256.jwk",
        "--no-expiry",
        "--claim",
        "n=1.10",
    ];
    let token = line(&folder, &sign);
    let verify = [
        "jwt",
        "verify",
        "--key",
        "es256.pub.jwk",
        "--allow",
        "no-expiry",
        &token,
    ];
    assert!(line(&folder, &verify).contains(r#""n":1.10"#));
}

#[test]
fn wrong_claim_options_are_errors() {
    let folder = keys();
    let sign = ["jwt", "sign", "--key", "es256.jwk", "--expires-in", "15m"];
    for (options, why) in [
        (
            &["--claim", "sub=7"][..],
            "error: --claim: sub must be a string, not a number",
        ),
        (
            &["--claims", "{}", "--claim", "exp=abc"],
            "error: --claim: exp must be a number of seconds since 1970, not a string",
        ),
        (
            &["--claims", r#"{"sub":7}"#, "--claim", "a=b"],
            "error: --claims: sub must",
        ),
        (&["--claim", "role"], "`=` is missing"),
        (&["--claim", "=x"], "the name before `=` is missing"),
        (
            &["--claim", "a=1", "--claim", "a=2"],
            "the claim a is set twice",
        ),
        (
            &["--subject", "x", "--claim", "sub=y"],
            "the claim sub is set twice",
        ),
        (
            &["--claims", r#"{"iss":"x"}"#, "--issuer", "y"],
            "the claim iss is set twice",
        ),
        (&["--claim", r#"a={"b":1,"b":2}"#], "duplicate member \"b\""),
        (
            &["--claim", "exp=4000000000"],
            "the claims have exp, and --expires-in is passed too",
        ),
        (&["--claims", "[]", "--subject", "x"], "not a JSON object"),
        (&[], "no claims"),
    ] {
        ends(&folder, &[&sign[..], options].concat(), b"", 2, why);
    }
    let number = [
        "paseto",
        "sign",
        "--key",
        "k4.secret",
        "--no-expiry",
        "--claim",
        "exp=4000000000",
    ];
    ends(&folder, &number, b"", 2, "");
    let payload = [
        "paseto",
        "sign",
        "--key",
        "k4.secret",
        "--subject",
        "x",
        "payload",
    ];
    ends(&folder, &payload, b"", 2, "cannot be used with");
}

#[test]
fn claims_of_a_paseto_are_set_by_options() {
    let folder = keys();
    for (verb, key, read, reading) in [
        ("sign", "k4.secret", "verify", "k4.public"),
        ("encrypt", "k4.local", "decrypt", "k4.local"),
    ] {
        let options = [
            "--issuer",
            "i",
            "--audience",
            "a",
            "--subject",
            "s",
            "--claim",
            "n=7",
        ];
        let write = ["paseto", verb, "--key", key, "--expires-in", "15m"];
        let token = line(&folder, &[&write[..], &options].concat());
        let verify = [
            "paseto",
            read,
            "--key",
            reading,
            "--issuer",
            "i",
            "--audience",
            "a",
            &token,
        ];
        let claims: Value = serde_json::from_str(&line(&folder, &verify)).unwrap();
        assert_eq!((&claims["sub"], &claims["n"]), (&json!("s"), &json!(7)));
    }
}
