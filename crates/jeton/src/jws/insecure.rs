//! Insecure and legacy options of a JWS. [`danger`](crate::danger) re-exports them.

use super::{Compact, JwsVerifier};
use crate::base64;
use crate::error::{Part, Rejection, Result};
use crate::token_limits::Limits;

/// The parts of a compact JWS, without any verification.
///
/// Only for debugging. The sender may have written every byte, so no decision may depend on it.
#[derive(Debug)]
pub struct Unverified {
    /// The bytes of the protected header.
    pub header: Vec<u8>,
    /// The bytes of the payload.
    pub payload: Vec<u8>,
}

/// Splits a compact JWS without verifying it.
///
/// ```
/// let seen = jeton::danger::peek("eyJhbGciOiJub25lIn0.e30.")?;
/// assert_eq!(seen.payload, b"{}");
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn peek(token: &str) -> Result<Unverified> {
    let compact = Compact::split(token, &Limits::default())?;
    let decode =
        |text: &str, part| base64::decode(text.as_bytes()).map_err(|_| Rejection::Malformed(part));
    Ok(Unverified {
        header: decode(compact.header(), Part::Header)?,
        payload: decode(compact.payload(), Part::Payload)?,
    })
}

/// Accepts a JWS in the JSON serialization whose `alg` is not in its protected header (RFC 7515, section
/// 10.7).
///
/// Insecure: the signature then does not cover the name of the algorithm, so an attacker can replace it. The
/// verifier still uses the algorithm of the key, but other readers may rely on the name. A member that is in
/// both headers is still rejected.
///
/// ```
/// use jeton::danger;
/// use jeton::error::Rejection;
/// use jeton::jws::JwsVerifier;
/// use jeton::key::{MacAlg, MacKey};
///
/// let key = MacKey::from_jwk_as(r#"{"kty":"oct","k":"hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg"}"#, MacAlg::HS256)?;
/// // RFC 7520, section 4.7.
/// let text = r#"{"payload":"SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4","header":{"alg":"HS256","kid":"018c0ae5-4d9b-471b-bfd6-eef314bc7037"},"signature":"xuLifqLGiblpv9zBpuZczWhNj1gARaLV3UxvxhJxZuk"}"#;
/// let rejection = JwsVerifier::new(&key).verify_json(text).unwrap_err().rejection().cloned();
/// assert_eq!(rejection, Some(Rejection::UnprotectedAlg));
/// assert!(danger::allow_unprotected_alg(JwsVerifier::new(&key)).verify_json(text).is_ok());
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn allow_unprotected_alg(verifier: JwsVerifier) -> JwsVerifier {
    verifier.with_unprotected_alg()
}
