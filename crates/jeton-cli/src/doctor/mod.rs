//! `jeton doctor`: checks a clock, a key set and a token, and explains why verification fails.
//!
//! The command for the token decides whether it is accepted ([`command_result`]); all other findings explain that.
//! With the same keys, policy and time, there is an error if and only if that command fails.

mod claims;
mod clock;
mod command_result;
mod findings;
mod header;
mod key_check;
mod keys;
mod probe;
mod signature_checks;
mod token;
mod unwrap;

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use jeton::jwe::Decrypter;
use jeton::key::Alg;
use jeton::{Clock, Limits, SystemClock};

use crate::allow::{self, Allowed, InsecureOption};
use crate::exit::{Failure, Outcome};
use crate::fetch::RemoteKeyArgs;
use crate::keyfile::{KeyFile, Secret, SecretArgs, TokenDecryptionKeyFile};
use crate::limit_args::SignedTokenLimits;
use crate::paseto::ContextArgs;
use crate::policy_args::PolicyArgs;
use crate::source::TokenArgument;
use crate::verification::{self, JwtPolicy};
use crate::{algorithm, output};
use findings::Section;
use probe::Probe;

/// The features that --allow enables here: those of the verifying commands.
const SUPPORTED: [InsecureOption; 7] = [
    InsecureOption::NoExpiry,
    InsecureOption::WeakKeys,
    InsecureOption::Rsa1_5,
    InsecureOption::Pbes2,
    InsecureOption::Zip,
    InsecureOption::PasetoV1,
    InsecureOption::PasetoV2,
];

/// Explain why a token is rejected: check the token, the keys, their URL and the clock
#[derive(Debug, Args)]
#[command(mut_arg("token", |token| token.help(TOKEN_HELP)))]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)),
    group = ArgGroup::new("key_source").args(["keys", "secret_file", "secret_env", "discover"]), after_help = "\
Examples:
  jeton doctor --discover https://id.example --audience api @token
  jeton doctor --keys https://id.example/jwks.json @token
  jeton doctor --keys jwks.json --audience api @token
  jeton doctor --keys jwks.json --alg RS256 @token
  jeton doctor --secret-file secret.txt --alg HS256 @token
  jeton doctor --keys author.pub.jwk --decrypt-key private.jwk @nested
  jeton doctor --keys public.paserk --implicit tenant-7 v4.public.…
  jeton doctor --keys https://id.example/jwks.json
  jeton doctor @token
  jeton doctor --json --keys jwks.json @token | jq '.[].findings'

A token is verified by the code of jeton jwt verify, with the same keys, policy and time. A PASETO is verified as \
by jeton paseto verify or decrypt; a JWE with only --decrypt-key as by jeton jwe decrypt. If that command accepts \
the token, no finding about the token and its keys is an error. Otherwise at least one is.

Each key that could have signed the token has one of these results (in JSON: signed, not-signed, undetermined):
  signed by       the signature was computed and is valid
  not signed by   the signature was computed and is not valid
  undetermined    the signature was not computed; the reason follows

If the signature is not valid with a secret, the other encodings of the secret are tried.

Without a token, a problem with the keys is an error. Keys for another use and keys of an unsupported kind are \
listed with -v, or if no key fits.

With a URL, one request is sent, which bypasses caches and has a timeout of 10 seconds. --discover reads \
ISSUER/.well-known/openid-configuration before, or else the metadata of RFC 8414. The response headers and the \
clock of the server are checked too. Certificates are verified with the certificate authorities of the system, or \
of SSL_CERT_FILE.

Marks:
  !   error
  ?   warning, or undetermined

Exit codes: 0 no error; 1 at least one error; 2 invalid usage, or a file could not be read.")]
pub(crate) struct Doctor {
    /// Verification keys: a file (JWK, JWK Set, PEM, DER or PASERK) or the URL of a key set; repeat it for several
    #[arg(long, visible_alias = "key", value_name = "FILE|URL")]
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

    #[command(flatten)]
    decryption: TokenDecryptionKeyFile,

    #[command(flatten)]
    policy_args: PolicyArgs,

    /// Required media type (`typ`); repeat it to accept one of several [default: JWT or no typ]
    #[arg(long, value_name = "TYPE")]
    typ: Vec<String>,

    #[command(flatten)]
    context: ContextArgs,

