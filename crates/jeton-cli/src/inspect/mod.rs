//! `jeton inspect`: look at a token or key of any format, and verify nothing.

mod relative_time;
mod hidden;
mod jose;
mod key;
mod paseto;
mod pretty;
mod report;
mod web;

use clap::Args;
use jeton::{Clock, SystemClock, Timestamp};
use report::Report;
use serde::Serialize;
use web::{Page, Web};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::input::TokenSize;
use crate::jose::Token;
use crate::keyfile::KeyFile;
use crate::source::TokenArgument;
use crate::{output, time};

/// Look at a token or key of any format; nothing is verified
#[derive(Debug, Args)]
#[command(mut_arg("token", |token| token.help(TOKEN_HELP)), after_help = "\
Examples:
  jeton inspect eyJhbGciOi…
  jeton inspect --json @token.txt
  jeton inspect - < public.jwk
  jeton inspect @token.json
  jeton inspect --web -o token.html @token.txt

Shows the header and payload of a JWT or JWS and the header of a JWE, in every serialization, the
footer and, if it is not encrypted, the payload of a PASETO, and the kind and id of a key (JWK, JWK
Set, PEM, PASERK), never its secret. Not shown either: private keys in a token, in its header or
elsewhere, and what is nested deeper than 32 levels. In --json they are null, and notes say so.

--web shows the same on a page that needs no network and has no script, and the token with it: the
page is as secret as the token, and yours to open and to delete.

Nothing is verified, so anyone can have written what is shown. To verify there are jeton jwt verify,
jeton jws verify, jeton jwe decrypt and jeton paseto verify.")]
pub(crate) struct Inspect {
    /// Print it as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    web: Web,

    #[command(flatten)]
    size: TokenSize,

    /// Tell ages as of this moment, not now: RFC 3339, or seconds since 1970
    #[arg(long, value_name = "MOMENT", value_parser = time::moment)]
    at: Option<Timestamp>,

    #[command(flatten)]
    token: TokenArgument,
}

const TOKEN_HELP: &str = "The token or key: the text itself, @FILE, or - for standard input";

const NOT_VERIFIED: &str = "nothing was verified: anyone can have written this token";

/// What a text turns out to be.
enum Detected<'t> {
    Paseto(&'t str),
    Jose(&'t str),
    Paserk(&'t str),
    Key(KeyFile),
    Empty,
    Nothing,
}

/// What `--json` shows of a text of which there is nothing to see.
#[derive(Serialize)]
struct Unrecognized<'a> {
    verified: bool,
    format: Option<&'static str>,
    reason: &'a str,
}

impl Inspect {
    pub(crate) fn run(self) -> Outcome {
        let now = self.at.unwrap_or_else(|| SystemClock.now());
        let bytes = self.token.source()?.bytes()?;
        self.size.check(bytes.len())?;
        let seen = Detected::of(&bytes);
        let token = seen.token();
        let report = seen.report();
        if self.json
            && let Err(failure) = &report
            && let Some(reason) = failure.rejection()
        {
            output::json(&Unrecognized {
                verified: false,
                format: None,
                reason,
            })?;
        }
        let report = report?;
        if self.web.is_wanted() {
            let page = Page {
                report: &report,
                token: match token {
                    None => web::Token::Key,
                    Some(_) if report.hides_a_key() => web::Token::Withheld,
                    Some(token) if jose::has_private_key(token) => web::Token::Withheld,
                    Some(token) => web::Token::Shown(token),
                },
                caution: caution(token.is_none(), &report),
                now,
            };
            return self.web.write(&page);
        }
        match self.json {
            true => output::json(&report),
            false => output::text(&report.to_text(now)),
        }
    }
}

impl<'t> Detected<'t> {
    fn of(bytes: &'t Zeroizing<Vec<u8>>) -> Detected<'t> {
        if bytes.trim_ascii().is_empty() {
            return Detected::Empty;
        }
        let text = std::str::from_utf8(bytes).map_or("", str::trim);
        let text = without_scheme(text);
        if paseto::is_paseto(text) {
            return Detected::Paseto(text);
        }
        if key::is_paserk(text) {
            return Detected::Paserk(text);
        }
        if Token::read(text).is_some() || jose::has_token_members(text) {
            return Detected::Jose(text);
        }
        if bytes.len() > jeton::limits::KEY_SET_BYTES {
            return Detected::Nothing;
        }
        KeyFile::of("key", bytes.clone()).map_or(Detected::Nothing, Detected::Key)
    }

    /// The token, if it is one: a key's text is for nobody's eyes.
    fn token(&self) -> Option<&'t str> {
        match self {
            Detected::Paseto(text) | Detected::Jose(text) => Some(text),
            Detected::Paserk(_) | Detected::Key(_) | Detected::Empty | Detected::Nothing => None,
        }
    }

    /// What there is to see, under a line that says how little that proves.
    fn report(self) -> Outcome<Report> {
        let is_key = matches!(self, Detected::Paserk(_) | Detected::Key(_));
        if !is_key {
            output::warning(NOT_VERIFIED);
        }
        let report = match self {
            Detected::Paseto(text) => paseto::report(text)?,
            Detected::Jose(text) => jose::report(text)?,
            Detected::Paserk(text) => key::paserk(text),
            Detected::Key(file) => key::report(file)?,
            Detected::Empty => return Err(Failure::rejected("the text is empty")),
            Detected::Nothing => return Err(nothing()),
        };
        if is_key {
            output::warning(caution(is_key, &report));
        }
        Ok(report)
    }
}

/// What must not be forgotten over what is shown.
fn caution(is_key: bool, report: &Report) -> &'static str {
    match (is_key, report.is_secret()) {
        (false, _) => NOT_VERIFIED,
        (true, true) => {
            "this is a key, and secret: keep it out of messages, tickets and the shell's history"
        }
        (true, false) => "this is a key and no token: nothing here proves whose it is",
    }
}

/// Without what stands before a token in a header of HTTP (RFC 6750, section 2.1).
fn without_scheme(text: &str) -> &str {
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("Bearer") => token.trim_start(),
        _ => text,
    }
}

fn nothing() -> Failure {
    Failure::rejected("not a token or key in any format that jeton knows").hint(
        "a JWT or JWS has three parts with dots between, a JWE five, or is JSON; a PASETO begins with v4.",
    )
}
