use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jeton::key::{Alg, MacKey, SigningKey, VerifyingKey};
use jeton::paserk::Paserk;
use zeroize::Zeroizing;

use super::destination::Destination;
use super::ed25519;
use crate::algorithm::algorithm;
use crate::exit::{Failure, Outcome};
use crate::keyfile::{AnyKey, Form, KeyFile, Refused};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key convert --to pem private.jwk -o private.pem
  jeton key convert --to jwk --alg PS256 rsa.pem
  jeton key convert --to paserk ed25519.pem

A private key stays private, a public one public: jeton key public makes the one out of the other.
PEM and DER are PKCS#8 (private) and SPKI (public); the key's id and an RSA key's algorithm are not
in them. A symmetric key is a JWK, or a k4.local, and nothing else.")]
pub(super) struct Convert {
    /// The form to write
    #[arg(long, value_name = "FORM")]
    to: To,

    /// The key; - is standard input
    #[arg(value_name = "FILE")]
    key: PathBuf,

    /// The algorithm, for an RSA or oct key that does not say it
    #[arg(long, value_name = "NAME", value_parser = algorithm)]
    alg: Option<Alg>,

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
        let refusal = |refused| file.refusal(refused);
        let key = match file.form() {
            Form::Set(_) => {
                return Err(Failure::wrong(format!(
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
        match key {
            AnyKey::Mac(key) => symmetric(&key, self.to, file),
            AnyKey::Private(key) => private(&key, self.to).map_err(refusal),
            AnyKey::Public(key) => public(&key, self.to).map_err(refusal),
        }
    }
}

fn symmetric(key: &MacKey, to: To, file: &KeyFile) -> Outcome<Written> {
    let form = match to {
        To::Jwk => return Ok(Written::Text(key.to_jwk())),
        To::Pem => "PEM",
        To::Der => "DER",
        To::Paserk => "a PASERK",
    };
    Err(Failure::wrong(format!(
        "{}: a symmetric key (kty oct) cannot be written as {form}",
        file.name()
    ))
    .hint("a JWK is the only form it has; a key for v4.local: jeton key new --paseto v4.local"))
}

fn private(key: &SigningKey, to: To) -> Result<Written, Refused> {
    Ok(match to {
        To::Jwk => Written::Text(key.to_jwk()?),
        To::Pem => Written::Text(key.to_pem()?),
        To::Der => Written::Bytes(key.to_der()?),
        To::Paserk => Written::Text(ed25519::secret_paserk(key)?),
    })
}

fn public(key: &VerifyingKey, to: To) -> Result<Written, Refused> {
    Ok(match to {
        To::Jwk => Written::Text(Zeroizing::new(key.to_jwk())),
        To::Pem => Written::Text(Zeroizing::new(key.to_pem()?)),
        To::Der => Written::Bytes(Zeroizing::new(key.to_der()?)),
        To::Paserk => Written::Text(Zeroizing::new(ed25519::public_paserk(key)?)),
    })
}
