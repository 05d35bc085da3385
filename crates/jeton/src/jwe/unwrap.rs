//! Decrypts the content key of a recipient (RFC 7516, section 5.2, steps 6 to 13).

#[cfg(feature = "legacy")]
use std::num::NonZeroU32;

use zeroize::Zeroizing;

use super::header::Fields;
use crate::base64;
use crate::crypto::ecdh::{self, Public};
use crate::crypto::{aes_gcm, aes_kw, concat_kdf};
use crate::error::Rejection;
#[cfg(feature = "legacy")]
use crate::error::{Measure, Part};
#[cfg(feature = "legacy")]
use crate::key::Password;
use crate::key::jwk::Members;
use crate::key::{
    self, ContentEnc, DecryptWith, DecryptionKey, Management, Private, Wrapping, WrappingKey,
};
use crate::limits;
use crate::token_limits::Limits;

/// A content key.
type Secret = Zeroizing<Vec<u8>>;

/// The longest encrypted key (RSA with the largest modulus).
const ENCRYPTED_KEY_BYTES: usize = limits::RSA_MODULUS_BITS / 8;

/// Limits the total work for one token, over all its recipients.
pub(super) struct Budget {
    tries: usize,
    rounds: u32,
    rounds_max: u32,
}

impl Budget {
    pub(super) fn full(limits: &Limits) -> Budget {
        Budget {
            tries: limits::ENCRYPTED_KEYS_TRIED,
            rounds: limits.pbes2_rounds,
            rounds_max: limits.pbes2_rounds,
        }
    }

    /// Takes one attempt from the budget. Returns false if there is none left.
    pub(super) fn take_try(&mut self) -> bool {
        let allowed = self.tries > 0;
        self.tries = self.tries.saturating_sub(1);
        allowed
    }

    #[cfg(feature = "legacy")]
    fn take_rounds(&mut self, rounds: u32) -> Result<(), Rejection> {
        let left = self.rounds.checked_sub(rounds);
        self.rounds = left.ok_or(too_many_rounds(
            (self.rounds_max - self.rounds).saturating_add(rounds),
            self.rounds_max,
        ))?;
        Ok(())
    }
}

/// The rounds over all recipients so far. A number that does not fit is given as the largest that does.
#[cfg(feature = "legacy")]
fn too_many_rounds(actual: u32, limit: u32) -> Rejection {
    Rejection::TooLarge {
        part: Part::Header,
        measure: Measure::Pbes2Rounds,
        actual,
        limit,
    }
}

/// Returns the content key that this key decrypts, or `None` for every failure. Only the salt and the
/// rounds of a password have their own errors: their limits do not depend on the key.
pub(super) fn content_key(
    key: &DecryptWith,
    fields: &Fields<'_>,
    enc: ContentEnc,
    encrypted: &[u8],
    budget: &mut Budget,
) -> Result<Option<Secret>, Rejection> {
    if encrypted.len() > ENCRYPTED_KEY_BYTES {
        return Ok(None);
    }
    let secret = match key {
        DecryptWith::Private(key) => by_private_key(key, fields, enc, encrypted),
        DecryptWith::Wrapping(key) => by_wrapping_key(key, fields, encrypted),
        DecryptWith::Content(key) => (encrypted.is_empty() && key.enc() == enc)
            .then(|| key.shared().to_decrypt())
            .flatten()
            .map(|secret| Zeroizing::new(secret.to_vec())),
        #[cfg(feature = "legacy")]
        DecryptWith::Password(password) => by_password(password, fields, encrypted, budget)?,
    };
    Ok(secret.filter(|secret| secret.len() == enc.key_bytes()))
}

