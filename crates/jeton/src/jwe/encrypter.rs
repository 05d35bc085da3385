use std::borrow::Cow;

use serde::Serialize;
use zeroize::Zeroizing;

use super::content::{self, Sealed};
use super::header::Members;
use super::recipient::{self, ForRecipient, PartyInfo};
use crate::base64;
#[cfg(feature = "legacy")]
use crate::crypto::deflate;
use crate::error::{InvalidUse, Result};
use crate::jws::HeaderMembers;
use crate::key::{ContentEnc, EncryptionKeyRef};
use crate::limits;

/// Encrypts any bytes as a JWE (RFC 7516).
///
/// Every token has a new content key, except with a [`ContentKey`](crate::key::ContentKey), and a new nonce.
/// The protected header contains `alg` and `kid` of the key, `enc`, and the members set here.
///
/// ```
/// use jeton::jwe::{Decrypter, Encrypter};
/// use jeton::key::{ContentEnc, DecryptionKey, KeyManagementAlg, KeyWrapAlg, WrappingKey};
///
/// let one = DecryptionKey::generate(KeyManagementAlg::RsaOaep256)?;
/// let two = WrappingKey::generate(KeyWrapAlg::A256Kw)?;
/// let text = Encrypter::new(&one.encryption_key(), ContentEnc::A256CbcHs512)
///     .recipient(&two)
///     .aad(b"seen by everyone, changed by nobody")
///     .encrypt_general(b"for two")?;
/// let decrypted = Decrypter::new(&two).decrypt_json(&text)?;
/// assert_eq!((decrypted.plaintext(), decrypted.recipient_index()), (&b"for two"[..], 1));
///
/// // Each of the two now knows the content key and can encrypt with it. So decryption with a shared key
/// // does not prove the sender, and no JWT verifier accepts it as an issuer's: sign, then encrypt.
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "an encrypter does nothing until it encrypts"]
pub struct Encrypter<'k> {
    recipients: Vec<EncryptionKeyRef<'k>>,
    enc: ContentEnc,
    typ: Option<Cow<'static, str>>,
    cty: Option<Cow<'static, str>>,
    parties: PartyInfo,
    aad: Option<Vec<u8>>,
    protected: HeaderMembers,
    unprotected: HeaderMembers,
    is_compressing: bool,
    /// The text of the protected header, if the caller provides it.
    text: Option<String>,
}

