use std::borrow::Cow;

use serde::Serialize;

use super::compact::{assemble, is_allowed_in_compact, signing_input};
use super::header::PayloadForm;
use super::header_members::HeaderMembers;
use crate::base64;
use crate::crypto::SignatureBuffer;
use crate::error::{InvalidUse, Result};
use crate::key::SigningKeyRef;

/// Signs bytes as a JWS in the compact serialization (RFC 7515, section 7.1) or the flattened JSON
/// serialization (section 7.2.2). [`GeneralJws`](super::GeneralJws) combines several signers.
///
/// The protected header contains `alg` and `kid` of the key, and the members set here.
///
/// ```
/// use jeton::jws::{JwsSigner, JwsVerifier};
/// use jeton::key::{SigAlg, SigningKey};
///
/// let key = SigningKey::generate(SigAlg::MlDsa44)?;
/// let token = JwsSigner::new(&key).typ("note").sign(b"hello")?;
/// assert_eq!(JwsVerifier::new(key.verifying_key()).verify(&token)?.typ(), Some("note"));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct JwsSigner<'k> {
    key: SigningKeyRef<'k>,
    typ: Option<Cow<'static, str>>,
    cty: Option<Cow<'static, str>>,
    protected: HeaderMembers,
    unprotected: HeaderMembers,
    form: PayloadForm,
}

impl<'k> JwsSigner<'k> {
    /// Creates a signer with this key: a `&MacKey`, a `&SigningKey` or a `&RemoteSigner`.
    pub fn new(key: impl Into<SigningKeyRef<'k>>) -> Self {
        JwsSigner {
            key: key.into(),
            typ: None,
            cty: None,
            protected: HeaderMembers::default(),
            unprotected: HeaderMembers::default(),
            form: PayloadForm::Encoded,
        }
    }

    /// Sets `typ`: the media type of the whole token, such as `at+jwt`.
    pub fn typ(mut self, typ: impl Into<Cow<'static, str>>) -> Self {
        self.typ = Some(typ.into());
        self
    }

    /// Sets `cty`: the media type of the payload.
    pub fn content_type(mut self, content_type: impl Into<Cow<'static, str>>) -> Self {
        self.cty = Some(content_type.into());
        self
    }

    /// Does not encode the payload (`b64: false`, RFC 7797). Verifiers that do not support the extension
    /// reject the token.
    ///
    /// In a compact token, such a payload may contain only printable ASCII without a dot. In the JSON
    /// serialization it must be UTF-8. Detached content may be any bytes.
    ///
    /// ```
    /// use jeton::jws::{JwsSigner, JwsVerifier};
    /// use jeton::key::{MacAlg, MacKey};
    ///
    /// let key = MacKey::generate(MacAlg::HS256)?;
    /// let signer = JwsSigner::new(&key).unencoded();
    /// assert!(signer.sign(b"as it is")?.contains(".as it is."));
    /// assert!(signer.sign(b"$.02").is_err());
    /// let token = signer.sign_detached(b"$.02")?;
    /// assert_eq!(JwsVerifier::new(&key).verify_detached(&token, b"$.02")?.payload(), b"$.02");
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn unencoded(mut self) -> Self {
        self.form = PayloadForm::Plain;
        self
    }

