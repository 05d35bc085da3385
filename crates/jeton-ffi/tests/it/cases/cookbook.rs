//! Examples of RFC 7515, 7519 and 7520, and the JWE cookbook.

use serde_json::{Value, json};

use super::Case;
use super::make::{Label, base64url, key, members, read, read_json};

const SIGNED: [&str; 6] = [
    "4_1.rsa_v15_signature",
    "4_2.rsa-pss_signature",
    "4_3.ecdsa_signature",
    "4_4.hmac-sha2_integrity_protection",
    "4_5.signature_with_detached_content",
    "4_6.protecting_specific_header_fields",
];

const ENCRYPTED: [&str; 9] = [
    "5_2.key_encryption_using_rsa-oaep_with_aes-gcm",
    "5_4.key_agreement_with_key_wrapping_using_ecdh-es_and_aes-keywrap_with_aes-gcm",
    "5_5.key_agreement_using_ecdh-es_with_aes-cbc-hmac-sha2",
    "5_6.direct_encryption_using_aes-gcm",
    "5_7.key_wrap_using_aes-gcm_keywrap_with_aes-cbc-hmac-sha2",
    "5_8.key_wrap_using_aes-keywrap_with_aes-gcm",
    "5_10.including_additional_authentication_data",
    "5_11.protecting_specific_header_fields",
    "curve25519_ecdh-es",
];

pub(crate) fn cases() -> Vec<Case> {
    [rfc7515(), rfc7519(), signed(), encrypted(), nested()].concat()
}

fn token_text(token: &Value) -> String {
    match token {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    }
}

/// The token, and the same token with one changed letter in its last part.
fn with_changed(case: Case) -> Vec<Case> {
    let mut changed = case.clone();
    let token = changed.token.as_deref().unwrap();
    let Some(at) = token.rfind('.').filter(|_| token.starts_with('e')) else {
        return vec![case.labelled(Label::Valid)];
    };
    let letter = if token[at + 1..].starts_with('A') {
        'B'
    } else {
        'A'
    };
    let code = if token.matches('.').count() == 4 {
        "TOKEN_DECRYPTION_FAILED"
    } else {
        "TOKEN_INVALID_SIGNATURE"
    };
    changed.token = Some(format!("{}.{letter}{}", &token[..at], &token[at + 2..]));
    changed.id += "-changed";
    vec![
        case.labelled(Label::Valid),
        changed.labelled(Label::Code(code)),
    ]
}

fn rfc7515() -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, alg) in [
        ("A.1", "HS256"),
        ("A.2", "RS256"),
        ("A.3", "ES256"),
        ("A.4", "ES512"),
    ] {
        let case = Case {
            id: format!("rfc7515-{}", super::make::slug(number)),
            action: "verify-bytes".into(),
            key: Some(key(
                read(&format!("rfc7515/rfc7515_{number}.jwk")),
                json!({"alg": alg}),
            )),
            options: members(json!({"format": "jws"})),
            token: Some(
                read(&format!("rfc7515/rfc7515_{number}.jwsc"))
                    .trim()
                    .into(),
            ),
            ..Case::default()
        };
        cases.extend(with_changed(case));
    }
    let mut none = cases[0].clone();
    none.id = "rfc7515-a-5-none".into();
    none.token = Some(read("rfc7515/rfc7515_A.5.jwsc").trim().into());
    cases.push(none.labelled(Label::Invalid));
    cases
}

/// The example of RFC 7519 as claims, before and after it expires.
fn rfc7519() -> Vec<Case> {
    let token = read_json("rfc7519/tokens.json")["3.1"]
        .as_str()
        .unwrap()
        .to_owned();
    let at = |id: &str, now: i64, label| {
        Case {
            id: id.into(),
            action: "verify".into(),
            key: Some(key(
                read("rfc7515/rfc7515_A.1.jwk"),
                json!({"alg": "HS256"}),
            )),
            options: members(json!({"issuer": "joe", "any_audience": true})),
            now: Some(now),
            token: Some(token.clone()),
            ..Case::default()
        }
        .labelled(label)
    };
    vec![
        at("rfc7519-3-1", 1_300_819_379, Label::Valid),
        at(
            "rfc7519-3-1-expired",
            1_300_819_380,
            Label::Code("TOKEN_EXPIRED"),
        ),
    ]
}

fn signed() -> Vec<Case> {
    let mut cases = Vec::new();
    for file in SIGNED {
        let vector = read_json(&format!("rfc7520/{file}.json"));
        let alg = vector["input"]["alg"].as_str().unwrap();
        let is_detached = file.contains("detached");
        for form in ["compact", "json", "json_flat"] {
            let Some(token) = vector["output"].get(form) else {
                continue;
            };
            let mut options = json!({"format": "jws"});
            if form != "compact" {
                options["serialization"] = json!(if form == "json" {
                    "general"
                } else {
                    "flattened"
                });
            }
            let case = Case {
                id: format!(
                    "rfc7520-{}-{}",
                    super::make::slug(file),
                    super::make::slug(form)
                ),
                action: "verify-bytes".into(),
                key: Some(key(vector["input"]["key"].to_string(), json!({"alg": alg}))),
                options: members(options),
                token: Some(token_text(token)),
                content: is_detached
                    .then(|| base64url(vector["input"]["payload"].as_str().unwrap().as_bytes())),
                ..Case::default()
            };
            // Only RFC 7520, 4.6, has `kid` outside the protected header.
            cases.extend(with_changed(case));
        }
    }
    cases
}

fn encrypted() -> Vec<Case> {
    let mut cases = Vec::new();
    for file in ENCRYPTED {
        let vector = read_json(&format!("rfc7520-jwe/{file}.json"));
        let input = &vector["input"];
        let alg = input["alg"].as_str().unwrap();
        let mut options = json!({"alg": alg});
        if alg == "dir" {
            options["enc"] = input["enc"].clone();
        }
        for form in ["compact", "json", "json_flat"] {
            let Some(token) = vector["output"].get(form) else {
                continue;
            };
            let mut of_verifier = json!({"format": "jwe"});
            if form != "compact" {
                of_verifier["serialization"] = json!(if form == "json" {
                    "general"
                } else {
                    "flattened"
                });
            }
            let case = Case {
                id: format!(
                    "jwe-{}-{}",
                    super::make::slug(file),
                    super::make::slug(form)
                ),
                action: "verify-bytes".into(),
                decryption: vec![key(input["key"].to_string(), options.clone())],
                options: members(of_verifier),
                token: Some(token_text(token)),
                ..Case::default()
            };
            cases.extend(with_changed(case));
        }
    }
    cases
}

/// Claims that are signed and then encrypted (RFC 7520, section 6).
fn nested() -> Vec<Case> {
    let vector = read_json("rfc7520-jwe/6.nesting_signatures_and_encryption.json");
    let signer = &vector["sign"]["input"]["key"];
    let public = json!({"kty": "RSA", "kid": signer["kid"], "n": signer["n"], "e": signer["e"]});
    let reader = vector["encrypt"]["input"]["key"].to_string();
    let token = vector["encrypt"]["output"]["compact"].as_str().unwrap();
    with_changed(Case {
        id: "jwt-6-nested".into(),
        action: "verify".into(),
        key: Some(key(public.to_string(), json!({"alg": "PS256"}))),
        decryption: vec![key(reader, json!({}))],
        options: members(json!({"issuer": "hobbiton.example", "any_audience": true})),
        now: Some(1_300_819_000),
        token: Some(token.into()),
        ..Case::default()
    })
}