impl<'k> Encrypter<'k> {
    /// Creates an encrypter for this key, a reference to any key that encrypts, and this content encryption.
    pub fn new(key: impl Into<EncryptionKeyRef<'k>>, enc: ContentEnc) -> Encrypter<'k> {
        Encrypter {
            recipients: vec![key.into()],
            enc,
            typ: None,
            cty: None,
            parties: PartyInfo::default(),
            aad: None,
            protected: HeaderMembers::default(),
            unprotected: HeaderMembers::default(),
            is_compressing: false,
            text: None,
        }
    }

    /// Adds a recipient for [`encrypt_general`](Self::encrypt_general), up to [`limits::RECIPIENTS`] in total. A
    /// [`ContentKey`](crate::key::ContentKey) and plain ECDH-ES allow no other recipient.
    ///
    /// All recipients learn the same content key. Each of them can encrypt something else with it, which the
    /// keys of the others decrypt. So decryption proves that a member of the group wrote the content, not which
    /// one. Sign before you encrypt if that matters.
    pub fn recipient(mut self, key: impl Into<EncryptionKeyRef<'k>>) -> Encrypter<'k> {
        self.recipients.push(key.into());
        self
    }

    /// Sets `typ`: the media type of the whole token.
    pub fn typ(mut self, typ: impl Into<Cow<'static, str>>) -> Encrypter<'k> {
        self.typ = Some(typ.into());
        self
    }

    /// Sets `cty`: the media type of the plaintext.
    pub fn content_type(mut self, content_type: impl Into<Cow<'static, str>>) -> Encrypter<'k> {
        self.cty = Some(content_type.into());
        self
    }

    /// Sets `apu`: who sends, at most [`limits::PARTY_INFO_BYTES`]. ECDH-ES binds the derived key to it (RFC 7518,
    /// section 4.6.1.2).
    ///
    /// ```
    /// use jeton::jwe::{Decrypter, Encrypter};
    /// use jeton::key::{ContentEnc, DecryptionKey, KeyManagementAlg};
    ///
    /// let key = DecryptionKey::generate(KeyManagementAlg::EcdhEs)?;
    /// let public = key.encryption_key();
    /// let encrypter = Encrypter::new(&public, ContentEnc::A256Gcm);
    /// let token = encrypter.producer_info(b"Alice").recipient_info(b"Bob").encrypt(b"x")?;
    /// assert_eq!(Decrypter::new(&key).decrypt(&token)?.plaintext(), b"x");
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn producer_info(mut self, producer: &[u8]) -> Encrypter<'k> {
        self.parties.u = Some(producer.to_vec());
        self
    }

    /// Sets `apv`: who receives, at most [`limits::PARTY_INFO_BYTES`]. ECDH-ES binds the derived key to it (RFC 7518,
    /// section 4.6.1.3).
    pub fn recipient_info(mut self, recipient: &[u8]) -> Encrypter<'k> {
        self.parties.v = Some(recipient.to_vec());
        self
    }

    /// Adds a member to the protected header, as [`JwsSigner::header`](crate::jws::JwsSigner::header) does for a JWS.
    ///
    /// ```
    /// use jeton::jwe::Encrypter;
    /// use jeton::key::{ContentEnc, KeyWrapAlg, WrappingKey};
    ///
    /// let key = WrappingKey::generate(KeyWrapAlg::A128Kw)?;
    /// let encrypter = Encrypter::new(&key, ContentEnc::A128Gcm);
    /// assert!(encrypter.header("x5t", "dGhlIHRodW1icHJpbnQh").encrypt(b"x").is_ok());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn header(mut self, name: impl Into<String>, value: impl Serialize) -> Encrypter<'k> {
        self.protected.add(name.into(), &value);
        self
    }

    /// Sets data that is authenticated but not encrypted. Only for the JSON serializations. Empty data equals
    /// no data (RFC 7516, section 7.2.1).
    pub fn aad(mut self, aad: &[u8]) -> Encrypter<'k> {
        self.aad = (!aad.is_empty()).then(|| aad.to_vec());
        self
    }

