use super::header::{Extensions, PayloadForm, Reading};
use super::{Compact, VerifiedPayload, json_form};
use crate::base64;
use crate::error::{Part, Rejection, Result};
use crate::key::Keys;
use crate::token_limits::Limits;

/// Verifies JWSs with any payload. For claims, use [`jwt::JwtVerifier`](crate::jwt::JwtVerifier), which also
/// checks them against a policy.
///
/// An unencoded payload (`b64: false`, RFC 7797) is the only supported extension.
///
/// ```
/// use jeton::error::Rejection;
/// use jeton::key::{MacAlg, MacKey};
/// use jeton::{Limits, jws::{JwsSigner, JwsVerifier}};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let token = JwsSigner::new(&key).sign(b"hello")?;
/// let verifier = JwsVerifier::new(&key).limits(Limits::new().token_bytes(4096));
/// assert_eq!(verifier.verify(&token)?.payload(), b"hello");
/// let error = verifier.verify(&token.replace(".aGVs", ".aGVt")).unwrap_err();
/// assert_eq!(error.rejection(), Some(&Rejection::Signature));
///
/// let json = JwsSigner::new(&key).sign_flattened(b"hello")?;
/// assert_eq!(verifier.verify_json(&json)?.payload(), b"hello");
/// let detached = JwsSigner::new(&key).sign_detached(b"hello")?;
/// assert!(verifier.verify_detached(&detached, b"hello").is_ok());
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct JwsVerifier {
    keys: Keys,
    limits: Limits,
    unprotected_alg: bool,
}

impl JwsVerifier {
    /// Creates a verifier that trusts these keys: one key, or a key set.
    pub fn new(keys: impl Into<Keys>) -> JwsVerifier {
        JwsVerifier {
            keys: keys.into(),
            limits: Limits::default(),
            unprotected_alg: false,
        }
    }

    /// Sets the size limits.
    pub fn limits(mut self, limits: Limits) -> JwsVerifier {
        self.limits = limits;
        self
    }

    pub(crate) fn with_unprotected_alg(mut self) -> JwsVerifier {
        self.unprotected_alg = true;
        self
    }

    /// Verifies a compact JWS (RFC 7515, section 7.1) and returns its payload.
    pub fn verify(&self, token: &str) -> Result<VerifiedPayload> {
        let compact = Compact::split(token, &self.limits)?;
        let mut header = None;
        let verified = compact.verify(&self.keys, &self.limits, Extensions::B64, &mut header)?;
        let payload = match verified.payload_form {
            PayloadForm::Plain => verified.payload.as_bytes().to_vec(),
            PayloadForm::Encoded => base64::decode(verified.payload.as_bytes())
                .map_err(|_| Rejection::Malformed(Part::Payload))?,
        };
        Ok(VerifiedPayload::of_compact(payload, verified))
    }

    /// Verifies a compact JWS with detached content (RFC 7515, appendix F). A token that contains a payload is
    /// rejected.
    ///
    /// ```
    /// # use jeton::{jws::{JwsSigner, JwsVerifier}, key::{MacAlg, MacKey}};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// let token = JwsSigner::new(&key).sign_detached(b"content")?;
    /// let verifier = JwsVerifier::new(&key);
    /// assert!(verifier.verify_detached(&token, b"content").is_ok());
    /// assert!(verifier.verify_detached(&token, b"another").is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn verify_detached(&self, token: &str, content: &[u8]) -> Result<VerifiedPayload> {
        let compact = Compact::split(token, &self.limits)?;
        let mut header = None;
        let verified = compact.verify_detached(content, &self.keys, &self.limits, &mut header)?;
        Ok(VerifiedPayload::of_compact(content.to_vec(), verified))
    }

    /// Verifies a JWS in the general or flattened JSON serialization (RFC 7515, section 7.2). One signature
    /// must be valid for a trusted key.
    ///
    /// [`VerifiedPayload::signature_index`] and [`VerifiedPayload::key_id`] return the signature and the key. The
    /// other signatures are not trusted. If the `alg` of a signature is not in its protected header, the token
    /// is rejected with [`Rejection::UnprotectedAlg`]; see
    /// [`danger::allow_unprotected_alg`](crate::danger::allow_unprotected_alg). At most
    /// [`limits::SIGNATURES`](crate::limits::SIGNATURES) signatures are read, and at most
    /// [`limits::SIGNATURES_TRIED`](crate::limits::SIGNATURES_TRIED) are checked.
    pub fn verify_json(&self, text: &str) -> Result<VerifiedPayload> {
        Ok(json_form::verify(text, None, &self.keys, self.reading())?)
    }

    /// Verifies a JWS in the JSON serialization with detached content.
    pub fn verify_json_detached(&self, text: &str, content: &[u8]) -> Result<VerifiedPayload> {
        Ok(json_form::verify(
            text,
            Some(content),
            &self.keys,
            self.reading(),
        )?)
    }

    fn reading(&self) -> Reading<'_> {
        Reading {
            limits: &self.limits,
            unprotected_alg: self.unprotected_alg,
        }
    }
}
