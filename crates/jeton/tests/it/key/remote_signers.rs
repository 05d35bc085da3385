//! Remote signing with every algorithm and every signature encoding, and errors of signers. The signer is
//! AWS-LC, called directly; `examples/pkcs11` uses a real HSM.

use std::error::Error as _;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{self as aws, EcdsaKeyPair, Ed25519KeyPair, RsaKeyPair};
use jeton::error::{InvalidUse, Rejection, RemoteError};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, KeyWrapAlg, SigAlg, SigningKey, VerifyingKey, WrappingKey};
use jeton::paseto::{BoundIssuer, PasetoRemoteKey, PasetoVerifier, TokenContext, v3, v4};
use jeton::remote::{RemoteKey, Signature, SigningInput};
use jeton::{
    Claims, Error, Issue, Policy, Verified,
    jws::{JwsSigner, JwsVerifier},
    jwt::{self, JwtVerifier},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Visit {
    page: String,
}

fn claims() -> Claims<'static, Visit> {
    Claims::new(Visit { page: "/".into() })
        .issuer("i")
        .audience("a")
        .expires_in(Duration::from_secs(300))
}

fn verifier(key: VerifyingKey) -> JwtVerifier {
    JwtVerifier::new(key, Policy::new("i", "a"))
}

/// A remote signer: signs messages with its private key.
struct TestSigner {
    key: SigningKey,
    der: Vec<u8>,
}

impl TestSigner {
    fn generate(alg: SigAlg) -> TestSigner {
        let key = SigningKey::generate(alg)
            .unwrap()
            .with_key_id("test_signer")
            .unwrap();
        let der = key.to_der().unwrap().to_vec();
        TestSigner { key, der }
    }

    fn remote_key(&self) -> RemoteKey {
        RemoteKey::new(self.key.verifying_key())
    }

    fn rsa(&self, encoding: &'static dyn aws::RsaEncoding, message: &[u8]) -> Signature {
        let pair = RsaKeyPair::from_pkcs8(&self.der).unwrap();
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(encoding, &SystemRandom::new(), message, &mut signature)
            .unwrap();
        Signature::Fixed(signature)
    }

    fn ecdsa(&self, algorithm: &'static aws::EcdsaSigningAlgorithm, message: &[u8]) -> Vec<u8> {
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, &self.der).unwrap();
        let signature = pair.sign(&SystemRandom::new(), message).unwrap();
        signature.as_ref().to_vec()
    }

    /// Signs as most services do: DER for ECDSA.
    fn sign(&self, alg: SigAlg, message: &[u8]) -> Signature {
        match alg {
            SigAlg::RS256 => self.rsa(&aws::RSA_PKCS1_SHA256, message),
            SigAlg::RS384 => self.rsa(&aws::RSA_PKCS1_SHA384, message),
            SigAlg::RS512 => self.rsa(&aws::RSA_PKCS1_SHA512, message),
            SigAlg::PS256 => self.rsa(&aws::RSA_PSS_SHA256, message),
            SigAlg::PS384 => self.rsa(&aws::RSA_PSS_SHA384, message),
            SigAlg::PS512 => self.rsa(&aws::RSA_PSS_SHA512, message),
            SigAlg::ES256 => {
                Signature::Der(self.ecdsa(&aws::ECDSA_P256_SHA256_ASN1_SIGNING, message))
            }
            SigAlg::ES384 => {
                Signature::Der(self.ecdsa(&aws::ECDSA_P384_SHA384_ASN1_SIGNING, message))
            }
            SigAlg::ES512 => {
                Signature::Der(self.ecdsa(&aws::ECDSA_P521_SHA512_ASN1_SIGNING, message))
            }
            SigAlg::ES256K => {
                Signature::Der(self.ecdsa(&aws::ECDSA_P256K1_SHA256_ASN1_SIGNING, message))
            }
            SigAlg::EdDSA | SigAlg::Ed25519 => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&self.der).unwrap();
                Signature::Fixed(pair.sign(message).as_ref().to_vec())
            }
            _ => Signature::Fixed(self.ml_dsa(message)),
        }
    }

    /// The signature of the key for a message `header.payload`, cut out of a token.
    fn ml_dsa(&self, message: &[u8]) -> Vec<u8> {
        let (header, payload) = std::str::from_utf8(message)
            .unwrap()
            .split_once('.')
            .unwrap();
        let header = String::from_utf8(decoded(header)).unwrap();
        let mut signer = JwsSigner::new(&self.key);
        if header.contains("\"typ\":\"JWT\"") {
            signer = signer.typ("JWT");
        }
        let token = signer.sign(&decoded(payload)).unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        assert_eq!(signed.as_bytes(), message);
        decoded(signature)
    }
}

