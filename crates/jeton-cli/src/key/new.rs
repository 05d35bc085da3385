use clap::{Args, ValueEnum};
use jeton::key::{Alg, MacKey, SigningKey};
use jeton::paseto::v4;
use zeroize::Zeroizing;

use super::destination::Destination;
use crate::algorithm::algorithm;
use crate::exit::{Failure, Outcome};
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key new --alg ES256 --kid 2026-11 -o private.jwk
  jeton key new --alg HS256 > secret.jwk
  jeton key new --paseto v4.public -o secret.paserk

RSA keys have 2048 bits. The key goes to standard output unless -o names a file, which must not be
there yet and which only its owner can read.")]
pub(super) struct New {
    #[command(flatten)]
    what: What,

    /// The key's id (kid), 1 to 256 bytes
    #[arg(long, value_name = "ID", conflicts_with = "paseto")]
    kid: Option<String>,

    #[command(flatten)]
    destination: Destination,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct What {
    /// A private JWK for this algorithm: HS256, ES256, PS384, Ed25519, …
    #[arg(long, value_name = "NAME", value_parser = algorithm)]
    alg: Option<Alg>,

    /// A PASERK for PASETOs of this version and purpose
    #[arg(long, value_name = "KIND")]
    paseto: Option<Purpose>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Purpose {
    /// Signed: the key is a k4.secret
    #[value(name = "v4.public")]
    V4Public,
    /// Encrypted: the key is a k4.local
    #[value(name = "v4.local")]
    V4Local,
}

impl New {
    pub(super) fn run(self) -> Outcome {
        let made = match (self.what.alg, self.what.paseto) {
            (Some(alg), _) => self.jwk(alg),
            (None, Some(purpose)) => paserk(purpose),
            (None, None) => return Err(Failure::wrong("say what to make: --alg or --paseto")),
        };
        let (mut text, what) = made.map_err(|error| Failure::wrong(error.to_string()))?;
        text.push('\n');
        self.destination.text(&text)?;
        if let Some(path) = self.destination.file() {
            output::done(format_args!("wrote {}: {what}", path.display()));
        }
        Ok(())
    }

    fn jwk(&self, alg: Alg) -> jeton::Result<(Zeroizing<String>, String)> {
        match alg {
            Alg::Mac(alg) => {
                let key = MacKey::generate(alg)?;
                let key = match &self.kid {
                    Some(kid) => key.with_key_id(kid)?,
                    None => key,
                };
                Ok((key.to_jwk(), format!("a secret JWK for {alg}")))
            }
            Alg::Sig(alg) => {
                let key = SigningKey::generate(alg)?;
                let key = match &self.kid {
                    Some(kid) => key.with_key_id(kid)?,
                    None => key,
                };
                let thumbprint = key.verifying_key().thumbprint();
                let what = format!("a private JWK for {alg}, thumbprint {thumbprint}");
                Ok((key.to_jwk()?, what))
            }
            other => Err(unknown(other)),
        }
    }
}

/// `Alg` may grow; what it has today is made above.
fn unknown(_: Alg) -> jeton::Error {
    jeton::Error::Primitive
}

fn paserk(purpose: Purpose) -> jeton::Result<(Zeroizing<String>, String)> {
    Ok(match purpose {
        Purpose::V4Public => {
            let key = v4::SecretKey::generate()?;
            let what = format!("a k4.secret, its public key is {}", key.public_key().id());
            (key.to_paserk()?, what)
        }
        Purpose::V4Local => {
            let key = v4::LocalKey::generate()?;
            (key.to_paserk(), format!("a k4.local, {}", key.id()))
        }
    })
}
