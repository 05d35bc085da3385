//! `docs/algorithms.md` is written by the code: this test fails when it is not what the code says.
//! With `JETON_WRITE=1` it writes the file instead.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write as _;
use std::path::PathBuf;

use jeton::jws::Signer;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use serde_json::Value;

#[test]
fn the_table_is_what_the_code_says() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms.md");
    let table = table();
    if std::env::var_os("JETON_WRITE").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        written, table,
        "docs/algorithms.md is stale: JETON_WRITE=1 cargo test -p jeton --test algorithms_table"
    );
}

fn table() -> String {
    let mut text = String::from(
        "# Algorithms of JWS and JWT\n\n\
         Written by `crates/jeton/tests/algorithms_table.rs` from the code itself: a key of each \
         algorithm is made, written in every form, and signs a token. Sizes are bytes.\n\n\
         | `alg` | in Rust | what it is | JWK `kty` | `crv` | signature | public key, DER | private forms |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        writeln!(
            text,
            "| `{alg}` | `MacAlg::{alg:?}` | {} | `oct` | | {} | | JWK |",
            mac_words(alg),
            signature_bytes(&Signer::new(&key).sign(b"").unwrap()),
        )
        .unwrap();
    }
    for alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        let public = key.verifying_key();
        let jwk: Value = serde_json::from_str(&public.to_jwk()).unwrap();
        let crv = jwk["crv"].as_str().map(|crv| format!("`{crv}`"));
        let forms = [
            key.to_jwk().map(|_| "JWK"),
            key.to_pem().map(|_| "PEM"),
            key.to_der().map(|_| "DER"),
        ];
        writeln!(
            text,
            "| `{alg}` | `SigAlg::{alg:?}` | {} | `{}` | {} | {} | {} | {} |",
            signature_words(alg),
            jwk["kty"].as_str().unwrap(),
            crv.unwrap_or_default(),
            signature_bytes(&Signer::new(&key).sign(b"").unwrap()),
            public.to_der().unwrap().len(),
            forms.into_iter().flatten().collect::<Vec<_>>().join(", "),
        )
        .unwrap();
    }
    text.push_str(
        "\nRSA rows are for a key of 2,048 bits; keys of up to 8,192 bits are read. PEM and DER are \
         PKCS#8 and SubjectPublicKeyInfo; SEC1 and PKCS#1 are read too. An ML-DSA key in PKCS#8 is \
         its seed, or seed and expanded key; the expanded key alone is not supported.\n\n\
         A header's `alg` is only compared with the key's. `EdDSA` and `Ed25519` are two names of one \
         operation, and an Ed25519 key answers to both (RFC 9864, section 2.2).\n\n\
         Not supported:\n\n\
         - `none`: it does not exist, in any spelling.\n\
         - `Ed448`: no implementation that jeton would stand on has it. Such a key is refused with \
         `crv: is not supported`.\n\
         - HMAC keys shorter than the hash, RSA keys under 2,048 bits or with an exponent under \
         65,537: only through `jeton::danger`.\n",
    );
    text
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
    format!("HMAC with SHA-{bits}; keys of {} or more", alg.key_bytes())
}

fn signature_words(alg: SigAlg) -> &'static str {
    match alg {
        SigAlg::RS256 => "RSASSA-PKCS1-v1_5, SHA-256",
        SigAlg::RS384 => "RSASSA-PKCS1-v1_5, SHA-384",
        SigAlg::RS512 => "RSASSA-PKCS1-v1_5, SHA-512",
        SigAlg::PS256 => "RSASSA-PSS, SHA-256, salt of 32",
        SigAlg::PS384 => "RSASSA-PSS, SHA-384, salt of 48",
        SigAlg::PS512 => "RSASSA-PSS, SHA-512, salt of 64",
        SigAlg::ES256 => "ECDSA on P-256, SHA-256",
        SigAlg::ES384 => "ECDSA on P-384, SHA-384",
        SigAlg::ES512 => "ECDSA on P-521, SHA-512",
        SigAlg::ES256K => "ECDSA on secp256k1, SHA-256 (RFC 8812)",
        SigAlg::EdDSA => "Ed25519 under RFC 8037's name",
        SigAlg::Ed25519 => "Ed25519 under RFC 9864's name",
        SigAlg::MlDsa44 | SigAlg::MlDsa65 | SigAlg::MlDsa87 => "ML-DSA (FIPS 204), empty context",
        other => panic!("say what {other} is"),
    }
}