fn by_private_key(
    key: &DecryptionKey,
    fields: &Fields<'_>,
    enc: ContentEnc,
    encrypted: &[u8],
) -> Option<Secret> {
    match (key.private(), key.alg().management()) {
        (Private::Rsa { key, .. }, _) => key.decrypt(encrypted, enc.key_bytes()),
        (Private::Ecdh(private), Management::Ecdh(None)) => {
            let secret = agree(private, fields, enc.name(), enc.key_bytes())?;
            encrypted.is_empty().then_some(secret)
        }
        (Private::Ecdh(private), Management::Ecdh(Some(length))) => {
            let wrapping = agree(private, fields, key.alg().name(), length)?;
            aes_kw::unwrap(&wrapping, encrypted)
        }
        // `DecryptionKey` has no other combination.
        (Private::Ecdh(_), Management::Rsa(_)) => None,
    }
}

/// Performs ECDH-ES (RFC 7518, section 4.6). The ephemeral key is a public JWK on the curve of the key.
fn agree(
    private: &ecdh::Private,
    fields: &Fields<'_>,
    algorithm: &str,
    key_bytes: usize,
) -> Option<Secret> {
    let members = Members::parse(fields.epk?).ok()?;
    let group = key::group(&members).ok()?;
    if group != private.group() {
        return None;
    }
    let point = key::public_bytes(&members, group).ok()?;
    let secret = private.agree(&Public::from_bytes(group, &point).ok()?)?;
    let (party_u, party_v) = (party(&fields.apu)?, party(&fields.apv)?);
    let derived = concat_kdf::derive(&secret, algorithm, &party_u, &party_v, key_bytes);
    Some(derived)
}

fn party(info: &Option<std::borrow::Cow<'_, str>>) -> Option<Vec<u8>> {
    let info = info.as_deref().unwrap_or_default();
    let bytes = base64::decode(info.as_bytes()).ok()?;
    (bytes.len() <= limits::PARTY_INFO_BYTES).then_some(bytes)
}

fn by_wrapping_key(key: &WrappingKey, fields: &Fields<'_>, encrypted: &[u8]) -> Option<Secret> {
    let secret = key.shared().to_decrypt()?;
    match key.alg().wrapping() {
        Wrapping::Kw => aes_kw::unwrap(secret, encrypted),
        // RFC 7518, section 4.7: the nonce and tag of the key wrapping are in the header.
        Wrapping::Gcm => {
            let iv = base64::decode(fields.iv.as_deref()?.as_bytes()).ok()?;
            let tag = base64::decode(fields.tag.as_deref()?.as_bytes()).ok()?;
            let mut data = Zeroizing::new(encrypted.to_vec());
            aes_gcm::open(secret, &iv, b"", &mut data, &tag)?;
            Some(data)
        }
    }
}

/// Derives the key with PBES2 (RFC 7518, section 4.8).
#[cfg(feature = "legacy")]
fn by_password(
    password: &Password,
    fields: &Fields<'_>,
    encrypted: &[u8],
    budget: &mut Budget,
) -> Result<Option<Secret>, Rejection> {
    let malformed = || Rejection::Malformed(Part::Header);
    let written = fields.p2c.ok_or_else(malformed)?;
    let is_whole = written.bytes().all(|byte| byte.is_ascii_digit());
    if !is_whole {
        return Err(malformed());
    }
    // A number with more digits than a u32 is too large as well.
    let rounds: u32 =
        (written.parse()).map_err(|_| too_many_rounds(u32::MAX, budget.rounds_max))?;
    if rounds < limits::PBES2_ROUNDS_MIN {
        return Err(malformed());
    }
    budget.take_rounds(rounds)?;
    let salt = fields.p2s.as_deref().ok_or_else(malformed)?;
    let salt = base64::decode(salt.as_bytes()).map_err(|_| malformed())?;
    if salt.len() < 8 {
        return Err(malformed());
    }
    if salt.len() > limits::PBES2_SALT_BYTES {
        return Err(Rejection::over(
            Part::Header,
            Measure::SaltBytes,
            salt.len(),
            limits::PBES2_SALT_BYTES,
        ));
    }
    let rounds = NonZeroU32::new(rounds).ok_or_else(malformed)?;
    let wrapping = password.unwrapping_key(&salt, rounds);
    Ok(wrapping.and_then(|wrapping| aes_kw::unwrap(&wrapping, encrypted)))
}
