//! `jeton doctor`: checks a clock, a key set and a token, and explains why verification fails.
//!
//! The command for the token decides whether it is accepted ([`command_result`]); all other findings explain that. With
//! the same keys, policy and time, there is an error if and only if that command fails.

mod claims;
mod clock;
mod fetch;
mod findings;
mod graph;
mod header;
mod key_check;
mod keys;
mod probe;
mod secrets;
mod signature_checks;
mod token;
mod typ;
mod unwrap;

use std::ops::Deref;
use std::path::PathBuf;

use clap::Args;
use jeton::key::Alg;
use jeton::{Clock, SystemClock};

use crate::command_result::{self, CriteriaArgs, SUPPORTED};
use crate::exit::{Failure, Outcome};
use crate::source::{self, Source, Text};
use crate::{algorithm, allow, output};
use findings::Section;
use probe::Probe;

/// Explain why a token is rejected: check the token, the keys, their URL and the clock
#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton doctor --keys https://id.example/jwks.json @token
  jeton doctor --keys jwks.json --audience api @token
  jeton doctor --keys jwks.json --alg RS256 @token
  jeton doctor --keys author.pub.jwk --decrypt-key private.jwk @nested
  jeton doctor --keys public.paserk --implicit tenant-7 v4.public.…
  jeton doctor --keys https://id.example/jwks.json
  jeton doctor --key private.pem
  jeton doctor @token
  jeton doctor --json --keys jwks.json @token | jq '.[].findings'

A token is verified by the code of jeton jwt verify, with the same keys, policy and time. A PASETO is verified as \
by jeton paseto verify or decrypt; a JWE with only --decrypt-key as by jeton jwe decrypt. If that command accepts \
the token, no finding about the token and its keys is an error. Otherwise at least one is.

Each key that could have signed the token has one of these results (in JSON: signed, not-signed, undetermined):
  signed by       the signature was computed and is valid
  not signed by   the signature was computed and is not valid
  undetermined    the signature was not computed; the reason follows

Each cause is one finding. What follows from it is listed below it, after so:.

Without a token, each key is listed with what it can do, and a problem with a key is an error. With a token, keys for \
another use and keys of an unsupported kind are listed with -v, or if no key fits. The clock is listed if it was \
compared with another one, or with -v.

A file that is not a key file is tried as an HMAC secret: as text, base64, base64url and hex.

With a URL, one request is sent, which bypasses caches and has a timeout of 10 seconds. The response headers and the \
clock of the server are checked too. Certificates are verified with the certificate authorities of the system, or \
of SSL_CERT_FILE.

Marks:
  !   error
  ?   warning, or undetermined

Exit codes: 0 no error; 1 at least one error; 2 invalid usage, or a file could not be read.")]
pub(crate) struct Doctor {
    /// Verification keys: a file (JWK, JWK Set, PEM, DER or PASERK) or the URL of a key set
    #[arg(long, visible_alias = "key", value_name = "FILE|URL")]
    keys: Option<PathBuf>,

    /// Algorithm, required for keys without `alg` (RSA, oct)
    #[arg(
        long,
        value_name = "NAME",
        requires = "keys",
        value_parser = algorithm::signing(),
        hide_possible_values = true
    )]
    alg: Option<Alg>,

    #[command(flatten)]
    criteria: CriteriaArgs,

    /// List every key, including skipped keys with the reason, and the clock
    #[arg(short, long)]
    verbose: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Token as text, @FILE, or - for standard input
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Option<Source>,

    /// Token as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "token")]
    text: Option<Text>,
}

/// What is checked, and how.
struct Criteria<'a> {
    command: command_result::Criteria<'a>,
    /// The caller passed keys, and they could not be read.
    keys_failed: bool,
    verbose: bool,
    probe: &'a Probe,
}

impl<'a> Deref for Criteria<'a> {
    type Target = command_result::Criteria<'a>;

    fn deref(&self) -> &Self::Target {
        &self.command
    }
}

impl Doctor {
    pub(crate) fn run(self) -> Outcome {
        let all = self.examine()?;
        match self.json {
            true => output::json(&all)?,
            false => output::text(&self.text(&all))?,
        }
        match all.iter().map(Section::error_count).sum() {
            0 => Ok(()),
            1 => Err(Failure::finding("1 error")),
            count => Err(Failure::finding(format!("{count} errors"))),
        }
    }

    /// Checks everything that the caller passed.
    fn examine(&self) -> Outcome<Vec<Section>> {
        let args = &self.criteria;
        let allowed = args.policy_args.allowed(&SUPPORTED)?;
        let token = source::given(self.token.as_ref(), self.text.as_ref()).map(Source::token);
        let mut keys = match &self.keys {
            Some(place) => Some(keys::load(place, token.as_ref())?),
            None => None,
        };
        let decryption_keys = args.decryption.file()?;
        let footer = args.context.footer()?;
        let implicit = args.context.implicit()?;
        let now = args.policy_args.verification_time();
        let limits = args.limits.limits();
        let probe = Probe::new(now.unwrap_or_else(|| SystemClock.now()), limits)?;
        let criteria = Criteria {
            command: command_result::Criteria {
                policy: args.policy(),
                allowed: &allowed,
                keys: keys.as_ref().and_then(|keys| keys.found.as_ref()),
                alg: self.alg,
                decryption: &args.decryption,
                decryption_keys: decryption_keys.as_ref(),
                footer: footer.as_ref().map(|footer| footer.as_slice()),
                implicit: &implicit,
                limits,
            },
            keys_failed: keys.as_ref().is_some_and(|keys| keys.found.is_none()),
            verbose: self.verbose,
            probe: &probe,
        };
        let mut checked = match token {
            Some(token) => Some(token::check(token, &criteria)?),
            None => None,
        };
        let mut of_keys = Section::new("keys");
        if let Some(file) = criteria.keys {
            let a_key_fits = checked.as_ref().is_some_and(|checked| checked.a_key_fits);
            let is_from_url = keys.as_ref().is_some_and(|keys| keys.is_from_url);
            let lists_skipped = self.verbose || !a_key_fits;
            of_keys = keys::check_each(file, &criteria, is_from_url, lists_skipped);
        }
        if let Some(checked) = &mut checked
            && let Some(key_failure) = checked.key_failure.take()
        {
            key_failure.list(&mut of_keys, &mut checked.section);
        }
        let date = keys.as_ref().and_then(|keys| keys.date.clone());
        let mut clock = clock::check(date);
        if checked.as_ref().is_some_and(|checked| checked.is_accepted) {
            // The command does not check the response of a URL. For everything else, its result decides.
            of_keys.downgrade_errors();
            if !keys.as_ref().is_some_and(|keys| keys.is_from_url) {
                clock.downgrade_errors();
            }
        }
        let mut all = vec![clock];
        if let Some(keys) = keys.take() {
            all.push(keys.section.and(of_keys));
        }
        all.extend(checked.map(|checked| checked.section));
        Ok(all)
    }

    /// Formats the sections: the answer first, and the clock only if something is known about it.
    fn text(&self, all: &[Section]) -> String {
        let is_shown = |section: &&Section| {
            self.verbose || all.len() == 1 || !section.is_undetermined() || !section.is("clock")
        };
        let shown = all.iter().rev().filter(is_shown);
        let columns = output::columns();
        let shown: Vec<String> = shown.map(|section| section.to_text(columns)).collect();
        shown.join("\n")
    }
}