    /// Adds a member to the protected header, for example `x5t` or `x5c`. A verifier of jeton ignores it: the sender of a
    /// token chooses it.
    ///
    /// Signing returns [`InvalidUse::DecidedHeaderMember`] for a registered name that the library decides, such as `alg`
    /// or `b64`, and [`InvalidUse::HeaderMember`] for a name that is set twice. It returns [`InvalidUse::HeaderValue`] for
    /// a value that does not serialize, and for a header that exceeds the default [`Limits`](crate::Limits). A `jwk` must
    /// be a public key ([`InvalidUse::HeaderKey`]).
    ///
    /// ```
    /// # use jeton::jws::JwsSigner;
    /// # use jeton::key::{MacAlg, MacKey};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// let signer = JwsSigner::new(&key).header("x5t", "dGhlIHRodW1icHJpbnQh");
    /// assert!(signer.sign(b"x").is_ok());
    /// assert!(JwsSigner::new(&key).header("crit", ["b64"]).sign(b"x").is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn header(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.protected.add(name.into(), &value);
        self
    }

    /// Adds a member to the unprotected header (`header`, RFC 7515, section 7.2.1), which is not signed. Only for the
    /// JSON serializations.
    ///
    /// Signing returns [`InvalidUse::HeaderMember`] for a name that is set twice, and for a name that a verifier
    /// interprets: these must be protected. It returns [`InvalidUse::UnprotectedHeader`] for a value that does not
    /// serialize, and for a header that exceeds the default [`Limits`](crate::Limits).
    /// [`sign`](JwsSigner::sign) and [`sign_detached`](JwsSigner::sign_detached) return [`InvalidUse::CompactForm`].
    ///
    /// ```
    /// # use jeton::jws::JwsSigner;
    /// # use jeton::key::{MacAlg, MacKey};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// let signer = JwsSigner::new(&key).unprotected("note", "for the archive").unprotected("copies", 2);
    /// assert!(signer.sign_flattened(b"x")?.contains(r#""header":{"note":"for the archive","copies":2}"#));
    /// assert!(JwsSigner::new(&key).unprotected("alg", "none").sign_flattened(b"x").is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn unprotected(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.unprotected.add(name.into(), &value);
        self
    }

    /// Signs the payload as a compact JWS.
    pub fn sign(&self, payload: &[u8]) -> Result<String> {
        self.compact_only()?;
        if self.is_plain() {
            return assemble(self.key, self.key.headers().bare(), payload);
        }
        let header = self.protected_header()?;
        match self.form {
            PayloadForm::Encoded => assemble(self.key, &header, payload),
            PayloadForm::Plain => {
                let text = std::str::from_utf8(payload)
                    .ok()
                    .filter(|text| is_allowed_in_compact(text.as_bytes()))
                    .ok_or(InvalidUse::UnencodedPayload)?;
                let signature = self.signature(&header, payload)?;
                Ok([&header, ".", text, ".", &signature].concat())
            }
        }
    }

    /// Signs detached content as a compact JWS (RFC 7515, appendix F).
    pub fn sign_detached(&self, content: &[u8]) -> Result<String> {
        self.compact_only()?;
        let header = self.protected_header()?;
        let signature = self.signature(&header, content)?;
        Ok([&header, "..", &signature].concat())
    }

    /// Signs the payload in the flattened JSON serialization (RFC 7515, section 7.2.2).
    pub fn sign_flattened(&self, payload: &[u8]) -> Result<String> {
        let member = self.payload_member(payload)?;
        Ok(format!("{{{member},{}}}", self.signature_members(payload)?))
    }

    /// Signs detached content in the flattened JSON serialization.
    pub fn sign_flattened_detached(&self, content: &[u8]) -> Result<String> {
        Ok(format!("{{{}}}", self.signature_members(content)?))
    }

    pub(super) fn form(&self) -> PayloadForm {
        self.form
    }

    /// `"payload":"…"`
    pub(super) fn payload_member(&self, payload: &[u8]) -> Result<String> {
        let text = match self.form {
            PayloadForm::Encoded => format!("\"{}\"", base64::encode(payload)),
            PayloadForm::Plain => {
                let text =
                    std::str::from_utf8(payload).map_err(|_| InvalidUse::UnencodedPayload)?;
                serde_json::Value::from(text).to_string()
            }
        };
        Ok(format!("\"payload\":{text}"))
    }

    /// `"protected":"…","header":{…},"signature":"…"`
    pub(super) fn signature_members(&self, payload: &[u8]) -> Result<String> {
        self.unprotected.check_disjoint(&self.protected)?;
        let unprotected = self.unprotected.to_unprotected()?;
        let protected = self.protected_header()?;
        let signature = self.signature(&protected, payload)?;
        let header = match unprotected {
            Some(unprotected) => format!(",\"header\":{unprotected}"),
            None => String::new(),
        };
        Ok(format!(
            "\"protected\":\"{protected}\"{header},\"signature\":\"{signature}\""
        ))
    }

    fn compact_only(&self) -> Result<()> {
        if self.unprotected.is_empty() {
            Ok(())
        } else {
            Err(InvalidUse::CompactForm.into())
        }
    }

    /// Whether the precomputed header of the key can be used.
    fn is_plain(&self) -> bool {
        self.typ.is_none()
            && self.cty.is_none()
            && self.protected.is_empty()
            && self.form == PayloadForm::Encoded
    }

    /// Returns the signature of the payload in its form, base64url.
    fn signature(&self, header: &str, payload: &[u8]) -> Result<String> {
        let mut signature = SignatureBuffer::new();
        let message = signing_input(header, self.form, payload);
        self.key.sign_bytes(&message, &mut signature)?;
        Ok(base64::encode(&signature))
    }

    /// Returns the header, base64url: `alg`, `kid`, `typ`, `cty`, `b64` with `crit`, and the members of the caller.
    fn protected_header(&self) -> Result<String> {
        if self.is_plain() {
            return Ok(self.key.headers().bare().to_owned());
        }
        let mut members = vec![("alg", self.key.alg_name())];
        members.extend(self.key.key_id().map(|kid| ("kid", kid)));
        for (name, value) in [("typ", &self.typ), ("cty", &self.cty)] {
            let Some(value) = value else { continue };
            members.push((name, media_type(value)?));
        }
        let mut text = object(members);
        if self.form == PayloadForm::Plain {
            text.push_str(",\"b64\":false,\"crit\":[\"b64\"]");
        }
        text.push('}');
        Ok(base64::encode(self.protected.complete(text)?.as_bytes()))
    }
}

/// Returns a header with `alg`, `kid` and `typ`, base64url.
pub(crate) fn header_with_type(alg: &str, key_id: Option<&str>, typ: &str) -> Result<String> {
    let mut members = vec![("alg", alg)];
    members.extend(key_id.map(|kid| ("kid", kid)));
    members.push(("typ", media_type(typ)?));
    Ok(base64::encode(format!("{}}}", object(members)).as_bytes()))
}

/// Adds members to a header, base64url.
pub(crate) fn with_members(encoded: &str, members: &HeaderMembers) -> Result<String> {
    if members.is_empty() {
        return Ok(encoded.to_owned());
    }
    let header = base64::decode(encoded.as_bytes()).ok();
    let header = header.and_then(|header| String::from_utf8(header).ok());
    let header = header.ok_or(InvalidUse::HeaderValue)?;
    Ok(base64::encode(members.complete(header)?.as_bytes()))
}

/// Checks that a text is a media type as a header may contain it.
fn media_type(text: &str) -> Result<&str, InvalidUse> {
    match text.len() {
        1..=128 if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(text),
        _ => Err(InvalidUse::Type),
    }
}

/// Returns a JSON object of strings, without the closing brace.
fn object(members: Vec<(&str, &str)>) -> String {
    let mut text = String::from("{");
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let value = serde_json::Value::from(value);
        text.push_str(&format!("\"{name}\":{value}"));
    }
    text
}