    /// Adds a member to the unprotected header that all recipients share (RFC 7516, section 7.2.1). Only for
    /// the JSON serializations.
    ///
    /// Encrypting returns [`InvalidUse::HeaderMember`] for a name that is set twice, and for a name that must be
    /// protected. It returns [`InvalidUse::UnprotectedHeader`] for a value that does not serialize, and for a header that
    /// exceeds the default [`Limits`](crate::Limits).
    ///
    /// ```
    /// use jeton::jwe::Encrypter;
    /// use jeton::key::{ContentEnc, KeyWrapAlg, WrappingKey};
    ///
    /// let key = WrappingKey::generate(KeyWrapAlg::A128Kw)?;
    /// let encrypter = Encrypter::new(&key, ContentEnc::A128Gcm).unprotected("copies", 2);
    /// assert!(encrypter.encrypt_flattened(b"x")?.contains(r#""unprotected":{"copies":2}"#));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn unprotected(mut self, name: impl Into<String>, value: impl Serialize) -> Encrypter<'k> {
        self.unprotected.add(name.into(), &value);
        self
    }

    #[cfg(feature = "legacy")]
    pub(crate) fn compressing(mut self) -> Encrypter<'k> {
        self.is_compressing = true;
        self
    }

    pub(crate) fn under(mut self, text: &str) -> Encrypter<'k> {
        self.text = Some(text.to_owned());
        self
    }

    /// Returns the `alg` of the single recipient, and `enc`.
    pub(crate) fn names(&self) -> Result<(&'static str, &'static str), InvalidUse> {
        match self.recipients.as_slice() {
            [key] => Ok((key.alg_name(), self.enc.name())),
            keys => Err(one_recipient(keys)),
        }
    }

    /// Encrypts to the compact serialization (RFC 7516, section 7.1).
    pub fn encrypt(&self, plaintext: &[u8]) -> Result<String> {
        if self.aad.is_some() || !self.unprotected.is_empty() {
            return Err(InvalidUse::CompactForm.into());
        }
        let (protected, encrypted_key, sealed) = self.encrypt_to_one(plaintext)?;
        let parts = [&encrypted_key, &sealed.iv, &sealed.ciphertext, &sealed.tag];
        let lengths = parts.map(|part| 1 + base64::encoded_length(part.len()));
        let mut token = String::with_capacity(protected.len() + lengths.iter().sum::<usize>());
        token.push_str(&protected);
        for part in parts {
            token.push('.');
            base64::encode_onto(part, &mut token);
        }
        Ok(token)
    }

    /// Encrypts to the flattened JSON serialization (RFC 7516, section 7.2.2), for one recipient.
    pub fn encrypt_flattened(&self, plaintext: &[u8]) -> Result<String> {
        self.own_text_is_compact()?;
        let unprotected = self.unprotected_header()?;
        let (protected, encrypted_key, sealed) = self.encrypt_to_one(plaintext)?;
        let encrypted_key = match encrypted_key.as_slice() {
            [] => String::new(),
            bytes => format!(",\"encrypted_key\":\"{}\"", base64::encode(bytes)),
        };
        Ok(self.document(&protected, unprotected.as_deref(), &encrypted_key, &sealed))
    }

    /// Encrypts to the general JSON serialization (RFC 7516, section 7.2.1). The header of each recipient
    /// contains its `alg`, `kid` and the members of its key management.
    pub fn encrypt_general(&self, plaintext: &[u8]) -> Result<String> {
        self.own_text_is_compact()?;
        let unprotected = self.unprotected_header()?;
        self.check()?;
        let direct = self.recipients.iter().any(|key| recipient::is_direct(*key));
        let limit = if direct { 1 } else { limits::RECIPIENTS };
        let recipients = self.recipients.len();
        let (first, others) = match self.recipients.split_first() {
            Some(split) if recipients <= limit => split,
            _ => return Err(InvalidUse::Recipients { recipients, limit }.into()),
        };
        let (key, first) = recipient::first(*first, self.enc, &self.parties)?;
        let mut recipients = vec![first];
        for other in others {
            recipients.push(recipient::wrapped(*other, &key, &self.parties)?);
        }
        let protected = self.protected_header(Members::default())?;
        let sealed = self.seal(&key, &protected, plaintext)?;
        let recipients: Vec<String> = recipients.iter().map(entry).collect();
        let recipients = format!(",\"recipients\":[{}]", recipients.join(","));
        Ok(self.document(&protected, unprotected.as_deref(), &recipients, &sealed))
    }

    fn own_text_is_compact(&self) -> Result<(), InvalidUse> {
        match self.text {
            Some(_) => Err(InvalidUse::HeaderMember),
            None => Ok(()),
        }
    }

    /// Encrypts to a single recipient, with all members in the protected header.
    fn encrypt_to_one(&self, plaintext: &[u8]) -> Result<(String, Vec<u8>, Sealed)> {
        self.check()?;
        let [key] = self.recipients.as_slice() else {
            return Err(one_recipient(&self.recipients).into());
        };
        let (key, recipient) = recipient::first(*key, self.enc, &self.parties)?;
        let protected = match &self.text {
            None => self.protected_header(recipient.members)?,
            Some(text) => {
                // The text of the caller does not contain the members that this key management or compression needs.
                let has_others = self.is_compressing || !self.protected.is_empty();
                if has_others || !recipient.members.contains_only(&["alg", "kid"]) {
                    return Err(InvalidUse::HeaderMember.into());
                }
                base64::encode(text.as_bytes())
            }
        };
        let sealed = self.seal(&key, &protected, plaintext)?;
        Ok((protected, recipient.encrypted_key, sealed))
    }

    fn check(&self) -> Result<(), InvalidUse> {
        for info in [&self.parties.u, &self.parties.v].into_iter().flatten() {
            let binds = |key: &EncryptionKeyRef<'_>| key.alg_name().starts_with("ECDH-ES");
            if info.len() > limits::PARTY_INFO_BYTES {
                return Err(InvalidUse::PartyInfo {
                    bytes: info.len(),
                    limit: limits::PARTY_INFO_BYTES,
                });
            }
            if !self.recipients.iter().any(binds) {
                return Err(InvalidUse::PartyInfoUnused);
            }
        }
        Ok(())
    }

    fn unprotected_header(&self) -> Result<Option<String>, InvalidUse> {
        self.unprotected.check_disjoint(&self.protected)?;
        self.unprotected.to_unprotected()
    }

    /// Returns the protected header, base64url.
    fn protected_header(&self, recipient: Members) -> Result<String, InvalidUse> {
        let text = self
            .protected
            .complete(self.members(recipient)?.to_json())?;
        Ok(base64::encode(text.as_bytes()))
    }

    fn members(&self, recipient: Members) -> Result<Members, InvalidUse> {
        let mut members = Members::default();
        members.extend(recipient);
        members.text("enc", self.enc.name());
        members.media_type("typ", self.typ.as_deref())?;
        members.media_type("cty", self.cty.as_deref())?;
        if self.is_compressing {
            members.text("zip", "DEF");
        }
        Ok(members)
    }

    fn seal(&self, key: &[u8], protected: &str, plaintext: &[u8]) -> Result<Sealed> {
        let aad = additional_data(protected, self.encoded_aad().as_deref());
        #[cfg(feature = "legacy")]
        if self.is_compressing {
            return content::seal(
                self.enc,
                key,
                &aad,
                &Zeroizing::new(deflate::deflate(plaintext)),
            );
        }
        content::seal(self.enc, key, &aad, plaintext)
    }

    fn encoded_aad(&self) -> Option<String> {
        self.aad.as_deref().map(base64::encode)
    }

    fn document(
        &self,
        protected: &str,
        unprotected: Option<&str>,
        recipients: &str,
        sealed: &Sealed,
    ) -> String {
        // More than the names and quotes need.
        const REST_BYTES: usize = 128;
        let aad = self.encoded_aad();
        let mut text = String::with_capacity(
            protected.len()
                + recipients.len()
                + aad.as_ref().map_or(0, String::len)
                + base64::encoded_length(sealed.ciphertext.len())
                + REST_BYTES,
        );
        text.push_str(&format!("{{\"protected\":\"{protected}\""));
        if let Some(members) = unprotected {
            text.push_str(&format!(",\"unprotected\":{members}"));
        }
        text.push_str(recipients);
        if let Some(aad) = aad {
            text.push_str(&format!(",\"aad\":\"{aad}\""));
        }
        for (name, bytes) in [
            ("iv", &sealed.iv),
            ("ciphertext", &sealed.ciphertext),
            ("tag", &sealed.tag),
        ] {
            text.push_str(&format!(",\"{name}\":\""));
            base64::encode_onto(bytes, &mut text);
            text.push('"');
        }
        text.push('}');
        text
    }
}

/// The error of a serialization for one recipient.
fn one_recipient(keys: &[EncryptionKeyRef<'_>]) -> InvalidUse {
    let recipients = keys.len();
    InvalidUse::Recipients {
        recipients,
        limit: 1,
    }
}

/// The additional authenticated data (RFC 7516, section 5.1, step 14).
pub(super) fn additional_data(protected: &str, encoded_aad: Option<&str>) -> Vec<u8> {
    match encoded_aad {
        None => protected.as_bytes().to_vec(),
        Some(aad) => [protected.as_bytes(), b".", aad.as_bytes()].concat(),
    }
}

/// Returns an element of `recipients`.
fn entry(recipient: &ForRecipient) -> String {
    let header = recipient.members.to_json();
    match recipient.encrypted_key.as_slice() {
        [] => format!("{{\"header\":{header}}}"),
        key => format!(
            "{{\"header\":{header},\"encrypted_key\":\"{}\"}}",
            base64::encode(key)
        ),
    }
}
