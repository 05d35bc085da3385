use super::JwsSigner;
use crate::error::{InvalidUse, Result};
use crate::limits;

/// Signs one payload with several signers: the general JSON serialization (RFC 7515, section 7.2.1).
///
/// A verifier accepts the payload if one signature is valid for a trusted key, and returns the index of
/// that signature. To require two signatures, verify twice with one key each.
///
/// ```
/// use jeton::jws::{GeneralJws, JwsSigner, JwsVerifier};
/// use jeton::key::{SigAlg, SigningKey};
///
/// let (old, new) = (SigningKey::generate(SigAlg::ES256)?, SigningKey::generate(SigAlg::MlDsa65)?);
/// let text = GeneralJws::new().signer(JwsSigner::new(&old)).signer(JwsSigner::new(&new)).sign(b"both")?;
/// let verified = JwsVerifier::new(new.verifying_key()).verify_json(&text)?;
/// assert_eq!((verified.payload(), verified.signature_index()), (&b"both"[..], 1));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct GeneralJws<'k>(Vec<JwsSigner<'k>>);

impl<'k> GeneralJws<'k> {
    /// Creates a JWS without signers.
    pub fn new() -> Self {
        GeneralJws::default()
    }

    /// Adds a signer. Its position is its [`signature_index`](super::VerifiedPayload::signature_index).
    pub fn signer(mut self, signer: JwsSigner<'k>) -> Self {
        self.0.push(signer);
        self
    }

    /// Signs the payload with all signers.
    ///
    /// Returns a [`InvalidUse`] if there is no signer, or more than [`limits::SIGNATURES`]. Also if the signers
    /// differ in whether the payload is encoded (RFC 7797, section 3).
    pub fn sign(&self, payload: &[u8]) -> Result<String> {
        let member = self.first()?.payload_member(payload)?;
        Ok(format!("{{{member},{}}}", self.signatures(payload)?))
    }

    /// Signs detached content, which is not part of the result.
    pub fn sign_detached(&self, content: &[u8]) -> Result<String> {
        self.first()?;
        Ok(format!("{{{}}}", self.signatures(content)?))
    }

    /// Returns the first signer; all signers use its payload form.
    fn first(&self) -> Result<&JwsSigner<'k>> {
        let signers = self.0.len();
        let first = match self.0.first() {
            Some(first) if signers <= limits::SIGNATURES => first,
            _ => {
                let limit = limits::SIGNATURES;
                return Err(InvalidUse::Signers { signers, limit }.into());
            }
        };
        if self.0.iter().all(|signer| signer.form() == first.form()) {
            Ok(first)
        } else {
            Err(InvalidUse::MixedPayloadEncoding.into())
        }
    }

    fn signatures(&self, payload: &[u8]) -> Result<String> {
        let mut all = Vec::new();
        for signer in &self.0 {
            all.push(format!("{{{}}}", signer.signature_members(payload)?));
        }
        Ok(format!("\"signatures\":[{}]", all.join(",")))
    }
}