fn decoded(text: &str) -> Vec<u8> {
    base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).unwrap()
}

#[test]
fn prepare_and_attach_works_for_every_algorithm() {
    for &alg in SigAlg::ALL {
        let test_signer = TestSigner::generate(alg);
        let prepared = test_signer.remote_key().prepare(&claims()).unwrap();
        let signature = test_signer.sign(prepared.input().alg(), prepared.input().message());
        let token = prepared.attach(&signature).unwrap();
        let visit: Verified<Visit> = verifier(test_signer.key.verifying_key())
            .verify(&token)
            .unwrap();
        assert_eq!(
            (visit.claims().page.as_str(), visit.key_id()),
            ("/", Some("test_signer")),
            "{alg}"
        );
    }
}

#[test]
fn remote_signer_works_for_every_algorithm() {
    for &alg in SigAlg::ALL {
        let test_signer = Arc::new(TestSigner::generate(alg));
        let signer = test_signer.remote_key().with_signer({
            let test_signer = Arc::clone(&test_signer);
            move |input: &SigningInput<'_>| Ok(test_signer.sign(input.alg(), input.message()))
        });
        let token = signer.issue(&claims()).unwrap();
        assert!(
            verifier(signer.verifying_key())
                .verify::<Visit>(&token)
                .is_ok()
        );
        let token = Issue::issue(&signer, &claims()).unwrap();
        assert!(
            verifier(signer.verifying_key())
                .verify::<Visit>(&token)
                .is_ok()
        );
    }
}

#[test]
fn remote_signer_works_wherever_a_key_does() {
    let test_signer = Arc::new(TestSigner::generate(SigAlg::ES256));
    let signer = test_signer.remote_key().with_signer({
        let test_signer = Arc::clone(&test_signer);
        move |input: &SigningInput<'_>| Ok(test_signer.sign(input.alg(), input.message()))
    });
    let jws = JwsSigner::new(&signer).typ("note").unencoded();
    let verifier = JwsVerifier::new(signer.verifying_key());
    let json = jws.sign_flattened(b"x").unwrap();
    assert_eq!(
        verifier.verify_json(&json).unwrap().key_id(),
        Some("test_signer")
    );
    let detached = jws.sign_detached(b"\xff").unwrap();
    assert!(verifier.verify_detached(&detached, b"\xff").is_ok());

    let reader = WrappingKey::generate(KeyWrapAlg::A256Kw).unwrap();
    let nested = jwt::NestedIssuer::new(&signer, Encrypter::new(&reader, ContentEnc::A256Gcm));
    let verifier = jwt::NestedVerifier::new(
        Decrypter::new(&reader),
        self::verifier(signer.verifying_key()),
    );
    let token = nested.issue(&claims()).unwrap();
    assert_eq!(verifier.verify::<Visit>(&token).unwrap().claims().page, "/");
}

#[test]
fn prepared_token_is_held_across_an_await() {
    /// Not ready at once, like a network request.
    struct Once(bool);
    impl Future for Once {
        type Output = ();
        fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut self.0, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }
    }

    async fn issue(test_signer: &TestSigner) -> jeton::Result<String> {
        let prepared = test_signer.remote_key().prepare(&claims())?;
        let digest = prepared.input().digest().unwrap();
        assert_eq!(digest.len(), 48);
        Once(false).await;
        let signature = test_signer.sign(SigAlg::ES384, prepared.input().message());
        prepared.attach(&signature)
    }

    fn sendable<F: Future + Send>(future: F) -> F {
        future
    }

    let test_signer = TestSigner::generate(SigAlg::ES384);
    let mut future = pin!(sendable(issue(&test_signer)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
    let Poll::Ready(token) = future.as_mut().poll(&mut context) else {
        panic!("the signer has answered");
    };
    let key = test_signer.key.verifying_key();
    assert!(verifier(key).verify::<Visit>(&token.unwrap()).is_ok());
}

#[test]
fn signing_input_is_described_for_every_algorithm() {
    for &alg in SigAlg::ALL {
        let test_signer = TestSigner::generate(alg);
        let prepared = test_signer
            .remote_key()
            .prepare_payload(b"payload")
            .unwrap();
        let input = prepared.input();
        let (digest_bytes, salt_bytes) = match alg {
            SigAlg::RS256 | SigAlg::ES256 | SigAlg::ES256K => (Some(32), None),
            SigAlg::RS384 | SigAlg::ES384 => (Some(48), None),
            SigAlg::RS512 | SigAlg::ES512 => (Some(64), None),
            SigAlg::PS256 => (Some(32), Some(32)),
            SigAlg::PS384 => (Some(48), Some(48)),
            SigAlg::PS512 => (Some(64), Some(64)),
            _ => (None, None),
        };
        assert_eq!(input.alg(), alg);
        assert_eq!(
            input.digest().map(|digest| digest.len()),
            digest_bytes,
            "{alg}"
        );
        assert_eq!(input.salt_bytes(), salt_bytes, "{alg}");
        let message = std::str::from_utf8(input.message()).unwrap();
        assert!(message.ends_with(".cGF5bG9hZA"), "{alg}");
    }
    // The test vector of FIPS 180-4, "abc", is not a signing input, so a whole one with its hash.
    let test_signer = TestSigner::generate(SigAlg::ES256);
    let prepared = test_signer.remote_key().prepare_payload(b"").unwrap();
    let expected =
        aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, prepared.input().message());
    assert_eq!(prepared.input().digest().unwrap(), expected.as_ref());
}

