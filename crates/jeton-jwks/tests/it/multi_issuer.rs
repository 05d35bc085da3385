//! Remote key sets of several issuers, and keys without `alg`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jeton::error::{InvalidUse, Rejection};
use jeton::key::{SigAlg, SigningKey};
use jeton::{Claims, Policy};
use jeton_jwks::{
    Error, Fetch, FetchError, FetchFuture, FetchRequest, FetchResponse, MultiIssuerVerifier,
    RemoteKeySet, RemoteVerifier,
};
use serde::de::IgnoredAny;

const A: &str = "https://a.example";
const B: &str = "https://b.example";

/// A client that returns this set and counts the requests. Without a set it fails.
#[derive(Clone, Default)]
struct Publisher {
    set: Option<String>,
    requests: Arc<AtomicUsize>,
}

impl Publisher {
    fn of(jwks: &[String]) -> Self {
        Self {
            set: Some(format!("{{\"keys\":[{}]}}", jwks.join(","))),
            requests: Arc::default(),
        }
    }

    fn keys(&self) -> RemoteKeySet {
        let builder = RemoteKeySet::builder("https://id.example/jwks.json");
        builder.fetch(self.clone()).build().unwrap()
    }

    fn request_count(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

impl Fetch for Publisher {
    fn fetch(&self, _: FetchRequest) -> FetchFuture<'_> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let response = self.set.clone().map(FetchResponse::key_set);
        Box::pin(std::future::ready(response.ok_or(FetchError::Status(503))))
    }
}

fn key(alg: SigAlg) -> SigningKey {
    let key = SigningKey::generate(alg).unwrap();
    key.with_key_id("same").unwrap()
}

fn token(key: &SigningKey, issuer: &str) -> String {
    let claims = Claims::registered().issuer(issuer).audience("api");
    key.issue(&claims.expires_in(Duration::from_secs(300)))
        .unwrap()
}

fn policy(issuer: &'static str) -> Policy {
    Policy::new(issuer, "api")
}

#[tokio::test]
async fn token_causes_requests_for_its_issuer_only() {
    let (of_a, of_b) = (key(SigAlg::EdDSA), key(SigAlg::EdDSA));
    let a = Publisher::of(&[of_a.verifying_key().to_jwk()]);
    let b = Publisher::of(&[of_b.verifying_key().to_jwk()]);
    let verifier = MultiIssuerVerifier::new()
        .issuer(&a.keys(), policy(A))
        .and_then(|verifier| verifier.issuer(&b.keys(), policy(B)))
        .unwrap();
    let verify = async |token: &str| verifier.verify::<IgnoredAny>(token).await.map(drop);

    let unknown = verify(&token(&of_a, "https://c.example")).await;
    let unknown = unknown.unwrap_err().rejection().cloned();
    assert_eq!(unknown, Some(Rejection::IssuerMismatch));
    assert!(verify("a.b.c").await.unwrap_err().rejection().is_some());
    assert_eq!((a.request_count(), b.request_count()), (0, 0));

    assert_eq!(verify(&token(&of_a, A)).await, Ok(()));
    assert_eq!((a.request_count(), b.request_count()), (1, 0));
    assert_eq!(verify(&token(&of_b, B)).await, Ok(()));
    for (key, issuer) in [(&of_a, B), (&of_b, A)] {
        let error = verify(&token(key, issuer)).await.unwrap_err();
        assert_eq!(error.rejection(), Some(&Rejection::Signature));
    }
}

#[tokio::test]
async fn issuer_without_keys_affects_only_its_tokens() {
    let key = key(SigAlg::EdDSA);
    let up = Publisher::of(&[key.verifying_key().to_jwk()]);
    let down = Publisher::default();
    let verifier = MultiIssuerVerifier::new()
        .issuer(&up.keys(), policy(A))
        .and_then(|verifier| verifier.issuer(&down.keys(), policy(B)))
        .unwrap();
    let failed = verifier.ready().await;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].issuers(), [B]);
    assert_eq!(failed[0].error(), &FetchError::Status(503));
    assert_eq!(
        failed[0].to_string(),
        "no keys for https://b.example: the server responded with status 503"
    );
    let verify = async |token: &str| verifier.verify::<IgnoredAny>(token).await.map(drop);
    assert_eq!(verify(&token(&key, A)).await, Ok(()));
    let error = verify(&token(&key, B)).await.unwrap_err();
    assert_eq!(error, Error::NoKeys(FetchError::Status(503)));
    assert_eq!(error.code(), "KEY_SET_UNREACHABLE");
    let twice = verifier.issuer(&up.keys(), policy(A)).map(drop);
    assert_eq!(twice, Err(InvalidUse::IssuerTwice.into()));
}

#[tokio::test]
async fn default_alg_applies_to_rsa_keys_without_alg() {
    let (plain, other, named) = (key(SigAlg::RS256), key(SigAlg::RS256), key(SigAlg::PS256));
    let without_alg = |key: &SigningKey| {
        let jwk = key.verifying_key().to_jwk();
        assert!(jwk.contains(r#""alg":"RS256","#), "{jwk}");
        jwk.replace(r#""alg":"RS256","#, "")
    };
    let for_encryption = without_alg(&other).replacen('{', r#"{"use":"enc","#, 1);
    let set = [
        without_alg(&plain),
        for_encryption,
        named.verifying_key().to_jwk(),
    ];
    let publisher = Publisher::of(&set);
    let builder = RemoteKeySet::builder("https://id.example/jwks.json").fetch(publisher.clone());
    let keys = builder.default_alg(SigAlg::RS256).build().unwrap();
    let verifier = RemoteVerifier::new(&keys, policy(A));
    for (key, passes) in [(&plain, true), (&named, true), (&other, false)] {
        let token = token(key, A);
        assert_eq!(verifier.verify::<IgnoredAny>(&token).await.is_ok(), passes);
    }
    let verifier = RemoteVerifier::new(&publisher.keys(), policy(A));
    for (key, passes) in [(&plain, false), (&named, true)] {
        let token = token(key, A);
        assert_eq!(verifier.verify::<IgnoredAny>(&token).await.is_ok(), passes);
    }
}

/// A SPIFFE bundle names the use of its keys with words of its own.
#[tokio::test]
async fn key_use_selects_the_keys_of_a_bundle() {
    let (svid, certificate) = (key(SigAlg::ES256), key(SigAlg::ES256));
    let with_use = |key: &SigningKey, key_use: &str| {
        let jwk = key.verifying_key().to_jwk();
        jwk.replacen('{', &format!("{{\"use\":\"{key_use}\","), 1)
    };
    let bundle = [
        with_use(&certificate, "x509-svid"),
        with_use(&svid, "jwt-svid"),
    ];
    let keys = |key_use: Option<&str>| {
        let builder = RemoteKeySet::builder("https://id.example/bundle.json");
        let builder = builder.fetch(Publisher::of(&bundle));
        let builder = match key_use {
            Some(key_use) => builder.key_use(key_use),
            None => builder,
        };
        builder.build().unwrap()
    };
    let verifier = RemoteVerifier::new(&keys(Some("jwt-svid")), policy(A));
    let accepted = verifier.verify::<IgnoredAny>(&token(&svid, A)).await;
    assert!(accepted.is_ok());
    let forged = verifier.verify::<IgnoredAny>(&token(&certificate, A)).await;
    assert_eq!(forged.unwrap_err().rejection(), Some(&Rejection::Signature));
    let error = keys(None).ready().await.unwrap_err();
    assert!(error.to_string().contains("jwt-svid"), "{error}");
    assert!(keys(Some("enc")).ready().await.is_err());
}
