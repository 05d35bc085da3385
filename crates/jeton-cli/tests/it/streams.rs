//! Tests that snapshots cannot express: exact bytes, file modes, sizes and pipes.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{jeton, keys, line, succeeds};

fn rejects(args: &[&str], stdin: &[u8], reason: &str) {
    let output = jeton(&keys(), args, stdin);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty());
    assert!(
        stderr.starts_with(&format!("rejected: {reason}")),
        "{stderr}"
    );
}

#[test]
fn new_key_of_every_algorithm_signs_verifiable_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for alg in [
        "HS256",
        "HS384",
        "HS512",
        "RS256",
        "RS384",
        "RS512",
        "PS256",
        "PS384",
        "PS512",
        "ES256",
        "ES384",
        "ES512",
        "ES256K",
        "EdDSA",
        "Ed25519",
        "ML-DSA-44",
        "ML-DSA-65",
        "ML-DSA-87",
    ] {
        let private = format!("{alg}.jwk");
        succeeds(
            folder,
            &["key", "new", "--alg", alg, "--kid", "k", "-o", &private],
            b"",
        );
        let mut verifying = private.clone();
        if !alg.starts_with("HS") {
            verifying = format!("{alg}.pub");
            let public = succeeds(folder, &["key", "public", &private], b"");
            let shown = String::from_utf8_lossy(&public);
            assert!(!shown.contains("\"d\"") && !shown.contains("\"priv\""));
            fs::write(folder.join(&verifying), public).unwrap();
        }
        let claims = r#"{"sub":"user-7","n":1.10}"#;
        let sign = [
            "jwt",
            "sign",
            "--key",
            &private,
            "--claims",
            claims,
            "--expires-in",
            "15m",
        ];
        let token = line(folder, &sign);
        let verified = line(folder, &["jwt", "verify", "--key", &verifying, &token]);
        assert!(verified.ends_with(",\"n\":1.10}"), "{alg}: {verified}");
        let verified: Value = serde_json::from_str(&verified).unwrap();
        let seconds = |name: &str| verified[name].as_i64().unwrap();
        assert_eq!(seconds("exp") - seconds("iat"), 900);
    }
}

#[test]
fn typ_option_is_issued_and_required() {
    let sign = ["jwt", "sign", "--key", "es256.jwk", "--claims", "{}"];
    let token = line(
        &keys(),
        &[&sign[..], &["--no-expiry", "--typ", "at+jwt"]].concat(),
    );
    let verify = ["jwt", "verify", "--key", "es256.pub.jwk"];
    let verify = [&verify[..], &["--allow", "no-expiry", &token]].concat();
    assert_eq!(jeton(&keys(), &verify, b"").status.code(), Some(1));
    let demanded = [&verify[..], &["--typ", "at+jwt"]].concat();
    succeeds(&keys(), &demanded, b"");
}

#[test]
fn new_paseto_key_signs_and_encrypts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeeds(
        folder,
        &["key", "new", "--paseto", "v4.public", "-o", "secret"],
        b"",
    );
    let public = succeeds(folder, &["key", "public", "secret"], b"");
    fs::write(folder.join("public"), public).unwrap();
    succeeds(
        folder,
        &["key", "new", "--paseto", "v4.local", "-o", "local"],
        b"",
    );
    for (issue, issuing, open, opening) in [
        ("sign", "secret", "verify", "public"),
        ("encrypt", "local", "decrypt", "local"),
    ] {
        let bound = ["--footer", "f", "--implicit", "i"];
        let claims = ["--claims", r#"{"sub":"user-7"}"#, "--expires-in", "1h"];
        let call = [
            &["paseto", issue, "--key", issuing],
            &claims[..],
            &bound[..],
        ]
        .concat();
        let token = line(folder, &call);
        let call = [&["paseto", open, "--key", opening, &token], &bound[..]].concat();
        let verified: Value = serde_json::from_slice(&succeeds(folder, &call, b"")).unwrap();
        assert_eq!(verified["sub"], "user-7");
        let call = [
            "paseto",
            open,
            "--key",
            opening,
            &token,
            "--implicit",
            "other",
        ];
        assert_eq!(jeton(folder, &call, b"").status.code(), Some(1));
    }
}

