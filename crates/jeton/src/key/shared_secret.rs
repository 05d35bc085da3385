//! What the two kinds of shared encryption keys have in common: a secret of a fixed length, and
//! what `key_ops` leaves of its two uses.

use std::str::FromStr;

use zeroize::Zeroizing;

use super::key_text::is_key_text;
use crate::base64;
use crate::error::{KeyError, KeyProblem};
use crate::jwk::{self, Members};

pub(crate) struct SharedSecret {
    bytes: Zeroizing<Vec<u8>>,
    directions: Directions,
}

/// Which of its two uses a shared key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directions {
    Both,
    EncryptOnly,
    DecryptOnly,
}

/// What `key_ops` calls encrypting and decrypting with one kind of key (RFC 7517, section 4.3).
pub(crate) struct Uses {
    encrypt: [&'static str; 1],
    decrypt: [&'static str; 1],
}

impl Uses {
    /// Of keys that encrypt content.
    pub(crate) const CONTENT: Uses = Uses {
        encrypt: ["encrypt"],
        decrypt: ["decrypt"],
    };
    /// Of keys that wrap keys.
    pub(crate) const WRAPPING: Uses = Uses {
        encrypt: ["wrapKey"],
        decrypt: ["unwrapKey"],
    };
}

impl Directions {
    /// What `use` and `key_ops` leave of them.
    pub(crate) fn of(members: &Members<'_>, uses: &Uses) -> Result<Directions, KeyError> {
        let encrypt = members.permit_one_of("enc", &uses.encrypt);
        match (encrypt, members.permit_one_of("enc", &uses.decrypt)) {
            (Ok(()), Ok(())) => Ok(Directions::Both),
            (Ok(()), Err(_)) => Ok(Directions::EncryptOnly),
            (Err(_), Ok(())) => Ok(Directions::DecryptOnly),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// As `key_ops` says it, which a key that is not restricted does not have.
    fn restricted_to(self, uses: &Uses) -> &[&'static str] {
        match self {
            Directions::Both => &[],
            Directions::EncryptOnly => &uses.encrypt,
            Directions::DecryptOnly => &uses.decrypt,
        }
    }

    /// The secret, if the key may encrypt.
    pub(crate) fn to_encrypt(self, secret: &[u8]) -> Result<&[u8], KeyError> {
        match self {
            Directions::DecryptOnly => Err(KeyError::at("key_ops", KeyProblem::Contradiction)),
            Directions::Both | Directions::EncryptOnly => Ok(secret),
        }
    }

    /// The secret, if the key may decrypt.
    pub(crate) fn to_decrypt(self, secret: &[u8]) -> Option<&[u8]> {
        (self != Directions::EncryptOnly).then_some(secret)
    }
}

impl SharedSecret {
    pub(super) fn new(
        bytes: Zeroizing<Vec<u8>>,
        length: usize,
        directions: Directions,
    ) -> Result<SharedSecret, KeyError> {
        if bytes.len() != length {
            return Err(KeyError::at("k", KeyProblem::WrongLength));
        }
        if is_key_text(&bytes) {
            return Err(KeyError::at("k", KeyProblem::KeyAsSecret));
        }
        Ok(SharedSecret { bytes, directions })
    }

    pub(super) fn from_members(
        members: &Members<'_>,
        length: usize,
        uses: &Uses,
    ) -> Result<SharedSecret, KeyError> {
        let directions = Directions::of(members, uses)?;
        Self::new(members.bytes("k")?, length, directions)
    }

    /// The rest of a JWK that has been begun.
    pub(super) fn write(&self, writer: jwk::Writer, uses: &Uses) -> Zeroizing<String> {
        let operations = self.directions.restricted_to(uses);
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
        self.directions.to_encrypt(&self.bytes)
    }

    /// The secret, if the key may decrypt.
    pub(crate) fn to_decrypt(&self) -> Option<&[u8]> {
        self.directions.to_decrypt(&self.bytes)
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
    let said = match members.optional("alg")? {
        None => None,
        Some(name) => Some(name.parse::<A>().map_err(|_| contradiction)?),
    };
    match (said, wanted) {
        (Some(said), Some(wanted)) if said != wanted => Err(contradiction),
        (Some(alg), _) | (None, Some(alg)) => Ok(alg),
        (None, None) => Err(KeyError::at("alg", KeyProblem::AlgorithmNeeded)),
    }
}