    #[command(flatten)]
    limits: SignedTokenLimits,

    /// List every key, including skipped keys with the reason
    #[arg(short, long)]
    verbose: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    token: TokenArgument,
}

const TOKEN_HELP: &str = "Token as text, @FILE, or - for standard input";

/// The keys and the policy for a token.
struct Criteria<'a> {
    policy: JwtPolicy<'a>,
    allowed: &'a Allowed,
    keys: Option<&'a KeyFile>,
    /// The secret of `keys`.
    secret: Option<&'a Secret>,
    alg: Option<Alg>,
    decryption: &'a TokenDecryptionKeyFile,
    /// The file of `decryption`.
    decryption_keys: Option<&'a KeyFile>,
    /// The required footer of a PASETO.
    footer: Option<&'a [u8]>,
    /// The implicit assertion of a PASETO.
    implicit: &'a [u8],
    limits: Limits,
    verbose: bool,
    probe: &'a Probe,
}

impl Criteria<'_> {
    /// Returns the decrypter, if the caller passed a decryption key.
    fn decrypter(&self) -> Option<Outcome<Decrypter>> {
        let decryption_keys = self.decryption_keys?;
        let loaded = self.decryption.load(decryption_keys, self.allowed);
        Some(loaded.map(|loaded| {
            let enc = self.decryption.enc();
            verification::decrypter(loaded.keys, enc, self.limits, self.allowed)
        }))
    }
}

impl Doctor {
    pub(crate) fn run(mut self) -> Outcome {
        if let Some(issuer) = self.remote.discovered_issuer() {
            self.policy_args.set_default_issuer(issuer);
        }
        let all = self.examine()?;
        match self.json {
            true => output::json(&all)?,
            false => output::text(&text(&all))?,
        }
        match all.iter().map(Section::error_count).sum() {
            0 => Ok(()),
            1 => Err(Failure::finding("1 error")),
            count => Err(Failure::finding(format!("{count} errors"))),
        }
    }

    /// Checks everything that the caller passed.
    fn examine(&self) -> Outcome<Vec<Section>> {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let secret = self.secret.read()?;
        let mut sources: Vec<keys::Keys> = self
            .keys
            .iter()
            .map(|place| keys::load(place, &self.remote))
            .collect::<Outcome<_>>()?;
        sources.extend(keys::of_issuer(&self.remote)?);
        if let Some(secret) = &secret {
            sources.push(keys::of_secret(secret)?);
        }
        let found: Vec<KeyFile> = sources
            .iter()
            .filter_map(|keys| keys.to_verify().cloned())
            .collect();
        let found = (!found.is_empty())
            .then(|| KeyFile::of_several(found))
            .transpose()?;
        let decryption_keys = self.decryption.file()?;
        let footer = self.context.footer()?;
        let implicit = self.context.implicit()?;
        let now = self
            .policy_args
            .verification_time()
            .unwrap_or_else(|| SystemClock.now());
        let limits = self.limits.limits();
        let probe = Probe::new(now, limits)?;
        let criteria = Criteria {
            policy: JwtPolicy {
                policy_args: &self.policy_args,
                typ: &self.typ,
            },
            allowed: &allowed,
            keys: found.as_ref(),
            secret: secret.as_ref(),
            alg: self.alg,
            decryption: &self.decryption,
            decryption_keys: decryption_keys.as_ref(),
            footer: footer.as_ref().map(|footer| footer.as_slice()),
            implicit: &implicit,
            limits,
            verbose: self.verbose,
            probe: &probe,
        };
        let checked = match self.token.read_if_given() {
            Some(token) => Some(token::check(token, &criteria)?),
            None => None,
        };
        let check = |keys: &keys::Keys| {
            let Some(file) = &keys.found else {
                return Section::new("keys");
            };
            let a_key_fits = match &checked {
                Some(checked) => checked.a_key_fits,
                None => file.to_verify(self.alg, &allowed).is_ok(),
            };
            let lists_skipped = self.verbose || !a_key_fits;
            keys::check_each(file, &criteria, keys.is_from_url, lists_skipped)
        };
        let mut of_keys: Vec<Section> = sources.iter().map(check).collect();
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
}

fn text(all: &[Section]) -> String {
    let all: Vec<String> = all.iter().map(Section::to_text).collect();
    all.join("\n")
}
