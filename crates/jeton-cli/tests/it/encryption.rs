//! Tests of JWE that snapshots cannot express: generated keys, round trips, exact bytes and large payloads.

use std::fs;
use std::path::Path;

use jeton::danger;
use jeton::jwe::Encrypter;
use jeton::key::{ContentEnc, WrappingKey};
use serde_json::Value;

use crate::binary::{ends, jeton, keys, line, succeeds};

/// Compresses and encrypts with the library: the command writes nothing that it would not read.
pub(crate) fn compressed(wrapping_key: &str, plaintext: &[u8]) -> String {
    let key = WrappingKey::from_jwk(wrapping_key).unwrap();
    let encrypter = danger::compress(Encrypter::new(&key, ContentEnc::A256Gcm));
    encrypter.encrypt(plaintext).unwrap()
}

const MANAGEMENT: [&str; 8] = [
    "RSA-OAEP",
    "RSA-OAEP-256",
    "RSA-OAEP-384",
    "RSA-OAEP-512",
    "ECDH-ES",
    "ECDH-ES+A128KW",
    "ECDH-ES+A192KW",
    "ECDH-ES+A256KW",
];
const WRAPPING: [&str; 6] = [
    "A128KW",
    "A192KW",
    "A256KW",
    "A128GCMKW",
    "A192GCMKW",
    "A256GCMKW",
];
const CONTENT: [&str; 6] = [
    "A128CBC-HS256",
    "A192CBC-HS384",
    "A256CBC-HS512",
    "A128GCM",
    "A192GCM",
    "A256GCM",
];

/// Creates a key and returns the files for encryption and decryption.
fn new_key(folder: &Path, alg: &str, more: &[&str]) -> (String, String) {
    let private = format!("{alg}.jwk");
    let _ = fs::remove_file(folder.join(&private));
    let new = ["key", "new", "--alg", alg, "--kid", "k", "-o", &private];
    succeeds(folder, &[&new[..], more].concat(), b"");
    let made: Value = serde_json::from_slice(&fs::read(folder.join(&private)).unwrap()).unwrap();
    assert_eq!(made["alg"], alg);
    if made["kty"] == "oct" {
        return (private.clone(), private);
    }
    let public = format!("{alg}.pub");
    let jwk = succeeds(folder, &["key", "public", &private], b"");
    assert!(!String::from_utf8_lossy(&jwk).contains("\"d\""));
    fs::write(folder.join(&public), jwk).unwrap();
    (public, private)
}

fn comes_back(folder: &Path, encrypt: &[&str], decrypt: &[&str], plaintext: &[u8]) -> Vec<u8> {
    let token = succeeds(
        folder,
        &[&["jwe", "encrypt"], encrypt, &["-"]].concat(),
        plaintext,
    );
    let call = [&["jwe", "decrypt"], decrypt, &["-"]].concat();
    assert_eq!(succeeds(folder, &call, &token), plaintext, "{encrypt:?}");
    token
}

#[test]
fn new_key_of_every_algorithm_decrypts_its_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let every_byte: Vec<u8> = (0..=255).chain([b'\n', b'\n']).collect();
    for (index, alg) in MANAGEMENT.into_iter().chain(WRAPPING).enumerate() {
        let (public, private) = new_key(folder, alg, &[]);
        let enc = CONTENT[index % CONTENT.len()];
        let encrypt = ["--key", &public, "--enc", enc];
        comes_back(folder, &encrypt, &["--key", &private], &every_byte);
        for form in ["flattened", "general"] {
            let encrypt = [
                &encrypt[..],
                &[
                    "--serialization",
                    form,
                    "--aad",
                    "seen",
                    "--unprotected",
                    "note=x",
                ],
            ]
            .concat();
            comes_back(folder, &encrypt, &["--key", &private], b"");
        }
    }
    for enc in CONTENT {
        let (public, private) = new_key(folder, enc, &[]);
        comes_back(
            folder,
            &["--key", &public],
            &["--key", &private],
            &every_byte,
        );
        comes_back(
            folder,
            &["--key", &public, "--alg", "dir", "--enc", enc],
            &["--key", &private, "--alg", "dir"],
            b"hello\n",
        );
    }
    for curve in ["P-256", "P-384", "P-521", "X25519"] {
        let (public, private) = new_key(folder, "ECDH-ES+A256KW", &["--curve", curve]);
        let made = fs::read_to_string(folder.join(&private)).unwrap();
        assert!(made.contains(curve), "{curve}");
        let parties = ["--key", &public, "--apu", "Alice", "--apv", "Bob"];
        comes_back(folder, &parties, &["--key", &private], b"hello");
    }
    let (public, private) = new_key(folder, "RSA-OAEP-256", &["--bits", "3072"]);
    let token = comes_back(folder, &["--key", &public], &["--key", &private], b"hello");
    let text = String::from_utf8(token).unwrap();
    let encrypted_key = text.split('.').nth(1).unwrap();
    assert_eq!(encrypted_key.len(), 3072 / 8 * 4 / 3);
}

