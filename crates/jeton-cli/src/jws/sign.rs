use clap::Args;
use jeton::danger::RawHeaderSigner;
use jeton::jws::{GeneralJws, JwsSigner};

use crate::allow::{self, AllowArgs, InsecureOption};
use crate::exit::{Failure, Outcome};
use crate::header_member::HeaderMember;
use crate::header_style::{self, HeaderStyle};
use crate::input::Member;
use crate::jose::Serialization;
use crate::keyfile::{self, SigningKeyFiles};
use crate::limit_args::NewTokenSize;
use crate::output;
use crate::token_argument::PayloadArgument;

/// The features that --allow enables here.
const SUPPORTED: [InsecureOption; 1] = [InsecureOption::WeakKeys];

#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton jws sign --key private.jwk 'any text'
  jeton jws sign --key private.jwk --cty application/pdf @document.pdf
  jeton jws sign --key private.jwk --detached @document.pdf > document.sig
  jeton jws sign --key rsa.pem --alg PS256 - < payload
  jeton jws sign --key old.jwk --key new.jwk --serialization general @file
  jeton jws sign --key secret.jwk --b64-false --detached '$.02'

The payload is signed byte by byte, including a line break at its end.

With --detached, the token does not contain the payload. Pass it again to verify: jeton jws verify --detached.

With --b64-false, the payload is not encoded (RFC 7797). In the compact serialization it must then be printable \
ASCII without a dot, or detached.

For claims with an expiry, use jeton jwt.")]
pub(super) struct Sign {
    #[command(flatten)]
    key: SigningKeyFiles,

    /// Serialization of the token; several keys require general
    #[arg(long, value_name = "FORM", default_value = "compact")]
    serialization: Serialization,

    /// Omit the payload from the token (RFC 7515, appendix F)
    #[arg(long)]
    detached: bool,

    /// Do not encode the payload in base64url (`b64` false, RFC 7797)
    #[arg(long)]
    b64_false: bool,

    /// Media type of the token (`typ`)
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// Media type of the payload (`cty`)
    #[arg(long, value_name = "TYPE")]
    cty: Option<String>,

    /// Add a protected header member, for example x5t=THUMBPRINT (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<HeaderMember>,

    /// Add an unprotected header member; JSON serializations only (repeatable)
    #[arg(long, value_name = "NAME=TEXT")]
    unprotected: Vec<Member>,

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

    #[command(flatten)]
    payload: PayloadArgument,
}

impl Sign {
    pub(super) fn run(self) -> Outcome {
        let allowed = self.allow.check(&SUPPORTED)?;
        let keys = self.key.load(&allowed)?;
        let payload = self.payload.bytes()?;
        let token = self.token(&keys, &payload)?;
        self.size.check(&token)?;
        output::line(&token)
    }

    fn token(&self, keys: &[keyfile::Signer], payload: &[u8]) -> Outcome<String> {
        let wrong = |error: jeton::Error| Failure::error(error.to_string());
        if self.header_style == HeaderStyle::Report {
            let key = self.plain(keys)?;
            return RawHeaderSigner::new(key.key(), &header_style::signed(key.alg()))
                .and_then(|under| under.sign(payload))
                .map_err(wrong);
        }
        let mut signers = Vec::with_capacity(keys.len());
        for key in keys {
            signers.push(self.signer(key));
        }
        if let Serialization::General = self.serialization {
            let general = signers
                .into_iter()
                .fold(GeneralJws::new(), GeneralJws::signer);
            return if !self.detached {
                general.sign(payload)
            } else {
                general.sign_detached(payload)
            }
            .map_err(wrong);
        }
        let [signer] = &signers[..] else {
            return Err(Failure::error(format!(
                "{} keys: the {} serialization has only one signature",
                signers.len(),
                self.serialization.name()
            ))
            .hint("for several signatures, add `--serialization general`"));
        };
        match (self.serialization, self.detached) {
            (Serialization::Compact, false) => signer.sign(payload),
            (Serialization::Compact, true) => signer.sign_detached(payload),
            (_, false) => signer.sign_flattened(payload),
            (_, true) => signer.sign_flattened_detached(payload),
        }
        .map_err(wrong)
    }

    /// Returns the only key, if the header of the compact token has no other member than alg and typ.
    fn plain<'k>(&self, keys: &'k [keyfile::Signer]) -> Outcome<&'k keyfile::Signer> {
        let compact = matches!(self.serialization, Serialization::Compact);
        let has_header_option =
            self.detached || self.b64_false || self.typ.is_some() || self.cty.is_some();
        let has_member = !self.header.is_empty() || !self.unprotected.is_empty();
        match keys {
            [key] if compact && !has_header_option && !has_member => Ok(key),
            _ => Err(Failure::error(
                "--header-style report requires the compact serialization, one key, and no other header \
                 option",
            )),
        }
    }

    fn signer<'k>(&self, key: &'k keyfile::Signer) -> JwsSigner<'k> {
        let mut signer = JwsSigner::new(key.key());
        if let Some(typ) = &self.typ {
            signer = signer.typ(typ.clone());
        }
        if let Some(cty) = &self.cty {
            signer = signer.content_type(cty.clone());
        }
        if self.b64_false {
            signer = signer.unencoded();
        }
        for HeaderMember { name, value } in &self.header {
            signer = signer.header(name, value);
        }
        for Member { name, value } in &self.unprotected {
            signer = signer.unprotected(name, value);
        }
        signer
    }
}
