use super::Signer;
use crate::error::{Misuse, Result};
use crate::limits;

/// Several signers of one payload: the general JSON serialization (RFC 7515, section 7.2.1).
///
/// A verifier trusts the payload if one signature is valid under a key that it trusts, and says
/// which. Whoever wants two of them verifies twice, with each key alone.
///
/// ```
/// use jeton::jws::{General, Signer, Verifier};
/// use jeton::key::{SigAlg, SigningKey};
///
/// let (old, new) = (SigningKey::generate(SigAlg::ES256)?, SigningKey::generate(SigAlg::MlDsa65)?);
/// let text = General::new().signer(Signer::new(&old)).signer(Signer::new(&new)).sign(b"both")?;
/// let verified = Verifier::new(new.verifying_key()).verify_json(&text)?;
/// assert_eq!((verified.payload(), verified.signature_index()), (&b"both"[..], 1));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct General<'k>(Vec<Signer<'k>>);

impl<'k> General<'k> {
    /// Without a signer yet.
    pub fn new() -> Self {
        General::default()
    }

    /// Adds a signer; its place is its [`signature_index`](super::VerifiedPayload::signature_index).
    pub fn signer(mut self, signer: Signer<'k>) -> Self {
        self.0.push(signer);
        self
    }

    /// The payload with every signer's signature.
    ///
    /// It is a [`Misuse`] if there is no signer, if there are more than
    /// [`limits::SIGNATURES`], or if one leaves the payload unencoded and another does not (RFC
    /// 7797, section 3).
    pub fn sign(&self, payload: &[u8]) -> Result<String> {
        let member = self.first()?.payload_member(payload)?;
        Ok(format!("{{{member},{}}}", self.signatures(payload)?))
    }

    /// The same without the content, which travels on its own.
    pub fn sign_detached(&self, content: &[u8]) -> Result<String> {
        self.first()?;
        Ok(format!("{{{}}}", self.signatures(content)?))
    }

    /// The first signer, whose payload form is everybody's.
    fn first(&self) -> Result<&Signer<'k>> {
        let first = self.0.first().ok_or(Misuse::Signers)?;
        let agreed = self.0.iter().all(|signer| signer.form() == first.form());
        if !agreed || self.0.len() > limits::SIGNATURES {
            return Err(Misuse::Signers.into());
        }
        Ok(first)
    }

    fn signatures(&self, payload: &[u8]) -> Result<String> {
        let mut all = Vec::new();
        for signer in &self.0 {
            all.push(format!("{{{}}}", signer.signature_members(payload)?));
        }
        Ok(format!("\"signatures\":[{}]", all.join(",")))
    }
}
