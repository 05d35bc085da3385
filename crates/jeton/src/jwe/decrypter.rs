use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::content;
use super::encrypter::additional_data;
use super::header::{self, Fields};
use super::serialized::Parts;
use super::unwrap::{self, Budget};
use crate::base64;
use crate::crypto::deflate::{self, NotInflated};
use crate::error::{Part, Rejection, Result};
use crate::key::{ContentEnc, DecryptWith, DecryptionKeys, KeyId};
use crate::limits::{self, Limits};

/// Decrypts JWEs (RFC 7516, section 5.2).
///
/// Made once and used for every token, from any thread. Whatever is wrong with the key, the nonce,
/// the ciphertext or the tag, the answer is one: [`Rejection::Decryption`].
///
/// ```
/// use jeton::error::Rejection;
/// use jeton::jwe::{Decrypter, Encrypter};
/// use jeton::key::{ContentEnc, KeyWrapAlg, WrappingKey};
///
/// let key = WrappingKey::generate(KeyWrapAlg::A128Kw)?;
/// let decrypter = Decrypter::new(&key).allow_only(&[ContentEnc::A256Gcm]);
/// let token = Encrypter::new(&key, ContentEnc::A256Gcm).encrypt(b"hello")?;
/// assert!(decrypter.decrypt(&token).is_ok());
/// let other = Encrypter::new(&key, ContentEnc::A128Gcm).encrypt(b"hello")?;
/// let refusal = decrypter.decrypt(&other).unwrap_err().rejection();
/// assert_eq!(refusal, Some(Rejection::EncryptionMismatch));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct Decrypter {
    keys: DecryptionKeys,
    allowed: Vec<ContentEnc>,
    limits: Limits,
    is_inflating: bool,
    unprotected_enc: bool,
}

/// A recipient and a key that may be its.
struct Candidate<'a> {
    recipient_index: usize,
    fields: &'a Fields<'a>,
    key: &'a DecryptWith,
}

impl Decrypter {
    /// Decrypts with these keys: one, or several.
    pub fn new(keys: impl Into<DecryptionKeys>) -> Decrypter {
        Decrypter {
            keys: keys.into(),
            allowed: ContentEnc::ALL.to_vec(),
            limits: Limits::default(),
            is_inflating: false,
            unprotected_enc: false,
        }
    }

    /// Takes only tokens with one of these content encryptions.
    pub fn allow_only(mut self, encs: &[ContentEnc]) -> Decrypter {
        self.allowed = encs.to_vec();
        self
    }

    /// Accepts tokens of these sizes.
    pub fn limits(mut self, limits: Limits) -> Decrypter {
        self.limits = limits;
        self
    }

    pub(crate) fn inflating(mut self) -> Decrypter {
        self.is_inflating = true;
        self
    }

    pub(crate) fn with_unprotected_enc(mut self) -> Decrypter {
        self.unprotected_enc = true;
        self
    }

    /// Decrypts the compact serialization (RFC 7516, section 7.1).
    pub fn decrypt(&self, token: &str) -> Result<Decrypted> {
        self.keys.check()?;
        Ok(self.open(&Parts::compact(token, &self.limits)?)?)
    }

    /// Decrypts the JSON serialization, general or flattened (RFC 7516, section 7.2).
    ///
    /// [`Decrypted::recipient_index`] and [`Decrypted::key_id`] say which recipient and key it was.
    /// A token whose `enc` is not in the protected header is [`Rejection::UnprotectedEnc`]; see
    /// [`danger::allow_unprotected_enc`](crate::danger::allow_unprotected_enc). A recipient's `alg` may stand
    /// in any header.
    /// At most [`limits::RECIPIENTS`] recipients are looked at, and at most
    /// [`limits::ENCRYPTED_KEYS_TRIED`] encrypted keys tried.
    pub fn decrypt_json(&self, text: &str) -> Result<Decrypted> {
        self.keys.check()?;
        Ok(self.open(&Parts::json(text, &self.limits)?)?)
    }

