//! `jeton inspect`: shows a token or key of any format, and verifies it if keys are given.

mod hidden;
mod invisible;
mod jose;
mod json_tokens;
mod key;
mod paseto;
mod pretty;
mod relative_time;
mod report;
mod verdict;
mod web;

use clap::Args;
use jeton::{Clock, SystemClock};
use report::Report;
use serde::Serialize;
use verdict::{Verdict, VerdictArgs};
use web::{Page, Web};
use zeroize::Zeroizing;

use crate::command_result::SUPPORTED;
use crate::exit::{Failure, Outcome};
use crate::jose::Token;
use crate::keyfile::KeyFile;
use crate::token_argument::PastedToken;
use crate::{allow, limit_args, output};

/// Show a token or key of any format, and verify it if keys are given
#[derive(Debug, Args)]
#[command(
    mut_arg("token", |token| token.help(TOKEN_HELP)),
    mut_arg("at", |at| at.help(AT_HELP)),
    mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)),
    after_help = "\
Examples:
  jeton inspect eyJhbGciOi…
  jeton inspect --json @token.txt
  jeton inspect - < public.jwk
  jeton inspect @token.json
  jeton inspect --web -o token.html @token.txt
  jeton inspect --key jwks.json --audience api @token.txt
  jeton inspect --discover https://id.example --audience api @token.txt

Shows:
  JWT, JWS   header and payload, in every serialization
  JWE        header, in every serialization
  PASETO     footer, and the payload of a signed token
  Key        kind and id of a JWK, JWK Set, PEM or PASERK, never the secret

Private keys inside a token and values that are nested deeper than 32 levels are not shown. With --json they are \
null, and notes name them.

--web writes the same content and the token to an HTML page without network access and scripts. The page is as \
secret as the token: delete it after use.

Without keys, nothing is verified: anyone can create a token with this content. With keys, the token is verified as \
jeton jwt verify does, or for a PASETO as jeton paseto verify or decrypt does. With only --decrypt-key, it is \
decrypted as jeton jwe decrypt does. The content is also shown if the token is rejected.

Exit codes: 0 shown, and verified if keys are given; 1 unknown format, or rejected; 2 invalid usage, or a file could \
not be read.",
)]
pub(crate) struct Inspect {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    web: Web,

    #[command(flatten)]
    token: PastedToken,

    #[command(flatten, next_help_heading = "Verification")]
    verdict: VerdictArgs,
}

const TOKEN_HELP: &str = "Token or key as text, @FILE, or - for standard input";

const AT_HELP: &str =
    "Evaluate and show times relative to this time: RFC 3339 or seconds since 1970 [default: now]";

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
    pub(crate) fn run(mut self) -> Outcome {
        self.verdict.require_discovered_issuer();
        let criteria = self.verdict.criteria();
        let now = criteria.policy_args.verification_time();
        let now = now.unwrap_or_else(|| SystemClock.now());
        let bytes = self.token.bytes(&criteria.limits.limits())?;
        limit_args::check(bytes.len(), criteria.limits.limits())?;
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        let pasted = self.token.extract(text.trim());
        let (report, token, verdict) = match &pasted {
            Ok(pasted) => {
                let detected = Detected::of(&bytes, &pasted.token);
                let token = detected.token();
                let verdict = match token {
                    Some(token) => self.verdict.verdict(token)?,
                    None => None,
                };
                let is_verified = verdict.as_ref().is_some_and(Verdict::is_verified);
                let report = detected.report(is_verified);
                let notes = pasted.notes.clone();
                let report = report.map(|report| report.with_input_notes(notes));
                (report, token, verdict)
            }
            Err(failure) => (Err(failure.clone()), None, None),
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
        let report = report?.with_verdict(verdict);
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
            self.web.write(&page)?;
        } else if self.json {
            output::json(&report)?;
        } else {
            output::text(&report.to_text(now))?;
        }
        match report.into_verdict() {
            Some(Verdict::Rejected { failure, .. }) => Err(failure),
            Some(Verdict::Verified {
                unchecked: Some(unchecked),
                ..
            }) => {
                output::note(unchecked);
                Ok(())
            }
            _ => Ok(()),
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

    /// Returns the report, and prints a warning if the content is not verified.
    fn report(self, is_verified: bool) -> Outcome<Report> {
        let is_key = matches!(self, Detected::Paserk(_) | Detected::Key(_));
        if !is_key && !is_verified {
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
