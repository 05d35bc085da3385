//! Protected headers with text from the caller.

use super::assemble;
use super::header_members::{check_name, check_value, read_written};
use crate::base64;
use crate::error::{InvalidUse, Result};
use crate::key::SigningKeyRef;

/// Signs with a protected header whose text the caller provides, byte for byte. Use it to reproduce the
/// spaces and the member order of another implementation.
///
/// Insecure: two spellings of one header are two different tokens, and jeton does not add its own members.
/// So the text may only contain what jeton would write: an object with the `alg` of the key, `typ`, `cty` and
/// `kid`, and members that [`JwsSigner::header`](crate::jws::JwsSigner::header) adds, for example `x5t`.
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
    /// - [`InvalidUse::DecidedHeaderMember`] if `alg` is not that of the key, or jeton decides another member.
    /// - [`InvalidUse::HeaderKey`] if `jwk` is not a public key.
    /// - [`InvalidUse::HeaderMember`] if a member occurs twice, or `alg` is missing.
    /// - [`InvalidUse::HeaderValue`] if the text is not an object, or exceeds the default
    ///   [`Limits`](crate::Limits).
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

/// Checks that a text is an object with these members. It may also have `typ`, `cty`, `kid` and what a caller may add.
pub(crate) fn check_header_text(text: &str, required: &[(&str, &str)]) -> Result<(), InvalidUse> {
    let mut found = 0;
    read_written(text, |name, value| {
        let text = value.string();
        match required.iter().find(|(must, _)| name == **must) {
            Some((_, must)) if text.is_some_and(|text| text == **must) => found += 1,
            None if text.is_some() && ["typ", "cty", "kid"].iter().any(|own| name == **own) => {}
            _ => {
                check_name(&name.to_cow())?;
                check_value(name, value)?;
            }
        }
        Ok(())
    })?;
    if found == required.len() {
        Ok(())
    } else {
        Err(InvalidUse::HeaderMember)
    }
}