    fn open(&self, parts: &Parts<'_>) -> Result<Decrypted, Rejection> {
        let protected = header::decode(&parts.protected, &self.limits)?;
        let headers = self.headers(parts, &protected)?;
        let enc = self.content_encryption(&headers)?;
        if headers[0].is_compressed && !self.is_inflating {
            return Err(Rejection::Compressed);
        }
        let decode = |text: &str| {
            base64::decode(text.as_bytes()).map_err(|_| Rejection::Malformed(Part::Token))
        };
        // All of it before a key is touched: what follows has one answer for every fault.
        let (iv, tag) = (decode(&parts.iv)?, decode(&parts.tag)?);
        let mut ciphertext = decode(&parts.ciphertext)?;
        let carried_aad = parts.aad.as_deref().map(decode).transpose()?;
        let encrypted_keys: Vec<Vec<u8>> = (parts.recipients.iter())
            .map(|recipient| decode(&recipient.encrypted_key))
            .collect::<Result<_, _>>()?;
        let aad = additional_data(&parts.protected, parts.aad.as_deref());

        let candidates = self.candidates(&headers, enc)?;
        let mut budget = Budget::full(&self.limits);
        let last = candidates.len() - 1;
        for (index, candidate) in candidates.into_iter().enumerate() {
            if !budget.take_try() {
                break;
            }
            let Some(content_key) = unwrap::content_key(
                candidate.key,
                candidate.fields,
                enc,
                &encrypted_keys[candidate.recipient_index],
                &mut budget,
            )?
            else {
                continue;
            };
            // A failed try leaves nothing of the ciphertext, so all but the last get a copy.
            let mut data = Zeroizing::new(match index == last {
                true => std::mem::take(&mut ciphertext),
                false => ciphertext.clone(),
            });
            if content::open(enc, &content_key, &iv, &aad, &mut data, &tag).is_some() {
                return decrypted(&candidate, enc, data, carried_aad);
            }
        }
        Err(Rejection::Decryption)
    }

    /// Each recipient's whole header: the protected, the shared and its own.
    fn headers<'h>(
        &self,
        parts: &'h Parts<'_>,
        protected: &'h [u8],
    ) -> Result<Vec<Fields<'h>>, Rejection> {
        let mut shared = Fields::default();
        if !parts.protected.is_empty() {
            shared.read_protected(protected, &self.limits)?;
        }
        if let Some(unprotected) = parts.unprotected {
            shared.read_unprotected(unprotected, &self.limits)?;
        }
        let mut headers = Vec::with_capacity(parts.recipients.len());
        for recipient in &parts.recipients {
            let mut fields = shared.clone();
            if let Some(own) = recipient.header {
                fields.read_unprotected(own, &self.limits)?;
            }
            // With one of these the content key is the recipient's alone.
            if parts.recipients.len() > 1 && matches!(fields.alg()?, "dir" | "ECDH-ES") {
                return Err(Rejection::Malformed(Part::Token));
            }
            headers.push(fields);
        }
        Ok(headers)
    }

    /// The one `enc` of all recipients (RFC 7516, section 7.2.1), if it is allowed, and protected: an
    /// attacker could exchange another.
    fn content_encryption(&self, headers: &[Fields<'_>]) -> Result<ContentEnc, Rejection> {
        let first = headers.first().ok_or(Rejection::Malformed(Part::Token))?;
        let name = first.enc()?;
        for other in headers {
            if other.enc()? != name {
                return Err(Rejection::Malformed(Part::Header));
            }
        }
        if !first.enc_is_protected() && !self.unprotected_enc {
            return Err(Rejection::UnprotectedEnc);
        }
        let enc: ContentEnc = name.parse().map_err(|_| Rejection::EncryptionMismatch)?;
        if !self.allowed.contains(&enc) {
            return Err(Rejection::EncryptionMismatch);
        }
        Ok(enc)
    }

    /// Which recipients may be ours, and by which key. A `kid` picks among several keys, or among
    /// several recipients; where there is one of each, the key decides.
    fn candidates<'a>(
        &'a self,
        headers: &'a [Fields<'a>],
        enc: ContentEnc,
    ) -> Result<Vec<Candidate<'a>>, Rejection> {
        let keys = self.keys.all();
        let mut candidates = Vec::new();
        // A `kid` can choose only between keys that differ in theirs; one key that is there for
        // several algorithms is still one.
        let id = |key: &'a DecryptWith| key.id().map(KeyId::as_str);
        let are_one = keys.windows(2).all(|pair| id(&pair[0]) == id(&pair[1]));
        let mut refusal = match are_one {
            true => Rejection::AlgorithmMismatch,
            false => Rejection::UnknownKey,
        };
        for (recipient_index, fields) in headers.iter().enumerate() {
            let alg = fields.alg()?;
            for key in keys {
                let fits = match (fields.kid.as_deref(), id(key)) {
                    (Some(kid), Some(id)) => (are_one && headers.len() == 1) || kid == id,
                    (Some(_), None) => are_one,
                    (None, _) => true,
                };
                if !fits || alg != key.alg_name() {
                    continue;
                }
                if matches!(key, DecryptWith::Content(key) if key.enc() != enc) {
                    refusal = Rejection::EncryptionMismatch;
                    continue;
                }
                candidates.push(Candidate {
                    recipient_index,
                    fields,
                    key,
                });
            }
        }
        if candidates.is_empty() {
            return Err(refusal);
        }
        Ok(candidates)
    }
}

