//! `jeton inspect`: look at a token or key of any format, and verify nothing.

mod age;
mod jose;
mod key;
mod paseto;
mod pretty;
mod report;

use clap::Args;
use jeton::{Clock, SystemClock, Timestamp};
use report::Report;

use crate::exit::{Failure, Outcome};
use crate::input::Source;
use crate::jose::Token;
use crate::keyfile::KeyFile;
use crate::{output, time};

/// Look at a token or key of any format; nothing is verified
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton inspect eyJhbGciOi…
  jeton inspect --json @token.txt
  jeton inspect - < public.jwk
  jeton inspect @token.json

Shows the header and payload of a JWT or JWS and the header of a JWE, in every serialization, the
footer and, if it is not encrypted, the payload of a PASETO, and the kind and id of a key (JWK, JWK
Set, PEM, PASERK), never its secret.

Nothing is verified, so anyone can have written what is shown. To verify there are jeton jwt verify,
jeton jws verify, jeton jwe decrypt and jeton paseto verify.")]
pub(crate) struct Inspect {
    /// Print it as JSON
    #[arg(long)]
    json: bool,

    /// Tell ages as of this moment, not now: RFC 3339, or seconds since 1970
    #[arg(long, value_name = "MOMENT", value_parser = time::moment)]
    at: Option<Timestamp>,

    /// The token or key: the text itself, @FILE, or - for standard input
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Source,
}

impl Inspect {
    pub(crate) fn run(self) -> Outcome {
        output::warning("nothing was verified: anyone can have written this token");
        let now = self.at.unwrap_or_else(|| SystemClock.now());
        let report = look_at(&self.token)?;
        match self.json {
            true => output::json(&report),
            false => output::text(&report.to_text(now)),
        }
    }
}

fn look_at(source: &Source) -> Outcome<Report> {
    let bytes = source.bytes()?;
    let text = std::str::from_utf8(&bytes)
        .map(str::trim)
        .unwrap_or_default();
    if paseto::is_paseto(text) {
        return paseto::report(text);
    }
    if key::is_paserk(text) {
        return Ok(key::paserk(text));
    }
    if Token::read(text).is_some() || jose::has_token_members(text) {
        return jose::report(text);
    }
    match KeyFile::of("key", bytes) {
        Some(file) => key::report(file),
        None => Err(Failure::rejected(
            "not a token or key in any format that jeton knows",
        )
        .hint("a JWT or JWS has three parts with dots between, a JWE five, or is JSON; a PASETO begins with v4.")),
    }
}
