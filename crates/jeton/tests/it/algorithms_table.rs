//! `docs/reference/algorithms.md` is written by the code: this test fails when it is not what the code says.
//! With `JETON_WRITE=1` it writes the file instead.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::fmt::Write as _;
use std::path::PathBuf;

use jeton::danger::{self, Password, Pbes2Alg};
use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::jws::JwsSigner;
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, KeyManagementAlg, KeyWrapAlg, MacAlg, MacKey, SigAlg,
    SigningKey, WrappingKey,
};
use jeton::limits;
use jeton::paserk::{PaserkVersion, PaserkWrappingKey, PasswordCost};
use jeton::paseto::{LocalKey, SecretKey, TokenContext, Version, v3::V3, v4::V4};
use serde_json::Value;

#[test]
fn algorithms_page_matches_the_code() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/algorithms.md");
    let table = table();
    if std::env::var_os("JETON_WRITE").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        written, table,
        "docs/reference/algorithms.md is stale: JETON_WRITE=1 cargo test -p jeton --test it algorithms_table"
    );
}

fn table() -> String {
    let mut text = String::from(
        "# Algorithms\n\n\
         A test, `crates/jeton/tests/it/algorithms_table.rs`, writes this page. It makes a key of each \
         algorithm, writes the key in every form and verifies a token made with it. Sizes are in \
         bytes.\n\n",
    );
    text += &signing();
    text += &encrypting();
    text += &paseto();
    text
}

fn signing() -> String {
    let mut text = String::from(
        "## JWS and JWT\n\n\
         | `alg` | in Rust | description | JWK `kty` | `crv` | signature | public key, DER | private key encodings |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for &alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        writeln!(
            text,
            "| `{alg}` | `MacAlg::{alg:?}` | {} | `oct` | | {} | | JWK |",
            mac_words(alg),
            signature_bytes(&JwsSigner::new(&key).sign(b"").unwrap()),
        )
        .unwrap();
    }
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        let public = key.verifying_key();
        let jwk: Value = serde_json::from_str(&public.to_jwk()).unwrap();
        let crv = jwk["crv"].as_str().map(|crv| format!("`{crv}`"));
        let signature = signature_bytes(&JwsSigner::new(&key).sign(b"").unwrap());
        assert_eq!(alg.signature_bytes().unwrap_or(256), signature, "{alg}");
        let forms = [
            key.to_jwk().map(|_| "JWK"),
            key.to_pem().map(|_| "PEM"),
            key.to_der().map(|_| "DER"),
        ];
        writeln!(
            text,
            "| `{alg}` | `SigAlg::{alg:?}` | {} | `{}` | {} | {} | {} | {} |",
            alg.description(),
            jwk["kty"].as_str().unwrap(),
            crv.unwrap_or_default(),
            signature,
            public.to_der().unwrap().len(),
            forms.into_iter().flatten().collect::<Vec<_>>().join(", "),
        )
        .unwrap();
    }
    text.push_str(
        "\nRSA rows are for a key of 2,048 bits; keys of up to 8,192 bits are supported. PEM and DER \
         are PKCS#8 and SubjectPublicKeyInfo. SEC1 and PKCS#1 are read too. An ML-DSA key in PKCS#8 \
         is its seed, or seed and expanded key. The expanded key alone is not supported.\n\n\
         A header's `alg` is only compared with the key's. `EdDSA` and `Ed25519` are two names of one \
         operation, and an Ed25519 key accepts both (RFC 9864, section 2.2).\n\n\
         Not supported:\n\n\
         - `none`, in any spelling.\n\
         - `Ed448`: the cryptography libraries that jeton uses do not have it. Such a key is \
         rejected.\n\
         - HMAC keys shorter than the hash, RSA keys under 2,048 bits or with an exponent under \
         65,537: only through `jeton::danger`.\n",
    );
    text
}

