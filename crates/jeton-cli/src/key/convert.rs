use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jeton::key::{DecryptionKey, EncryptionKey, SigningKey, VerifyingKey};
use jeton::paserk::Paserk;
use zeroize::Zeroizing;

use super::destination::Destination;
use super::{ed25519, import};
use crate::algorithm::{self, Algorithm};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{AnyKey, Form, KeyFile, KeyPassword, LoadError, without_secret_hint};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key convert --to pem private.jwk -o private.pem
  jeton key convert --to jwk --alg PS256 rsa.pem
  jeton key convert --to paserk ed25519.pem

A private key stays private. To get the public key, run jeton key public.

PEM and DER are PKCS#8 (private) or SPKI (public). They contain neither kid nor alg. To read an RSA \
key or an encryption key from them, pass --alg.

The only format of a symmetric key is a JWK, or for PASETO a PASERK such as k4.local.")]
pub(super) struct Convert {
    /// Output format
    #[arg(long, value_name = "FORM")]
    to: To,

    /// Key file (- for standard input)
    #[arg(value_name = "FILE")]
    key: PathBuf,

    /// Algorithm, required if the key has no `alg` (RSA, oct)
    #[arg(long, value_name = "NAME", value_parser = algorithm::any(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    #[command(flatten)]
    destination: Destination,

    #[command(flatten)]
    password: KeyPassword,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// JSON (RFC 7517)
    Jwk,
    /// PKCS#8 or SPKI as text (RFC 7468)
    Pem,
    /// PKCS#8 or SPKI as bytes
    Der,
    /// Ed25519 key for PASETO, as k4.secret or k4.public
    Paserk,
}

/// A key in the output format.
enum Written {
    Text(Zeroizing<String>),
    Bytes(Zeroizing<Vec<u8>>),
}

impl Convert {
    pub(super) fn run(self) -> Outcome {
        let is_asymmetric = self.alg.is_some_and(Algorithm::is_asymmetric);
        let file = KeyFile::read_encrypted(&self.key, &self.password)
            .map_err(|failure| without_secret_hint(failure, is_asymmetric))?;
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
        let failure = |error| file.failure(error);
        let key = match (file.form(), self.to) {
            (Form::Paserk(text), To::Paserk) => {
                let paserk = Paserk::parse(text).map_err(|error| failure(error.into()))?;
                return Ok(Written::Text(paserk.to_text()));
            }
            // Of the formats for JOSE only JWK contains the algorithm.
            (Form::Jwk(_) | Form::Der(..), To::Pem | To::Der | To::Paserk)
                if self.alg.is_none() =>
            {
                file.any_algorithm()?
            }
            _ => import::one_key(file, self.alg)?,
        };
        match &key {
            AnyKey::Mac(_) | AnyKey::Wrapping(_) | AnyKey::Content(_) => {
                symmetric(&key, self.to, file)
            }
            AnyKey::Signing(key) => private(key, self.to).map_err(failure),
            AnyKey::Verifying(key) => public(key, self.to).map_err(failure),
            AnyKey::Decryption(key) => decryption(key, self.to).map_err(failure),
            AnyKey::Encryption(key) => encryption(key, self.to).map_err(failure),
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
        "{}: a symmetric key (kty oct) cannot be converted to {form}",
        file.name()
    ))
    .hint(
        "its only format is JWK; to make a key for v4.local, run `jeton key new --paseto v4.local`",
    ))
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
        format!("a PASERK contains an Ed25519 key, and this key is for {alg}"),
    )
}
