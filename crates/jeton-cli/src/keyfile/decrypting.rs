//! From a key file to what a decrypter has.

use jeton::error::KeyProblem;
use jeton::key::{DecryptionKey, DecryptionKeys, KeyManagementAlg};

use super::encrypting::{Said, Shared};
use super::{Form, KeyFile, Kind, Loaded, Refused, Skipped};
use crate::algorithm::Algorithm;
use crate::doors::Open;
use crate::exit::Outcome;
use crate::output;

/// What a curve implies when nothing says more: agreement, with or without a wrapping of the key. The
/// four never share a derived secret, for each is derived under its own name (RFC 7518, section
/// 4.6.2).
const IMPLIED: [KeyManagementAlg; 4] = [
    KeyManagementAlg::EcdhEs,
    KeyManagementAlg::EcdhEsA128Kw,
    KeyManagementAlg::EcdhEsA192Kw,
    KeyManagementAlg::EcdhEsA256Kw,
];

impl KeyFile {
    /// The key or the set to decrypt with. Keys of a set that cannot decrypt do not spoil the rest.
    pub(crate) fn to_decrypt(&self, said: Said, doors: &Open) -> Outcome<Loaded<DecryptionKeys>> {
        let Form::Set(text) = self.form() else {
            let key = self.one_to_decrypt(said, doors);
            return key
                .map(|keys| Loaded {
                    keys,
                    skipped: Skipped::default(),
                })
                .map_err(|refused| self.refusal(refused));
        };
        let load = |key: &KeyFile| {
            key.filled(said.alg, |alg| {
                key.one_to_decrypt(Said { alg, ..said }, doors)
            })
        };
        let Loaded { mut keys, skipped } = self.usable(text, load)?;
        let first = keys.remove(0);
        Ok(Loaded {
            keys: keys.into_iter().fold(first, DecryptionKeys::and),
            skipped,
        })
    }

    fn one_to_decrypt(&self, said: Said, doors: &Open) -> Result<DecryptionKeys, Refused> {
        if self.kind() != Kind::Symmetric {
            let keys = self.private(said.alg, doors);
            return keys.map_err(|refused| self.unless_it_signs(refused));
        }
        let keys = self.shared(said, doors)?;
        if keys.len() > 1 {
            output::note(format_args!(
                "{}: nothing says the encryption, and the key fits more than one; give --enc NAME",
                self.name()
            ));
        }
        let keys = keys.into_iter().map(|key| match key {
            Shared::Wrapping(key) => DecryptionKeys::from(key),
            Shared::Content(key) => key.into(),
            Shared::Password(key) => key.into(),
        });
        keys.reduce(DecryptionKeys::and)
            .ok_or(Refused::problem(KeyProblem::NoUsableKey))
    }

    fn private(&self, alg: Option<Algorithm>, doors: &Open) -> Result<DecryptionKeys, Refused> {
        if let Some(known) = self.management(alg, doors)? {
            let keys = self.decryption(known).map(DecryptionKeys::from);
            return keys.map_err(|refused| self.against(refused, alg.map(Algorithm::name)));
        }
        let [first, others @ ..] = IMPLIED;
        let mut keys = match self.decryption(first) {
            Ok(key) => DecryptionKeys::from(key),
            Err(refused) => return Err(self.unless_rsa(refused)),
        };
        for alg in others {
            keys = keys.and(self.decryption(alg)?);
        }
        Ok(keys)
    }

    pub(super) fn decryption(&self, alg: KeyManagementAlg) -> Result<DecryptionKey, Refused> {
        Ok(match self.form() {
            Form::Jwk(text) => DecryptionKey::from_jwk_as(text, alg)?,
            Form::Pem(text) => DecryptionKey::from_pem_as(text, alg)?,
            Form::Der(_) if self.kind() == Kind::Public => {
                return Err(Refused::problem(KeyProblem::PublicGiven));
            }
            Form::Der(der) => DecryptionKey::from_der_as(der, alg)?,
            Form::Set(_) | Form::Paserk(_) => return Err(self.not_one_key()),
        })
    }
}