/// A row for each key management, with the result of a round trip for each `enc`.
fn encrypting() -> String {
    let mut text = String::from("\n## JWE\n\n| `alg` | in Rust | description | keys |");
    for &enc in ContentEnc::ALL {
        write!(text, " `{enc}` |").unwrap();
    }
    text.push_str("\n|---|---|---|---|");
    text.push_str(&":-:|".repeat(ContentEnc::ALL.len()));
    text.push('\n');
    for alg in KeyManagementAlg::ALL
        .iter()
        .copied()
        .chain([danger::RSA1_5])
    {
        let keys = key_pairs(alg);
        let rust = match alg.name() {
            "RSA1_5" => "danger::RSA1_5".to_owned(),
            _ => format!("KeyManagementAlg::{alg:?}"),
        };
        let types: Vec<String> = keys.iter().map(|(_, words)| words.clone()).collect();
        let goes = |enc| {
            keys.iter().all(|(key, _)| {
                let public = key.encryption_key();
                round_trips(&Encrypter::new(&public, enc), Decrypter::new(key))
            })
        };
        encrypting_row(
            &mut text,
            alg.name(),
            &rust,
            pair_words(alg),
            &types.join(", "),
            goes,
        );
    }
    for &alg in KeyWrapAlg::ALL {
        let key = WrappingKey::generate(alg).unwrap();
        let words = if alg.name().contains("GCM") {
            "the content key, encrypted with AES-GCM (RFC 7518, 4.7)"
        } else {
            "the content key, wrapped with AES Key Wrap (RFC 3394)"
        };
        let bytes = format!("`oct` of {}", alg.key_bytes());
        encrypting_row(
            &mut text,
            alg.name(),
            &format!("KeyWrapAlg::{alg:?}"),
            words,
            &bytes,
            |enc| round_trips(&Encrypter::new(&key, enc), Decrypter::new(&key)),
        );
    }
    encrypting_row(
        &mut text,
        "dir",
        "ContentKey",
        "the key is the content key",
        "`oct`, as long as `enc` requires",
        |enc| {
            let key = ContentKey::generate(enc).unwrap();
            round_trips(&Encrypter::new(&key, enc), Decrypter::new(&key))
        },
    );
    for &alg in Pbes2Alg::ALL {
        let key = Password::new(alg, b"password")
            .unwrap()
            .rounds(1000)
            .unwrap();
        let rust = format!("danger::Pbes2Alg::{alg:?}");
        encrypting_row(
            &mut text,
            alg.name(),
            &rust,
            "a password, PBKDF2 and AES Key Wrap",
            "a password",
            |enc| round_trips(&Encrypter::new(&key, enc), Decrypter::new(&key)),
        );
    }
    text.push_str(
        "\nEvery row supports the compact and the JSON serialization. All except `dir` and `ECDH-ES` \
         support several recipients. `zip` (`DEF`) is behind `danger` for encryption and decryption, \
         with a limit on size and ratio. `RSA1_5` and passwords are available only through \
         `danger`.\n\n\
         Not supported: X448, which the cryptography libraries that jeton uses do not have; and HPKE, \
         which is still a draft for JOSE.\n",
    );
    text
}

fn encrypting_row(
    text: &mut String,
    alg: &str,
    rust: &str,
    words: &str,
    keys: &str,
    goes: impl Fn(ContentEnc) -> bool,
) {
    write!(text, "| `{alg}` | `{rust}` | {words} | {keys} |").unwrap();
    for &enc in ContentEnc::ALL {
        text.push_str(if goes(enc) { " yes |" } else { " no |" });
    }
    text.push('\n');
}

fn round_trips(encrypter: &Encrypter<'_>, decrypter: Decrypter) -> bool {
    let token = encrypter.encrypt(b"x").unwrap();
    let json = encrypter.encrypt_flattened(b"x").unwrap();
    let opened = [decrypter.decrypt(&token), decrypter.decrypt_json(&json)];
    opened.iter().all(|opened| {
        opened
            .as_ref()
            .is_ok_and(|opened| opened.plaintext() == b"x")
    })
}

/// A key pair for each type and curve of the algorithm, with its description.
fn key_pairs(alg: KeyManagementAlg) -> Vec<(DecryptionKey, String)> {
    let curves = [
        DecryptionKey::generate(alg),
        DecryptionKey::generate_p384(alg),
        DecryptionKey::generate_p521(alg),
        DecryptionKey::generate_x25519(alg),
    ];
    curves
        .into_iter()
        .flatten()
        .map(|key| {
            let jwk: Value = serde_json::from_str(&key.encryption_key().to_jwk()).unwrap();
            let kty = jwk["kty"].as_str().unwrap();
            let words = match jwk["crv"].as_str() {
                Some(crv) => format!("`{kty}` {crv}"),
                None => format!("`{kty}`"),
            };
            (key, words)
        })
        .collect()
}

