//! Any text as claims, compared with serde_json. Accepted claims are issued and verified with the same values and
//! the same text, in a JWT or in a PASETO. Rejected text is rejected by serde_json too, or the error names why.
#![no_main]

use std::sync::LazyLock;

use jeton::error::{Claim, InvalidUse};
use jeton::key::{MacAlg, MacKey};
use jeton::paseto::{PasetoVerifier, v4};
use jeton::{
    Claims, Error, Issue, JsonClaims, Policy, RawClaims, Verified, Verify, jwt::JwtVerifier,
};
use jeton_fuzz::{bounded, keys, seeds};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

static MAC: LazyLock<MacKey> = LazyLock::new(|| keys::mac(MacAlg::HS256));
static LOCAL: LazyLock<v4::LocalKey> =
    LazyLock::new(|| v4::LocalKey::generate().expect("randomness"));
static JWT: LazyLock<JwtVerifier> = LazyLock::new(|| JwtVerifier::new(&*MAC, policy()));
static PASETO: LazyLock<PasetoVerifier> = LazyLock::new(|| PasetoVerifier::new(&*LOCAL, policy()));

fn policy() -> Policy {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    policy.without_expiry()
}

fuzz_target!(
    init: seeds::write(seeds::claims),
    |bytes: &[u8]| {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return;
        };
        let reference = serde_json::from_str::<Map<String, Value>>(text);
        match bounded(text.len(), || Claims::from_json(text)) {
            Ok(claims) => accepted(text, claims, reference.ok()),
            Err(Error::InvalidUse(invalid_use)) => match invalid_use {
                InvalidUse::ClaimsSyntax { .. } | InvalidUse::ClaimsNotAnObject => {
                    assert!(reference.is_err(), "serde_json accepts it");
                }
                InvalidUse::ClaimsDuplicate { .. } => {}
                InvalidUse::ClaimsTooDeep { depth, limit } => assert!(depth > limit),
                InvalidUse::ClaimType { claim, .. } | InvalidUse::ClaimRange { claim, .. } => {
                    // The text after the claim was not read.
                    assert!(reference.map_or(true, |all| all.contains_key(claim.name())));
                }
                other => panic!("{other}"),
            },
            Err(other) => panic!("{other}"),
        }
    }
);

fn accepted(
    text: &str,
    mut claims: Claims<'_, JsonClaims<'_>>,
    reference: Option<Map<String, Value>>,
) {
    assert!(
        reference.is_some() || has_huge_number(text),
        "serde_json rejects it"
    );
    if !claims.custom().contains(Claim::Expiry) {
        claims = claims.without_expiry();
    }
    if !claims.custom().contains(Claim::IssuedAt) {
        claims = claims.without_issued_at();
    }
    let issued: [(&dyn Issue, &dyn Verify); 2] = [(&*MAC, &*JWT), (&*LOCAL, &*PASETO)];
    for (key, verifier) in issued {
        let token = match key.issue(&claims) {
            Ok(token) => token,
            // The text has the times or the audience of the other format.
            Err(Error::InvalidUse(InvalidUse::DateForm(_) | InvalidUse::AudienceList)) => continue,
            Err(other) => panic!("{other}"),
        };
        match verifier.verify_raw(&token) {
            Ok(verified) => same(&verified, text, reference.as_ref()),
            // Only the clock may reject what was issued.
            Err(error) => assert!(is_about_time(&error), "{error}"),
        }
    }
}

fn is_about_time(error: &Error) -> bool {
    use jeton::error::Rejection;
    let rejection = error.rejection();
    matches!(
        rejection,
        Some(Rejection::Expired | Rejection::NotYetValid | Rejection::IssuedInTheFuture)
    )
}

fn same(verified: &Verified<RawClaims>, text: &str, reference: Option<&Map<String, Value>>) {
    let json = verified.json();
    let object = text.trim_ascii();
    let members = object[1..object.len() - 1].trim_ascii();
    assert_eq!(json, format!("{{{members}}}"));
    let mut custom = String::new();
    verified.custom_json_onto(&mut custom);
    for member in verified.registered_members() {
        let (written, value) = (&json[member.member], &json[member.value]);
        assert!(written.ends_with(value));
    }
    let Some(reference) = reference else { return };
    let mut parts: Map<String, Value> = serde_json::from_str(&custom).expect("an object");
    for member in verified.registered_members() {
        let value = serde_json::from_str(&json[member.value]).expect("a value");
        parts.insert(member.claim.name().to_owned(), value);
    }
    assert_eq!(parts, *reference);
}

fn has_huge_number(text: &str) -> bool {
    let error = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    error.is_err_and(|error| error.starts_with("number out of range"))
}