#[test]
fn key_without_alg_uses_its_curve_or_the_alg_option() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (alg, curve) in [
        ("ECDH-ES", "P-384"),
        ("ECDH-ES", "X25519"),
        ("RSA-OAEP-256", ""),
    ] {
        let more: &[&str] = if curve.is_empty() {
            &[]
        } else {
            &["--curve", curve]
        };
        let (_, private) = new_key(folder, alg, more);
        for form in ["pem", "der"] {
            let (secret, public) = (format!("{form}.private"), format!("{form}.public"));
            for (from, to) in [(&private, &secret), (&format!("{alg}.pub"), &public)] {
                let _ = fs::remove_file(folder.join(to));
                let convert = ["key", "convert", "--to", form, from, "-o", to];
                succeeds(folder, &convert, b"");
            }
            let said: &[&str] = if curve.is_empty() {
                &["--alg", alg]
            } else {
                &[]
            };
            let encrypt = [&["--key", public.as_str()], said].concat();
            let decrypt = [&["--key", secret.as_str()], said].concat();
            comes_back(folder, &encrypt, &decrypt, b"hello");
            // The thumbprint does not depend on the format.
            let print = line(folder, &["key", "thumbprint", &private]);
            assert_eq!(line(folder, &["key", "thumbprint", &public]), print);
            if !curve.is_empty() {
                let encrypt = [&encrypt[..], &["--alg", "ECDH-ES+A192KW"]].concat();
                comes_back(folder, &encrypt, &decrypt, b"hello");
            }
        }
    }
    // A symmetric key of 256 bits without an alg.
    let oct = "oct.jwk";
    fs::copy(keys().join("oct-no-alg.jwk"), folder.join(oct)).unwrap();
    for alg in ["A256KW", "A256GCMKW", "dir"] {
        let said = ["--key", oct, "--alg", alg];
        let enc = [&said[..], &["--enc", "A128CBC-HS256"]].concat();
        comes_back(folder, &enc, &said, b"hello");
        comes_back(folder, &said, &enc[..4], b"hello");
    }
}

#[test]
fn several_recipients_each_decrypt_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut encrypt = vec!["jwe".to_owned(), "encrypt".to_owned()];
    let algs = ["RSA-OAEP-256", "ECDH-ES+A256KW", "A128KW"];
    let mut private = Vec::new();
    for alg in algs {
        let (public, own) = new_key(folder, alg, &[]);
        encrypt.extend(["--key".to_owned(), public]);
        private.push(own);
    }
    encrypt.extend(["--serialization", "general", "--aad", "for all", "hello"].map(str::to_owned));
    let encrypt: Vec<&str> = encrypt.iter().map(String::as_str).collect();
    let token = succeeds(folder, &encrypt, b"");
    for (index, key) in private.iter().enumerate() {
        let call = ["jwe", "decrypt", "--key", key, "--json", "-"];
        let verdict: Value = serde_json::from_slice(&succeeds(folder, &call, &token)).unwrap();
        assert_eq!(verdict["recipient_index"], index);
        assert_eq!(verdict["alg"], algs[index]);
        assert_eq!(verdict["kid"], "k");
        assert_eq!(verdict["aad"], "Zm9yIGFsbA");
        assert_eq!(verdict["plaintext"], "aGVsbG8");
    }
}