#[test]
fn payload_round_trip_is_byte_exact() {
    let every_byte: Vec<u8> = (0..=255).chain([b'\n', b'\n']).collect();
    for payload in [&b""[..], b"\n", b"hello", &every_byte] {
        let token = succeeds(
            &keys(),
            &["jws", "sign", "--key", "es256.jwk", "-"],
            payload,
        );
        let verify = ["jws", "verify", "--key", "es256.pub.jwk", "-"];
        assert_eq!(succeeds(&keys(), &verify, &token), payload);

        let token = succeeds(
            &keys(),
            &["paseto", "sign", "--key", "k4.secret", "-"],
            payload,
        );
        let verify = ["paseto", "verify", "--key", "k4.public", "--raw", "-"];
        assert_eq!(succeeds(&keys(), &verify, &token), payload);

        let token = succeeds(
            &keys(),
            &["paseto", "encrypt", "--key", "k4.local", "-"],
            payload,
        );
        let decrypt = ["paseto", "decrypt", "--key", "k4.local", "--raw", "-"];
        assert_eq!(succeeds(&keys(), &decrypt, &token), payload);
    }
}

#[test]
fn paseto_payload_is_printed_byte_exact() {
    let verify = [
        "paseto",
        "verify",
        "--key",
        "k4.public",
        "--at",
        "2021-12-31T00:00:00Z",
    ];
    let printed = succeeds(
        &keys(),
        &[&verify[..], &["@../tokens/v4-s-1"]].concat(),
        b"",
    );
    assert_eq!(
        printed,
        br#"{"data":"this is a signed message","exp":"2022-01-01T00:00:00+00:00"}
"#
    );
}

#[test]
fn footer_is_printed_as_text() {
    let verify = [
        "paseto",
        "verify",
        "--key",
        "k4.public",
        "--at",
        "2021-12-31T00:00:00Z",
    ];
    let call = [&verify[..], &["--json", "@../tokens/v4-s-2"]].concat();
    let verdict: Value = serde_json::from_slice(&succeeds(&keys(), &call, b"")).unwrap();
    assert_eq!(
        verdict["footer"],
        r#"{"kid":"zVhMiPBP9fRf2snEcT7gFTioeA9COcNy9DfgL1W60haN"}"#
    );
}

#[test]
fn key_convert_round_trip_keeps_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (key, forms) in [
        ("es256.jwk", &["pem", "der"][..]),
        ("es256.pub.jwk", &["pem", "der"]),
        ("rs256.jwk", &["pem", "der"]),
        ("eddsa.jwk", &["pem", "der", "paserk"]),
        ("eddsa.pub.jwk", &["pem", "der", "paserk"]),
    ] {
        let original = keys().join(key).display().to_string();
        let thumbprint = line(folder, &["key", "thumbprint", &original]);
        for form in forms {
            let there = format!("{key}.{form}");
            succeeds(
                folder,
                &["key", "convert", "--to", form, &original, "-o", &there],
                b"",
            );
            let alg: &[&str] = if key.starts_with("rs") {
                &["--alg", "RS256"]
            } else {
                &[]
            };
            let back = [&["key", "convert", "--to", "jwk", &there][..], alg].concat();
            let back: Value = serde_json::from_slice(&succeeds(folder, &back, b"")).unwrap();
            let mut expected: Value =
                serde_json::from_slice(&fs::read(keys().join(key)).unwrap()).unwrap();
            // Only a JWK contains it.
            expected.as_object_mut().unwrap().remove("kid");
            assert_eq!(back, expected, "{key} by way of {form}");
            if *form != "paserk" {
                assert_eq!(line(folder, &["key", "thumbprint", &there]), thumbprint);
            }
        }
    }
}

#[test]
#[cfg(unix)]
fn key_file_is_private_and_never_overwritten() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let new = ["key", "new", "--alg", "HS256", "-o", "secret.jwk"];
    let output = jeton(folder, &new, b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());
    let file = folder.join("secret.jwk");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let written = fs::read(&file).unwrap();
    let secret: Value = serde_json::from_slice(&written).unwrap();
    let diagnostics = String::from_utf8(output.stderr).unwrap();
    assert!(!diagnostics.contains(secret["k"].as_str().unwrap()));

    assert_eq!(jeton(folder, &new, b"").status.code(), Some(2));
    assert_eq!(fs::read(&file).unwrap(), written);
    let nowhere = ["key", "new", "--alg", "HS256", "-o", "no/such/folder"];
    assert_eq!(jeton(folder, &nowhere, b"").status.code(), Some(2));
}

