//! `jeton doctor`: looks at a clock, a key set and a token, and says what is wrong with them together.
//!
//! Whether a token is accepted, the verb that it is for says ([`verdict`]); all else explains that. With the same
//! keys, policy and time there is an error exactly where the verb ends with another exit code than 0.

mod signature_checks;
mod claims;
mod clock;
mod fetch;
mod findings;
mod header;
mod keys;
mod probe;
mod unwrap;
mod token;
mod command_result;

use std::path::PathBuf;

use clap::Args;
use jeton::jwe::Decrypter;
use jeton::key::Alg;
use jeton::{Clock, SystemClock};

use crate::policy_args::PolicyArgs;
use crate::allow::{self, InsecureOption, Allowed};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{KeyFile, TokenDecryptionKeyFile};
use crate::paseto::ContextArgs;
use crate::source::{self, Source, Text};
use crate::verification::{self, JwtPolicy};
use crate::{algorithm, output};
use findings::Section;
use probe::Probe;

/// The allowed that lead somewhere here: those of the verbs that verify.
const SUPPORTED: [InsecureOption; 7] = [
    InsecureOption::NoExpiry,
    InsecureOption::WeakKeys,
    InsecureOption::Rsa1_5,
    InsecureOption::Pbes2,
    InsecureOption::Zip,
    InsecureOption::PasetoV1,
    InsecureOption::PasetoV2,
];

/// ClaimsCheck at a token, a key set, its address and the clock, and say what is wrong
#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton doctor --keys https://id.example/jwks.json @token
  jeton doctor --keys jwks.json --issuer https://id.example --audience api @token
  jeton doctor --keys jwks.json --alg RS256 @token
  jeton doctor --keys author.pub.jwk --decrypt-key private.jwk @nested
  jeton doctor --keys public.paserk --implicit tenant-7 v4.public.…
  jeton doctor --keys https://id.example/jwks.json
  jeton doctor @token
  jeton doctor --json --keys jwks.json @token | jq '.[].findings[] | select(.state == \"wrong\")'

A token is verified as jeton jwt verify does it (a PASETO as jeton paseto verify or decrypt, a JWE
with --decrypt-key alone as jeton jwe decrypt), with the same code, keys, policy and time. If that
accepts the token, there is no error about it and its keys; if it rejects the token, there is one.
The other findings explain why.

Each key that could have signed the token answers:
  signed by        the signature was computed, and is valid
  not signed by    the signature was computed, and is not valid
  undetermined     nothing was computed: the key cannot be used, a limit was exceeded, or the
                   header has an extension that is not known; with the reason
With --json they are in the token's member keys: signed, not-signed, undetermined.

Without a token, what is wrong with the keys is an error. Keys of a set that are for another use, or
of a kind that is not supported, are listed with -v or if no key fits. What an address serves, and
how far its clock is from this machine's, is looked at in any case.

! is an error; ? is worth a look, or cannot be told. Exit code 0: no error; 1: an error; 2: the call
was wrong, or a file could not be read. An address is asked once, past caches, for ten seconds at
most; its certificate is judged by this machine's authorities, or those of SSL_CERT_FILE.")]
pub(crate) struct Doctor {
    /// The keys that verify: a file (JWK, JWK Set, PEM, DER or PASERK), or the address of a set
    #[arg(long, value_name = "FILE|URL")]
    keys: Option<PathBuf>,

    /// The algorithm, for keys that do not say it (RSA, oct)
    #[arg(
        long,
        value_name = "NAME",
        requires = "keys",
        value_parser = algorithm::signing(),
        hide_possible_values = true
    )]
    alg: Option<Alg>,

    #[command(flatten)]
    decryption: TokenDecryptionKeyFile,

    #[command(flatten)]
    policy_args: PolicyArgs,

    /// The media type (typ) that the token should have [default: JWT, or none]
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    #[command(flatten)]
    context: ContextArgs,

    /// List every key, also those that are skipped, and why
    #[arg(short, long)]
    verbose: bool,

    /// Print it as JSON
    #[arg(long)]
    json: bool,

    /// The token: the text itself, @FILE, or - for standard input
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Option<Source>,

    /// Like TOKEN, but always the text itself, even if a file has that name
    #[arg(long, value_name = "TEXT", conflicts_with = "token")]
    text: Option<Text>,
}