#[test]
fn allow_is_required_on_both_sides_and_noted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("password"), "correct horse\n").unwrap();
    let password = ["--password-file", "password", "--allow", "pbes2"];
    for alg in [
        "PBES2-HS256+A128KW",
        "PBES2-HS384+A192KW",
        "PBES2-HS512+A256KW",
    ] {
        let encrypt = [&password[..], &["--alg", alg, "--p2c", "1000"]].concat();
        comes_back(folder, &encrypt, &password, b"hello");
        let token = succeeds(
            folder,
            &[&["jwe", "encrypt"], &encrypt[..], &["x"]].concat(),
            b"",
        );
        let header = String::from_utf8(token).unwrap();
        let header = header.split('.').next().unwrap().to_owned();
        let header = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(header).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(
            (&header["alg"], &header["p2c"]),
            (&alg.into(), &1000.into())
        );
    }
    let jwk = r#"{"kty":"oct","alg":"PBES2-HS512+A256KW","k":"Y29ycmVjdCBob3JzZQ"}"#;
    fs::write(folder.join("jwk"), jwk).unwrap();
    let as_key = ["--key", "jwk", "--allow", "pbes2", "--p2c", "1000"];
    comes_back(folder, &as_key, &password, b"hello");
    comes_back(folder, &as_key, &as_key[..4], b"hello");

    let new = [
        "key", "new", "--alg", "RSA1_5", "--allow", "rsa1_5", "-o", "rsa",
    ];
    succeeds(folder, &new, b"");
    let public = succeeds(folder, &["key", "public", "rsa"], b"");
    fs::write(folder.join("rsa.pub"), public).unwrap();
    let open = ["--allow", "rsa1_5"];
    comes_back(
        folder,
        &[&["--key", "rsa.pub"], &open[..]].concat(),
        &[&["--key", "rsa"], &open[..]].concat(),
        b"hello",
    );
    let output = jeton(
        folder,
        &[
            "jwe", "encrypt", "--key", "rsa.pub", "--allow", "rsa1_5", "x",
        ],
        b"",
    );
    let diagnostics = String::from_utf8(output.stderr).unwrap();
    assert!(
        diagnostics.starts_with("note: RSA1_5 is enabled")
            && diagnostics.contains("(--allow rsa1_5)")
    );
}

#[test]
fn decrypt_oversized_decompression_is_rejected() {
    let folder = keys();
    let zeros = vec![0; 3_000_000];
    let encrypt = [
        "jwe",
        "encrypt",
        "--key",
        "a128kw.jwk",
        "--zip",
        "--allow",
        "zip",
        "-",
    ];
    let bomb = compressed(
        &fs::read_to_string(folder.join("a128kw.jwk")).unwrap(),
        &zeros,
    );
    let bomb = bomb.as_bytes();
    assert!(bomb.len() < 10_000);
    let decrypt = ["jwe", "decrypt", "--key", "a128kw.jwk", "-"];
    ends(&folder, &decrypt, bomb, 1, "rejected: ");
    let open = [
        "jwe",
        "decrypt",
        "--key",
        "a128kw.jwk",
        "--allow",
        "zip",
        "-",
    ];
    ends(&folder, &open, bomb, 1, "rejected: ");
    let text = b"twice the same, twice the same, twice the same";
    let token = succeeds(&folder, &encrypt, text);
    assert_eq!(succeeds(&folder, &open, &token), text);
}

#[test]
fn large_payload_needs_max_bytes_to_verify() {
    let folder = keys();
    let large = vec![b'x'; 3_000_000];
    let token = succeeds(
        &folder,
        &[
            "jwe",
            "encrypt",
            "--key",
            "a128kw.jwk",
            "--max-bytes",
            "5000000",
            "-",
        ],
        &large,
    );
    let decrypt = ["jwe", "decrypt", "--key", "a128kw.jwk", "-"];
    ends(
        &folder,
        &decrypt,
        &token,
        1,
        "bytes, limit 2097152\nhint: to accept a token of this size, add `--max-bytes 4",
    );
    let call = [&decrypt[..], &["--max-bytes", "5000000"]].concat();
    assert!(succeeds(&folder, &call, &token) == large);
    ends(
        &folder,
        &[&decrypt[..], &["--max-bytes", "10"]].concat(),
        b"eyJhbGciOiJkaXIifQ....",
        1,
        "rejected: the token has 22 bytes, limit 10",
    );

    let sign = [
        "jws",
        "sign",
        "--key",
        "hs256.jwk",
        "--max-bytes",
        "5000000",
        "-",
    ];
    let token = succeeds(&folder, &sign, &large);
    let verify = ["jws", "verify", "--key", "hs256.jwk", "-"];
    ends(
        &folder,
        &verify,
        &token,
        1,
        "bytes, limit 2097152\nhint: to accept a token of this size, add `--max-bytes 4",
    );
    let call = [&verify[..], &["--max-bytes", "5000000"]].concat();
    assert!(succeeds(&folder, &call, &token) == large);

    // A detached payload is the caller's own file and has no limit.
    let beside = tempfile::tempdir().unwrap();
    fs::write(beside.path().join("large"), &large).unwrap();
    let content = format!("@{}", beside.path().join("large").display());
    for form in ["compact", "flattened"] {
        let sign = [
            "jws",
            "sign",
            "--key",
            "hs256.jwk",
            "--detached",
            "--serialization",
            form,
            &content,
        ];
        let token = succeeds(&folder, &sign, b"");
        let call = [&verify[..], &["--detached", &content]].concat();
        assert!(succeeds(&folder, &call, &token) == large);
    }
}

