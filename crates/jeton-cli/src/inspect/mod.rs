//! `jeton inspect`: shows a token or key of any format, without verification.

mod hidden;
mod jose;
mod key;
mod paseto;
mod pretty;
mod relative_time;
mod report;
mod web;

use clap::Args;
use jeton::{Clock, SystemClock, Timestamp};
use report::Report;
use serde::Serialize;
use web::{Page, Web};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::jose::Token;
use crate::keyfile::KeyFile;
use crate::limit_args::TokenSize;
use crate::source::TokenArgument;
use crate::{output, time};

/// Show a token or key of any format, without verification
#[derive(Debug, Args)]
#[command(mut_arg("token", |token| token.help(TOKEN_HELP)), after_help = "\
Examples:
  jeton inspect eyJhbGciOi…
  jeton inspect --json @token.txt
  jeton inspect - < public.jwk
  jeton inspect @token.json
  jeton inspect --web -o token.html @token.txt

Shows:
  JWT, JWS   header and payload, in every serialization
  JWE        header, in every serialization
  PASETO     footer, and the payload of a signed token
  Key        kind and id of a JWK, JWK Set, PEM or PASERK, never the secret

Private keys inside a token and values below 32 levels of nesting are not shown. With --json they are null, and \
notes name them.

--web writes the same content and the token to an HTML page without network access and scripts. The page is as \
secret as the token: delete it after use.

Nothing is verified: anyone can create a token with this content. To verify a token, use jeton jwt verify, jeton \
jws verify, jeton jwe decrypt or jeton paseto verify.")]
pub(crate) struct Inspect {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    web: Web,

    #[command(flatten)]
    size: TokenSize,

    /// Show times relative to this time: RFC 3339 or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    at: Option<Timestamp>,

    #[command(flatten)]
    token: TokenArgument,
}

const TOKEN_HELP: &str = "Token or key as text, @FILE, or - for standard input";

const NOT_VERIFIED: &str = "not verified: anyone can create a token with this content";

/// The detected kind of a text.
enum Detected<'t> {
    Paseto(&'t str),
    Jose(&'t str),
    Paserk(&'t str),
    Key(KeyFile),
    Empty,
    Unknown(&'t str),
}

/// The output of `--json` for a text that is not recognized.
#[derive(Serialize)]
struct Unrecognized<'a> {
    verified: bool,
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    reason: &'a str,
}

impl Inspect {
    pub(crate) fn run(self) -> Outcome {
        let now = self.at.unwrap_or_else(|| SystemClock.now());
        let bytes = self.token.bytes()?;
        self.size.check(bytes.len())?;
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        let pasted = self.token.extract(text.trim());
        let (report, token) = match &pasted {
            Ok(pasted) => {
                let detected = Detected::of(&bytes, &pasted.token);
                let token = detected.token();
                let report = detected.report();
                let notes = pasted.notes.clone();
                (report.map(|report| report.with_input_notes(notes)), token)
            }
            Err(failure) => (Err(failure.clone()), None),
        };
        if self.json
            && let Err(failure) = &report
            && let Some(reason) = failure.rejection()
        {
            output::json(&Unrecognized {
                verified: false,
                format: None,
                code: failure.reason_code(),
                reason,
            })?;
        }
        let report = report?;
        if self.web.is_wanted() {
            let page = Page {
                report: &report,
                token: match token {
                    None => web::Token::Key,
                    Some(_) if report.hides_key() => web::Token::Withheld,
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
    /// Detects the kind of a token, or of a key in these bytes.
    fn of(bytes: &'t Zeroizing<Vec<u8>>, text: &'t str) -> Detected<'t> {
        if bytes.trim_ascii().is_empty() {
            return Detected::Empty;
        }
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
            return Detected::Unknown(text);
        }
        KeyFile::of("key", bytes).map_or(Detected::Unknown(text), Detected::Key)
    }

    /// Returns the text of a token; a key is not shown.
    fn token(&self) -> Option<&'t str> {
        match self {
            Detected::Paseto(text) | Detected::Jose(text) => Some(text),
            Detected::Paserk(_) | Detected::Key(_) | Detected::Empty | Detected::Unknown(_) => None,
        }
    }

    /// Returns the report, and prints a warning that nothing is verified.
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
            Detected::Unknown(text) => return Err(unknown_format(text)),
        };
        if is_key {
            output::warning(caution(is_key, &report));
        }
        Ok(report)
    }
}

/// Returns the warning above the report.
fn caution(is_key: bool, report: &Report) -> &'static str {
    match (is_key, report.is_secret()) {
        (false, _) => NOT_VERIFIED,
        (true, true) => {
            "this key is secret: keep it out of messages, tickets and the shell history"
        }
        (true, false) => "this is a key, not a token: nothing here proves who owns it",
    }
}

fn unknown_format(text: &str) -> Failure {
    let failure = Failure::rejected("unknown format: neither a token nor a key");
    match crate::jose::other_form(text) {
        Some(other) => failure.hint(other),
        None => failure.hint(
            "a compact JWT or JWS has three parts separated by dots, a JWE has five; a PASETO begins with v4. or v3.",
        ),
    }
}
