//! Runs a case with the C functions.

use base64ct::{Base64UrlUnpadded, Encoding};
use jeton_ffi::JetonClock;
use serde_json::{Map, Value};

use super::make::base64url;
use super::{Case, Expected, KeyData};
use crate::api::{self, Claims, Keys, Owned, Result};

pub(crate) fn run(case: &Case) -> Expected {
    let found = match case.action.as_str() {
        "verify" => verify(case),
        "unverified" => {
            let token = case.token.as_deref().unwrap();
            api::unverified(token.as_bytes()).map(|text| Expected {
                json: Some(text),
                ..Expected::default()
            })
        }
        "verify-bytes" => verify_bytes(case).map(|bytes| Expected {
            payload: Some(base64url(&bytes)),
            ..Expected::default()
        }),
        "issue" => issue(case).map(|token| Expected {
            token: Some(token),
            ..Expected::default()
        }),
        "import" => import(case.key.as_ref().unwrap()),
        other => panic!("{}: unknown action {other}", case.id),
    };
    found.unwrap_or_else(|failure| Expected {
        code: Some(failure.code),
        ..Expected::default()
    })
}

fn text(options: &Map<String, Value>) -> String {
    serde_json::to_string(options).unwrap()
}

fn key(key: &KeyData) -> Result<Owned<jeton_ffi::JetonKey>> {
    api::import(key.data.as_bytes(), &text(&key.options))
}

fn verifier(case: &Case) -> Result<Owned<jeton_ffi::JetonVerifier>> {
    let one = case.key.as_ref().map(key).transpose()?;
    let set = (case.keys.as_ref())
        .map(|keys| api::import_set(&keys.data, &text(&keys.options)))
        .transpose()?;
    let decryption: Vec<_> = case.decryption.iter().map(key).collect::<Result<_>>()?;
    let decryption = if decryption.is_empty() {
        None
    } else {
        Some(api::new_set(&decryption.iter().collect::<Vec<_>>())?)
    };
    let clock: Option<Owned<JetonClock>> = case.now.map(api::clock).transpose()?;
    let keys = Keys {
        key: one.as_ref(),
        set: set.as_ref(),
        decryption: decryption.as_ref(),
        remote: None,
        clock: clock.as_ref(),
    };
    // The handles are released here, and the verifier keeps what it needs.
    api::verifier(keys, &text(&case.options))
}

fn verify(case: &Case) -> Result<Expected> {
    let (verifier, token) = (verifier(case)?, case.token.as_deref().unwrap().as_bytes());
    let claims = api::verify(&verifier, token)?;
    let header = api::header(&verifier, token)?;
    Ok(Expected {
        header: (!header.is_empty()).then_some(header),
        ..of_claims(&claims)
    })
}

fn verify_bytes(case: &Case) -> Result<Vec<u8>> {
    let content = case
        .content
        .as_deref()
        .map(|text| Base64UrlUnpadded::decode_vec(text).unwrap());
    let token = case.token.as_deref().unwrap();
    api::verify_bytes(&verifier(case)?, token.as_bytes(), content.as_deref())
}

fn issue(case: &Case) -> Result<String> {
    let key = key(case.key.as_ref().unwrap())?;
    let clock = api::clock(case.now.unwrap())?;
    let issuer = api::issuer(Some(&key), None, Some(&clock), &text(&case.options))?;
    api::issue(&issuer, case.claims.as_deref().unwrap())
}

fn import(data: &KeyData) -> Result<Expected> {
    let key = key(data)?;
    let kid = api::export(&key, "kid")?;
    Ok(Expected {
        kind: Some(api::export(&key, "kind")?),
        alg: Some(api::export(&key, "alg")?),
        kid: (!kid.is_empty()).then_some(kid),
        // A PASETO key has no thumbprint.
        thumbprint: api::export(&key, "thumbprint").ok(),
        ..Expected::default()
    })
}

fn of_claims(claims: &Claims) -> Expected {
    let result = &claims.result;
    let string = |bit| {
        claims
            .value(bit)
            .map(|text| serde_json::from_str(text).unwrap())
    };
    let part = |bit, range| claims.has(bit).then(|| claims.text(range).to_owned());
    let time = |bit, seconds| claims.has(bit).then_some(seconds);
    let audiences = claims
        .value(4)
        .map(|text| match serde_json::from_str(text).unwrap() {
            Value::String(one) => vec![one],
            list => serde_json::from_value(list).unwrap(),
        });
    Expected {
        json: Some(claims.json().into()),
        alg: Some(claims.alg().into()),
        kid: part(256, result.kid),
        typ: part(512, result.typ),
        footer: part(1024, result.footer),
        issuer: string(1),
        subject: string(2),
        audiences: audiences.filter(|all| !all.is_empty()),
        expires_at: time(8, result.expires_at),
        not_before: time(16, result.not_before),
        issued_at: time(32, result.issued_at),
        token_id: string(64),
        ..Expected::default()
    }
}
