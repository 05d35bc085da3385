//! Loads the keys of a decrypter.

use jeton::error::KeyProblem;
use jeton::key::{DecryptionKey, DecryptionKeys, KeyManagementAlg};

use super::encrypting::{Requested, SymmetricKey};
use super::{Form, KeyFile, Kind, LoadError, Loaded, Skipped};
use crate::algorithm::Algorithm;
use crate::allow::Allowed;
use crate::exit::Outcome;
use crate::output;

/// The algorithms of a key on a curve without `alg`: key agreement, with or without key wrapping.
///
/// The four never share a derived secret: the algorithm's name is an input of the derivation (RFC 7518, section
/// 4.6.2).
const IMPLIED: [KeyManagementAlg; 4] = [
    KeyManagementAlg::EcdhEs,
    KeyManagementAlg::EcdhEsA128Kw,
    KeyManagementAlg::EcdhEsA192Kw,
    KeyManagementAlg::EcdhEsA256Kw,
];

impl KeyFile {
    /// Loads the key or the key set to decrypt with. Keys of a set that cannot decrypt are skipped.
    pub(crate) fn to_decrypt(
        &self,
        requested: Requested,
        allowed: &Allowed,
    ) -> Outcome<Loaded<DecryptionKeys>> {
        if !self.is_set() {
            let key = self.one_to_decrypt(requested, allowed);
            return key
                .map(|keys| Loaded {
                    keys,
                    skipped: Skipped::default(),
                })
                .map_err(|error| self.failure(error));
        }
        let load = |key: &KeyFile| {
            key.with_default_algorithm(requested.alg, |alg| {
                key.one_to_decrypt(Requested { alg, ..requested }, allowed)
            })
        };
        let Loaded { mut keys, skipped } = self.usable(load)?;
        let first = keys.remove(0);
        Ok(Loaded {
            keys: keys.into_iter().fold(first, DecryptionKeys::and),
            skipped,
        })
    }

    fn one_to_decrypt(
        &self,
        requested: Requested,
        allowed: &Allowed,
    ) -> Result<DecryptionKeys, LoadError> {
        if self.kind() != Kind::Symmetric {
            let keys = self.private(requested.alg, allowed);
            return keys.map_err(|error| self.explain_signing_key(error));
        }
        let keys = self.symmetric(requested, allowed)?;
        if keys.len() > 1 {
            output::note(format_args!(
                "{}: the key fits several content encryptions; to select one, pass --enc NAME",
                self.name()
            ));
        }
        let keys = keys.into_iter().map(|key| match key {
            SymmetricKey::Wrapping(key) => DecryptionKeys::from(key),
            SymmetricKey::Content(key) => key.into(),
            SymmetricKey::Password(key) => key.into(),
        });
        keys.reduce(DecryptionKeys::and)
            .ok_or(LoadError::problem(KeyProblem::NoUsableKey))
    }

    fn private(
        &self,
        alg: Option<Algorithm>,
        allowed: &Allowed,
    ) -> Result<DecryptionKeys, LoadError> {
        if let Some(known) = self.management(alg, allowed)? {
            return self.decryption(known).map(DecryptionKeys::from);
        }
        let [first, others @ ..] = IMPLIED;
        let mut keys = match self.decryption(first) {
            Ok(key) => DecryptionKeys::from(key),
            Err(error) => return Err(self.explain_missing_algorithm(error)),
        };
        for alg in others {
            keys = keys.and(self.decryption(alg)?);
        }
        Ok(keys)
    }

    pub(super) fn decryption(&self, alg: KeyManagementAlg) -> Result<DecryptionKey, LoadError> {
        Ok(match self.form() {
            Form::Jwk(text) => DecryptionKey::from_jwk_as(text, alg)?,
            Form::Der(der, _) => DecryptionKey::from_der_as(der, alg)?,
            Form::Set(_) | Form::Paserk(_) | Form::Several(_) => {
                return Err(self.not_one_key());
            }
        })
    }
}
