//! `jeton admin key`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use jeton_issuer::{KeyKind, Node};

use super::folder::{Administered, Opened, failure};
use super::display::{self, KeyRow};
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::output;

/// List, rotate, import and retire an issuer's keys
///
/// A key is published (in the key set, not signing), then signs, then is retired (in the key set until
/// its last token has expired), then gone. It signs only after it has been published for the issuer's
/// lead, so that every verifier that caches the key set has it.
#[derive(Debug, Args)]
pub(super) struct Key {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List an issuer's keys and what each does
    List(List),
    /// Publish a new key now; it signs after the lead. Or replace one that is in wrong hands
    Rotate(Rotate),
    /// Take in a private key from elsewhere; it signs after the lead
    Import(Import),
    /// Withdraw a key that is published and does not sign yet
    Retire(Retire),
    /// Encrypt every private key anew, under another key-encryption key
    Reseal(Reseal),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    issuer: OneIssuer,

    /// Print them as JSON, with their public halves
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key rotate https://id.example
  jeton admin key rotate https://id.example --alg ES256
  jeton admin key rotate https://id.example --compromised 2026-11

With --compromised the key is out of the key set at once, every token that it signed is revoked,
and its successor signs at once, or a new key if none is published. Verifiers that have cached the
key set refuse that key's tokens until they fetch it again: that is the price, and the audit log
says who asked for it.")]
struct Rotate {
    #[command(flatten)]
    issuer: OneIssuer,

    /// The algorithm to make a key of, if the issuer's profiles use several
    #[arg(long, value_name = "NAME", value_parser = KeyKind::from_str, conflicts_with = "compromised")]
    alg: Option<KeyKind>,

    /// The id of a key that is in wrong hands
    // One in 64 thumbprints begins with a hyphen.
    #[arg(long, value_name = "KID", allow_hyphen_values = true)]
    compromised: Option<String>,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key import https://id.example old-issuer.jwk
  jeton admin key import https://id.example rsa.pem --alg RS256

Verifiers that know the key from elsewhere go on taking its tokens while they move. Its id is the
JWK's kid, or the thumbprint (RFC 7638).")]
struct Import {
    #[command(flatten)]
    issuer: OneIssuer,

    /// The private key: a JWK, PEM or PASERK; - is standard input
    #[arg(value_name = "FILE")]
    key: PathBuf,

    /// The algorithm it is for, if the issuer's profiles use several
    #[arg(long, value_name = "NAME", value_parser = KeyKind::from_str)]
    alg: Option<KeyKind>,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key retire https://id.example 2026-12

A key that signs is not withdrawn but followed: jeton admin key rotate. It retires by itself.")]
struct Retire {
    #[command(flatten)]
    issuer: OneIssuer,

    /// The key's id
    #[arg(value_name = "KID", allow_hyphen_values = true)]
    kid: String,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin key reseal --older last-year.key --key-encryption-key this-year.key

Each private key is written anew in one step, so it can be stopped and started again.")]
struct Reseal {
    /// The file with the key-encryption key that they are under now
    #[arg(long, value_name = "FILE")]
    older: PathBuf,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
struct OneIssuer {
    /// The issuer: its iss
    #[arg(value_name = "ISSUER")]
    iss: String,
}

impl Key {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::List(list) => list.run(),
            Command::Rotate(rotate) => rotate.run(),
            Command::Import(import) => import.run(),
            Command::Retire(retire) => retire.run(),
            Command::Reseal(reseal) => reseal.run(),
        }
    }
}

impl List {
    fn run(self) -> Outcome {
        let opened = self.folder.open()?;
        if !self.json {
            return show(&opened.node, &self.issuer.iss);
        }
        let (_, keyring) = opened.node.issuer(&self.issuer.iss).map_err(failure)?;
        let now = display::now();
        let keys: Vec<_> = (keyring.keys().iter())
            .map(|key| KeyRow::of(key, now))
            .collect();
        output::json(&keys)
    }
}

impl Rotate {
    fn run(self) -> Outcome {
        let Opened { node, actor, .. } = &self.folder.open()?;
        let iss = &self.issuer.iss;
        let done = match &self.compromised {
            Some(kid) => node.compromised(actor, iss, kid),
            None => node.rotate(actor, iss, kind(node, iss, self.alg)?),
        };
        done.map_err(failure)?;
        show(node, iss)
    }
}

impl Import {
    fn run(self) -> Outcome {
        let name = input::name_of(&self.key);
        let bytes = input::key_bytes(&self.key, jeton::limits::KEY_BYTES)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            Failure::error(format!("{name}: not text"))
                .hint("a JWK, PEM or PASERK is wanted: jeton key convert --to jwk FILE")
        })?;
        let Opened { node, actor, .. } = &self.folder.open()?;
        let iss = &self.issuer.iss;
        let kind = kind(node, iss, self.alg)?;
        node.import(actor, iss, kind, text)
            .map_err(|error| match error {
                jeton_issuer::Error::Token(error) => {
                    Failure::error(format!("{name}: not a private key for {kind}: {error}"))
                }
                other => failure(other),
            })?;
        show(node, iss)
    }
}

impl Retire {
    fn run(self) -> Outcome {
        let Opened { node, actor, .. } = &self.folder.open()?;
        let iss = &self.issuer.iss;
        node.retire(actor, iss, &self.kid).map_err(failure)?;
        show(node, iss)
    }
}

impl Reseal {
    fn run(self) -> Outcome {
        let Opened { node, actor, .. } = &self.folder.also_reads(self.older).open()?;
        let resealed = node.reseal(actor).map_err(failure)?;
        output::status(format_args!(
            "{resealed} private keys are encrypted under the other key-encryption key now"
        ));
        Ok(())
    }
}

fn show(node: &Node, iss: &str) -> Outcome {
    let (_, keyring) = node.issuer(iss).map_err(failure)?;
    output::text(&display::keys(keyring.keys(), display::now()))
}

/// The one that is meant: named, or the only one that the issuer has.
fn kind(node: &Node, iss: &str, named: Option<KeyKind>) -> Outcome<KeyKind> {
    let (settings, _) = node.issuer(iss).map_err(failure)?;
    match (named, settings.kinds().as_slice()) {
        (Some(kind), _) | (None, &[kind]) => Ok(kind),
        (None, kinds) => {
            let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
            Err(Failure::error(format!(
                "the issuer's profiles use {}: which is meant?",
                names.join(", ")
            ))
            .hint(format!("--alg {}", names.first().unwrap_or(&"NAME"))))
        }
    }
}
