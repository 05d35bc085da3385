//! What the two kinds of shared encryption keys have in common: a secret of a fixed length, and
//! what `key_ops` leaves of its two operations.

use std::str::FromStr;

use zeroize::Zeroizing;

use super::key_text::is_key_text;
use crate::base64;
use crate::error::{KeyError, KeyProblem};
use crate::jwk::{self, Members};

pub(crate) struct SharedSecret {
    bytes: Zeroizing<Vec<u8>>,
    permitted: PermittedUse,
}

/// Which of its two uses a shared key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermittedUse {
    Both,
    EncryptOnly,
    DecryptOnly,
}

/// What `key_ops` calls encrypting and decrypting with one kind of key (RFC 7517, section 4.3).
pub(crate) struct KeyOps {
    encrypt: [&'static str; 1],
    decrypt: [&'static str; 1],
}

impl KeyOps {
    /// Of keys that encrypt content.
    pub(crate) const CONTENT: KeyOps = KeyOps {
        encrypt: ["encrypt"],
        decrypt: ["decrypt"],
    };
    /// Of keys that wrap keys.
    pub(crate) const WRAPPING: KeyOps = KeyOps {
        encrypt: ["wrapKey"],
        decrypt: ["unwrapKey"],
    };
}

impl PermittedUse {
    /// What `use` and `key_ops` leave of them.
    pub(crate) fn of(members: &Members<'_>, ops: &KeyOps) -> Result<PermittedUse, KeyError> {
        let encrypt = members.permit_one_of("enc", &ops.encrypt);
        match (encrypt, members.permit_one_of("enc", &ops.decrypt)) {
            (Ok(()), Ok(())) => Ok(PermittedUse::Both),
            (Ok(()), Err(_)) => Ok(PermittedUse::EncryptOnly),
            (Err(_), Ok(())) => Ok(PermittedUse::DecryptOnly),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// As `key_ops` says it, which a key that is not restricted does not have.
    fn restricted_to(self, ops: &KeyOps) -> &[&'static str] {
        match self {
            PermittedUse::Both => &[],
            PermittedUse::EncryptOnly => &ops.encrypt,
            PermittedUse::DecryptOnly => &ops.decrypt,
        }
    }

    /// The secret, if the key may encrypt.
    pub(crate) fn to_encrypt(self, secret: &[u8]) -> Result<&[u8], KeyError> {
        match self {
            PermittedUse::DecryptOnly => Err(KeyError::at("key_ops", KeyProblem::Contradiction)),
            PermittedUse::Both | PermittedUse::EncryptOnly => Ok(secret),
        }
    }

    /// The secret, if the key may decrypt.
    pub(crate) fn to_decrypt(self, secret: &[u8]) -> Option<&[u8]> {
        (self != PermittedUse::EncryptOnly).then_some(secret)
    }
}

impl SharedSecret {
    pub(super) fn new(
        bytes: Zeroizing<Vec<u8>>,
        length: usize,
        permitted: PermittedUse,
    ) -> Result<SharedSecret, KeyError> {
        if bytes.len() != length {
            return Err(KeyError::at("k", KeyProblem::WrongLength));
        }
        if is_key_text(&bytes) {
            return Err(KeyError::at("k", KeyProblem::KeyAsSecret));
        }
        Ok(SharedSecret { bytes, permitted })
    }

    pub(super) fn from_members(
        members: &Members<'_>,
        length: usize,
        ops: &KeyOps,
    ) -> Result<SharedSecret, KeyError> {
        let permitted = PermittedUse::of(members, ops)?;
        Self::new(members.bytes("k")?, length, permitted)
    }

    /// The rest of a JWK that has been begun.
    pub(super) fn write(&self, writer: jwk::Writer, ops: &KeyOps) -> Zeroizing<String> {
        let operations = self.permitted.restricted_to(ops);
        writer
            .operations(operations)
            .bytes("k", &self.bytes)
            .finish()
    }

    pub(super) fn thumbprint(&self) -> String {
        let secret = base64::encode_secret(&self.bytes);
        jwk::thumbprint(&[("k", &secret), ("kty", "oct")])
    }

    /// The secret, if the key may encrypt.
    pub(crate) fn to_encrypt(&self) -> Result<&[u8], KeyError> {
        self.permitted.to_encrypt(&self.bytes)
    }

    /// The secret, if the key may decrypt.
    pub(crate) fn to_decrypt(&self) -> Option<&[u8]> {
        self.permitted.to_decrypt(&self.bytes)
    }
}

/// The algorithm of a symmetric JWK: what it says and what the caller wants, which must agree.
pub(crate) fn algorithm<A: FromStr + PartialEq>(
    members: &Members<'_>,
    wanted: Option<A>,
) -> Result<A, KeyError> {
    if members.required("kty")? != "oct" {
        return Err(KeyError::at("kty", KeyProblem::Contradiction));
    }
    let contradiction = KeyError::at("alg", KeyProblem::Contradiction);
    let declared = match members.optional("alg")? {
        None => None,
        Some(name) => Some(name.parse::<A>().map_err(|_| contradiction)?),
    };
    match (declared, wanted) {
        (Some(declared), Some(wanted)) if declared != wanted => Err(contradiction),
        (Some(alg), _) | (None, Some(alg)) => Ok(alg),
        (None, None) => Err(KeyError::at("alg", KeyProblem::AlgorithmNeeded)),
    }
}
