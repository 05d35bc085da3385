use crate::jwe::Decrypter;
use crate::jws::Verifier;

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
/// use jeton::jws::Verifier;
/// use jeton::key::{MacAlg, MacKey};
///
/// let key = MacKey::from_jwk_as(r#"{"kty":"oct","k":"hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg"}"#, MacAlg::HS256)?;
/// // RFC 7520, section 4.7.
/// let text = r#"{"payload":"SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4","header":{"alg":"HS256","kid":"018c0ae5-4d9b-471b-bfd6-eef314bc7037"},"signature":"xuLifqLGiblpv9zBpuZczWhNj1gARaLV3UxvxhJxZuk"}"#;
/// let rejection = Verifier::new(&key).verify_json(text).unwrap_err().rejection();
/// assert_eq!(rejection, Some(Rejection::UnprotectedAlg));
/// assert!(danger::allow_unprotected_alg(Verifier::new(&key)).verify_json(text).is_ok());
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn allow_unprotected_alg(verifier: Verifier) -> Verifier {
    verifier.with_unprotected_alg()
}

/// Accepts a JWE in the JSON serialization whose `enc` is not in its protected header.
///
/// Insecure: nothing authenticates the name of the content encryption then. If AES-CBC and AES-GCM keys have
/// the same length, an attacker can replace the name, and the content key is used with the wrong cipher. Set
/// the expected one with [`allow_only`](Decrypter::allow_only). A member that is in two headers is still
/// rejected.
///
/// ```
/// use jeton::danger;
/// use jeton::jwe::Decrypter;
/// use jeton::key::{ContentEnc, ContentKey};
///
/// let key = ContentKey::generate(ContentEnc::A256Gcm)?;
/// let decrypter = Decrypter::new(&key).allow_only(&[ContentEnc::A256Gcm]);
/// let decrypter = danger::allow_unprotected_enc(decrypter);
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn allow_unprotected_enc(decrypter: Decrypter) -> Decrypter {
    decrypter.with_unprotected_enc()
}
