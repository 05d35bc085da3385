//! ML-DSA for JOSE (RFC 9964): the keys and tokens of appendix A.1, one per parameter set, and the rules for AKP keys.

use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{AnyKey, SigAlg, SigningKey, VerifyingKey};
use serde_json::Value;

use crate::support::{Trial, check, json, trial};

/// The parameter sets, with the lengths of `pub` and of a signature (section 5).
const SETS: [(SigAlg, &str, usize, usize); 3] = [
    (SigAlg::MlDsa44, "44", 1312, 2420),
    (SigAlg::MlDsa65, "65", 1952, 3309),
    (SigAlg::MlDsa87, "87", 2592, 4627),
];

pub(crate) fn trials() -> Vec<Trial> {
    SETS.into_iter().flat_map(of_set).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn encode(bytes: &[u8]) -> String {
    base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)
}

/// The example, without one member of its JWK, or with another value.
fn changed(example: &Value, name: &str, value: Option<Value>) -> String {
    let mut jwk = example["jwk"].clone();
    let members = jwk.as_object_mut().unwrap();
    match value {
        None => members.remove(name),
        Some(value) => members.insert(name.to_owned(), value),
    };
    jwk.to_string()
}

fn of_set((alg, set, public_bytes, signature_bytes): (SigAlg, &str, usize, usize)) -> Vec<Trial> {
    let file = format!("ml-dsa-jose/ML_DSA_{set}.jose.json");
    let example = move || json(&file);
    let named = |name: &str| format!("ML-DSA-{set}_{name}");
    let key_of = |example: &Value| SigningKey::from_jwk(&example["jwk"].to_string());
    let mut trials = Vec::new();
    let mut add = |name: &str, run: fn(Case) -> Result<(), libtest_mimic::Failed>| {
        let example = example.clone();
        trials.push(trial(named(name), move || {
            let example = example();
            let key = key_of(&example)?;
            run(Case {
                alg,
                public_bytes,
                signature_bytes,
                example,
                key,
            })
        }));
    };
    add("private_key_round_trips", |case| {
        check(case.key.alg() == case.alg, "another algorithm")?;
        let again: Value = serde_json::from_str(&case.key.to_jwk()?)?;
        check(again == case.example["jwk"], "another JWK")
    });
    // Section 4: `priv` is the seed, from which the public key is computed.
    add("pub_is_computed_from_the_seed", |case| {
        let public = from_hex(text(&case.example, "raw_public_key"));
        check(public.len() == case.public_bytes, "length of pub")?;
        let seed = from_hex(text(&case.example, "priv"));
        check(
            encode(&seed) == text(&case.example["jwk"], "priv"),
            "another seed",
        )?;
        let jwk: Value = serde_json::from_str(&case.key.verifying_key().to_jwk())?;
        check(encode(&public) == text(&jwk, "pub"), "another public key")
    });
    // Section 6: `alg`, `kty` and `pub`.
    add("kid_is_the_thumbprint", |case| {
        let kid = text(&case.example["jwk"], "kid");
        let key = case.key.verifying_key();
        check(key.thumbprint() == kid, "another thumbprint")?;
        let uri = format!("urn:ietf:params:oauth:jwk-thumbprint:sha-256:{kid}");
        check(key.thumbprint_uri() == uri, "another URI")
    });
    add("token_verifies", |case| {
        let token = text(&case.example, "jws");
        let verified = JwsVerifier::new(case.key.verifying_key()).verify(token)?;
        let payload = std::str::from_utf8(verified.payload())?;
        check(
            payload.starts_with("It\u{2019}s a dangerous business"),
            payload,
        )
    });
    add("token_is_the_signed_bytes_and_the_signature", |case| {
        let (signed, signature) = text(&case.example, "jws").rsplit_once('.').unwrap();
        let to_be_signed = from_hex(text(&case.example, "raw_to_be_signed"));
        check(to_be_signed == signed.as_bytes(), "other bytes")?;
        let raw = from_hex(text(&case.example, "raw_signature"));
        check(raw.len() == case.signature_bytes, "length of the signature")?;
        check(encode(&raw) == signature, "another signature")
    });
    add("changed_token_is_rejected", |case| {
        let token = text(&case.example, "jws");
        let verifier = JwsVerifier::new(case.key.verifying_key());
        let payload = verifier.verify(&token.replacen(".SX", ".TX", 1));
        check(payload.is_err(), "payload")?;
        let (head, _) = token.split_at(token.len() - 4);
        let signature = verifier.verify(&format!("{head}AAAA"));
        check(signature.is_err(), "signature")?;
        let shorter = verifier.verify(head);
        check(shorter.is_err(), "a shorter signature")
    });
    add("signing_again_gives_a_valid_token", |case| {
        let token = JwsSigner::new(&case.key).sign(b"x")?;
        JwsVerifier::new(case.key.verifying_key()).verify(&token)?;
        let (_, signature) = token.rsplit_once('.').unwrap();
        let length = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(signature)?.len();
        check(length == case.signature_bytes, "length of the signature")
    });
    // Section 3: `alg` and `pub` are required, and `priv` must not be in a public key.
    add("required_members_are_required", |case| {
        for name in ["alg", "pub"] {
            let jwk = changed(&case.example, name, None);
            let error = SigningKey::from_jwk_as(&jwk, case.alg).map(drop);
            check(error.unwrap_err().code() == "KEY_MEMBER_MISSING", name)?;
        }
        let public = changed(&case.example, "priv", None);
        check(VerifyingKey::from_jwk(&public).is_ok(), "a public key")?;
        let error = SigningKey::from_jwk(&public).map(drop).unwrap_err();
        check(error.code() == "KEY_IS_PUBLIC", error.code())?;
        let private = case.example["jwk"].to_string();
        let error = VerifyingKey::from_jwk(&private).map(drop).unwrap_err();
        check(error.code() == "KEY_IS_PRIVATE", error.code())?;
        let public = AnyKey::from_bytes(private.as_bytes())?.public()?;
        check(
            !public.text().unwrap().contains("priv"),
            "priv is published",
        )
    });
    // Sections 4 and 7.3: the seed has 32 bytes; the expanded form is not a `priv`.
    add("priv_of_another_length_is_rejected", |case| {
        for length in [0, 31, 33, 64, 2560, 4032, 4896] {
            let seed = Some(Value::from(encode(&vec![0; length])));
            let error = SigningKey::from_jwk(&changed(&case.example, "priv", seed)).map(drop);
            let error = error.unwrap_err();
            check(error.code() == "KEY_WRONG_LENGTH", error.code())?;
        }
        Ok(())
    });
    add("pub_of_another_length_is_rejected", |case| {
        for length in [case.public_bytes - 1, case.public_bytes + 1] {
            let public = Some(Value::from(encode(&vec![0; length])));
            let jwk = changed(&case.example, "pub", public);
            check(SigningKey::from_jwk(&jwk).is_err(), "accepted")?;
        }
        Ok(())
    });
    // Section 7.4.
    add("mismatched_pub_and_priv_are_rejected", |case| {
        let seed = Some(Value::from(encode(&[1; 32])));
        let error = SigningKey::from_jwk(&changed(&case.example, "priv", seed)).map(drop);
        let error = error.unwrap_err();
        check(error.code() == "KEY_PAIR_MISMATCH", error.code())
    });
    add("key_of_another_set_is_rejected", |case| {
        for (other, ..) in SETS.iter().filter(|(other, ..)| *other != case.alg) {
            let name = Some(Value::from(other.name()));
            let jwk = changed(&case.example, "alg", name);
            check(
                SigningKey::from_jwk(&jwk).is_err(),
                "another alg in the key",
            )?;
            let jwk = case.example["jwk"].to_string();
            let wanted = SigningKey::from_jwk_as(&jwk, *other);
            check(wanted.is_err(), "another alg wanted")?;
        }
        Ok(())
    });
    trials
}

/// One example and what the RFC says about its parameter set.
struct Case {
    alg: SigAlg,
    public_bytes: usize,
    signature_bytes: usize,
    example: Value,
    key: SigningKey,
}
