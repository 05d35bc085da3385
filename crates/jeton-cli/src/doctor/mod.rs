//! `jeton doctor`: checks a clock, a key set and a token, and explains why verification fails.
//!
//! The command for the token decides whether it is accepted ([`command_result`]); all other findings explain that. With
//! the same keys, policy and time, there is an error if and only if that command fails.

mod claims;
mod clock;
mod findings;
mod graph;
mod header;
mod key_check;
mod keys;
mod probe;
mod secrets;
mod service;
mod signature_checks;
mod token;
mod typ;
mod unwrap;

use std::ops::Deref;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use jeton::key::Alg;
use jeton::{Clock, SystemClock};

use crate::command_result::{self, CriteriaArgs, SUPPORTED};
use crate::exit::{Failure, Outcome};
use crate::fetch::RemoteKeyArgs;
use crate::keyfile::{KeyFile, Secret, SecretArgs};
use crate::token_argument::{GivenToken, PastedToken};
use crate::{algorithm, allow, output};
use findings::Section;
use probe::Probe;
use service::ServiceArgs;

/// Explain why a token is rejected: check the token, the keys, their URL and the clock
#[derive(Debug, Args)]
#[command(mut_arg("token", |token| token.help(TOKEN_HELP)))]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)),
    group = ArgGroup::new("key_source").args(["keys", "secret_file", "secret_env", "discover"]), after_help = "\
Examples:
  jeton doctor --discover https://id.example --audience api @token
  jeton doctor --key https://id.example/jwks.json @token
  jeton doctor --key jwks.json --audience api @token
  jeton doctor --key jwks.json --alg RS256 @token
  jeton doctor --secret-file secret.txt --alg HS256 @token
  jeton doctor --key author.pub.jwk --decrypt-key private.jwk @nested
  jeton doctor --key public.paserk --implicit tenant-7 v4.public.…
  jeton doctor --key https://id.example/jwks.json
  jeton doctor --key private.pem
  jeton doctor @token
  jeton doctor --trust jeton.toml @token
  jeton doctor --client ci --config jeton.toml @assertion
  jeton doctor --json --key jwks.json @token | jq '.[].findings'

A JWT is verified as jeton jwt verify does, with the same keys, policy and time. A PASETO is verified as jeton paseto \
verify or decrypt does, and a JWE with only --decrypt-key as jeton jwe decrypt does. If that command accepts the \
token, no finding about the token or its keys is an error. If it rejects the token, at least one finding is an error.

Each key that could have signed the token has one of these results (in JSON: signed, not-signed, undetermined):
  signed by       the signature was computed and is valid
  not signed by   the signature was computed and is not valid
  undetermined    the signature was not computed; the reason follows

Each finding is one cause. Its consequences are listed below it, after so:.

Without a token, the uses of each key are listed, and a problem with a key is an error. With a token, keys for \
another use and keys of an unsupported kind are listed only with -v, or if no key fits. The clock is listed if it was \
compared with another clock, or with -v.

With --trust or --client, the token is checked by the code of the token endpoint, without a request: --trust as an \
assertion or a subject token of an outside issuer, --client as the assertion of a client. Keys are those of the \
configuration. A trust entry whose keys are fetched takes those of --key; without them, no signature is checked.

If the signature is not valid with a secret, the other encodings of the secret are tried. A file that is not a key \
file is tried as an HMAC secret: as text, base64, base64url and hex.

With a URL, one request is sent, which bypasses caches and has a timeout of 10 seconds. --discover reads \
ISSUER/.well-known/openid-configuration first, or else the metadata of RFC 8414. The response headers and the \
clock of the server are also checked. Certificates are verified with the certificate authorities of the system, or \
of SSL_CERT_FILE.

Marks:
  !   error
  ?   warning, or undetermined

Exit codes: 0 no error; 1 at least one error; 2 invalid usage, or a file could not be read.")]
pub(crate) struct Doctor {
    /// Verification keys: a file (JWK, JWK Set, PEM, DER or PASERK) or the URL of a key set; repeat it for several
    #[arg(long = "key", value_name = "FILE|URL")]
    keys: Vec<PathBuf>,

    #[command(flatten)]
    remote: RemoteKeyArgs,

    #[command(flatten)]
    secret: SecretArgs,

    /// Algorithm, required for keys without `alg` (RSA, oct, a secret)
    #[arg(
        long,
        value_name = "NAME",
        requires = "key_source",
        value_parser = algorithm::signing(),
        hide_possible_values = true
    )]
    alg: Option<Alg>,

    /// `use` of the keys, if it is not sig: jwt-svid for a SPIFFE bundle
    #[arg(long, value_name = "USE", requires = "key_source", value_parser = crate::keyfile::key_use)]
    key_use: Option<String>,

    #[command(flatten)]
    service: ServiceArgs,

    #[command(flatten)]
    criteria: CriteriaArgs,

    /// List every key, including skipped keys with the reason, and the clock
    #[arg(short, long)]
    verbose: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    token: PastedToken,
}

