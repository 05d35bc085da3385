use crate::base64;
use crate::error::{Misuse, Result};
use crate::key::SigningKeyRef;

/// Signs any bytes as a compact JWS (RFC 7515, section 7.1).
///
/// The header has the key's `alg` and `kid`, and what is asked for here.
#[derive(Debug)]
pub struct Signer<'k> {
    key: SigningKeyRef<'k>,
    typ: Option<String>,
    cty: Option<String>,
}

impl<'k> Signer<'k> {
    /// Signs with this key: a `&MacKey` or a `&SigningKey`.
    pub fn new(key: impl Into<SigningKeyRef<'k>>) -> Self {
        Signer {
            key: key.into(),
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
            return assemble(self.key, self.key.headers().bare(), payload);
        }
        assemble(self.key, &self.header()?, payload)
    }

    /// The header, base64url: `alg`, `kid`, `typ`, `cty`.
    fn header(&self) -> Result<String> {
        let mut members = vec![("alg", self.key.alg_name())];
        members.extend(self.key.key_id().map(|kid| ("kid", kid)));
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
pub(crate) fn assemble(
    key: SigningKeyRef<'_>,
    encoded_header: &str,
    payload: &[u8],
) -> Result<String> {
    let length = encoded_header.len()
        + 1
        + base64::encoded_length(payload.len())
        + 1
        + base64::encoded_length(key.signature_bytes());
    let mut token = String::with_capacity(length);
    token.push_str(encoded_header);
    token.push('.');
    base64::encode_onto(payload, &mut token);
    let signature = key.sign_bytes(token.as_bytes())?;
    token.push('.');
    base64::encode_onto(&signature, &mut token);
    debug_assert_eq!(token.len(), length);
    Ok(token)
}