#[test]
fn verify_malformed_token_is_rejected() {
    for verify in [
        &["jwt", "verify", "--key", "es256.pub.jwk", "-"][..],
        &["jws", "verify", "--key", "es256.pub.jwk", "-"],
        &["paseto", "verify", "--key", "k4.public", "-"],
        &["paseto", "decrypt", "--key", "k4.local", "-"],
    ] {
        rejects(
            verify,
            b"\xff\xfe.\x80.",
            "the token is malformed: not UTF-8 text",
        );
        rejects(verify, b"", "the token is empty");
        rejects(verify, b"\n", "the token is empty");
        let large = [b"eyJhbGciOiJFUzI1NiJ9.", &[b'A'; 10_000_000][..], b".AAAA"].concat();
        rejects(verify, &large, "the token");
        let large = [b"v4.public.", &[b'A'; 10_000_000][..]].concat();
        rejects(verify, &large, "the token");
    }
}

#[test]
fn input_above_limit_is_an_error() {
    let endless = vec![b'a'; 64 * 1024 * 1024 + 1];
    let sign = ["jws", "sign", "--key", "hs256.jwk", "-"];
    let output = jeton(&keys(), &sign, &endless);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: standard input: too long, the limit is 64 MiB\n"
    );
    let output = jeton(&keys(), &["key", "public", "-"], &endless);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn closed_pipe_is_not_an_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_jeton"))
        .args(["jws", "verify", "--key", "hs256.jwk", "-"])
        .current_dir(keys())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Larger than the pipe buffer, so that the write fails.
    let payload = vec![b'x'; 200_000];
    let token = succeeds(
        &keys(),
        &["jws", "sign", "--key", "hs256.jwk", "-"],
        &payload,
    );
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(&token).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_is_reported_in_one_line() {
    for args in [
        &["key", "public", "es256.jwk"][..],
        &["--help"],
        &["jwt", "sign", "-h"],
        &["--version"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_jeton"))
            .args(args)
            .current_dir(keys())
            .stdout(full)
            .output()
            .unwrap();
        let diagnostics = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {diagnostics}");
        assert!(
            diagnostics.starts_with("error: cannot write to standard output: "),
            "{args:?}: {diagnostics}"
        );
        assert_eq!(diagnostics.lines().count(), 1);
    }
}

#[test]
fn only_key_commands_print_a_secret() {
    let secrets = [
        ("hs256.jwk", "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"),
        ("k4.local", "cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8"),
        ("k4.secret", "tMv7Q99M4hByfZU-SnEzB_oZu32fhQQUONnhG5QqN3Qe"),
    ];
    for (key, secret) in secrets {
        assert!(
            fs::read_to_string(keys().join(key))
                .unwrap()
                .contains(secret)
        );
        let inspected = format!("@{key}");
        for call in [
            &["inspect", &inspected][..],
            &["inspect", "--json", &inspected],
            &["key", "public", key],
            &["key", "thumbprint", key],
            &["jwt", "sign", "--key", key, "--claims", "{}", "--no-expiry"],
            &["jwt", "verify", "--key", key, "a.b.c"],
            &["paseto", "verify", "--key", key, "v4.public.AAAA"],
            &["paseto", "sign", "--key", key, "x"],
            &[
                "key",
                "convert",
                "--to",
                "der",
                "--alg",
                "RS256",
                key,
                "-o",
                "/no/such/folder",
            ],
        ] {
            let output = jeton(&keys(), call, b"");
            for stream in [output.stdout, output.stderr] {
                assert!(
                    !String::from_utf8_lossy(&stream).contains(secret),
                    "{call:?}"
                );
            }
        }
    }
}

#[test]
fn colour_is_used_only_on_terminals() {
    let output = Command::new(env!("CARGO_BIN_EXE_jeton"))
        .args(["key", "public", "nothing"])
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    assert!(!output.stderr.contains(&0x1b));
    let version = line(&keys(), &["--version"]);
    assert_eq!(version, format!("jeton {}", env!("CARGO_PKG_VERSION")));
}
