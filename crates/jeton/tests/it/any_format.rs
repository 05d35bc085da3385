//! Code with the traits issues and verifies every format, generic or through `dyn`.

use std::sync::Arc;
use std::time::Duration;

use jeton::danger::IssuerWrappingKey;
use jeton::error::{InvalidUse, Rejection, ShapeMismatch};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, KeyManagementAlg, KeyWrapAlg, MacAlg, MacKey, SigAlg,
    SigningKey, WrappingKey,
};
use jeton::paseto::{BoundIssuer, PasetoVerifier, TokenContext, v3, v4};
use jeton::{
    AnyClaims, Cached, Claims, Clock, Error, FixedClock, Issue, Policy, RawClaims, Scratch,
    Timestamp, Verified, Verify,
    jwt::{self, JwtIssuer, JwtVerifier},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Visit {
    page: String,
}

#[derive(Debug, Deserialize)]
struct BorrowedVisit<'a> {
    page: &'a str,
}

const ISSUED_AT: i64 = 1_800_000_000;

fn after(seconds: u64) -> FixedClock {
    let issued_at = Timestamp::from_unix_seconds(ISSUED_AT).unwrap();
    FixedClock(issued_at.saturating_add(Duration::from_secs(seconds)))
}

fn claims() -> Claims<'static, Visit> {
    Claims::new(Visit { page: "/".into() })
        .issuer("https://id.example")
        .subject("user-7")
        .audience("api")
        .expires_in(Duration::from_secs(60))
}

fn policy() -> Policy {
    Policy::new("https://id.example", "api")
}

/// Uses only the traits, and everything that their users rely on.
fn round_trip<I: Issue + ?Sized, V: Verify + ?Sized>(issuer: &I, in_time: &V, late: &V) {
    let token = issuer.issue_with_clock(&claims(), &after(0)).unwrap();

    let visit: Verified<Visit> = in_time.verify_raw(&token).unwrap().deserialize().unwrap();
    assert_eq!(visit.claims().page, "/");
    assert_eq!(visit.subject(), Some("user-7"));

    let mut scratch = Scratch::new();
    let untyped = in_time.verify_raw_in(&token, &mut scratch).unwrap();
    assert_eq!(
        untyped
            .deserialize::<BorrowedVisit<'_>>()
            .unwrap()
            .claims()
            .page,
        "/"
    );

    let rejection = late.verify_raw(&token).unwrap_err();
    assert_eq!(rejection.rejection(), Some(&Rejection::Expired));
    let rejection = late
        .verify_raw_in(&token, &mut scratch)
        .map(drop)
        .unwrap_err();
    assert_eq!(rejection.rejection(), Some(&Rejection::Expired));
    let verified = in_time.verify_raw(&token).unwrap();
    assert_eq!(in_time.recheck(&verified), Ok(()));
    assert_eq!(late.recheck(&verified), Err(Rejection::Expired.into()));

    let other_shape = verified.deserialize::<Vec<u8>>().unwrap_err();
    assert_eq!(
        other_shape.rejection(),
        Some(&Rejection::ClaimsShape(ShapeMismatch::Unnamed))
    );
    let mut changed = token.into_bytes();
    let last = changed.len() - 1;
    changed[last] = if changed[last] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).unwrap();
    assert!(in_time.verify_raw(&changed).unwrap_err().is_rejection());

    let unchosen = issuer.issue(&Claims::new(())).unwrap_err();
    assert_eq!(unchosen, Error::InvalidUse(InvalidUse::ExpiryNotChosen));
}

/// Runs it with static dispatch, through `dyn`, and through owners of a `dyn`.
fn with_every_dispatch<V: Verify + 'static>(
    issuer: &impl Issue,
    verifier: impl Fn(FixedClock) -> V,
) {
    round_trip(issuer, &verifier(after(59)), &verifier(after(60)));
    let (in_time, late) = (verifier(after(59)), verifier(after(60)));
    round_trip(issuer as &dyn Issue, &in_time as &dyn Verify, &late);
    let (in_time, late): (Box<dyn Verify>, Arc<dyn Verify>) = (Box::new(in_time), Arc::new(late));
    let late: Box<dyn Verify> = Box::new(late);
    round_trip(&Box::new(issuer), &in_time, &late);
    let remembering = |clock| Cached::new(verifier(clock), 8).unwrap();
    round_trip(issuer, &remembering(after(59)), &remembering(after(60)));
}

/// What a type of the caller must implement, and nothing else.
struct Required<T>(T);

impl<T: Issue> Issue for Required<T> {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> jeton::Result<String> {
        self.0.issue_with_clock(claims, clock)
    }
}

