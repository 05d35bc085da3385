//! Verified claims as text: where the registered claims are, and the text without them.

use jeton::error::Claim;
use jeton::key::{MacAlg, MacKey};
use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4;
use jeton::{
    Claims, JsonClaims, Policy, RawClaims, RegisteredMember, Scratch, Verified, Verify,
    jwt::JwtVerifier,
};
use jeton_testkit::count;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn policy() -> Policy {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    policy.without_expiry()
}

fn key() -> MacKey {
    MacKey::new(MacAlg::HS256, &[7; 32]).unwrap()
}

fn claims(text: &str) -> Claims<'_, JsonClaims<'_>> {
    let claims = Claims::from_json(text).unwrap();
    let has_expiry = claims.custom().contains(Claim::Expiry);
    let has_issued_at = claims.custom().contains(Claim::IssuedAt);
    let claims = if has_expiry {
        claims
    } else {
        claims.without_expiry()
    };
    if has_issued_at {
        claims
    } else {
        claims.without_issued_at()
    }
}

/// Verified claims with exactly this text.
fn verified(text: &str) -> Verified<RawClaims> {
    let token = key().issue(&claims(text)).unwrap();
    let verifier = JwtVerifier::new(key(), policy());
    verifier.verify_raw(&token).unwrap()
}

fn custom<Text: AsRef<str>>(verified: &Verified<RawClaims, Text>) -> String {
    let mut text = String::from("before ");
    verified.custom_json_onto(&mut text);
    text.strip_prefix("before ").unwrap().to_owned()
}

/// Each member as text: claim, member, value.
fn registered(text: &str) -> Vec<(Claim, String, String)> {
    let verified = verified(text);
    let part = |range: std::ops::Range<usize>| verified.json()[range].to_owned();
    let members = verified.registered_members();
    members
        .map(
            |RegisteredMember {
                 claim,
                 member,
                 value,
                 ..
             }| (claim, part(member), part(value)),
        )
        .collect()
}

#[test]
fn members_are_found_with_their_written_text() {
    let text =
        r#"{"a":1, "iss" : "i" ,"aud": [ "x" , "\u0061" ],"b":{"exp":7},"exp":4102444800.5}"#;
    let owned = |claim, member: &str, value: &str| (claim, member.to_owned(), value.to_owned());
    assert_eq!(
        registered(text),
        [
            owned(Claim::Issuer, r#""iss" : "i""#, r#""i""#),
            owned(
                Claim::Audience,
                r#""aud": [ "x" , "\u0061" ]"#,
                r#"[ "x" , "\u0061" ]"#
            ),
            owned(Claim::Expiry, r#""exp":4102444800.5"#, "4102444800.5"),
        ]
    );
    assert_eq!(custom(&verified(text)), r#"{"a":1,"b":{"exp":7}}"#);
    assert_eq!(registered("{}"), []);
    assert_eq!(custom(&verified("{}")), "{}");
    assert_eq!(custom(&verified(r#"{"sub":"s"}"#)), "{}");
}

/// Up to 16 members within 64 KiB are recorded while the claims are scanned; other claims are scanned again.
#[test]
fn many_long_or_escaped_members_are_found_too() {
    let many: Vec<String> = (0..40).map(|n| format!("\"m{n}\":{n}")).collect();
    let long = format!("\"long\":\"{}\"", "x".repeat(70_000));
    for others in [many.join(","), long, r#""\u0061":1"#.to_owned()] {
        let text = format!("{{\"iss\":\"i\",{others},\"\\u0073ub\":\"s\"}}");
        let found = registered(&text);
        let claims: Vec<Claim> = found.iter().map(|(claim, ..)| *claim).collect();
        assert_eq!(claims, [Claim::Issuer, Claim::Subject]);
        assert_eq!(found[1].1, r#""\u0073ub":"s""#);
        assert_eq!(custom(&verified(&text)), format!("{{{others}}}"));
    }
}

#[test]
fn paseto_has_the_same_positions() {
    let key = v4::LocalKey::generate().unwrap();
    let text = r#"{"exp":"2040-01-01T00:00:00Z","page":"/"}"#;
    let token = key.issue(&claims(text)).unwrap();
    let mut scratch = Scratch::new();
    let verifier = PasetoVerifier::new(&key, policy());
    let verified = verifier.verify_raw_in(&token, &mut scratch).unwrap();
    let exp = verified.registered_members().next().unwrap();
    assert_eq!(&verified.json()[exp.value], "\"2040-01-01T00:00:00Z\"");
    assert_eq!(custom(&verified), r#"{"page":"/"}"#);
}

#[test]
fn positions_and_values_allocate_nothing() {
    let text =
        r#"{"iss":"i","sub":"s","aud":["a","b"],"exp":4102444800,"jti":"7","page":"/","n":1}"#;
    let token = key().issue(&claims(text)).unwrap();
    let verifier = JwtVerifier::new(key(), policy());
    let mut scratch = Scratch::new();
    let mut custom = String::with_capacity(text.len());
    verifier.verify_raw_in(&token, &mut scratch).unwrap();
    let (counts, ()) = count(|| {
        let verified = verifier.verify_raw_in(&token, &mut scratch).unwrap();
        assert_eq!(verified.registered_members().count(), 5);
        assert_eq!(verified.subject(), Some("s"));
        assert_eq!(verified.audiences().count(), 2);
        verified.custom_json_onto(&mut custom);
    });
    assert_eq!(counts.allocations, 0);
    assert_eq!(custom, r#"{"page":"/","n":1}"#);
}

proptest! {
    /// The two parts together are the claims, and values are those of serde_json.
    #[test]
    fn parts_are_the_claims(
        custom_names in proptest::collection::btree_set("[a-z\"é]{0,3}", 0..24),
        registered_names in proptest::sample::subsequence(vec!["iss", "sub", "jti"], 0..4),
        order: u64,
        space in "[ \n\t]{0,2}",
    ) {
        let mut names: Vec<String> = custom_names.into_iter().filter(|name| Claim::from_name(name).is_none()).collect();
        names.extend(registered_names.into_iter().map(str::to_owned));
        let half = usize::try_from(order).unwrap_or(0) % names.len().max(1);
        names.rotate_left(half);
        let members: Vec<String> = names
            .iter()
            .map(|name| format!("{space}{}{space}:{space}\"x\"", Value::from(name.as_str())))
            .collect();
        let text = format!("{{{}}}", members.join(","));
        let verified = verified(&text);
        let mut all: Map<String, Value> = serde_json::from_str(&custom(&verified)).unwrap();
        prop_assert!(all.keys().all(|name| Claim::from_name(name).is_none()));
        for RegisteredMember { claim, member, value, .. } in verified.registered_members() {
            let json = verified.json();
            let member: Map<String, Value> = serde_json::from_str(&format!("{{{}}}", &json[member])).unwrap();
            let value: Value = serde_json::from_str(&json[value]).unwrap();
            prop_assert_eq!(&member[claim.name()], &value);
            prop_assert!(all.insert(claim.name().to_owned(), value).is_none());
        }
        let expected: Map<String, Value> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(all, expected);
    }
}