#[test]
fn prepared_payload_may_have_a_typ() {
    let test_signer = TestSigner::generate(SigAlg::EdDSA);
    let prepared = test_signer
        .remote_key()
        .prepare_payload_as("at+jwt", b"{}")
        .unwrap();
    let signature = test_signer.sign(SigAlg::EdDSA, prepared.input().message());
    let token = prepared.attach(&signature).unwrap();
    let verified = JwsVerifier::new(test_signer.key.verifying_key())
        .verify(&token)
        .unwrap();
    assert_eq!(
        (verified.typ(), verified.payload()),
        (Some("at+jwt"), &b"{}"[..])
    );
    let rejected = test_signer
        .remote_key()
        .prepare_payload_as("at jwt", b"{}")
        .map(drop);
    assert_eq!(rejected, Err(Error::InvalidUse(InvalidUse::Type)));
}

#[test]
fn remote_token_equals_local_token() {
    // Ed25519 is deterministic, so the two tokens must be equal.
    let test_signer = TestSigner::generate(SigAlg::EdDSA);
    let clock = jeton::FixedClock(jeton::Timestamp::from_unix_seconds(1_800_000_000).unwrap());
    let prepared = test_signer
        .remote_key()
        .prepare_with_clock(&claims(), &clock)
        .unwrap();
    let signature = test_signer.sign(SigAlg::EdDSA, prepared.input().message());
    let local = test_signer.key.issue_with_clock(&claims(), &clock).unwrap();
    assert_eq!(prepared.attach(&signature).unwrap(), local);
}

fn fault(test_signer: &TestSigner, signature: &Signature) -> Error {
    let prepared = test_signer.remote_key().prepare(&claims()).unwrap();
    prepared.attach(signature).unwrap_err()
}

const NOT_ITS: Error = Error::Remote(RemoteError::Signature);
const NO_FORM: Error = Error::Remote(RemoteError::SignatureForm);

#[test]
fn attach_signature_of_another_key_is_an_error() {
    for &alg in SigAlg::ALL {
        let (test_signer, other) = (TestSigner::generate(alg), TestSigner::generate(alg));
        // Another key with the right input.
        let prepared = test_signer.remote_key().prepare_payload(b"x").unwrap();
        let signature = other.sign(alg, prepared.input().message());
        let message = prepared.input().message().to_vec();
        assert_eq!(prepared.attach(&signature), Err(NOT_ITS), "{alg}");
        // The right key with another input.
        let prepared = test_signer.remote_key().prepare_payload(b"y").unwrap();
        let signature = test_signer.sign(alg, &message);
        assert_eq!(prepared.attach(&signature), Err(NOT_ITS), "{alg}");
        for form in [vec![], vec![1]] {
            assert_eq!(
                fault(&test_signer, &Signature::Fixed(form)),
                NO_FORM,
                "{alg}"
            );
        }
    }
}

#[test]
fn attach_signature_with_wrong_padding_or_hash_is_an_error() {
    let rsa = TestSigner::generate(SigAlg::PS256);
    let prepared = || rsa.remote_key().prepare_payload(b"x").unwrap();
    for encoding in [
        &aws::RSA_PKCS1_SHA256 as &'static dyn aws::RsaEncoding,
        &aws::RSA_PSS_SHA384,
        &aws::RSA_PSS_SHA512,
    ] {
        let prepared = prepared();
        let signature = rsa.rsa(encoding, prepared.input().message());
        assert_eq!(prepared.attach(&signature), Err(NOT_ITS));
    }
    // ECDSA over the digest, by a signer that hashes it again.
    let ec = TestSigner::generate(SigAlg::ES256);
    let prepared = ec.remote_key().prepare_payload(b"x").unwrap();
    let signature = ec.sign(SigAlg::ES256, &prepared.input().digest().unwrap());
    assert_eq!(prepared.attach(&signature), Err(NOT_ITS));
}