impl<T: Verify> Verify for Required<T> {
    fn verify_raw(&self, token: &str) -> jeton::Result<Verified<RawClaims>> {
        self.0.verify_raw(token)
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> jeton::Result<()> {
        self.0.recheck(verified)
    }
}

#[test]
fn types_with_required_methods_only_round_trip() {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    with_every_dispatch(&Required(&key), |clock| {
        Required(JwtVerifier::new(key.verifying_key(), policy()).clock(clock))
    });
    let key = v4::LocalKey::generate().unwrap();
    with_every_dispatch(&Required(&key), |clock| {
        Required(PasetoVerifier::new(&key, policy()).clock(clock))
    });
}

#[test]
fn jwt_with_mac_round_trips() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    with_every_dispatch(&key, |clock| JwtVerifier::new(&key, policy()).clock(clock));
}

#[test]
fn jwt_with_every_signature_algorithm_round_trips() {
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        with_every_dispatch(&key, |clock| {
            JwtVerifier::new(key.verifying_key(), policy()).clock(clock)
        });
    }
}

#[test]
fn jwt_of_another_type_round_trips() {
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let access = || policy().typ("at+jwt");
    with_every_dispatch(
        &JwtIssuer::builder(&mac).typ("at+jwt").build().unwrap(),
        |clock| JwtVerifier::new(&mac, access()).clock(clock),
    );
    let key = SigningKey::generate(SigAlg::EdDSA)
        .unwrap()
        .with_key_id("k\"1")
        .unwrap();
    let key = Arc::new(key);
    let with_type = |typ: &'static str| JwtIssuer::builder(Arc::clone(&key)).typ(typ).build();
    let issuer = with_type("at+jwt").unwrap();
    with_every_dispatch(&issuer, |clock| {
        JwtVerifier::new(key.verifying_key(), access()).clock(clock)
    });

    // A token of one type is rejected by the policy for the other.
    for (token, policy) in [
        (issuer.issue(&claims()), policy()),
        (key.issue(&claims()), access()),
    ] {
        let verifier = JwtVerifier::new(key.verifying_key(), policy);
        let rejection = verifier.verify::<Visit>(&token.unwrap()).unwrap_err();
        assert_eq!(rejection.rejection(), Some(&Rejection::TypeMismatch));
    }
    // With the type `JWT`, the tokens equal those of the key byte for byte.
    let usual = with_type("JWT").unwrap();
    let [one, other]: [&dyn Issue; 2] = [&usual, &key];
    assert_eq!(
        one.issue_with_clock(&claims(), &after(0)),
        other.issue_with_clock(&claims(), &after(0))
    );
    for wrong in ["", "at jwt", "ä", &"x".repeat(129)] {
        let rejected = JwtIssuer::builder(&mac)
            .typ(wrong.to_owned())
            .build()
            .map(drop);
        assert_eq!(
            rejected,
            Err(Error::InvalidUse(InvalidUse::Type)),
            "{wrong}"
        );
    }
}

#[test]
fn nested_jwt_round_trips() {
    let author = SigningKey::generate(SigAlg::ES256).unwrap();
    let reader = DecryptionKey::generate(KeyManagementAlg::EcdhEs).unwrap();
    let public = reader.encryption_key();
    let issuer = jwt::NestedIssuer::new(&author, Encrypter::new(&public, ContentEnc::A256Gcm));
    with_every_dispatch(&issuer, |clock| {
        jwt::NestedVerifier::new(
            Decrypter::new(&reader),
            JwtVerifier::new(author.verifying_key(), policy()).clock(clock),
        )
    });
}

#[test]
fn encrypted_jwt_with_shared_key_round_trips() {
    let key = IssuerWrappingKey::new(WrappingKey::generate(KeyWrapAlg::A256Kw).unwrap());
    let issuer = jwt::EncryptedIssuer::new(&key, ContentEnc::A128CbcHs256);
    with_every_dispatch(&issuer, |clock| {
        jwt::EncryptedVerifier::new(&key, policy()).clock(clock)
    });
    let key = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let issuer = jwt::EncryptedIssuer::new(&key, ContentEnc::A256Gcm);
    with_every_dispatch(&issuer, |clock| {
        jwt::EncryptedVerifier::new(&key, policy()).clock(clock)
    });
}

#[test]
fn paseto_v4_local_round_trips() {
    let key = v4::LocalKey::generate().unwrap();
    with_every_dispatch(&key, |clock| {
        PasetoVerifier::new(&key, policy()).clock(clock)
    });
}

#[test]
fn paseto_v4_public_round_trips() {
    let key = v4::SecretKey::generate().unwrap();
    with_every_dispatch(&key, |clock| {
        PasetoVerifier::new(key.public_key(), policy()).clock(clock)
    });
}

