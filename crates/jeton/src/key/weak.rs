//! Reads keys below the minimum strength. [`danger`](crate::danger) re-exports the functions.

use super::jwk::Members;
#[cfg(feature = "hmac")]
use super::{MacAlg, MacKey};
use super::{SigAlg, VerifyingKey};
use crate::error::Result;

/// Reads a public RSA key below the minimum strength from a JWK, to verify signatures of a legacy system.
///
/// The modulus has 1,024 bits or more, and the exponent is odd and at least 3. A state-level attacker may
/// factor a modulus of 1,024 bits. Below 2,048 bits, only RS256 and RS512 are available; other algorithms
/// return [`KeyProblem::Unsupported`](crate::error::KeyProblem::Unsupported).
///
/// No such function exists for signing. Use a strong key for new signatures.
///
/// ```
/// use jeton::danger;
/// use jeton::key::{SigAlg, VerifyingKey};
///
/// let n = "_".repeat(171) + "w";
/// let jwk = format!(r#"{{"kty":"RSA","n":"{n}","e":"Aw"}}"#);
/// assert!(VerifyingKey::from_jwk_as(&jwk, SigAlg::RS256).is_err());
/// # let _ =
/// danger::weak_rsa_key_from_jwk(&jwk, SigAlg::RS256)
/// # ;
/// ```
pub fn weak_rsa_key_from_jwk(text: &str, alg: SigAlg) -> Result<VerifyingKey> {
    Ok(VerifyingKey::weak_from_members(
        &Members::parse(text)?,
        alg,
    )?)
}

/// Reads a public RSA key below the minimum strength from PEM (SPKI or PKCS#1). The limits are those of
/// [`weak_rsa_key_from_jwk`].
///
/// ```
/// use jeton::danger;
/// use jeton::key::SigAlg;
///
/// assert!(danger::weak_rsa_key_from_pem("not a key", SigAlg::RS256).is_err());
/// ```
#[cfg(feature = "pem")]
pub fn weak_rsa_key_from_pem(text: &str, alg: SigAlg) -> Result<VerifyingKey> {
    Ok(VerifyingKey::weak_from_pem(text, alg)?)
}

/// Reads a public RSA key below the minimum strength from DER (SPKI). The limits are those of
/// [`weak_rsa_key_from_jwk`].
///
/// ```
/// use jeton::danger;
/// use jeton::key::SigAlg;
///
/// assert!(danger::weak_rsa_key_from_der(b"not a key", SigAlg::RS256).is_err());
/// ```
#[cfg(feature = "pem")]
pub fn weak_rsa_key_from_der(der: &[u8], alg: SigAlg) -> Result<VerifyingKey> {
    Ok(VerifyingKey::weak_from_der(der, alg)?)
}

/// Creates an HMAC key that is shorter than its hash, which RFC 7518, section 3.2, forbids. Use it only for
/// a system whose secret cannot be changed.
///
/// A secret that a person chose can be found with a dictionary. An empty secret and the encoding of a key
/// are rejected here too.
///
/// ```
/// use jeton::danger;
/// use jeton::key::{MacAlg, MacKey};
///
/// assert!(MacKey::new(MacAlg::HS256, b"sixteen bytes ok").is_err());
/// assert!(danger::weak_mac_key(MacAlg::HS256, b"sixteen bytes ok").is_ok());
/// assert!(danger::weak_mac_key(MacAlg::HS256, b"").is_err());
/// # Ok::<(), jeton::Error>(())
/// ```
#[cfg(feature = "hmac")]
pub fn weak_mac_key(alg: MacAlg, secret: &[u8]) -> Result<MacKey> {
    Ok(MacKey::weak(alg, secret)?)
}

/// Reads such a key from a JWK with `kty` `oct`, for this algorithm. A different `alg` is rejected.
///
/// ```
/// use jeton::danger;
/// use jeton::key::MacAlg;
///
/// let key = danger::weak_mac_key_from_jwk(r#"{"kty":"oct","k":"c2hvcnQ"}"#, MacAlg::HS256)?;
/// assert_eq!(key.alg(), MacAlg::HS256);
/// # Ok::<(), jeton::Error>(())
/// ```
#[cfg(feature = "hmac")]
pub fn weak_mac_key_from_jwk(text: &str, alg: MacAlg) -> Result<MacKey> {
    Ok(MacKey::weak_from_members(&Members::parse(text)?, alg)?)
}
