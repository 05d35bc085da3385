use std::collections::BTreeMap;

use clap::Args;
use jeton::danger::HeaderText;
use jeton::jws::{General, Signer};

use crate::allow::{self, InsecureOption, AllowArgs};
use crate::exit::{Failure, Outcome};
use crate::header_style::{self, HeaderStyle};
use crate::input::Member;
use crate::jose::Serialization;
use crate::keyfile::{self, SigningKeyFiles};
use crate::output;
use crate::source::PayloadArgument;

/// The allowed that lead somewhere here.
const SUPPORTED: [InsecureOption; 1] = [InsecureOption::WeakKeys];

#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton jws sign --key private.jwk 'any text'
  jeton jws sign --key private.jwk --cty application/pdf @contract.pdf > contract.jws
  jeton jws sign --key private.jwk --detached @contract.pdf > contract.sig
  jeton jws sign --key rsa.pem --alg PS256 - < payload
  jeton jws sign --key old.jwk --key new.jwk --serialization general @contract.pdf
  jeton jws sign --key secret.jwk --b64-false --detached '$.02'

The payload is signed byte by byte as it is, with its last newline if it has one. With --detached it
travels on its own, and the verifier is given it again: jeton jws verify --detached. With --b64-false
it stands in the token as it is (RFC 7797), which in the compact serialization only printable ASCII
without a dot can, unless it is detached. For claims with an expiry there is jeton jwt.")]
pub(super) struct Sign {
    #[command(flatten)]
    key: SigningKeyFiles,

    /// How the token is written; several keys need general
    #[arg(long, value_name = "FORM", default_value = "compact")]
    serialization: Serialization,

    /// Leave the payload out of the token (RFC 7515, appendix F)
    #[arg(long)]
    detached: bool,

    /// Do not encode the payload (b64: false, RFC 7797)
    #[arg(long)]
    b64_false: bool,

    /// The media type of the whole token (typ)
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// The media type of the payload (cty)
    #[arg(long, value_name = "TYPE")]
    cty: Option<String>,

    /// Add a header member that nobody signs, in the JSON serializations; may be repeated
    #[arg(long, value_name = "NAME=TEXT")]
    unprotected: Vec<Member>,

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

    #[command(flatten)]
    payload: PayloadArgument,
}

impl Sign {
    pub(super) fn run(self) -> Outcome {
        let allowed = self.allow.check(&SUPPORTED)?;
        let keys = self.key.load(&allowed)?;
        let payload = self.payload.bytes()?;
        let token = self.token(&keys, &payload)?;
        if !self.detached {
            output::note_size(&token);
        }
        output::line(&token)
    }

    fn token(&self, keys: &[keyfile::Signer], payload: &[u8]) -> Outcome<String> {
        let wrong = |error: jeton::Error| Failure::error(error.to_string());
        if self.header_style == HeaderStyle::Report {
            let key = self.plain(keys)?;
            return HeaderText::new(key.key(), &header_style::signed(key.alg()))
                .and_then(|under| under.sign(payload))
                .map_err(wrong);
        }
        let mut signers = Vec::with_capacity(keys.len());
        for key in keys {
            signers.push(self.signer(key).map_err(wrong)?);
        }
        if let Serialization::General = self.serialization {
            let general = signers.into_iter().fold(General::new(), General::signer);
            return match self.detached {
                false => general.sign(payload),
                true => general.sign_detached(payload),
            }
            .map_err(wrong);
        }
        let [signer] = &signers[..] else {
            return Err(Failure::error(format!(
                "{} keys sign, and the {} serialization has one signature",
                signers.len(),
                self.serialization.name()
            ))
            .hint("for several signatures: --serialization general"));
        };
        match (self.serialization, self.detached) {
            (Serialization::Compact, false) => signer.sign(payload),
            (Serialization::Compact, true) => signer.sign_detached(payload),
            (_, false) => signer.sign_flattened(payload),
            (_, true) => signer.sign_flattened_detached(payload),
        }
        .map_err(wrong)
    }

    /// The one key of a compact token about whose header nothing else was said.
    fn plain<'k>(&self, keys: &'k [keyfile::Signer]) -> Outcome<&'k keyfile::Signer> {
        let compact = matches!(self.serialization, Serialization::Compact);
        let said = self.detached || self.b64_false || self.typ.is_some() || self.cty.is_some();
        match keys {
            [key] if compact && !said && self.unprotected.is_empty() => Ok(key),
            _ => Err(Failure::error(
                "--header-style report is for a compact token of one key, whose header says alg and \
                 typ alone",
            )),
        }
    }

    fn signer<'k>(&self, key: &'k keyfile::Signer) -> jeton::Result<Signer<'k>> {
        let mut signer = Signer::new(key.key());
        if let Some(typ) = &self.typ {
            signer = signer.typ(typ);
        }
        if let Some(cty) = &self.cty {
            signer = signer.content_type(cty);
        }
        if self.b64_false {
            signer = signer.unencoded();
        }
        if self.unprotected.is_empty() {
            return Ok(signer);
        }
        let members = self.unprotected.iter();
        let header: BTreeMap<_, _> = members
            .map(|member| (&member.name, &member.value))
            .collect();
        signer.unprotected(&header)
    }
}
