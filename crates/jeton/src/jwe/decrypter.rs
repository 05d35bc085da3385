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
#[cfg(feature = "legacy")]
use crate::crypto::deflate::{self, InflateError};
#[cfg(feature = "legacy")]
use crate::error::Measure;
use crate::error::{Part, Rejection, Result};
use crate::key::{ContentEnc, DecryptWith, DecryptionKeys, KeyId};
#[cfg(feature = "legacy")]
use crate::limits;
use crate::token_limits::Limits;

/// Decrypts JWEs (RFC 7516, section 5.2).
///
/// Create it once and use it for all tokens, from any thread. A wrong key, nonce, ciphertext or tag always
/// gives the same error: [`Rejection::Decryption`].
///
/// ```
/// use jeton::error::Rejection;
/// use jeton::jwe::{Decrypter, Encrypter};
/// use jeton::key::{ContentEnc, KeyWrapAlg, WrappingKey};
///
/// let key = WrappingKey::generate(KeyWrapAlg::A128Kw)?;
/// let decrypter = Decrypter::new(&key).allow_only([ContentEnc::A256Gcm]);
/// let token = Encrypter::new(&key, ContentEnc::A256Gcm).encrypt(b"hello")?;
/// assert!(decrypter.decrypt(&token).is_ok());
/// let other = Encrypter::new(&key, ContentEnc::A128Gcm).encrypt(b"hello")?;
/// let rejection = decrypter.decrypt(&other).unwrap_err().rejection().cloned();
/// assert_eq!(rejection, Some(Rejection::EncryptionMismatch));
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

/// A recipient and a key that may decrypt for it.
struct Candidate<'a> {
    recipient_index: usize,
    fields: &'a Fields<'a>,
    key: &'a DecryptWith,
}

impl Decrypter {
    /// Creates a decrypter with one or several keys.
    pub fn new(keys: impl Into<DecryptionKeys>) -> Decrypter {
        Decrypter {
            keys: keys.into(),
            allowed: ContentEnc::ALL.to_vec(),
            limits: Limits::default(),
            is_inflating: false,
            unprotected_enc: false,
        }
    }

    /// Accepts only tokens with one of these content encryptions.
    pub fn allow_only(mut self, encs: impl IntoIterator<Item = ContentEnc>) -> Decrypter {
        self.allowed = encs.into_iter().collect();
        self
    }

    /// Sets the size limits.
    pub fn limits(mut self, limits: Limits) -> Decrypter {
        self.limits = limits;
        self
    }

    #[cfg(feature = "legacy")]
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
    /// [`Decrypted::recipient_index`] and [`Decrypted::key_id`] return the recipient and the key. If `enc` is
    /// not in the protected header, the token is rejected with [`Rejection::UnprotectedEnc`]; see
    /// [`danger::allow_unprotected_enc`](crate::danger::allow_unprotected_enc). The `alg` of a recipient may be
    /// in any header. At most [`limits::RECIPIENTS`] recipients are read, and at most
    /// [`limits::ENCRYPTED_KEYS_TRIED`] encrypted keys are tried.
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
        // Decode everything before a key is used: from here on, all failures give the same error.
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
            // A failed attempt destroys the ciphertext, so all attempts but the last use a copy.
            let mut data = Zeroizing::new(if index == last {
                std::mem::take(&mut ciphertext)
            } else {
                ciphertext.clone()
            });
            if content::open(enc, &content_key, &iv, &aad, &mut data, &tag).is_some() {
                return decrypted(&candidate, enc, data, carried_aad);
            }
        }
        Err(Rejection::Decryption)
    }

    /// Combines the headers of each recipient: protected, shared and its own.
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
            // With these, the content key belongs to a single recipient.
            if parts.recipients.len() > 1 && matches!(fields.alg()?, "dir" | "ECDH-ES") {
                return Err(Rejection::Malformed(Part::Token));
            }
            headers.push(fields);
        }
        Ok(headers)
    }

    /// Returns the common `enc` of all recipients (RFC 7516, section 7.2.1). It must be allowed, and it must be
    /// protected, because an attacker could replace it otherwise.
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

    /// Pairs the recipients with the keys that may decrypt for them. A `kid` selects among several keys or
    /// several recipients. With one key and one recipient, the `kid` is ignored.
    fn candidates<'a>(
        &'a self,
        headers: &'a [Fields<'a>],
        enc: ContentEnc,
    ) -> Result<Vec<Candidate<'a>>, Rejection> {
        let keys = self.keys.all();
        let mut candidates = Vec::new();
        // A `kid` can only select among keys with different ids. One key that was added for several
        // algorithms counts as one key.
        let id = |key: &'a DecryptWith| key.id().map(KeyId::as_str);
        let are_one = keys.windows(2).all(|pair| id(&pair[0]) == id(&pair[1]));
        let mut last_error = if are_one {
            Rejection::AlgorithmMismatch
        } else {
            Rejection::UnknownKey
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
                    last_error = Rejection::EncryptionMismatch;
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
            return Err(last_error);
        }
        Ok(candidates)
    }
}

