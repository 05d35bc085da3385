use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jeton::key::{DecryptionKey, EncryptionKey, SigningKey, VerifyingKey};
use jeton::paserk::Paserk;
use zeroize::Zeroizing;

use super::destination::Destination;
use super::ed25519;
use crate::algorithm::{self, Algorithm};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{AnyKey, Form, KeyFile, LoadError};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key convert --to pem private.jwk -o private.pem
  jeton key convert --to jwk --alg PS256 rsa.pem
  jeton key convert --to paserk ed25519.pem

A private key stays private, a public one public: jeton key public makes the one out of the other.
PEM and DER are PKCS#8 (private) and SPKI (public); the key's id and its algorithm are not in them,
which for RSA, and for a curve that is to encrypt, must then be said again: --alg. A symmetric key is a JWK, or a k4.local, and nothing else.")]
pub(super) struct Convert {
    /// The form to write
    #[arg(long, value_name = "FORM")]
    to: To,

    /// The key; - is standard input
    #[arg(value_name = "FILE")]
    key: PathBuf,

    /// The algorithm, for an RSA or oct key that does not say it
    #[arg(long, value_name = "NAME", value_parser = algorithm::any(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    #[command(flatten)]
    destination: Destination,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// JSON (RFC 7517)
    Jwk,
    /// Text of PKCS#8 or SPKI (RFC 7468)
    Pem,
    /// Bytes of PKCS#8 or SPKI
    Der,
    /// For PASETO: an Ed25519 key as k4.secret or k4.public
    Paserk,
}

/// A key in its new form.
enum Written {
    Text(Zeroizing<String>),
    Bytes(Zeroizing<Vec<u8>>),
}

impl Convert {
    pub(super) fn run(self) -> Outcome {
        let file = KeyFile::read(&self.key)?;
        match self.write(&file)? {
            Written::Text(mut text) => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                self.destination.text(&text)
            }
            Written::Bytes(bytes) => self.destination.binary(&bytes),
        }
    }

    fn write(&self, file: &KeyFile) -> Outcome<Written> {
        let refusal = |error| file.failure(refused);
        let key = match file.form() {
            Form::Set(_) => {
                return Err(Failure::error(format!(
                    "{}: one key is converted at a time, and this is a set",
                    file.name()
                )));
            }
            Form::Paserk(text) => {
                let paserk = Paserk::parse(text).map_err(|error| refusal(error.into()))?;
                if self.to == To::Paserk {
                    return Ok(Written::Text(paserk.to_text()));
                }
                ed25519::from_paserk(&paserk).map_err(refusal)?
            }
            // Only a JWK has a place for the algorithm.
            Form::Jwk(_) | Form::Pem(_) | Form::Der(_) => match (self.to, self.alg) {
                (To::Jwk, _) | (_, Some(_)) => file.any(self.alg)?,
                (_, None) => file.any_algorithm()?,
            },
        };
        match &key {
            AnyKey::Mac(_) | AnyKey::Wrapping(_) | AnyKey::Content(_) => {
                symmetric(&key, self.to, file)
            }
            AnyKey::Signing(key) => private(key, self.to).map_err(refusal),
            AnyKey::Verifying(key) => public(key, self.to).map_err(refusal),
            AnyKey::Decryption(key) => decryption(key, self.to).map_err(refusal),
            AnyKey::Encryption(key) => encryption(key, self.to).map_err(refusal),
        }
    }
}

fn symmetric(key: &AnyKey, to: To, file: &KeyFile) -> Outcome<Written> {
    let form = match to {
        To::Jwk => {
            let jwk = key.to_jwk().map_err(|error| file.failure(error.into()))?;
            return Ok(Written::Text(jwk));
        }
        To::Pem => "PEM",
        To::Der => "DER",
        To::Paserk => "a PASERK",
    };
    Err(Failure::error(format!(
        "{}: a symmetric key (kty oct) cannot be written as {form}",
        file.name()
    ))
    .hint("a JWK is the only form it has; a key for v4.local: jeton key new --paseto v4.local"))
}

fn private(key: &SigningKey, to: To) -> Result<Written, LoadError> {
    Ok(match to {
        To::Jwk => Written::Text(key.to_jwk()?),
        To::Pem => Written::Text(key.to_pem()?),
        To::Der => Written::Bytes(key.to_der()?),
        To::Paserk => Written::Text(ed25519::secret_paserk(key)?),
    })
}

fn public(key: &VerifyingKey, to: To) -> Result<Written, LoadError> {
    Ok(match to {
        To::Jwk => Written::Text(Zeroizing::new(key.to_jwk())),
        To::Pem => Written::Text(Zeroizing::new(key.to_pem()?)),
        To::Der => Written::Bytes(Zeroizing::new(key.to_der()?)),
        To::Paserk => Written::Text(Zeroizing::new(ed25519::public_paserk(key)?)),
    })
}

fn decryption(key: &DecryptionKey, to: To) -> Result<Written, LoadError> {
    Ok(match to {
        To::Jwk => Written::Text(key.to_jwk()?),
        To::Pem => Written::Text(key.to_pem()?),
        To::Der => Written::Bytes(key.to_der()?),
        To::Paserk => return Err(not_for_paseto(key.alg().name())),
    })
}

fn encryption(key: &EncryptionKey, to: To) -> Result<Written, LoadError> {
    Ok(match to {
        To::Jwk => Written::Text(Zeroizing::new(key.to_jwk())),
        To::Pem => Written::Text(Zeroizing::new(key.to_pem()?)),
        To::Der => Written::Bytes(Zeroizing::new(key.to_der()?)),
        To::Paserk => return Err(not_for_paseto(key.alg().name())),
    })
}

fn not_for_paseto(alg: &str) -> LoadError {
    LoadError::member(
        "alg",
        format!("a PASERK holds an Ed25519 key, and this one is for {alg}"),
    )
}
