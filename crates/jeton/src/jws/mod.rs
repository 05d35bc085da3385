//! JWS (RFC 7515): signs bytes, or authenticates them with a MAC.
//!
//! ```
//! use jeton::jws::{JwsSigner, JwsVerifier};
//! use jeton::key::{SigAlg, SigningKey};
//!
//! let key = SigningKey::generate(SigAlg::ES256)?;
//! let token = JwsSigner::new(&key).content_type("text/plain").sign(b"hello")?;
//! let verified = JwsVerifier::new(key.verifying_key()).verify(&token)?;
//! assert_eq!(verified.payload(), b"hello");
//! # Ok::<(), jeton::Error>(())
//! ```
//!
//! | form | created by | verified by |
//! |---|---|---|
//! | compact | [`JwsSigner::sign`] | [`JwsVerifier::verify`] |
//! | compact, detached content | [`JwsSigner::sign_detached`] | [`JwsVerifier::verify_detached`] |
//! | flattened JSON | [`JwsSigner::sign_flattened`] | [`JwsVerifier::verify_json`] |
//! | general JSON, several signers | [`GeneralJws::sign`] | [`JwsVerifier::verify_json`] |
//! | JSON, detached content | [`JwsSigner::sign_flattened_detached`], [`GeneralJws::sign_detached`] | [`JwsVerifier::verify_json_detached`] |
//!
//! Each of them also with the payload as it is ([`JwsSigner::unencoded`], RFC 7797). `docs/reference/algorithms.md`
//! has the algorithms.

mod compact;
mod general;
mod header;
pub(crate) mod header_members;
pub(crate) mod insecure;
mod json_form;
pub(crate) mod raw_header;
mod signer;
mod verified_payload;
mod verifier;

pub use general::GeneralJws;
pub use signer::JwsSigner;
pub use verified_payload::VerifiedPayload;
pub use verifier::JwsVerifier;

pub(crate) use compact::{Compact, assemble, assemble_onto, compact_length, unsigned};
pub(crate) use header::{Extensions, Header};
pub(crate) use header_members::HeaderMembers;
pub(crate) use raw_header::RawHeaderSigner;
#[cfg(feature = "jwe")]
pub(crate) use raw_header::check_header_text;
pub(crate) use signer::{header_with_type, with_members};
