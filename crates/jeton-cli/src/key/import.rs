use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::destination::Destination;
use super::ed25519;
use super::kid::KeyIdArgs;
use crate::algorithm::{self, Algorithm};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{AnyKey, Form, Half, KeyFile, KeyPassword, SecretArgs, without_secret_hint};
use crate::output;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("source").args(["key", "secret_file", "secret_env"]).required(true),
    mut_arg("key_password_file", |password| password.conflicts_with("secret")),
    after_help = "\
Examples:
  jeton key import --alg RS256 rsa.pem -o private.jwk
  jeton key import --key-password-file password encrypted.pem -o private.jwk
  jeton key import --secret-file secret.txt --alg HS256 -o secret.jwk
  jeton key import --secret-env SECRET --secret-encoding base64 --alg HS512
  jeton key import --from-certificate --alg RS256 certificate.pem > public.jwk

A key keeps its key id (kid), unless --kid sets another.

A key file is PEM or DER (PKCS#8, PKCS#1, SEC1 or SPKI), the base64 of DER, a JWK, or a PASERK with an Ed25519 \
key. A private key stays private.

A secret has at least as many bytes as the hash of its algorithm: 32 for HS256, 48 for HS384, 64 for HS512."
)]
pub(super) struct Import {
    /// Key file (- for standard input)
    #[arg(value_name = "FILE")]
    key: Option<PathBuf>,

    #[command(flatten)]
    secret: SecretArgs,

    /// Use the public key of a certificate (PEM or DER). The certificate is not verified
    #[arg(long, requires = "key")]
    from_certificate: bool,

    /// Algorithm, required if the key has no `alg` (RSA, oct, a secret, base64)
    #[arg(long, value_name = "NAME", value_parser = algorithm::any(), hide_possible_values = true)]
    alg: Option<Algorithm>,

    #[command(flatten)]
    key_id: KeyIdArgs,

    #[command(flatten)]
    password: KeyPassword,

    #[command(flatten)]
    destination: Destination,
}

impl Import {
    pub(super) fn run(self) -> Outcome {
        let key = self.key_id.set(one_key(&self.file()?, self.alg)?)?;
        let mut text = key
            .to_jwk()
            .map_err(|error| Failure::error(error.to_string()))?;
        text.push('\n');
        self.destination.text(&text)?;
        if let Some(path) = self.destination.file() {
            let what = match key.half() {
                Half::Symmetric => "a secret JWK",
                Half::Private => "a private JWK",
                Half::Public => "a public JWK",
            };
            output::status(format_args!("wrote {}: {what}", path.display()));
        }
        Ok(())
    }

    fn file(&self) -> Outcome<KeyFile> {
        if let Some(secret) = self.secret.read()? {
            return secret.key_file();
        }
        let path = self
            .key
            .as_deref()
            .ok_or_else(|| Failure::error("no key: pass a key file or --secret-file"))?;
        if self.from_certificate {
            let file = KeyFile::read_certificate(path)?;
            output::note(format_args!(
                "{}: nothing checked the certificate: its signature, time, name and use",
                file.name()
            ));
            return Ok(file);
        }
        let is_asymmetric = self.alg.is_some_and(Algorithm::is_asymmetric);
        KeyFile::read_encrypted(path, &self.password)
            .map_err(|failure| without_secret_hint(failure, is_asymmetric))
    }
}

/// Loads the only key of a file, to write it as a JWK.
pub(super) fn one_key(file: &KeyFile, alg: Option<Algorithm>) -> Outcome<AnyKey> {
    match file.form() {
        Form::Set(_) | Form::Several(_) => Err(Failure::error(format!(
            "{}: expected one key, got a key set",
            file.name()
        ))),
        Form::Paserk(text) => ed25519::of_paserk_text(text).map_err(|error| file.failure(error)),
        Form::Jwk(_) | Form::Der(..) => file.any(alg),
    }
}
