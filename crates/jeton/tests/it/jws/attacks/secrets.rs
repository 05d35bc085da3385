//! Encodings of public keys that are passed as secrets.

use base64_simd::STANDARD;
use jeton::Error;
use jeton::danger::{self, Password, Pbes2Alg};
use jeton::error::KeyProblem;
use jeton::key::{
    ContentEnc, ContentKey, KeyWrapAlg, MacAlg, MacKey, SigAlg, SigningKey, WrappingKey,
};
use serde_json::json;

use super::support::encode;

/// Lines with public keys as OpenSSH writes them.
const OPEN_SSH: [&str; 16] = [
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S a@b",
    "ssh-dss AAAAB3NzaC1kc3MAAACBAOJ1nG0q8zF7vGm0o0Vv a@b",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGmBkyYxuSz6YbFB0Yl5Ub0Gq0xkXz1vJ0q8zF7vGm0o",
    "ssh-ed448 AAAACXNzaC1lZDQ0OAAAADmBkyYxuSz6YbFB0Yl5Ub0Gq0xkXz1vJ0q8zF7vGm0o",
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7",
    "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIBc0 a@b",
    "sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAI",
    "ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIPPP a",
    "host.example,192.0.2.7 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGmBkyYxuSz6YbFB0Yl5Ub0Gq0xkXz1v",
    "[host.example]:2222 ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2",
    "|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7",
    "@cert-authority *.example ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGmBkyYxuSz6YbFB0Yl5Ub0Gq0xkXz1v",
    "command=\"/bin/echo \\\"hi\\\" there\",no-pty,from=\"10.0.0.0/8\" ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7",
    "restrict\tsk-ssh-ed25519@openssh.com\tAAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIBc0",
    "# the keys of Jürgen\n\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGmBkyYxuSz6YbFB0Yl5Ub0Gq0xkXz1vJ0q8zF7vGm0o Jürgen\n",
    "AAAAC3NzaC1lZDI1NTE5AAAAIGmBkyYxuSz6YbFB0Yl5Ub0Gq0xkXz1vJ0q8zF7vGm0o",
];

/// All other encodings of public keys.
fn key_texts() -> Vec<String> {
    let mut all = Vec::new();
    for alg in [SigAlg::ES256, SigAlg::RS256, SigAlg::EdDSA, SigAlg::MlDsa44] {
        let key = SigningKey::generate(alg).unwrap().verifying_key();
        let pem = key.to_pem().unwrap();
        all.extend([
            pem.to_lowercase(),
            pem.replace("BEGIN PUBLIC", "Begin Public"),
        ]);
        all.push(pem.replace('\n', "\\n"));
        all.push(pem.replace("-----BEGIN PUBLIC KEY-----", "----- BEGIN PUBLIC KEY -----"));
        // Without the first line, as after an incomplete copy.
        all.push(pem.split_once('\n').unwrap().1.to_owned());
        all.push(key.to_jwk().replace("\"kty\"", "\"k\\u0074y\""));
        all.push(format!("{{\"keys\":[{}]}}", key.to_jwk()));
        all.extend([pem, key.to_jwk()]);
        all.push(STANDARD.encode_to_string(key.to_der().unwrap()));
    }
    all.extend(OPEN_SSH.map(str::to_owned));
    all
}

/// The text as editors and shells write it.
fn written(text: &str) -> Vec<Vec<u8>> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let wide: Vec<u8> = text
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    vec![
        text.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [b" \t\r\n\n", text.as_bytes(), b"\r\n\r\n"].concat(),
        text.replace('\n', "\r\n").into_bytes(),
        [b"\xff\xfe", &little[..]].concat(),
        [b"\xfe\xff", &big[..]].concat(),
        [b"\xff\xfe\n\0 \0", &little[..]].concat(),
        // As written by a tool that removes the last byte as a line end.
        [&little[..], b"\n"].concat(),
        little,
        big,
        wide,
    ]
}

#[test]
fn mac_key_from_public_key_text_is_rejected() {
    for text in key_texts() {
        for bytes in written(&text) {
            let forms = [
                bytes.clone(),
                STANDARD.encode_to_string(&bytes).into_bytes(),
                encode(&bytes).into_bytes(),
            ];
            for bytes in forms {
                let shown = String::from_utf8_lossy(&bytes).into_owned();
                let rejected = |result: jeton::Result<MacKey>| match result {
                    Err(Error::Key(error)) => error.problem().clone(),
                    other => panic!("{other:?}: {shown}"),
                };
                let problem = rejected(MacKey::new(MacAlg::HS256, &bytes));
                assert_eq!(problem, KeyProblem::KeyAsSecret, "{shown}");
                let problem = rejected(danger::weak_mac_key(MacAlg::HS256, &bytes));
                assert_eq!(problem, KeyProblem::KeyAsSecret, "{shown}");
                let jwk = json!({"kty": "oct", "alg": "HS256", "k": encode(&bytes)}).to_string();
                assert_eq!(
                    rejected(MacKey::from_jwk(&jwk)),
                    KeyProblem::KeyAsSecret,
                    "{shown}"
                );
            }
        }
    }
}

#[test]
fn password_from_public_key_text_is_rejected() {
    for text in key_texts() {
        for bytes in written(&text) {
            let problem = match Password::new(Pbes2Alg::Hs256A128Kw, &bytes) {
                Err(Error::Key(error)) => error.problem().clone(),
                other => panic!("{other:?}: {text}"),
            };
            assert!(
                matches!(problem, KeyProblem::KeyAsSecret | KeyProblem::TooLarge),
                "{text}: {problem:?}"
            );
        }
    }
    for password in [
        "ssh-agent is what I like",
        "k4.is my version",
        "-----",
        "{kty}",
        "[kty]",
    ] {
        assert!(
            Password::new(Pbes2Alg::Hs256A128Kw, password.as_bytes()).is_ok(),
            "{password}"
        );
    }
}

/// Encryption keys have 16 to 64 bytes, enough for the text of a short key.
#[test]
fn encryption_key_from_public_key_text_is_rejected() {
    let cut = |text: &str, length: usize| text.as_bytes()[..length].to_vec();
    for line in OPEN_SSH {
        if line.len() < 64 || !line.starts_with("ssh-ed25519 ") && !line.starts_with("AAAA") {
            continue;
        }
        assert!(
            WrappingKey::new(KeyWrapAlg::A256Kw, &cut(line, 32)).is_err(),
            "{line}"
        );
        assert!(
            ContentKey::new(ContentEnc::A256CbcHs512, &cut(line, 64)).is_err(),
            "{line}"
        );
    }
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let pem = key.verifying_key().to_pem().unwrap();
    assert!(WrappingKey::new(KeyWrapAlg::A256Kw, &cut(&pem, 32)).is_err());
    assert!(ContentKey::new(ContentEnc::A256Gcm, &cut(&pem, 32)).is_err());
    assert!(ContentKey::new(ContentEnc::A256CbcHs512, &cut(&pem, 64)).is_err());
    let jwk = json!({"kty": "oct", "alg": "A256GCM", "k": encode(&cut(&pem, 32))}).to_string();
    assert!(ContentKey::from_jwk(&jwk).is_err());
    let jwk = json!({"kty": "oct", "alg": "A256KW", "k": encode(&cut(&pem, 32))}).to_string();
    assert!(WrappingKey::from_jwk(&jwk).is_err());
}
