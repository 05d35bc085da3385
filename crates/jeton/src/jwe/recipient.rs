//! Encrypts a content key to a recipient (RFC 7516, section 5.1, steps 1 to 8).

#[cfg(feature = "legacy")]
use std::num::NonZeroU32;

use zeroize::Zeroizing;

use super::content;
use super::header::Members;
use crate::base64;
use crate::crypto::ecdh::{self, Group};
use crate::crypto::{aes_gcm, aes_kw, concat_kdf, random};
use crate::error::{Error, InvalidUse, KeyError, KeyProblem, Result};
use crate::key::{
    self, ContentEnc, EncryptWith, EncryptionKey, EncryptionKeyRef, Management, Public, Wrapping,
};

/// Twice the minimum of RFC 7518, section 4.8.1.1.
#[cfg(feature = "legacy")]
const SALT_BYTES: usize = 16;

/// The parties that ECDH-ES binds the derived key to (RFC 7518, sections 4.6.1.2 and 4.6.1.3).
#[derive(Debug, Default)]
pub(super) struct PartyInfo {
    pub(super) u: Option<Vec<u8>>,
    pub(super) v: Option<Vec<u8>>,
}

/// The data for one recipient: the members of its header, and the encrypted content key.
pub(super) struct ForRecipient {
    pub(super) members: Members,
    pub(super) encrypted_key: Vec<u8>,
}

/// Whether the key is, or directly derives, the content key. Then there can be no second recipient.
pub(super) fn is_direct(key: EncryptionKeyRef<'_>) -> bool {
    match key.0 {
        EncryptWith::Content(_) => true,
        EncryptWith::Public(key) => key.alg().management() == Management::Ecdh(None),
        EncryptWith::Wrapping(_) => false,
        #[cfg(feature = "legacy")]
        EncryptWith::Password(_) => false,
    }
}

/// Returns the content key and the data for the first recipient. The content key is new, except for a
/// direct recipient.
pub(super) fn first(
    key: EncryptionKeyRef<'_>,
    enc: ContentEnc,
    parties: &PartyInfo,
) -> Result<(Zeroizing<Vec<u8>>, ForRecipient)> {
    let mut recipient = ForRecipient {
        members: described(key),
        encrypted_key: Vec::new(),
    };
    match key.0 {
        EncryptWith::Content(content) if content.enc() != enc => {
            Err(InvalidUse::ContentEncryption.into())
        }
        EncryptWith::Content(content) => {
            let secret = content.shared().to_encrypt()?;
            Ok((Zeroizing::new(secret.to_vec()), recipient))
        }
        EncryptWith::Public(public) if is_direct(key) => {
            let members = &mut recipient.members;
            let secret = agree(public, parties, enc.name(), enc.key_bytes(), members)?;
            Ok((secret, recipient))
        }
        _ => {
            let secret = content::fresh_key(enc)?;
            let recipient = wrapped(key, &secret, parties)?;
            Ok((secret, recipient))
        }
    }
}

/// A key that determines the content key cannot encrypt one. The encrypter rejects it before.
const DIRECT_AMONG_OTHERS: InvalidUse = InvalidUse::Recipients {
    recipients: 2,
    limit: 1,
};

/// Encrypts the content key to one recipient.
pub(super) fn wrapped(
    key: EncryptionKeyRef<'_>,
    secret: &[u8],
    parties: &PartyInfo,
) -> Result<ForRecipient> {
    let mut members = described(key);
    let encrypted_key = match key.0 {
        EncryptWith::Content(_) => return Err(DIRECT_AMONG_OTHERS.into()),
        EncryptWith::Public(public) => match (public.public(), public.alg().management()) {
            (Public::Rsa { key, .. }, _) => key.encrypt(secret)?,
            (Public::Ecdh(_), Management::Ecdh(Some(length))) => {
                let alg = public.alg().name();
                aes_kw::wrap(&agree(public, parties, alg, length, &mut members)?, secret)?
            }
            (Public::Ecdh(_), _) => return Err(DIRECT_AMONG_OTHERS.into()),
        },
        EncryptWith::Wrapping(wrapping) => {
            let key = wrapping.shared().to_encrypt()?;
            match wrapping.alg().wrapping() {
                Wrapping::Kw => aes_kw::wrap(key, secret)?,
                Wrapping::Gcm => {
                    let mut iv = [0; aes_gcm::NONCE_BYTES];
                    random::fill(&mut iv)?;
                    let mut data = secret.to_vec();
                    let tag = aes_gcm::seal(key, iv, b"", &mut data)?;
                    members.bytes("iv", &iv);
                    members.bytes("tag", &tag);
                    data
                }
            }
        }
        #[cfg(feature = "legacy")]
        EncryptWith::Password(password) => {
            let salt = random::secret::<SALT_BYTES>()?;
            let rounds = password.rounds_when_encrypting();
            members.bytes("p2s", salt.as_slice());
            members.json("p2c", rounds.to_string());
            let rounds = NonZeroU32::new(rounds).ok_or_else(|| key::invalid_rounds(rounds))?;
            aes_kw::wrap(&password.wrapping_key(salt.as_slice(), rounds)?, secret)?
        }
    };
    Ok(ForRecipient {
        members,
        encrypted_key,
    })
}

/// Returns a header with `alg` and `kid`.
fn described(key: EncryptionKeyRef<'_>) -> Members {
    let mut members = Members::default();
    members.text("alg", key.alg_name());
    if let Some(kid) = key.key_id() {
        members.text("kid", kid);
    }
    members
}

/// Performs ECDH-ES with a new ephemeral key (RFC 7518, section 4.6).
fn agree(
    key: &EncryptionKey,
    parties: &PartyInfo,
    algorithm: &str,
    key_bytes: usize,
    members: &mut Members,
) -> Result<Zeroizing<Vec<u8>>> {
    let Public::Ecdh(public) = key.public() else {
        return Err(Error::Primitive);
    };
    let ephemeral = ecdh::Private::generate(public.group())?;
    let secret = ephemeral
        .agree(public)
        .ok_or(KeyError::at("x", KeyProblem::Invalid))?;
    let crv = key::crv(public.group());
    let encoded = |bytes: &[u8]| base64::encode(bytes);
    members.json(
        "epk",
        match public.group() {
            Group::P256 | Group::P384 | Group::P521 => {
                let (x, y) = ephemeral.public()[1..].split_at(public.group().bytes());
                let (x, y) = (encoded(x), encoded(y));
                format!("{{\"kty\":\"EC\",\"crv\":\"{crv}\",\"x\":\"{x}\",\"y\":\"{y}\"}}")
            }
            Group::X25519 => {
                let x = encoded(ephemeral.public());
                format!("{{\"kty\":\"OKP\",\"crv\":\"{crv}\",\"x\":\"{x}\"}}")
            }
        },
    );
    for (name, info) in [("apu", &parties.u), ("apv", &parties.v)] {
        if let Some(info) = info {
            members.bytes(name, info);
        }
    }
    let party = |info: &Option<Vec<u8>>| info.clone().unwrap_or_default();
    let (party_u, party_v) = (party(&parties.u), party(&parties.v));
    let derived = concat_kdf::derive(&secret, algorithm, &party_u, &party_v, key_bytes);
    Ok(derived)
}
