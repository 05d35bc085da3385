//! Protected headers with text from the caller.

use super::assemble;
use crate::base64;
use crate::error::{InvalidUse, Result};
use crate::json::{self, ScanError};
use crate::key::SigningKeyRef;
use crate::token_limits::Limits;

/// Signs with a protected header whose text the caller provides, byte for byte. Use it to reproduce the
/// spaces and the member order of another implementation.
///
/// Insecure: two spellings of one header are two different tokens, and jeton does not add its own members.
/// So the text may only contain what jeton would write: an object with the `alg` of the key, and `typ`,
/// `cty` and `kid`.
///
/// ```
/// use jeton::danger::RawHeaderSigner;
/// use jeton::jws::JwsVerifier;
/// use jeton::key::{MacAlg, MacKey};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let token = RawHeaderSigner::new(&key, r#"{ "typ": "JWT", "alg": "HS256" }"#)?.sign(b"{}")?;
/// assert!(token.starts_with("eyAidHlwIjogIkpXVCI"));
/// assert!(JwsVerifier::new(&key).verify(&token).is_ok());
/// // Only the algorithm of the key is accepted.
/// assert!(RawHeaderSigner::new(&key, r#"{ "alg": "HS512" }"#).is_err());
/// assert!(RawHeaderSigner::new(&key, r#"{ "alg": "HS256", "crit": [] }"#).is_err());
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct RawHeaderSigner<'k> {
    key: SigningKeyRef<'k>,
    /// base64url.
    encoded: String,
}

impl<'k> RawHeaderSigner<'k> {
    /// Creates a signer with this key (a `&MacKey`, a `&SigningKey` or a `&RemoteSigner`) and this header.
    ///
    /// # Errors
    ///
    /// [`InvalidUse::HeaderMember`] if the text is not such a header for this key.
    pub fn new(key: impl Into<SigningKeyRef<'k>>, text: &str) -> Result<Self> {
        let key = key.into();
        check_header_text(text, &[("alg", key.alg_name())])?;
        Ok(Self {
            key,
            encoded: base64::encode(text.as_bytes()),
        })
    }

    /// Signs the payload as a compact JWS.
    ///
    /// # Errors
    ///
    /// Those of [`JwsSigner::sign`](crate::jws::JwsSigner::sign).
    pub fn sign(&self, payload: &[u8]) -> Result<String> {
        assemble(self.key, &self.encoded, payload)
    }

    pub(crate) fn key(&self) -> SigningKeyRef<'k> {
        self.key
    }

    /// Returns the header, base64url.
    pub(crate) fn encoded(&self) -> &str {
        &self.encoded
    }
}

/// Checks that a text is an object with exactly these members, plus optional `typ`, `cty` and `kid`.
pub(crate) fn check_header_text(text: &str, required: &[(&str, &str)]) -> Result<(), InvalidUse> {
    struct Rejected;
    impl From<ScanError> for Rejected {
        fn from(_: ScanError) -> Self {
            Rejected
        }
    }
    let limits = Limits::default();
    if text.len() > limits.header_bytes {
        return Err(InvalidUse::HeaderMember);
    }
    let mut found = 0;
    json::read_object(text, limits.depth(), |name, value| {
        let (name, value) = (name.to_cow(), value.string().ok_or(Rejected)?.to_cow());
        match required.iter().find(|(must, _)| *must == name) {
            Some((_, must)) if *must == value => found += 1,
            None if ["typ", "cty", "kid"].contains(&&*name) => {}
            _ => return Err(Rejected),
        }
        Ok(())
    })
    .map_err(|Rejected| InvalidUse::HeaderMember)?;
    if found == required.len() {
        Ok(())
    } else {
        Err(InvalidUse::HeaderMember)
    }
}
