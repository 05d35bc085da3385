//! The common part of shared encryption keys: a secret of a fixed length, and the operations that `key_ops`
//! permits.

use std::fmt::Display;
use std::str::FromStr;

use zeroize::Zeroizing;

use super::jwk::{self, Members};
use super::key_text::is_key_text;
use super::mismatch::{another_algorithm, another_kind, wrong_jwk_type};
use crate::base64;
use crate::error::{KeyError, KeyProblem};

pub(crate) struct SharedSecret {
    bytes: Zeroizing<Vec<u8>>,
    permitted: PermittedUse,
}

/// The operations that a shared key may perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermittedUse {
    Both,
    EncryptOnly,
    DecryptOnly,
}

/// The `key_ops` values for encrypting and decrypting with a type of key (RFC 7517, section 4.3).
pub(crate) struct KeyOps {
    encrypt: [&'static str; 1],
    decrypt: [&'static str; 1],
}

impl KeyOps {
    /// For keys that encrypt content.
    pub(crate) const CONTENT: KeyOps = KeyOps {
        encrypt: ["encrypt"],
        decrypt: ["decrypt"],
    };
    /// For keys that wrap keys.
    pub(crate) const WRAPPING: KeyOps = KeyOps {
        encrypt: ["wrapKey"],
        decrypt: ["unwrapKey"],
    };
}

impl PermittedUse {
    /// Reads `use` and `key_ops`.
    pub(crate) fn of(members: &Members<'_>, ops: &KeyOps) -> Result<PermittedUse, KeyError> {
        let encrypt = members.permit_one_of("enc", &ops.encrypt);
        match (encrypt, members.permit_one_of("enc", &ops.decrypt)) {
            (Ok(()), Ok(())) => Ok(PermittedUse::Both),
            (Ok(()), Err(_)) => Ok(PermittedUse::EncryptOnly),
            (Err(_), Ok(())) => Ok(PermittedUse::DecryptOnly),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// Returns the `key_ops` to write; empty if the key is not restricted.
    fn restricted_to(self, ops: &KeyOps) -> &[&'static str] {
        match self {
            PermittedUse::Both => &[],
            PermittedUse::EncryptOnly => &ops.encrypt,
            PermittedUse::DecryptOnly => &ops.decrypt,
        }
    }

    /// Returns the secret, if the key may encrypt.
    pub(crate) fn to_encrypt(self, secret: &[u8]) -> Result<&[u8], KeyError> {
        match self {
            PermittedUse::DecryptOnly => {
                Err(KeyError::at("key_ops", KeyProblem::OperationNotPermitted)
                    .with_expected("encrypt"))
            }
            PermittedUse::Both | PermittedUse::EncryptOnly => Ok(secret),
        }
    }

    /// Returns the secret, if the key may decrypt.
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
            return Err(KeyError::wrong_length("k", bytes.len(), length));
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

    /// Writes the rest of a JWK.
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

    /// Returns the secret, if the key may encrypt.
    pub(crate) fn to_encrypt(&self) -> Result<&[u8], KeyError> {
        self.permitted.to_encrypt(&self.bytes)
    }

    /// Returns the secret, if the key may decrypt.
    pub(crate) fn to_decrypt(&self) -> Option<&[u8]> {
        self.permitted.to_decrypt(&self.bytes)
    }
}

/// Determines the algorithm of a symmetric JWK from `alg` and the caller, which must agree.
pub(crate) fn algorithm<A: FromStr + PartialEq + Display>(
    members: &Members<'_>,
    wanted: Option<A>,
) -> Result<A, KeyError> {
    if members.required("kty")? != "oct" {
        return Err(wrong_jwk_type(members, "oct"));
    }
    let declared = match members.optional("alg")? {
        None => None,
        Some(name) => Some(
            name.parse::<A>()
                .map_err(|_| another_kind(&name, "an encryption algorithm"))?,
        ),
    };
    match (declared, wanted) {
        (Some(declared), Some(wanted)) if declared != wanted => Err(another_algorithm(
            &declared.to_string(),
            &wanted.to_string(),
        )),
        (Some(alg), _) | (None, Some(alg)) => Ok(alg),
        (None, None) => Err(KeyError::at("alg", KeyProblem::AlgorithmNeeded)),
    }
}