/// Inflates compressed content and builds the result. The token is already authenticated.
fn decrypted(
    candidate: &Candidate<'_>,
    enc: ContentEnc,
    mut plaintext: Zeroizing<Vec<u8>>,
    aad: Option<Vec<u8>>,
) -> Result<Decrypted, Rejection> {
    let fields = candidate.fields;
    #[cfg(feature = "legacy")]
    if fields.is_compressed {
        let by_ratio = plaintext.len().saturating_mul(limits::INFLATED_RATIO);
        let limit = by_ratio.min(limits::INFLATED_BYTES);
        plaintext = deflate::inflate(&plaintext, limit).map_err(|error| match error {
            InflateError::Malformed => Rejection::Malformed(Part::Payload),
            InflateError::TooLarge => {
                Rejection::more_than(Part::Payload, Measure::InflatedBytes, limit)
            }
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

/// The result of a successful decryption. Only a [`Decrypter`] creates it.
///
/// Decryption proves that nobody without a key changed the token. It does not prove who wrote it. This
/// includes a [`WrappingKey`](crate::key::WrappingKey) that only the writer shares: each recipient of a token
/// learns its content key. It can then encrypt something else, next to what the keys of the other recipients
/// have wrapped. Only a [`ContentKey`](crate::key::ContentKey) that is shared with a single writer proves
/// the writer.
///
/// ```compile_fail
/// // Only a `Decrypter` creates one.
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
    /// Returns the decrypted bytes. They are wiped when dropped.
    pub fn plaintext(&self) -> &[u8] {
        &self.plaintext
    }

    /// Returns the decrypted bytes. The caller is responsible for wiping them.
    pub fn into_plaintext(mut self) -> Vec<u8> {
        std::mem::take(&mut *self.plaintext)
    }

    /// Returns the additional authenticated data of a JSON serialization.
    pub fn aad(&self) -> Option<&[u8]> {
        self.aad.as_deref()
    }

    /// Returns the key management algorithm, which is the one of the key.
    pub fn alg(&self) -> &'static str {
        self.alg
    }

    /// Returns the content encryption.
    pub fn enc(&self) -> ContentEnc {
        self.enc
    }

    /// Returns `typ` of the protected header.
    pub fn typ(&self) -> Option<&str> {
        self.typ.as_deref()
    }

    /// Returns `cty` of the protected header.
    pub fn content_type(&self) -> Option<&str> {
        self.cty.as_deref()
    }

    /// Returns the id of the key that decrypted the token, if it has one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    pub(crate) fn shared_key_id(&self) -> Option<Arc<str>> {
        self.key_id.clone()
    }

    /// Returns the index of the recipient, starting at 0.
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