const TOKEN_HELP: &str = "Token as text, @FILE, or - for standard input";

/// What is checked, and how.
struct Criteria<'a> {
    command: command_result::Criteria<'a>,
    /// The secret in place of a key file.
    secret: Option<&'a Secret>,
    /// The caller passed keys, and none could be read.
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
    pub(crate) fn run(mut self) -> Outcome {
        if let Some(issuer) = self.remote.discovered_issuer() {
            self.criteria.policy_args.set_default_issuer(issuer);
        }
        let all = self.examine()?;
        if self.json {
            output::json(&all)?
        } else {
            output::text(&self.text(&all))?
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
        let secret = self.secret.read()?;
        let token = self.token.read_if_given(&args.limits.limits());
        let sources = self.sources(secret.as_ref(), token.as_ref())?;
        let found: Vec<KeyFile> = sources
            .iter()
            .filter_map(|keys| keys.to_verify().cloned())
            .collect();
        let found = (!found.is_empty())
            .then(|| KeyFile::of_several(found))
            .transpose()?;
        if self.service.is_given() {
            let token =
                token.ok_or_else(|| Failure::error("no token: pass it as an argument"))??;
            let keys = found.map(|file| file.to_verify(self.alg, &allowed));
            let keys = keys.transpose()?.map(|loaded| loaded.keys);
            let at = args.policy_args.verification_time();
            return self.service.check(&token, keys, at);
        }
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
                keys: found.as_ref(),
                alg: self.alg,
                decryption: &args.decryption,
                decryption_keys: decryption_keys.as_ref(),
                footer: footer.as_ref().map(|footer| footer.as_slice()),
                implicit: &implicit,
                limits,
            },
            secret: secret.as_ref(),
            keys_failed: !sources.is_empty() && found.is_none(),
            verbose: self.verbose,
            probe: &probe,
        };
        let mut checked = match token {
            Some(token) => Some(token::check(token, &criteria)?),
            None => None,
        };
        let a_key_fits = checked.as_ref().is_some_and(|checked| checked.a_key_fits);
        let lists_skipped = self.verbose || !a_key_fits;
        let check = |keys: &keys::Keys| match &keys.found {
            Some(file) => keys::check_each(file, &criteria, keys.is_from_url, lists_skipped),
            None => Section::new("keys"),
        };
        let mut of_keys: Vec<Section> = sources.iter().map(check).collect();
        if let Some(checked) = &mut checked
            && let Some(key_failure) = checked.key_failure.take()
        {
            key_failure.list(&mut of_keys, &mut checked.section);
        }
        let date = sources.iter().find_map(|keys| keys.date.clone());
        let mut clock = clock::check(date);
        if checked.as_ref().is_some_and(|checked| checked.is_accepted) {
            // The command does not check the response of a URL. For everything else, its result decides.
            of_keys.iter_mut().for_each(Section::downgrade_errors);
            if !sources.iter().any(|keys| keys.is_from_url) {
                clock.downgrade_errors();
            }
        }
        let mut all = vec![clock];
        let of_keys = sources.into_iter().zip(of_keys);
        all.extend(of_keys.map(|(keys, of_keys)| keys.section.and(of_keys)));
        all.extend(checked.map(|checked| checked.section));
        Ok(all)
    }

    /// Reads or fetches the keys that the caller named.
    fn sources(
        &self,
        secret: Option<&Secret>,
        token: Option<&Outcome<GivenToken>>,
    ) -> Outcome<Vec<keys::Keys>> {
        let token = token.and_then(|token| token.as_ref().ok());
        let load = |place: &PathBuf| {
            keys::load(place, &self.remote, self.alg, token.map(|token| &**token))
        };
        let mut sources: Vec<keys::Keys> = self.keys.iter().map(load).collect::<Outcome<_>>()?;
        sources.extend(keys::of_issuer(&self.remote)?);
        if let Some(secret) = secret {
            sources.push(keys::of_secret(secret)?);
        }
        if let Some(key_use) = &self.key_use {
            for keys in &mut sources {
                keys.keep_use(key_use)?;
            }
        }
        Ok(sources)
    }

    /// Formats the sections: the answer first, and the clock only if something is known about it.
    fn text(&self, all: &[Section]) -> String {
        let is_shown = |section: &&Section| {
            self.verbose || all.len() == 1 || !section.is_undetermined() || !section.is("clock")
        };
        let columns = output::columns();
        let shown = ["client", "trust", "token", "keys", "clock"];
        let shown = shown.into_iter().flat_map(|about| {
            let sections = all.iter().filter(move |section| section.is(about));
            sections.filter(is_shown)
        });
        let shown: Vec<String> = shown.map(|section| section.to_text(columns)).collect();
        shown.join("\n")
    }
}
