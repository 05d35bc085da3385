//! Remote signing: private keys in a KMS, an HSM or another process.
//!
//! The private key never enters the program. A [`RemoteKey`] has the public key, its algorithm and its id. It
//! builds a token without the signature, and the remote signer signs the [`SigningInput`]:
//!
//! ```text
//! prepare(claims) ──► Prepared ──► SigningInput (message or digest) ──► KMS, HSM, …
//!                        └──────────────► attach(signature) ──► token
//! ```
//!
//! The signature is verified with the public key before the token is returned. A signature with another key,
//! hash or PSS salt length is reported as [`RemoteError::Signature`](crate::error::RemoteError::Signature) here, instead of a rejected token at the
//! recipient. This costs one verification.
//!
//! # Settings of the signer
//!
//! | `alg` | input | scheme | AWS KMS | PKCS#11 |
//! |---|---|---|---|---|
//! | RS256, RS384, RS512 | the digest, or the message | PKCS#1 v1.5 | `RSASSA_PKCS1_V1_5_SHA_256` | `CKM_SHA256_RSA_PKCS` (message) |
//! | PS256, PS384, PS512 | the digest, or the message | PSS, MGF1 with the same hash, a salt as long as the hash: [`SigningInput::salt_bytes`] | `RSASSA_PSS_SHA_256` | `CKM_SHA256_RSA_PKCS_PSS` (message), `sLen` 32 |
//! | ES256, ES384, ES512, ES256K | the digest, or the message | ECDSA | `ECDSA_SHA_256`, returns DER | `CKM_ECDSA` (digest), returns r‖s |
//! | EdDSA, ML-DSA | the message (there is no digest) | pure EdDSA, pure ML-DSA with an empty context | | `CKM_EDDSA` |
//!
//! ECDSA signers return different encodings. JOSE requires r‖s at full length (RFC 7518, section 3.4); most
//! services return DER. [`Signature`] states the encoding explicitly.
//!
//! # Asynchronous signing
//!
//! Prepare the token, `await` the signature, and attach it. This works with any runtime:
//!
//! ```
//! use std::time::Duration;
//! use jeton::key::{SigAlg, SigningKey, VerifyingKey};
//! use jeton::error::RemoteError;
//! use jeton::remote::{RemoteKey, Signature};
//! use jeton::{Claims, Policy, jwt::JwtVerifier};
//! # use aws_lc_rs::{rand::SystemRandom, signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair}};
//! # struct Kms(EcdsaKeyPair);
//! # impl Kms {
//! #     async fn sign(&self, message: &[u8]) -> jeton::Result<Vec<u8>> {
//! #         let signature = self.0.sign(&SystemRandom::new(), message);
//! #         Ok(signature.map_err(|e| RemoteError::not_signed(e.to_string()))?.as_ref().to_vec())
//! #     }
//! # }
//!
//! async fn issue(kms: &Kms, key: &RemoteKey) -> jeton::Result<String> {
//!     let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(300));
//!     let prepared = key.prepare(&claims)?;
//!     let der = kms.sign(prepared.input().message()).await?; // or prepared.input().digest()
//!     prepared.attach(&Signature::Der(der))
//! }
//!
//! # let pair = SigningKey::generate(SigAlg::ES256)?;
//! # let kms = Kms(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &pair.to_der()?).unwrap());
//! # let pem = pair.verifying_key().to_pem()?;
//! # fn block_on<F: Future>(future: F) -> F::Output {
//! #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! #     match std::pin::pin!(future).poll(&mut context) {
//! #         std::task::Poll::Ready(output) => output,
//! #         std::task::Poll::Pending => unreachable!("the example's KMS answers at once"),
//! #     }
//! # }
//! let key = RemoteKey::new(VerifyingKey::from_pem(&pem)?.with_key_id("kms-1")?);
//! let token = block_on(issue(&kms, &key))?;
//! let verifier = JwtVerifier::new(key.verifying_key(), Policy::new("i", "a"));
//! assert!(verifier.verify::<serde::de::IgnoredAny>(&token).is_ok());
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! # Blocking signing
//!
//! A closure that signs turns the key into a [`RemoteSigner`]. Use it like a
//! [`SigningKey`](crate::key::SigningKey): it issues JWTs and nested JWTs, and signs every form of JWS.
//!
//! ```
//! use std::time::Duration;
//! use jeton::key::VerifyingKey;
//! use jeton::error::RemoteError;
//! use jeton::Claims;
//! use jeton::remote::{RemoteKey, Signature, SigningInput};
//!
//! # struct Session;
//! # impl Session { fn ecdsa(&self, _: &[u8]) -> Result<Vec<u8>, std::io::Error> { Ok(vec![]) } }
//! fn issue(session: Session, public: VerifyingKey) -> jeton::Result<String> {
//!     let signer = RemoteKey::new(public).with_signer(move |input: &SigningInput<'_>| {
//!         let digest = input.digest().ok_or_else(|| RemoteError::not_signed("not ECDSA"))?;
//!         // The error keeps the cause as its source. Its message does not repeat it.
//!         let fixed = session.ecdsa(&digest).map_err(RemoteError::not_signed)?;
//!         Ok(Signature::Fixed(fixed))
//!     });
//!     signer.issue(&Claims::new(()).expires_in(Duration::from_secs(300)))
//! }
//! ```
//!
//! For PASETOs, use [`paseto::PasetoRemoteKey`](crate::paseto::PasetoRemoteKey) in the same way.
//!
//! The folder `examples/pkcs11` contains an implementation over PKCS#11, tested with SoftHSM.

mod key;

pub use crate::key::remote::{Prepared, RemoteSigner, SignRemotely, Signature, SigningInput};
pub use key::RemoteKey;