#[test]
fn paseto_v3_round_trips() {
    let key = v3::LocalKey::generate().unwrap();
    with_every_dispatch(&key, |clock| {
        PasetoVerifier::new(&key, policy()).clock(clock)
    });
    let key = v3::SecretKey::generate().unwrap();
    with_every_dispatch(&key, |clock| {
        PasetoVerifier::new(key.public_key(), policy()).clock(clock)
    });
}

#[test]
fn bound_paseto_round_trips() {
    let (local, secret) = (
        v4::LocalKey::generate().unwrap(),
        v4::SecretKey::generate().unwrap(),
    );
    let context = TokenContext::new().footer("f").implicit_assertion("i");
    with_every_dispatch(&BoundIssuer::new(&local, context), |clock| {
        PasetoVerifier::new(&local, policy())
            .clock(clock)
            .footer("f")
            .implicit_assertion("i")
    });
    with_every_dispatch(&BoundIssuer::new(&secret, context), |clock| {
        PasetoVerifier::new(secret.public_key(), policy())
            .clock(clock)
            .footer("f")
            .implicit_assertion("i")
    });
}

/// Each verifier, with tokens of all other formats.
#[test]
fn verify_token_of_another_format_is_rejected() {
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let pair = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let wrapping = WrappingKey::generate(KeyWrapAlg::A256Kw).unwrap();
    let content = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let (local, secret) = (
        v4::LocalKey::generate().unwrap(),
        v4::SecretKey::generate().unwrap(),
    );
    let encrypter = || Encrypter::new(&wrapping, ContentEnc::A256Gcm);
    let nested = jwt::NestedIssuer::new(&pair, encrypter());
    let encrypted = jwt::EncryptedIssuer::new(&content, ContentEnc::A256Gcm);
    let issuers: [&dyn Issue; 6] = [&mac, &pair, &nested, &encrypted, &local, &secret];
    let jwt = |keys: jeton::key::Keys| JwtVerifier::new(keys, policy());
    let verifiers: [Box<dyn Verify>; 6] = [
        Box::new(jwt((&mac).into())),
        Box::new(jwt(pair.verifying_key().into())),
        Box::new(jwt::NestedVerifier::new(
            Decrypter::new(&wrapping),
            jwt(pair.verifying_key().into()),
        )),
        Box::new(jwt::EncryptedVerifier::new(&content, policy())),
        Box::new(PasetoVerifier::new(&local, policy())),
        Box::new(PasetoVerifier::new(secret.public_key(), policy())),
    ];
    for (i, issuer) in issuers.iter().enumerate() {
        let token = issuer.issue(&claims()).unwrap();
        for (v, verifier) in verifiers.iter().enumerate() {
            let verdict = verifier.verify_raw(&token);
            assert_eq!(verdict.is_ok(), i == v, "issuer {i}, verifier {v}");
            assert!(verdict.map_or_else(|error| error.is_rejection(), |_| true));
        }
    }
}

#[test]
fn verify_encrypted_jwt_checks_typ() {
    let key = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let token = jwt::EncryptedIssuer::new(&key, ContentEnc::A256Gcm)
        .issue(&claims())
        .unwrap();
    let demanding = jwt::EncryptedVerifier::new(&key, policy().typ("at+jwt"));
    let rejection = demanding.verify::<Visit>(&token).unwrap_err();
    assert_eq!(rejection.rejection(), Some(&Rejection::TypeMismatch));
    // Content that is marked as something other than claims is not read as claims.
    let other = Encrypter::new(&key, ContentEnc::A256Gcm)
        .content_type("json")
        .encrypt(br#"{"iss":"https://id.example","aud":"api","exp":9999999999,"page":"/"}"#)
        .unwrap();
    let verifier = jwt::EncryptedVerifier::new(&key, policy());
    let rejection = verifier.verify::<Visit>(&other).unwrap_err();
    assert_eq!(rejection.rejection(), Some(&Rejection::TypeMismatch));
}

#[test]
fn verify_encrypted_jwt_over_limits_is_rejected() {
    let key = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let token = jwt::EncryptedIssuer::new(&key, ContentEnc::A256Gcm)
        .issue(&claims())
        .unwrap();
    let limits = jeton::Limits::default().token_bytes(token.len() - 1);
    let verifier = jwt::EncryptedVerifier::new(&key, policy()).limits(limits);
    let rejection = verifier
        .verify::<Visit>(&token)
        .unwrap_err()
        .rejection()
        .cloned();
    assert!(
        matches!(rejection, Some(Rejection::TooLarge { .. })),
        "{rejection:?}"
    );
}