fn pair_words(alg: KeyManagementAlg) -> &'static str {
    match alg.name() {
        "RSA-OAEP" => "RSAES-OAEP, SHA-1 and MGF1 with it",
        "RSA-OAEP-256" => "RSAES-OAEP, SHA-256 and MGF1 with it",
        "RSA-OAEP-384" => "RSAES-OAEP, SHA-384 and MGF1 with it",
        "RSA-OAEP-512" => "RSAES-OAEP, SHA-512 and MGF1 with it",
        "RSA1_5" => "RSAES-PKCS1-v1_5; invalid padding yields a random content key",
        "ECDH-ES" => "the agreed key is the content key",
        "ECDH-ES+A128KW" => "the agreed key and AES Key Wrap, 128 bits",
        "ECDH-ES+A192KW" => "the agreed key and AES Key Wrap, 192 bits",
        "ECDH-ES+A256KW" => "the agreed key and AES Key Wrap, 256 bits",
        other => panic!("say what {other} is"),
    }
}

fn paseto() -> String {
    let mut text = String::from(
        "\n## PASETO\n\n\
         | version and purpose | in Rust | description | PASERK |\n|---|---|---|---|\n",
    );
    let v1 = [
        "AES-256-CTR and HMAC-SHA-384 over the whole token",
        "RSASSA-PSS, SHA-384, keys of 2,048 bits",
    ];
    let v3 = [v1[0], "ECDSA on P-384, SHA-384; signs the public key too"];
    let v2 = [
        "XChaCha20-Poly1305; the nonce is a hash of the message",
        "Ed25519",
    ];
    let v4 = ["XChaCha20, keyed BLAKE2b over the whole token", "Ed25519"];
    text += &version::<V4>("paseto::v4", v4);
    text += &version::<V3>("paseto::v3", v3);
    text += &version::<V2>("danger::paseto_v2", v2);
    text += &version::<V1>("danger::paseto_v1", v1);
    text.push_str(
        "\n`k1.seal` is not supported: it needs the bare RSA operation, which the cryptography \
         libraries that jeton uses do not offer.\n",
    );
    text
}

/// Two rows. A key of each purpose creates and verifies a token, and is written in every PASERK form.
fn version<V: Version>(module: &str, words: [&str; 2]) -> String {
    let number = &V::VERSION;
    let local = LocalKey::<V>::generate().unwrap();
    let token = local.encrypt(b"x", TokenContext::new()).unwrap();
    assert!(local.decrypt(&token, b"").is_ok());
    let purpose = |token: &str| token.rsplit_once('.').unwrap().0.to_owned();
    let local_name = purpose(&token);
    let secret = SecretKey::<V>::generate().unwrap();
    let public = secret.public_key();
    let token = secret.sign(b"x", TokenContext::new()).unwrap();
    assert!(public.verify(&token, b"").is_ok(), "{number:?}");
    let wrapping = PaserkWrappingKey::<V>::generate().unwrap();
    let locals = [
        Ok(local.to_paserk().to_string()),
        Ok(local.id().to_string()),
        local.to_wrapped_paserk(&wrapping),
        local.to_password_paserk_with(b"password", cheapest::<V>()),
        local.to_sealed_paserk(&public),
    ];
    let publics = [
        secret.to_paserk().map(|text| text.to_string()),
        secret.id().map(|id| id.to_string()),
        Ok(public.to_paserk()),
        Ok(public.id().to_string()),
        secret.to_wrapped_paserk(&wrapping),
        secret.to_password_paserk_with(b"password", cheapest::<V>()),
    ];
    let kinds = |texts: &[jeton::Result<String>]| {
        let kinds = texts
            .iter()
            .flatten()
            .map(|text| format!("`{}`", purpose(text)));
        kinds.collect::<Vec<_>>().join(", ")
    };
    format!(
        "| `{local_name}` | `{module}::LocalKey` | {} | {} |\n\
         | `{}` | `{module}::SecretKey`, `PublicKey` | {} | {} |\n",
        words[0],
        kinds(&locals),
        purpose(&token),
        words[1],
        kinds(&publics),
    )
}

fn cheapest<V: Version>() -> PasswordCost {
    match V::VERSION {
        PaserkVersion::V1 | PaserkVersion::V3 => {
            PasswordCost::pbkdf2(limits::PBKDF2_ITERATIONS_MIN)
        }
        _ => PasswordCost::argon2id(limits::ARGON2ID_MEMORY_BYTES_MIN, 1, 1),
    }
    .unwrap()
}

fn signature_bytes(token: &str) -> usize {
    let encoded = token.rsplit('.').next().unwrap();
    base64_simd::URL_SAFE_NO_PAD
        .decode_to_vec(encoded)
        .unwrap()
        .len()
}

fn mac_words(alg: MacAlg) -> String {
    let bits = alg.key_bytes() * 8;
    format!("HMAC with SHA-{bits}; keys of at least {}", alg.key_bytes())
}
