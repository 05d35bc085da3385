//! `jeton admin key`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jeton_issuer::KeyKind;

use super::display::{self, KeyRow};
use super::key_id::KeyAlgorithm;
use super::target::{Target, TargetArgs};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::output;

/// List, rotate, import, withdraw and re-encrypt the keys of an issuer
///
/// A key has four states: published (in the key set, not signing), signing, retired (in the key set until its last
/// token has expired), and gone. It signs after the pre-publication period, so that every verifier that caches the
/// key set has it.
#[derive(Debug, Args)]
pub(super) struct Key {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the keys of an issuer and their states
    List(List),
    /// Publish a new key, which signs after the pre-publication period, or replace a compromised key
    Rotate(Rotate),
    /// Import a private key, which signs after the pre-publication period
    Import(Import),
    /// Withdraw a published key that does not sign yet
    Withdraw(Withdraw),
    /// Re-encrypt all private keys under another key-encryption key
    Reencrypt(Reencrypt),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    issuer: OneIssuer,

    /// Print the result as JSON, with the public keys
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key rotate https://id.example
  jeton admin key rotate https://id.example --alg ES256
  jeton admin key rotate https://id.example --compromised current
  jeton admin key rotate https://id.example --compromised current --alg ES256
  jeton admin key rotate https://id.example --compromised 2026-11

--compromised removes the key from the key set and revokes every token that it signed. The next published key, \
or a new key, signs at once. Verifiers with a cached key set reject tokens of the new key until they fetch the key \
set again. The audit log records the actor.")]
struct Rotate {
    #[command(flatten)]
    issuer: OneIssuer,

    #[command(flatten)]
    alg: KeyAlgorithm,

    /// Compromised key: its id (`kid`), or `current` for the key that signs, or `next` for the published one
    // One of 64 thumbprints begins with a hyphen.
    #[arg(long, value_name = "KID", allow_hyphen_values = true)]
    compromised: Option<String>,

    #[command(flatten)]
    clock: TrustClock,

    #[command(flatten)]
    target: TargetArgs,
}

/// The argument about the clock of this machine.
#[derive(Debug, Args)]
struct TrustClock {
    /// Publish the key by the clock of this machine, although other clocks differ; check it first
    #[arg(long, conflicts_with = "server")]
    trust_clock: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key import https://id.example old-issuer.jwk
  jeton admin key import https://id.example rsa.pem --alg RS256

Use this to migrate from another issuer: verifiers that already trust the key keep accepting its tokens. The id \
of the key is the kid of the JWK, or the thumbprint (RFC 7638).")]
struct Import {
    #[command(flatten)]
    issuer: OneIssuer,

    /// Private key file: JWK, PEM or PASERK (- for standard input)
    #[arg(value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    alg: KeyAlgorithm,

    #[command(flatten)]
    clock: TrustClock,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key withdraw https://id.example 2026-12
  jeton admin key withdraw https://id.example next

The key leaves the key set at once. A signing key cannot be withdrawn: run jeton admin key rotate. When the new \
key signs, the old one is retired. For a compromised key, run jeton admin key rotate --compromised.")]
struct Withdraw {
    #[command(flatten)]
    issuer: OneIssuer,

    /// Id of the key (`kid`), or `next` for the published one
    #[arg(value_name = "KID", allow_hyphen_values = true)]
    kid: String,

    #[command(flatten)]
    alg: KeyAlgorithm,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key reencrypt --old-key old.key --key-encryption-key new.key
  jeton admin key reencrypt --server http://127.0.0.1:8421

--key-encryption-key names the new key. A running server reads both keys from its configuration: \
key_encryption_key_file and old_key_encryption_key_file. Each private key is written in one step, so the command can be \
interrupted and run again.")]
struct Reencrypt {
    /// File with the key-encryption key to replace, under which the private keys are encrypted
    // Required for a store: a context may name a server.
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    old_key: Option<PathBuf>,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
struct OneIssuer {
    /// Issuer, by its `iss`
    #[arg(value_name = "ISSUER")]
    iss: String,
}

impl Key {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::List(list) => list.run(),
            Command::Rotate(rotate) => rotate.run(),
            Command::Import(import) => import.run(),
            Command::Withdraw(withdraw) => withdraw.run(),
            Command::Reencrypt(reencrypt) => reencrypt.run(),
        }
    }
}

impl List {
    fn run(self) -> Outcome {
        let issuer = self.target.open()?.issuer(&self.issuer.iss)?;
        if !self.json {
            return output::text(&display::keys(&issuer.keys));
        }
        let keys: Vec<_> = issuer.keys.iter().map(KeyRow::of).collect();
        output::json(&keys)
    }
}

impl Rotate {
    fn run(self) -> Outcome {
        let target = &self.target.trust_clock(self.clock.trust_clock).open()?;
        let iss = &self.issuer.iss;
        match &self.compromised {
            Some(named) => {
                let issuer = target.issuer(iss)?;
                let key = self.alg.key(&issuer, named)?;
                target.compromised(iss, &key.kid)?;
                output::status(format_args!("removed {} ({})", key.kid, key.alg));
            }
            None => target.rotate(iss, kind(target, iss, self.alg.alg)?)?,
        }
        show(target, iss)
    }
}

impl Import {
    fn run(self) -> Outcome {
        let name = input::name_of(&self.key);
        let bytes = input::key_bytes(&self.key, jeton::limits::KEY_BYTES)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            Failure::error(format!(
                "{name}: not UTF-8 text, expected a JWK, PEM or PASERK"
            ))
            .hint("to convert DER, run `jeton key convert --to jwk FILE`")
        })?;
        let target = &self.target.trust_clock(self.clock.trust_clock).open()?;
        let iss = &self.issuer.iss;
        let kind = kind(target, iss, self.alg.alg)?;
        target.import(iss, kind, &name, text)?;
        show(target, iss)
    }
}

impl Withdraw {
    fn run(self) -> Outcome {
        let target = &self.target.open()?;
        let iss = &self.issuer.iss;
        let issuer = target.issuer(iss)?;
        target.withdraw(iss, &self.alg.key(&issuer, &self.kid)?.kid)?;
        show(target, iss)
    }
}

impl Reencrypt {
    fn run(self) -> Outcome {
        let target = match self.old_key {
            Some(old_key) => self.target.also_reads(old_key).open()?,
            None => match self.target.open()? {
                Target::Store(_) => {
                    return Err(
                        Failure::error("the key-encryption key to replace is missing")
                            .hint("add `--old-key FILE`"),
                    );
                }
                server => server,
            },
        };
        let count = target.reencrypt()?;
        output::status(format_args!("re-encrypted {count} private keys"));
        Ok(())
    }
}

fn show(target: &Target, iss: &str) -> Outcome {
    output::text(&display::keys(&target.issuer(iss)?.keys))
}

/// Returns the algorithm that the caller named, or the only one of the issuer.
fn kind(target: &Target, iss: &str, named: Option<KeyKind>) -> Outcome<KeyKind> {
    let settings = target.issuer(iss)?.settings;
    match (named, settings.kinds().as_slice()) {
        (Some(kind), _) | (None, &[kind]) => Ok(kind),
        (None, kinds) => {
            let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
            Err(Failure::error(format!(
                "the profiles of the issuer use several algorithms: {}",
                names.join(", ")
            ))
            .hint(format!(
                "to select one, add `--alg {}`",
                names.first().unwrap_or(&"NAME")
            )))
        }
    }
}
