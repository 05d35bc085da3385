//! Converts an Ed25519 key between JOSE (JWK, PEM, DER) and PASETO (PASERK).
//!
//! The library separates the two, because a key should not be used for both by accident. Here the caller requests
//! the conversion. It passes through the DER of RFC 8410 and the PASERK, which both readers check.

use base64ct::{Base64UrlUnpadded, Encoding};
use jeton::error::KeyProblem;
use jeton::key::{SigAlg, SigningKey, VerifyingKey};
use jeton::paserk::{Kind, Paserk};
use jeton::paseto::v4::SecretKey;
use zeroize::Zeroizing;

use crate::keyfile::{AnyKey, LoadError};

/// The start of an Ed25519 key in PKCS#8 (RFC 8410, section 7); the 32 bytes of the seed follow.
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// The start of an Ed25519 key in SubjectPublicKeyInfo (RFC 8410, section 4); its 32 bytes follow.
const SPKI_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
const HALF_BYTES: usize = 32;

/// Converts a private key to `k4.secret`.
pub(super) fn secret_paserk(key: &SigningKey) -> Result<Zeroizing<String>, LoadError> {
    let seed = key.to_der()?;
    let public = key.verifying_key().to_der()?;
    let (Some(seed), Some(public)) = (
        seed.strip_prefix(&PKCS8_PREFIX),
        public.strip_prefix(&SPKI_PREFIX),
    ) else {
        return Err(not_ed25519(key.alg()));
    };
    let mut halves = Zeroizing::new(Vec::with_capacity(2 * HALF_BYTES));
    halves.extend_from_slice(seed);
    halves.extend_from_slice(public);
    Ok(Paserk::from_bytes(Kind::K4_SECRET, &halves)?.to_text())
}

/// Converts a public key to `k4.public`.
pub(super) fn public_paserk(key: &VerifyingKey) -> Result<String, LoadError> {
    let der = key.to_der()?;
    let Some(public) = der.strip_prefix(&SPKI_PREFIX) else {
        return Err(not_ed25519(key.alg()));
    };
    Ok(Paserk::from_bytes(Kind::K4_PUBLIC, public)?
        .to_text()
        .to_string())
}

/// Returns the Ed25519 key of a PASERK in text form.
pub(super) fn of_paserk_text(text: &str) -> Result<AnyKey, LoadError> {
    from_paserk(&Paserk::parse(text)?)
}

/// Returns the Ed25519 key of a `k4.secret` or `k4.public`.
fn from_paserk(paserk: &Paserk) -> Result<AnyKey, LoadError> {
    let bytes = key_bytes(paserk)?;
    match paserk.kind() {
        Kind::K4_SECRET if bytes.len() == 2 * HALF_BYTES => {
            // Checks that the public half belongs to the seed: the conversion drops the public half.
            SecretKey::from_paserk(&paserk.to_text())?;
            let mut der = Zeroizing::new(Vec::with_capacity(PKCS8_PREFIX.len() + HALF_BYTES));
            der.extend_from_slice(&PKCS8_PREFIX);
            der.extend_from_slice(&bytes[..HALF_BYTES]);
            Ok(AnyKey::Signing(SigningKey::from_der(&der)?))
        }
        Kind::K4_PUBLIC => {
            let der = [&SPKI_PREFIX[..], &bytes].concat();
            Ok(AnyKey::Verifying(VerifyingKey::from_der(&der)?))
        }
        kind => Err(LoadError::member(
            "paserk",
            format!("a {kind} is for PASETO only and has no other format"),
        )),
    }
}

/// Decodes the body of a PASERK.
fn key_bytes(paserk: &Paserk) -> Result<Zeroizing<Vec<u8>>, LoadError> {
    let text = paserk.to_text();
    let encoded = text.rsplit('.').next().unwrap_or_default();
    let mut bytes = Zeroizing::new(vec![0; encoded.len()]);
    // The body can be secret, so it is decoded in constant time.
    let decoded = Base64UrlUnpadded::decode(encoded, &mut bytes)
        .map_err(|_| LoadError::problem(KeyProblem::NotBase64Url))?;
    let length = decoded.len();
    bytes.truncate(length);
    Ok(bytes)
}

fn not_ed25519(alg: SigAlg) -> LoadError {
    LoadError::member(
        "alg",
        format!("a PASERK contains an Ed25519 key, and this key is for {alg}"),
    )
}