#[test]
fn decrypt_malformed_jwe_is_rejected() {
    let folder = keys();
    for call in [
        &["jwe", "decrypt", "--key", "a128kw.jwk", "-"][..],
        &["jwe", "decrypt", "--key", "a256gcm.jwk", "-"],
        &["jwe", "decrypt", "--key", "ecdh.jwk", "-"],
        &["jws", "verify", "--key", "hs256.jwk", "-"],
        &[
            "jwt",
            "verify",
            "--key",
            "hs256.jwk",
            "--decrypt-key",
            "ecdh.jwk",
            "-",
        ],
    ] {
        for text in [
            &b"\xff\xfe.\x80."[..],
            b"",
            b"\n",
            b"....",
            b"{}",
            b"{\"ciphertext\":\"AA\"}",
            b"[]",
            b"{",
            br#"{"payload":1,"signatures":[]}"#,
            br#"{"protected":"e30","ciphertext":"AA","iv":"","tag":"","recipients":[]}"#,
        ] {
            ends(&folder, call, text, 1, "rejected: the ");
        }
        for large in [
            [
                b"eyJhbGciOiJBMTI4S1cifQ.AA.AA.",
                &[b'A'; 10_000_000][..],
                b".AAAA",
            ]
            .concat(),
            [&b"{\"payload\":\""[..], &[b'A'; 10_000_000], b"\"}"].concat(),
            [&b"{"[..], &b"[".repeat(10_000_000)].concat(),
        ] {
            ends(&folder, call, &large, 1, "rejected: the token ");
        }
    }
}

#[test]
fn nested_jwt_round_trip_verifies() {
    let folder = keys();
    for (key, public, encrypt, decrypt) in [
        ("es256.jwk", "es256.pub.jwk", "ecdh.pub.jwk", "ecdh.jwk"),
        ("hs256.jwk", "hs256.jwk", "a256gcm.jwk", "a256gcm.jwk"),
        ("es256.jwk", "jwks.json", "a128kw.jwk", "jwks-enc.json"),
    ] {
        let claims = r#"{"iss":"i","aud":"a","sub":"user-7"}"#;
        let sign = [
            "jwt",
            "sign",
            "--key",
            key,
            "--encrypt-key",
            encrypt,
            "--claims",
            claims,
            "--expires-in",
            "15m",
        ];
        let token = line(&folder, &sign);
        assert_eq!(token.matches('.').count(), 4);
        let demands = ["--issuer", "i", "--audience", "a"];
        let verify = ["jwt", "verify", "--key", public, "--decrypt-key", decrypt];
        let claims = line(&folder, &[&verify[..], &demands, &[&token]].concat());
        assert!(claims.contains("\"sub\":\"user-7\""), "{claims}");
        let call = [&verify[..], &["--audience", "other", &token]].concat();
        ends(&folder, &call, b"", 1, "rejected: `aud` does not contain");
        let inner = line_of(&succeeds(
            &folder,
            &["jwe", "decrypt", "--key", decrypt, &token],
            b"",
        ));
        assert_eq!(inner.matches('.').count(), 2);
    }
}

fn line_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn encryption_commands_never_print_their_secret() {
    let secrets = [
        ("a128kw.jwk", "GawgguFyGrWKav7AX4VKUg"),
        ("ecdh.jwk", "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw"),
        ("pbes2.jwk", "Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ"),
    ];
    for (key, secret) in secrets {
        let text = fs::read_to_string(keys().join(key)).unwrap();
        assert!(text.contains(secret));
        let inspected = format!("@{key}");
        for call in [
            &["inspect", &inspected][..],
            &["inspect", "--json", &inspected],
            &["key", "public", key],
            &["key", "thumbprint", key],
            &["jwe", "encrypt", "--key", key, "--allow", "pbes2", "x"],
            &["jwe", "decrypt", "--key", key, "@../tokens/jwe-a128kw"],
            &[
                "jwe",
                "decrypt",
                "--json",
                "--key",
                key,
                "--allow",
                "pbes2",
                "@../tokens/jwe-a128kw",
            ],
            &[
                "jwe",
                "decrypt",
                "--key",
                key,
                "--alg",
                "RSA-OAEP",
                "@../tokens/jwe-a128kw",
            ],
            &["jws", "sign", "--key", key, "x"],
        ] {
            let output = jeton(&keys(), call, b"");
            for stream in [output.stdout, output.stderr] {
                let stream = String::from_utf8_lossy(&stream);
                assert!(!stream.contains(secret), "{call:?}");
                assert!(!stream.contains("correct horse"), "{call:?}");
            }
        }
    }
}
