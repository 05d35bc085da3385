//! What the two kinds of shared encryption keys have in common: a secret of a fixed length, and
//! what `key_ops` leaves of its two uses.

use std::str::FromStr;

use zeroize::Zeroizing;

use crate::base64;
use crate::error::{KeyError, KeyProblem};
use crate::jwk::{self, Members};

pub(crate) struct SharedSecret {
    bytes: Zeroizing<Vec<u8>>,
    directions: Directions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directions {
    Both,
    EncryptOnly,
    DecryptOnly,
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
        Ok(SharedSecret { bytes, directions })
    }

    /// `operations` are `key_ops`' names of encrypting and of decrypting.
    pub(super) fn from_members(
        members: &Members<'_>,
        length: usize,
        operations: [&str; 2],
    ) -> Result<SharedSecret, KeyError> {
        let [encrypt, decrypt] =
            operations.map(|operation| members.permit_one_of("enc", &[operation]));
        let directions = match (encrypt, decrypt) {
            (Ok(()), Ok(())) => Directions::Both,
            (Ok(()), Err(_)) => Directions::EncryptOnly,
            (Err(_), Ok(())) => Directions::DecryptOnly,
            (Err(error), Err(_)) => return Err(error),
        };
        Self::new(members.bytes("k")?, length, directions)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn thumbprint(&self) -> String {
        let secret = Zeroizing::new(base64::encode(&self.bytes));
        jwk::thumbprint(&[("k", &secret), ("kty", "oct")])
    }

    /// The secret, if the key may encrypt.
    pub(crate) fn to_encrypt(&self) -> Result<&[u8], KeyError> {
        if self.directions == Directions::DecryptOnly {
            return Err(KeyError::at("key_ops", KeyProblem::Contradiction));
        }
        Ok(&self.bytes)
    }

    /// The secret, if the key may decrypt.
    pub(crate) fn to_decrypt(&self) -> Option<&[u8]> {
        (self.directions != Directions::EncryptOnly).then_some(&self.bytes)
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