/// Inflates what is compressed, and names what was found. The token is authentic by now.
fn decrypted(
    candidate: &Candidate<'_>,
    enc: ContentEnc,
    mut plaintext: Zeroizing<Vec<u8>>,
    aad: Option<Vec<u8>>,
) -> Result<Decrypted, Rejection> {
    let fields = candidate.fields;
    if fields.is_compressed {
        let by_ratio = plaintext.len().saturating_mul(limits::INFLATED_RATIO);
        let limit = by_ratio.min(limits::INFLATED_BYTES);
        plaintext = deflate::inflate(&plaintext, limit).map_err(|error| match error {
            NotInflated::Malformed => Rejection::Malformed(Part::Payload),
            NotInflated::TooLarge => Rejection::TooLarge(Part::Payload),
        })?;
    }
    let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
    Ok(Decrypted {
        plaintext,
        aad,
        alg: candidate.key.alg_name(),
        enc,
        typ: owned(&fields.typ),
        cty: owned(&fields.cty),
        key_id: candidate.key.id().map(KeyId::shared),
        recipient_index: candidate.recipient_index,
    })
}

/// What a successful decryption found. Only a [`Decrypter`] makes one.
///
/// That a token could be decrypted says that nobody changed it on its way who cannot read it. It says
/// nothing about who wrote it. Not even a key that only the writer shares does, if it is a
/// [`WrappingKey`](crate::key::WrappingKey): each recipient of a token learns its content key, and can
/// encrypt something else under it beside what the others' keys have wrapped. Only a
/// [`ContentKey`](crate::key::ContentKey) of one writer says that it was this one.
///
/// ```compile_fail
/// // There is no other way to one.
/// let forged = jeton::jwe::Decrypted { plaintext: Vec::new() };
/// ```
pub struct Decrypted {
    plaintext: Zeroizing<Vec<u8>>,
    aad: Option<Vec<u8>>,
    alg: &'static str,
    enc: ContentEnc,
    typ: Option<String>,
    cty: Option<String>,
    key_id: Option<Arc<str>>,
    recipient_index: usize,
}

impl Decrypted {
    /// Exactly the bytes that were encrypted. They are wiped when dropped.
    pub fn plaintext(&self) -> &[u8] {
        &self.plaintext
    }

    /// Exactly the bytes that were encrypted. Wiping them is now the caller's.
    pub fn into_plaintext(mut self) -> Vec<u8> {
        std::mem::take(&mut *self.plaintext)
    }

    /// The additional authenticated data of a JSON serialization.
    pub fn aad(&self) -> Option<&[u8]> {
        self.aad.as_deref()
    }

    /// The key management that led to the content key: the key's own.
    pub fn alg(&self) -> &'static str {
        self.alg
    }

    /// How the content was encrypted.
    pub fn enc(&self) -> ContentEnc {
        self.enc
    }

    /// The protected header's `typ`.
    pub fn typ(&self) -> Option<&str> {
        self.typ.as_deref()
    }

    /// The protected header's `cty`.
    pub fn content_type(&self) -> Option<&str> {
        self.cty.as_deref()
    }

    /// The id of the key that decrypted, if it has one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    pub(crate) fn shared_key_id(&self) -> Option<Arc<str>> {
        self.key_id.clone()
    }

    /// Which of several recipients it was, counted from 0.
    pub fn recipient_index(&self) -> usize {
        self.recipient_index
    }
}

impl fmt::Debug for Decrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decrypted")
            .field("bytes", &self.plaintext.len())
            .field("alg", &self.alg)
            .field("enc", &self.enc)
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}
