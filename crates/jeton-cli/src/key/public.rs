use std::path::PathBuf;

use clap::Args;
use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::paserk::{self, Paserk, PaserkVersion};
use jeton::paseto::{self, SecretKey, v3::V3, v4::V4};

use crate::algorithm::{self, Algorithm};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{Form, KeyFile, KeyPassword, LoadError, without_secret_hint};
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key public private.jwk > public.jwk
  jeton key public rsa.pem --alg RS256
  jeton key new --alg ES256 | jeton key public -

The output depends on the input:
  JWK, PEM, DER   public JWK
  JWK Set         JWK Set of the public keys
  k4.secret       k4.public (also for versions 1 to 3)

A symmetric key has no public key.")]
pub(super) struct Public {
    /// Key file (- for standard input)
    #[arg(value_name = "FILE")]
    key: PathBuf,

    /// Algorithm, required if an RSA key has no `alg`
    #[arg(long, value_name = "NAME", value_parser = algorithm::any(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    #[command(flatten)]
    password: KeyPassword,
}

impl Public {
    pub(super) fn run(self) -> Outcome {
        let is_asymmetric = self.alg.is_some_and(Algorithm::is_asymmetric);
        let file = KeyFile::read_encrypted(&self.key, &self.password)
            .map_err(|failure| without_secret_hint(failure, is_asymmetric))?;
        match file.form() {
            Form::Paserk(text) => {
                let public = public_paserk(text).map_err(|error| file.failure(error))?;
                output::line(&public)
            }
            Form::Set(_) | Form::Several(_) => {
                let jwks = file.each_as(|key| self.jwk(key))?;
                output::line(&format!("{{\"keys\":[{}]}}", jwks.join(",")))
            }
            Form::Jwk(_) | Form::Der(..) => output::line(&self.jwk(&file)?),
        }
    }

    fn jwk(&self, file: &KeyFile) -> Outcome<String> {
        let public = file.any_public(self.alg)?.ok_or_else(|| {
            Failure::error(format!(
                "{}: a symmetric key (kty oct) has no public key",
                file.name()
            ))
            .hint(
                "to make a key pair, run `jeton key new --alg ES256` (signatures) or `jeton key new --alg ECDH-ES` (encryption)",
            )
        })?;
        let jwk = public.to_jwk();
        Ok(jwk.map_err(|error| file.failure(error.into()))?.to_string())
    }
}

fn public_paserk(text: &str) -> Result<String, LoadError> {
    let paserk = Paserk::parse(text)?;
    let kind = paserk.kind();
    match (kind.form(), kind.version()) {
        (paserk::Form::Public, _) => Ok(paserk.to_text().to_string()),
        (paserk::Form::Secret, PaserkVersion::V1) => half::<V1>(text),
        (paserk::Form::Secret, PaserkVersion::V2) => half::<V2>(text),
        (paserk::Form::Secret, PaserkVersion::V3) => half::<V3>(text),
        (paserk::Form::Secret, PaserkVersion::V4) => half::<V4>(text),
        _ => Err(LoadError::member(
            "paserk",
            format!("a {kind} is symmetric and has no public key"),
        )),
    }
}

fn half<V: paseto::Version>(secret: &str) -> Result<String, LoadError> {
    Ok(SecretKey::<V>::from_paserk(secret)?
        .public_key()
        .to_paserk())
}
