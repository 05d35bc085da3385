use crate::base64;
use crate::crypto::Signature;
use crate::error::{Misuse, Result};
use crate::key::{MacKey, SigningKey};

/// A key that can put its signature or MAC under a JWS.
///
/// [`MacKey`] and [`SigningKey`] are; nothing else can be.
pub trait Issuing: sealed::Sealed {}

impl Issuing for MacKey {}
impl Issuing for SigningKey {}

pub(crate) mod sealed {
    use super::{MacKey, Result, Signature, SigningKey};
    use crate::jws::Headers;

    pub trait Sealed {
        fn alg_name(&self) -> &'static str;
        fn kid(&self) -> Option<&str>;
        fn known_headers(&self) -> &Headers;
        fn length(&self) -> usize;
        fn sign(&self, message: &[u8]) -> Result<Signature>;
    }

    impl Sealed for MacKey {
        fn alg_name(&self) -> &'static str {
            self.alg().name()
        }
        fn kid(&self) -> Option<&str> {
            self.key_id()
        }
        fn known_headers(&self) -> &Headers {
            self.headers()
        }
        fn length(&self) -> usize {
            self.alg().key_bytes()
        }
        fn sign(&self, message: &[u8]) -> Result<Signature> {
            self.sign_bytes(message)
        }
    }

    impl Sealed for SigningKey {
        fn alg_name(&self) -> &'static str {
            self.alg().name()
        }
        fn kid(&self) -> Option<&str> {
            self.key_id()
        }
        fn known_headers(&self) -> &Headers {
            self.headers()
        }
        fn length(&self) -> usize {
            self.signature_bytes()
        }
        fn sign(&self, message: &[u8]) -> Result<Signature> {
            self.sign_bytes(message)
        }
    }
}

/// Signs any bytes as a compact JWS (RFC 7515, section 7.1).
///
/// The header has the key's `alg` and `kid`, and what is asked for here.
pub struct Signer<'k, K> {
    key: &'k K,
    typ: Option<String>,
    cty: Option<String>,
}

impl<'k, K: Issuing> Signer<'k, K> {
    /// Signs with this key.
    pub fn new(key: &'k K) -> Self {
        Signer {
            key,
            typ: None,
            cty: None,
        }
    }

    /// Sets `typ`: the media type of the whole token, such as `at+jwt`.
    pub fn typ(mut self, typ: impl Into<String>) -> Self {
        self.typ = Some(typ.into());
        self
    }

    /// Sets `cty`: the media type of the payload.
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.cty = Some(content_type.into());
        self
    }

    /// The payload, signed.
    pub fn sign(&self, payload: &[u8]) -> Result<String> {
        if self.typ.is_none() && self.cty.is_none() {
            return assemble(self.key, self.key.known_headers().bare(), payload);
        }
        assemble(self.key, &self.header()?, payload)
    }

    /// The header, base64url: `alg`, `kid`, `typ`, `cty`.
    fn header(&self) -> Result<String> {
        let mut members = vec![("alg", self.key.alg_name())];
        members.extend(self.key.kid().map(|kid| ("kid", kid)));
        for (name, value) in [("typ", &self.typ), ("cty", &self.cty)] {
            let Some(value) = value else { continue };
            if value.is_empty() || value.len() > 128 || !value.bytes().all(|b| b.is_ascii_graphic())
            {
                return Err(Misuse::Type.into());
            }
            members.push((name, value));
        }
        let mut text = String::from("{");
        for (index, (name, value)) in members.into_iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            let value = serde_json::Value::from(value);
            text.push_str(&format!("\"{name}\":{value}"));
        }
        text.push('}');
        Ok(base64::encode(text.as_bytes()))
    }
}

/// `header.payload.signature`: one allocation, of the exact size.
pub(crate) fn assemble<K: sealed::Sealed>(
    key: &K,
    encoded_header: &str,
    payload: &[u8],
) -> Result<String> {
    let length = encoded_header.len()
        + 1
        + base64::encoded_length(payload.len())
        + 1
        + base64::encoded_length(key.length());
    let mut token = String::with_capacity(length);
    token.push_str(encoded_header);
    token.push('.');
    base64::encode_onto(payload, &mut token);
    let signature = key.sign(token.as_bytes())?;
    token.push('.');
    base64::encode_onto(&signature, &mut token);
    debug_assert_eq!(token.len(), length);
    Ok(token)
}