/// What a token is judged by.
struct Criteria<'a> {
    policy: JwtPolicy<'a>,
    allowed: &'a Allowed,
    keys: Option<&'a KeyFile>,
    alg: Option<Alg>,
    decryption: &'a TokenDecryptionKeyFile,
    /// What `decryption` names.
    readers: Option<&'a KeyFile>,
    /// Of a PASETO.
    footer: Option<&'a [u8]>,
    /// Of a PASETO.
    implicit: &'a [u8],
    verbose: bool,
    probe: &'a Probe,
}

impl Criteria<'_> {
    /// The decrypter, if the caller named a key to decrypt with.
    fn decrypter(&self) -> Option<Outcome<Decrypter>> {
        let readers = self.readers?;
        let loaded = self.decryption.load(readers, self.allowed);
        Some(
            loaded.map(|loaded| {
                verification::decrypter(loaded.keys, self.decryption.enc(), self.allowed)
            }),
        )
    }
}

impl Doctor {
    pub(crate) fn run(self) -> Outcome {
        let all = self.examine()?;
        match self.json {
            true => output::json(&all)?,
            false => output::text(&text(&all))?,
        }
        match all.iter().map(Section::wrong_count).sum() {
            0 => Ok(()),
            1 => Err(Failure::finding("one thing is wrong")),
            count => Err(Failure::finding(format!("{count} things are wrong"))),
        }
    }

    /// Looks at all that is named.
    fn examine(&self) -> Outcome<Vec<Section>> {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let mut keys = match &self.keys {
            Some(place) => Some(keys::look(place)?),
            None => None,
        };
        let readers = self.decryption.file()?;
        let footer = self.context.footer()?;
        let implicit = self.context.implicit()?;
        let now = self.policy_args.moment().unwrap_or_else(|| SystemClock.now());
        let probe = Probe::new(now)?;
        let criteria = Criteria {
            policy: JwtPolicy {
                policy_args: &self.policy_args,
                typ: self.typ.as_deref(),
            },
            allowed: &allowed,
            keys: keys.as_ref().and_then(|keys| keys.found.as_ref()),
            alg: self.alg,
            decryption: &self.decryption,
            readers: readers.as_ref(),
            footer: footer.as_ref().map(|footer| footer.as_slice()),
            implicit: &implicit,
            verbose: self.verbose,
            probe: &probe,
        };
        let seen = match source::given(self.token.as_ref(), self.text.as_ref()) {
            Some(source) => Some(token::look(source.token(), &criteria)?),
            None => None,
        };
        let mut of_keys = Section::new("keys");
        if let Some(file) = criteria.keys {
            let a_key_fits = match &seen {
                Some(seen) => seen.a_key_fits,
                None => file.to_verify(self.alg, &allowed).is_ok(),
            };
            let from_address = keys.as_ref().is_some_and(|keys| keys.is_from_address);
            let lists_skipped = self.verbose || !a_key_fits;
            of_keys = keys::each(file, &criteria, from_address, lists_skipped);
        }
        let date = keys.as_ref().and_then(|keys| keys.date.clone());
        let mut clock = clock::look(date);
        if seen.as_ref().is_some_and(|seen| seen.is_accepted) {
            // The verb has no word on what an address serves; on all else it has the last.
            of_keys.without_errors();
            if !keys.as_ref().is_some_and(|keys| keys.is_from_address) {
                clock.without_errors();
            }
        }
        let mut all = vec![clock];
        if let Some(keys) = keys.take() {
            all.push(keys.section.and(of_keys));
        }
        all.extend(seen.map(|seen| seen.section));
        Ok(all)
    }
}

fn text(all: &[Section]) -> String {
    let all: Vec<String> = all.iter().map(Section::to_text).collect();
    all.join("\n")
}
