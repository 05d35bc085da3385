use clap::Args;
use jeton::danger::{self, RawHeaderSigner};
use jeton::jwe::Encrypter;
use jeton::jwt::JwtIssuer;
use jeton::key::ContentEnc;
use jeton::{Claims, Issue as _, JsonClaims};

use crate::allow::{self, AllowArgs, Allowed, InsecureOption};
use crate::claims::{self, ClaimsArgument, ClaimsFormat, Expiry};
use crate::exit::{Failure, Outcome};
use crate::header_member::HeaderMember;
use crate::header_style::{self, HeaderStyle};
use crate::keyfile::{Signer, SigningKeyFile, TokenEncryptionKeyFile};
use crate::limit_args::{self, NewTokenSize};
use crate::output;

/// The features that --allow enables here.
const SUPPORTED: [InsecureOption; 4] = [
    InsecureOption::WeakKeys,
    InsecureOption::Rsa1_5,
    InsecureOption::Pbes2,
    InsecureOption::Zip,
];

#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton jwt sign --key private.jwk --audience api --subject me --expires-in 15m
  jeton jwt sign --key private.jwk --claim admin=true --expires-in 1h
  jeton jwt sign --key secret.jwk --claims @claims.json --no-expiry
  jeton jwt sign --key rsa.pem --alg RS256 --claims - < claims.json
  jeton jwt sign --key private.jwk --typ at+jwt --claims @claims.json
  jeton jwt sign --key private.jwk --header x5t=THUMBPRINT --claims @file
  jeton jwt sign --key private.jwk --encrypt-key reader.jwk --claims @file

The claims are one JSON object, and what --issuer, --audience, --subject and --claim add to it. The expiry is required: exp in the claims, --expires-in or --no-expiry. If the \
claims have no iat, it is set to now.

The key selects the algorithm. Pass --alg only for a key without alg.

With --encrypt-key, the signed token is encrypted (a nested JWT, RFC 7519, section 11.2). Only the owner of \
that key can read the claims.")]
pub(super) struct Sign {
    #[command(flatten)]
    key: SigningKeyFile,

    #[command(flatten)]
    claims: ClaimsArgument,

    #[command(flatten)]
    expiry: Expiry,

    #[command(flatten)]
    encryption: TokenEncryptionKeyFile,

    /// Media type of the token (`typ`), for example at+jwt [default: JWT]
    #[arg(
        long,
        value_name = "TYPE",
        value_parser = media_type,
        conflicts_with_all = ["encrypt_key", "header_style"]
    )]
    typ: Option<String>,

    /// Add a header member, for example x5t=THUMBPRINT (repeatable)
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "header_style")]
    header: Vec<HeaderMember>,

    /// Header style: compact, or report (with spaces, as in the published Java library tables)
    #[arg(
        long,
        value_name = "STYLE",
        default_value = "compact",
        hide_possible_values = true
    )]
    header_style: HeaderStyle,

    #[command(flatten)]
    size: NewTokenSize,

    #[command(flatten)]
    allow: AllowArgs,
}

impl Sign {
    pub(super) fn run(self) -> Outcome {
        let allowed = self.allow.check(&SUPPORTED)?;
        let key = self.key.load(&allowed)?;
        let claims = self.claims.claims(&self.expiry, ClaimsFormat::Jwt)?;
        let token = match self.encryption.load(&allowed)? {
            None if self.header_style == HeaderStyle::Report => {
                RawHeaderSigner::new(key.key(), &header_style::signed(key.alg()))
                    .and_then(|under| under.issue(&claims))
            }
            Some(_) if self.header_style == HeaderStyle::Report => {
                let why = "--header-style report is only for signed tokens, not for nested tokens";
                return Err(Failure::error(why).hint("remove `--encrypt-key`"));
            }
            None => self.signed(key, &claims),
            Some(recipient) => {
                let enc = self.encryption.enc().or(recipient.enc());
                let enc = enc.unwrap_or(ContentEnc::A256Gcm);
                let encrypter = self.compressed(Encrypter::new(recipient.key(), enc), &allowed)?;
                let signed = self.signed(key, &claims).map_err(not_issued)?;
                let token = encrypter.content_type("JWT").encrypt(signed.as_bytes());
                if let (true, Ok(token)) = (self.encryption.is_compressed(), &token) {
                    limit_args::check_compressed(signed.len(), token)?;
                }
                token
            }
        };
        let token = token.map_err(not_issued)?;
        self.size.check(&token)?;
        output::line(&token)
    }

    fn signed(&self, key: Signer, claims: &Claims<'_, JsonClaims<'_>>) -> jeton::Result<String> {
        let mut builder = JwtIssuer::builder(key.into_issuer_key());
        if let Some(typ) = &self.typ {
            builder = builder.typ(typ.clone());
        }
        for HeaderMember { name, value } in &self.header {
            builder = builder.header(name, value);
        }
        builder.build().and_then(|issuer| issuer.issue(claims))
    }

    fn compressed<'k>(
        &self,
        encrypter: Encrypter<'k>,
        allowed: &Allowed,
    ) -> Outcome<Encrypter<'k>> {
        if !self.encryption.is_compressed() {
            return Ok(encrypter);
        }
        allowed.require(InsecureOption::Zip, "--zip")?;
        Ok(danger::compress(encrypter))
    }
}

fn not_issued(error: jeton::Error) -> Failure {
    claims::not_issued(error, ClaimsFormat::Jwt)
}

/// Parses a media type with the limits of the library.
fn media_type(text: &str) -> Result<String, &'static str> {
    match text.len() {
        1..=128 if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(text.to_owned()),
        _ => Err("expected a media type, for example at+jwt"),
    }
}