#[test]
fn attach_wrong_ecdsa_encoding_is_an_error() {
    for alg in [SigAlg::ES256, SigAlg::ES384, SigAlg::ES512, SigAlg::ES256K] {
        let test_signer = TestSigner::generate(alg);
        let prepared = test_signer.remote_key().prepare_payload(b"x").unwrap();
        let Signature::Der(der) = test_signer.sign(alg, prepared.input().message()) else {
            panic!("the test_signer side gives DER");
        };
        let token = prepared.attach(&Signature::Der(der.clone())).unwrap();
        let fixed = decoded(token.rsplit_once('.').unwrap().1);

        let prepared = || test_signer.remote_key().prepare_payload(b"x").unwrap();
        assert_eq!(
            prepared().attach(&Signature::Fixed(fixed.clone())).as_ref(),
            Ok(&token)
        );
        assert_eq!(
            prepared().attach(&Signature::Fixed(der.clone())),
            Err(NO_FORM)
        );
        assert_eq!(prepared().attach(&Signature::Der(fixed)), Err(NO_FORM));
        // Only canonical DER, without trailing bytes.
        let behind = [der.as_slice(), &[0]].concat();
        assert_eq!(prepared().attach(&Signature::Der(behind)), Err(NO_FORM));
        let shorter = der[..der.len() - 1].to_vec();
        assert_eq!(prepared().attach(&Signature::Der(shorter)), Err(NO_FORM));
    }
    // DER is only for ECDSA.
    let test_signer = TestSigner::generate(SigAlg::RS256);
    let prepared = test_signer.remote_key().prepare_payload(b"x").unwrap();
    let Signature::Fixed(bytes) = test_signer.sign(SigAlg::RS256, prepared.input().message())
    else {
        panic!("RSA has one form");
    };
    assert_eq!(prepared.attach(&Signature::Der(bytes)), Err(NO_FORM));
}

#[test]
fn failing_signer_returns_its_error() {
    let test_signer = TestSigner::generate(SigAlg::ES256);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let signer = test_signer
        .remote_key()
        .with_signer(move |_: &SigningInput<'_>| {
            count.fetch_add(1, Ordering::SeqCst);
            let cause = io::Error::new(io::ErrorKind::TimedOut, "no answer from the KMS");
            Err(RemoteError::not_signed(cause).into())
        });
    let error = signer.issue(&claims()).unwrap_err();
    assert_eq!(error.code(), "SIGNER_FAILED");
    assert_eq!(error.clone(), error);
    let cause = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(cause.kind(), io::ErrorKind::TimedOut);
    assert!(!error.is_rejection());
    assert_eq!(error.to_string(), "the signer returned no signature");
    // Invalid claims are reported before the signer is called.
    let invalid_use = signer.issue(&Claims::new(())).unwrap_err();
    assert_eq!(invalid_use, Error::InvalidUse(InvalidUse::ExpiryNotChosen));
    assert_eq!(asked.load(Ordering::SeqCst), 1);

    let wrong = test_signer
        .remote_key()
        .with_signer(|_: &SigningInput<'_>| Ok(Signature::Fixed(vec![1; 64])));
    assert_eq!(wrong.issue(&claims()), Err(NOT_ITS));
}

#[test]
fn token_of_remote_key_verifies() {
    let test_signer = TestSigner::generate(SigAlg::ES256);
    let prepared = test_signer.remote_key().prepare(&claims()).unwrap();
    let signature = test_signer.sign(SigAlg::ES256, prepared.input().message());
    let token = prepared.attach(&signature).unwrap();
    let other = SigningKey::generate(SigAlg::ES256).unwrap().verifying_key();
    let rejection = verifier(other).verify::<Visit>(&token).unwrap_err();
    assert_eq!(rejection.rejection(), Some(&Rejection::Signature));
}

/// The seed of a `v4.public` key, for the remote signer.
fn v4_signer(key: &v4::SecretKey) -> Ed25519KeyPair {
    let paserk = key.to_paserk().unwrap();
    let bytes = decoded(paserk.strip_prefix("k4.secret.").unwrap());
    Ed25519KeyPair::from_seed_unchecked(&bytes[..32]).unwrap()
}

