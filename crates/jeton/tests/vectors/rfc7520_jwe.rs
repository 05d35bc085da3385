//! RFC 7520, section 5: every JWE of the cookbook in every serialization; section 6, nesting; and the X25519
//! example of the same collection (RFC 8037).

use jeton::danger::{self, Password, Pbes2Alg};
use jeton::error::Rejection;
use jeton::jwe::{Decrypted, Decrypter};
use jeton::key::DecryptionKeys;
use jeton::{
    FixedClock, Policy, Timestamp, Verified,
    jwt::{self, JwtVerifier},
};
use libtest_mimic::Failed;
use serde_json::Value;

use crate::decryption::decryption_keys;
use crate::support::{Trial, check, json, trial, verification_keys};

const FILES: [&str; 14] = [
    "5_1.key_encryption_using_rsa_v15_and_aes-hmac-sha2",
    "5_2.key_encryption_using_rsa-oaep_with_aes-gcm",
    "5_3.key_wrap_using_pbes2-aes-keywrap_with-aes-cbc-hmac-sha2",
    "5_4.key_agreement_with_key_wrapping_using_ecdh-es_and_aes-keywrap_with_aes-gcm",
    "5_5.key_agreement_using_ecdh-es_with_aes-cbc-hmac-sha2",
    "5_6.direct_encryption_using_aes-gcm",
    "5_7.key_wrap_using_aes-gcm_keywrap_with_aes-cbc-hmac-sha2",
    "5_8.key_wrap_using_aes-keywrap_with_aes-gcm",
    "5_9.compressed_content",
    "5_10.including_additional_authentication_data",
    "5_11.protecting_specific_header_fields",
    "5_12.protecting_content_only",
    "5_13.encrypting_to_multiple_recipients",
    "curve25519_ecdh-es",
];

const NESTED: &str = "6.nesting_signatures_and_encryption";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for file in FILES {
        let vector = json(&format!("rfc7520-jwe/{file}.json"));
        for form in ["compact", "json", "json_flat"] {
            let Some(token) = vector["output"].get(form) else {
                continue;
            };
            for (index, _) in algorithms(&vector).iter().enumerate() {
                let (vector, token) = (vector.clone(), token.clone());
                trials.push(trial(
                    format!("{file}_{form}_recipient_{index}"),
                    move || case(&vector, index, &token),
                ));
            }
        }
    }
    let vector = json(&format!("rfc7520-jwe/{NESTED}.json"));
    for form in ["json", "json_flat"] {
        let vector = vector.clone();
        trials.push(trial(format!("{NESTED}_{form}"), move || {
            let keys = decryption_keys(&vector["encrypt"]["input"]["key"], "RSA-OAEP", "")?;
            let token = vector["encrypt"]["output"][form].to_string();
            let decrypted = Decrypter::new(keys).decrypt_json(&token)?;
            check(decrypted.content_type() == Some("JWT"), "another cty")?;
            check(
                vector["sign"]["output"]["compact"] == utf8(&decrypted),
                "another token inside",
            )
        }));
    }
    trials.push(nested(vector));
    trials
}

fn case(vector: &Value, index: usize, token: &Value) -> Result<(), Failed> {
    let decrypter = Decrypter::new(keys(vector, index)?);
    let open = |decrypter: &Decrypter| match token.as_str() {
        Some(compact) => decrypter.decrypt(compact),
        None => decrypter.decrypt_json(&token.to_string()),
    };
    let decrypted = if vector["title"] == "Protecting Content Only" {
        let rejection = open(&decrypter).unwrap_err().rejection().cloned();
        check(
            rejection == Some(Rejection::UnprotectedEnc),
            "unprotected enc without danger",
        )?;
        open(&danger::allow_unprotected_enc(decrypter))?
    } else if vector["input"]["zip"] == "DEF" {
        let rejection = open(&decrypter).unwrap_err().rejection().cloned();
        check(
            rejection == Some(Rejection::Compressed),
            "zip without danger",
        )?;
        open(&danger::allow_zip(decrypter))?
    } else {
        open(&decrypter)?
    };
    check(decrypted.recipient_index() == index, "another recipient")?;
    // 5.3 encrypts a key set, which the file contains as text.
    check(
        vector["input"]["plaintext"] == utf8(&decrypted),
        "another plaintext",
    )?;
    let aad = vector["input"]["aad"].as_str().map(str::as_bytes);
    check(decrypted.aad() == aad, "another aad")
}

fn algorithms(vector: &Value) -> Vec<String> {
    match &vector["input"]["alg"] {
        Value::Array(algs) => algs
            .iter()
            .map(|alg| alg.as_str().unwrap().into())
            .collect(),
        alg => vec![alg.as_str().unwrap().into()],
    }
}

fn keys(vector: &Value, index: usize) -> jeton::Result<DecryptionKeys> {
    let alg = &algorithms(vector)[index];
    if let Ok(alg) = alg.parse::<Pbes2Alg>() {
        let password = vector["input"]["pwd"].as_str().unwrap();
        return Ok(Password::new(alg, password.as_bytes())?.into());
    }
    let key = match &vector["input"]["key"] {
        Value::Array(keys) => &keys[index],
        key => key,
    };
    decryption_keys(key, alg, vector["input"]["enc"].as_str().unwrap())
}

/// The compact form with the nested verifier; each layer alone must be rejected.
fn nested(vector: Value) -> Trial {
    trial(format!("{NESTED}_compact_is_a_nested_JWT"), move || {
        let token = vector["encrypt"]["output"]["compact"].as_str().unwrap();
        let signed = vector["sign"]["output"]["compact"].as_str().unwrap();
        let verifier = || -> Result<JwtVerifier, Failed> {
            let keys = verification_keys(&vector["sign"]["input"]["key"], "PS256")?;
            let policy = Policy::new("hobbiton.example", "").any_audience();
            let before = Timestamp::from_unix_seconds(1_300_819_379).unwrap();
            Ok(JwtVerifier::new(keys, policy).clock(FixedClock(before)))
        };
        let key = decryption_keys(&vector["encrypt"]["input"]["key"], "RSA-OAEP", "")?;
        let nested = jwt::NestedVerifier::new(Decrypter::new(key), verifier()?);
        let claims: Verified<Value> = nested.verify(token)?;
        check(
            claims.issuer() == Some("hobbiton.example"),
            "another issuer",
        )?;
        check(
            nested.verify::<Value>(signed).is_err(),
            "only signed, and accepted",
        )?;
        check(
            verifier()?.verify::<Value>(token).is_err(),
            "not decrypted, and accepted",
        )
    })
}

fn utf8(decrypted: &Decrypted) -> &str {
    std::str::from_utf8(decrypted.plaintext()).unwrap()
}
