//! Tests that every issued token can be verified and revoked: all calls have the same limits.

use std::sync::Arc;

use jeton::Claims;

use jeton::key::{MacAlg, MacKey};
use jeton_issuer::{
    CustomClaims, Error, IssuerSettings, KeyEncryptionKey, KeyKind, Node, Options, Request, Revoke,
    Rule, Subject, limits,
};
use jeton_store::{MemoryStore, block_on};
use proptest::prelude::*;

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";
const PROFILES: [&str; 3] = ["HS256", "EdDSA", "v4.local"];
/// Small, so that random claims approach it.
const TOKEN_BYTES: usize = 3000;

fn node(iss: &str, token_bytes: usize) -> Node {
    let profiles = PROFILES.map(|alg| {
        format!(r#"{{"name":"{alg}","alg":"{alg}","lifetime_seconds":900,"audiences":["api"]}}"#)
    });
    let settings = format!(r#"{{"iss":"{iss}","profiles":[{}]}}"#, profiles.join(","));
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let options = Options::new(kek).token_bytes(token_bytes);
    let node = Node::start(
        Arc::new(MemoryStore::new()),
        options,
        Arc::new(ManualClock::new()),
    )
    .unwrap();
    node.create_issuer("setup", IssuerSettings::from_json(&settings).unwrap())
        .unwrap();
    node
}

fn issue(
    node: &Node,
    iss: &str,
    profile: &str,
    subject: &str,
    claims: &str,
) -> Result<String, Error> {
    let claims = CustomClaims::from_json(claims, TOKEN_BYTES)?;
    let request = Request::new(profile).subject(subject).claims(claims);
    let one = node.issue(iss, &request)?.token;
    let claims = &CustomClaims::default();
    // The same in a batch.
    let many = node.with_profile_issuer(iss, profile, None, |profile_issuer| {
        profile_issuer.batch().and_then(|mut batch| {
            batch
                .issue(Some(subject), claims)
                .map(|issued| issued.token.to_owned())
        })
    });
    assert!(many.unwrap().is_ok());
    Ok(one)
}

/// Names around the limits of length, escaping and control characters.
fn names() -> impl Strategy<Value = String> {
    let around = prop_oneof![1_usize..40, 1020_usize..1030];
    let piece = prop_oneof![
        20 => "[a-zA-Z0-9:|@.-]{1}",
        2 => "[/%\"\\\\]{1}",
        2 => "[é漢😀]{1}",
        1 => "[\\x00-\\x1f\\x7f\u{80}-\u{9f}]{1}",
    ];
    prop_oneof![
        ("[a-z/é]{1}", around).prop_map(|(piece, bytes)| piece.repeat(bytes / piece.len())),
        proptest::collection::vec(piece, 1..30).prop_map(|pieces| pieces.concat()),
    ]
}

/// Claims around the limits of depth and length, and with unusual numbers.
fn claims() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("18446744073709551617".to_owned()),
        Just("1e-999".to_owned()),
        (28_usize..36).prop_map(|depth| format!("{}0{}", "[".repeat(depth), "]".repeat(depth))),
        (1_usize..2500).prop_map(|bytes| format!("\"{}\"", "x".repeat(bytes))),
        "[a-z/\"\\\\é\\x00-\\x1f]{0,20}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let name = "a|b|c|client_id|scope|exp|active|[\\x00-\\x1f/é]{1,3}";
    let member = (name, value)
        .prop_map(|(name, value)| format!("{}:{value}", serde_json::to_string(&name).unwrap()));
    proptest::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn issued_token_can_be_revoked_by_every_subject(
        requests in proptest::collection::vec((0..PROFILES.len(), names(), claims()), 1..12)
    ) {
        let node = node(ISS, TOKEN_BYTES);
        for (index, (profile, subject, claims)) in requests.iter().enumerate() {
            let client = serde_json::from_str::<serde_json::Value>(claims).ok();
            let client = client.and_then(|claims| Some(claims["client_id"].as_str()?.to_owned()));
            let issued = issue(&node, ISS, PROFILES[*profile], subject, claims);
            let Ok(token) = issued else {
                let refused = issued.unwrap_err();
                prop_assert!(matches!(refused, Error::Invalid(_) | Error::Claims(_)), "{refused:?}");
                continue;
            };
            let verified = node.verify(ISS, "api", &token).unwrap();
            prop_assert_eq!(verified.subject(), Some(&**subject));
            prop_assert!(verified.json().ends_with(&claims[1..]));
            prop_assert!(node.introspect(ISS, &token).is_ok());
            let id = verified.token_id().unwrap().to_owned();
            let at = verified.expires_at().unwrap().unix_seconds();
            let revoked = match index % 4 {
                0 => node.revoke("me", ISS, Revoke::token(&id, at)),
                1 => node.revoke("me", ISS, Revoke::all(Subject::Token(id))),
                2 => node.revoke_token("me", ISS, &token),
                _ => node.revoke("me", ISS, Revoke::all(Subject::Subject(subject.clone()))),
            };
            block_on(revoked).unwrap();
            prop_assert_eq!(node.verify(ISS, "api", &token).unwrap_err(), Error::Revoked);
            // And by its client, if it has one.
            if let Some(client) = client {
                block_on(node.revoke("me", ISS, Revoke::all(Subject::Client(client)))).unwrap();
            }
        }
    }
}

fn rule(refused: Result<String, Error>) -> (String, String) {
    match refused.unwrap_err() {
        Error::Invalid(Rule { field, rule }) => (field, rule),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rejected_subject_reports_size_and_limit() {
    let node = node(ISS, TOKEN_BYTES);
    let issue = |subject: &str| rule(issue(&node, ISS, "HS256", subject, ""));
    let subject = |rule: &str| ("subject".to_owned(), rule.to_owned());
    assert_eq!(
        issue(&"x".repeat(1025)),
        subject("has 1025 bytes, the limit is 1024")
    );
    assert_eq!(issue("a\0"), subject("has a control character"));
    assert_eq!(issue("\u{9b}"), subject("has a control character"));
    assert_eq!(issue(""), subject("is empty: must have 1 to 1024 bytes"));
}

/// The issuer and a subject form one key of the store: the limit applies to their sum.
#[test]
fn subject_too_long_for_its_issuer_is_rejected() {
    let iss = format!("https://{}.example", "/".repeat(900));
    let node = node(&iss, TOKEN_BYTES);
    let fits = "/".repeat(400);
    let token = issue(&node, &iss, "HS256", &fits, "").unwrap();
    block_on(node.revoke("me", &iss, Revoke::all(Subject::Subject(fits)))).unwrap();
    assert_eq!(
        node.verify(&iss, "api", &token).unwrap_err(),
        Error::Revoked
    );
    for bytes in [1024, 500] {
        let long = "/".repeat(bytes);
        let (field, said) = rule(issue(&node, &iss, "HS256", &long, ""));
        assert_eq!(field, "subject");
        assert!(said.contains("the limit is 4096"), "{said}");
        let revoked = block_on(node.revoke("me", &iss, Revoke::all(Subject::Subject(long))));
        assert!(matches!(revoked, Err(Error::Invalid(rule)) if rule.rule == said));
    }
}

#[test]
fn token_size_limit_is_exact() {
    let node = node(ISS, TOKEN_BYTES);
    for profile in PROFILES {
        let claims = |bytes: usize| format!(r#"{{"x":"{}"}}"#, "x".repeat(bytes));
        let token = |bytes: usize| issue(&node, ISS, profile, "s", &claims(bytes));
        let most = (1..TOKEN_BYTES)
            .rev()
            .find(|bytes| token(*bytes).is_ok())
            .unwrap();
        let longest = token(most).unwrap();
        assert!(
            longest.len() <= TOKEN_BYTES && longest.len() > TOKEN_BYTES - 3,
            "{profile}"
        );
        assert!(node.verify(ISS, "api", &longest).is_ok(), "{profile}");
        let (field, said) = rule(token(most + 1));
        assert_eq!(field, "claims_json");
        assert!(said.ends_with("bytes, the limit is 3000"), "{said}");
    }
}

/// The same limits apply to tokens of an imported key.
#[test]
fn imported_key_token_that_is_irrevocable_is_rejected() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let key = key.with_key_id("elsewhere").unwrap();
    let clock = ManualClock::new();
    let node = node(ISS, TOKEN_BYTES);
    let kind: KeyKind = "HS256".parse().unwrap();
    node.import("me", ISS, kind, &key.to_jwk()).unwrap();
    let token = |id: &str, subject: &str, extra: &str| {
        let claims = Claims::new(serde_json::json!({ "extra": extra }))
            .issuer(ISS)
            .audience("api")
            .subject(subject)
            .token_id(id)
            .expires_in(std::time::Duration::from_mins(5));
        key.issue_with_clock(&claims, &clock).unwrap()
    };
    let long = "x".repeat(1025);
    assert!(node.verify(ISS, "api", &token("id", "s", "")).is_ok());
    for (id, subject, claim, said) in [
        (&*long, "s", "jti", "1025"),
        ("a\nb", "s", "jti", "control"),
        ("id", &*long, "sub", "1025"),
        ("id", "a\0", "sub", "control"),
    ] {
        let token = token(id, subject, "");
        for refused in [
            node.verify(ISS, "api", &token),
            node.introspect(ISS, &token),
        ] {
            let refused = refused.unwrap_err();
            assert!(refused.is_rejection(), "{refused}");
            let told = refused.to_string();
            assert!(told.contains(claim) && told.contains(said), "{told}");
        }
    }
    let large = token("id", "s", &"x".repeat(TOKEN_BYTES));
    let (bytes, limit) = (large.len(), TOKEN_BYTES);
    for refused in [
        node.verify(ISS, "api", &large),
        node.introspect(ISS, &large),
    ] {
        assert_eq!(refused.unwrap_err(), Error::TokenTooLarge { bytes, limit });
    }
}

#[test]
fn impossible_expiry_reports_value_and_limit() {
    let node = node(ISS, TOKEN_BYTES);
    let most = limits::LIFETIME_SECONDS + limits::CLOCK_SKEW_SECONDS;
    let revoke = |ahead: i64| {
        let revoke = Revoke::token("id", START + ahead);
        block_on(node.revoke("me", ISS, revoke)).map(drop)
    };
    revoke(most).unwrap();
    for ahead in [most + 1, i64::MAX - START] {
        let refused = revoke(ahead).unwrap_err();
        let Error::Invalid(Rule { field, rule }) = &refused else {
            panic!("{refused:?}")
        };
        let said = format!("is {ahead} s ahead, the limit is {most} s: ");
        assert!(field == "expires_at" && rule.starts_with(&said), "{rule}");
    }
    assert_eq!(node.status().revocations, 1);
}

/// Many long names at once: the audit entry has its own limit.
#[test]
fn revoke_hundred_longest_names_succeeds() {
    let node = node(ISS, TOKEN_BYTES);
    let name = |number: usize| format!("{number:04}{}", "/".repeat(1020));
    let answers: Vec<_> = (0..300)
        .map(|number| node.revoke("me", ISS, Revoke::all(Subject::Subject(name(number)))))
        .collect();
    for answer in answers {
        block_on(answer).unwrap();
    }
    assert_eq!(node.status().rules, 300);
}

/// Every published key verifies its tokens.
#[test]
fn verify_accepts_every_key_of_the_issuer() {
    let settings = r#"{"iss":"https://id.example","rotate_every_seconds":2592000,"profiles":[
        {"name":"p","alg":"v4.local","lifetime_seconds":864000,"audiences":["api"]}]}"#;
    let clock = ManualClock::new();
    let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
    let node = Node::start(
        Arc::new(MemoryStore::new()),
        options,
        Arc::new(clock.clone()),
    )
    .unwrap();
    node.create_issuer("setup", IssuerSettings::from_json(settings).unwrap())
        .unwrap();
    let mut tokens = Vec::new();
    for number in 0..limits::KEYS_PER_ISSUER {
        if number > 0 {
            let key = jeton::paseto::v4::LocalKey::generate().unwrap();
            let kind: KeyKind = "v4.local".parse().unwrap();
            node.import("me", ISS, kind, &key.to_paserk()).unwrap();
            clock.forward(limits::PUBLISH_BEFORE_USE_SECONDS);
        }
        tokens.push(node.issue(ISS, &Request::new("p")).unwrap());
    }
    let (_, keyring) = node.issuer(ISS).unwrap();
    assert_eq!(keyring.keys().len(), limits::KEYS_PER_ISSUER);
    for (number, issued) in tokens.iter().enumerate() {
        let verified = node.verify(ISS, "api", &issued.token);
        assert!(verified.is_ok(), "key {number}: {:?}", verified.err());
    }
}

#[test]
fn settings_with_duplicate_member_are_rejected() {
    let settings = |jwk: &str| {
        IssuerSettings::from_json(&format!(
            r#"{{"iss":"{ISS}","profiles":[{{"name":"p","alg":"ES256","lifetime_seconds":900,
                "audiences":["api"],"encrypt_to":{{"enc":"A256GCM","jwk":{jwk}}}}}]}}"#
        ))
    };
    let key = r#""kty":"OKP","crv":"X25519","alg":"ECDH-ES","x":"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08""#;
    assert!(settings(&format!("{{{key}}}")).is_ok());
    let hidden = format!("{{{key}}}").replace('"', "\\\"");
    let marked = settings(&format!(
        r#"{{"$serde_json::private::RawValue":"{hidden}"}}"#
    ));
    assert!(marked.unwrap_err().to_string().contains("encrypt_to.jwk"));
    for jwk in [
        format!(r#"{{"kty":"EC",{key}}}"#),
        format!(r#"{{"\u006bty":"EC",{key}}}"#),
    ] {
        let refused = settings(&jwk).unwrap_err();
        assert!(
            matches!(&refused, Error::Invalid(rule) if rule.field == "settings"),
            "{refused}"
        );
    }
}
