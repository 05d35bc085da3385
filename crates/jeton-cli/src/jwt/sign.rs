use clap::Args;
use jeton::Issue as _;
use jeton::danger::{self, HeaderText};
use jeton::jwe::Encrypter;
use jeton::jwt::{Issuer, NestedIssuer};
use jeton::key::ContentEnc;

use crate::claims::{ClaimsFormat, Expiry};
use crate::allow::{self, InsecureOption, AllowArgs, Allowed};
use crate::exit::{Failure, Outcome};
use crate::header_style::{self, HeaderStyle};
use crate::keyfile::{Signer, SigningKeyFile, TokenEncryptionKeyFile};
use crate::output;
use crate::source::ClaimsArgument;

/// The allowed that lead somewhere here.
const SUPPORTED: [InsecureOption; 4] = [InsecureOption::WeakKeys, InsecureOption::Rsa1_5, InsecureOption::Pbes2, InsecureOption::Zip];

#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton jwt sign --key private.jwk --claims '{\"sub\":\"user-7\",\"aud\":\"api\"}' --expires-in 15m
  jeton jwt sign --key secret.jwk --claims @claims.json --no-expiry
  jeton jwt sign --key rsa.pem --alg RS256 --kid 2026-11 --claims - < claims.json
  jeton jwt sign --key private.jwk --typ at+jwt --claims @claims.json --expires-in 15m
  jeton jwt sign --key private.jwk --encrypt-key reader.pub.jwk --claims @claims.json --expires-in 1h

The claims are one JSON object. An expiry must be chosen: --expires-in, exp in the claims, or
--no-expiry. iat is now unless the claims have it. The key says the algorithm; --alg only names it
for a key that does not. With --encrypt-key the signed token is then encrypted (a nested JWT, RFC
7519, section 11.2): only the owner of that key can read the claims.")]
pub(super) struct Sign {
    #[command(flatten)]
    key: SigningKeyFile,

    #[command(flatten)]
    claims: ClaimsArgument,

    #[command(flatten)]
    expiry: Expiry,

    #[command(flatten)]
    encryption: TokenEncryptionKeyFile,

    /// The media type of the token (typ), which a verifier may demand: at+jwt [default: JWT]
    #[arg(
        long,
        value_name = "TYPE",
        value_parser = media_type,
        conflicts_with_all = ["encrypt_key", "header_style"]
    )]
    typ: Option<String>,

    /// How the header is spelled: compact, or report, with the spaces of a published report
    #[arg(
        long,
        value_name = "STYLE",
        default_value = "compact",
        hide_possible_values = true
    )]
    header_style: HeaderStyle,

    #[command(flatten)]
    allow: AllowArgs,
}

impl Sign {
    pub(super) fn run(self) -> Outcome {
        let allowed = self.allow.check(&SUPPORTED)?;
        let key = self.key.load(&allowed)?;
        let claims = self.expiry.claims(self.claims.source()?, ClaimsFormat::Jwt)?;
        let token = match self.encryption.load(&allowed)? {
            None if self.header_style == HeaderStyle::Report => {
                HeaderText::new(key.key(), &header_style::signed(key.alg()))
                    .and_then(|under| under.issue(&claims))
            }
            Some(_) if self.header_style == HeaderStyle::Report => {
                let why = "--header-style report is for a token that is signed alone";
                return Err(Failure::error(why).hint("leave out --encrypt-key"));
            }
            None => match (&self.typ, &key) {
                (Some(typ), _) => {
                    Issuer::new(key.key(), typ).and_then(|issuer| issuer.issue(&claims))
                }
                (None, Signer::Mac(key)) => key.issue(&claims),
                (None, Signer::Private(key)) => key.issue(&claims),
            },
            Some(recipient) => {
                let enc = self.encryption.enc().or(recipient.enc());
                let enc = enc.unwrap_or(ContentEnc::A256Gcm);
                let encrypter = self.zipped(Encrypter::new(recipient.key(), enc), &allowed)?;
                NestedIssuer::new(key.key(), encrypter).issue(&claims)
            }
        };
        let token = token.map_err(|error| Failure::error(error.to_string()))?;
        output::note_size(&token);
        output::line(&token)
    }

    fn zipped<'k>(&self, encrypter: Encrypter<'k>, allowed: &Allowed) -> Outcome<Encrypter<'k>> {
        if !self.encryption.zips() {
            return Ok(encrypter);
        }
        allowed.require(InsecureOption::Zip, "--zip")?;
        Ok(danger::compress(encrypter))
    }
}

/// What the library takes for a media type.
fn media_type(text: &str) -> Result<String, &'static str> {
    match text.len() {
        1..=128 if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(text.to_owned()),
        _ => Err("a media type is wanted, as in at+jwt"),
    }
}
