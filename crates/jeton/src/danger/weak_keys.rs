use crate::error::Result;
use crate::jwk::{KeySet, Members};
use crate::key::{Alg, MacAlg, MacKey, SigAlg, VerifyingKey};

/// A public RSA key under today's minimum, from a JWK: to verify what an old system signs.
///
/// 1,024 bits or more, and any odd exponent from 3 up. A modulus of 1,024 bits is within reach of
/// whoever has the means of a state. Below 2,048 bits only RS256 and RS512 exist; anything else is
/// [`KeyProblem::Unsupported`](crate::error::KeyProblem::Unsupported).
///
/// There is no such door for signing: a key that can still be chosen can be chosen well.
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

/// A public RSA key under today's minimum, from PEM (SPKI or PKCS#1). The same bounds as
/// [`weak_rsa_key_from_jwk`].
///
/// ```
/// use jeton::danger;
/// use jeton::key::SigAlg;
///
/// assert!(danger::weak_rsa_key_from_pem("not a key", SigAlg::RS256).is_err());
/// ```
pub fn weak_rsa_key_from_pem(text: &str, alg: SigAlg) -> Result<VerifyingKey> {
    Ok(VerifyingKey::weak_from_pem(text, alg)?)
}

/// A public RSA key under today's minimum, from DER (SPKI). The same bounds as
/// [`weak_rsa_key_from_jwk`].
///
/// ```
/// use jeton::danger;
/// use jeton::key::SigAlg;
///
/// assert!(danger::weak_rsa_key_from_der(b"not a key", SigAlg::RS256).is_err());
/// ```
pub fn weak_rsa_key_from_der(der: &[u8], alg: SigAlg) -> Result<VerifyingKey> {
    Ok(VerifyingKey::weak_from_der(der, alg)?)
}

/// An HMAC key shorter than its hash (RFC 7518, section 3.2, forbids it): to talk to a system whose
/// secret cannot be changed.
///
/// A secret that a person chose is found by trying words. An empty one is refused even here, and so
/// is the text of a key.
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
pub fn weak_mac_key(alg: MacAlg, secret: &[u8]) -> Result<MacKey> {
    Ok(MacKey::weak(alg, secret)?)
}

/// The same from a JWK of `kty` `oct`, for an algorithm; one that says another is refused.
///
/// ```
/// use jeton::danger;
/// use jeton::key::MacAlg;
///
/// let key = danger::weak_mac_key_from_jwk(r#"{"kty":"oct","k":"c2hvcnQ"}"#, MacAlg::HS256)?;
/// assert_eq!(key.alg(), MacAlg::HS256);
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn weak_mac_key_from_jwk(text: &str, alg: MacAlg) -> Result<MacKey> {
    Ok(MacKey::weak_from_members(&Members::parse(text)?, alg)?)
}

/// A key set whose keys may be under today's minimum, as [`weak_rsa_key_from_jwk`] and
/// [`weak_mac_key_from_jwk`] take them. In all else it is [`KeySet::from_json`], or with an algorithm
/// [`KeySet::from_json_as`].
///
/// ```
/// use jeton::danger;
/// use jeton::jwk::KeySet;
///
/// let set = r#"{"keys":[{"kty":"oct","alg":"HS256","k":"c2hvcnQ"}]}"#;
/// assert!(KeySet::from_json(set).is_err());
/// assert_eq!(danger::weak_key_set(set, None)?.len(), 1);
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn weak_key_set(text: &str, alg: Option<Alg>) -> Result<KeySet> {
    Ok(KeySet::weak(text, alg)?)
}