#[test]
fn paseto_prepare_and_attach_works() {
    let key = v4::SecretKey::generate().unwrap();
    let test_signer = v4_signer(&key);
    let remote_key = PasetoRemoteKey::new(key.public_key());
    let clock = jeton::FixedClock(jeton::Timestamp::from_unix_seconds(1_800_000_000).unwrap());
    for context in [
        TokenContext::new(),
        TokenContext::new().footer("f"),
        TokenContext::new().implicit_assertion("i"),
        TokenContext::new().footer("f").implicit_assertion("i"),
    ] {
        let prepared = remote_key
            .prepare_with_clock(&claims(), context, &clock)
            .unwrap();
        assert_eq!(prepared.input().alg(), SigAlg::EdDSA);
        assert_eq!(prepared.input().digest(), None);
        let signature = test_signer
            .sign(prepared.input().message())
            .as_ref()
            .to_vec();
        let token = prepared.attach(&Signature::Fixed(signature)).unwrap();
        // Ed25519 is deterministic: the token equals the one that the key issues.
        assert_eq!(
            token,
            key.issue_with_clock(&claims(), context, &clock).unwrap()
        );
    }
    let prepared = || remote_key.prepare(&claims(), TokenContext::new()).unwrap();
    let other = v4_signer(&v4::SecretKey::generate().unwrap());
    let wrong = other.sign(prepared().input().message()).as_ref().to_vec();
    assert_eq!(
        prepared().attach(&Signature::Fixed(wrong.clone())),
        Err(NOT_ITS)
    );
    assert_eq!(
        prepared().attach(&Signature::Fixed(vec![0; 63])),
        Err(NO_FORM)
    );
    assert_eq!(prepared().attach(&Signature::Der(wrong)), Err(NO_FORM));
    let footer = vec![0; jeton::limits::FOOTER_BYTES + 1];
    let rejected = remote_key
        .prepare(&claims(), TokenContext::new().footer(&footer))
        .map(drop);
    assert_eq!(
        rejected,
        Err(Error::InvalidUse(InvalidUse::FooterTooLarge {
            bytes: 8193,
            limit: 8192,
        }))
    );
}

#[test]
fn paseto_remote_signer_issues_like_a_key() {
    let key = v4::SecretKey::generate().unwrap();
    let test_signer = v4_signer(&key);
    let signer =
        PasetoRemoteKey::new(key.public_key()).with_signer(move |input: &SigningInput<'_>| {
            Ok(Signature::Fixed(
                test_signer.sign(input.message()).as_ref().to_vec(),
            ))
        });
    let verifier = PasetoVerifier::new(key.public_key(), Policy::new("i", "a"));
    let issuers: [&dyn Issue; 2] = [
        &signer,
        &BoundIssuer::new(&signer, TokenContext::new().footer("f")),
    ];
    for issuer in issuers {
        let token = issuer.issue(&claims()).unwrap();
        assert_eq!(verifier.verify::<Visit>(&token).unwrap().claims().page, "/");
    }
    let token = signer
        .issue_with(&claims(), TokenContext::new().footer("f"))
        .unwrap();
    assert_eq!(
        verifier.verify::<Visit>(&token).unwrap().footer(),
        Some(&b"f"[..])
    );
}

#[test]
fn paseto_v3_remote_signature_may_be_fixed_or_der() {
    let key = v3::SecretKey::generate().unwrap();
    let scalar = decoded(key.to_paserk().unwrap().strip_prefix("k3.secret.").unwrap());
    let point = decoded(
        key.public_key()
            .to_paserk()
            .strip_prefix("k3.public.")
            .unwrap(),
    );
    let test_signer = EcdsaKeyPair::from_private_key_and_public_key(
        &aws::ECDSA_P384_SHA384_ASN1_SIGNING,
        &scalar,
        &point,
    )
    .unwrap();
    let remote_key = PasetoRemoteKey::new(key.public_key());
    let prepared = remote_key
        .prepare(&claims(), TokenContext::new().footer("f"))
        .unwrap();
    let input = prepared.input();
    assert_eq!(
        (input.alg(), input.digest().unwrap().len()),
        (SigAlg::ES384, 48)
    );
    let der = test_signer
        .sign(&SystemRandom::new(), input.message())
        .unwrap();
    let token = prepared
        .attach(&Signature::Der(der.as_ref().to_vec()))
        .unwrap();
    let verifier = PasetoVerifier::new(key.public_key(), Policy::new("i", "a"));
    assert_eq!(verifier.verify::<Visit>(&token).unwrap().claims().page, "/");
}
