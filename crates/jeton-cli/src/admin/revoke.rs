//! `jeton admin revoke`.

use clap::{Args, Subcommand};
use jeton::Timestamp;
use jeton_issuer::limits::{CLOCK_SKEW_SECONDS, LEEWAY_SECONDS};
use jeton_issuer::{RevocationRule, Revoke as Revocation, Subject};
use jeton_store::block_on;

use super::folder::{Administered, Opened, failure};
use super::display;
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::time;

/// Revoke tokens, subjects, clients and keys
///
/// A revocation is on disk when the command ends. It is kept until the last token that it concerns has
/// expired.
///
/// A token of a revoked subject, client or key is accepted exactly if it was issued after the revocation,
/// also in the same second. Tokens of imported keys that were issued elsewhere do not say so: they are
/// rejected if their iat is at most 60 s later, by which clocks may differ.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin revoke token https://id.example 7f2c… --expires-at 2026-11-20T09:15:00Z
  jeton admin revoke subject https://id.example user-7
  jeton admin revoke rules https://id.example")]
pub(super) struct Revoke {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Revoke single tokens by their id, the jti
    Token(Tokens),
    /// Revoke every token of a subject (sub) issued until now
    Subject(Named),
    /// Revoke every token of a client (client_id) issued until now
    Client(Named),
    /// Revoke every token of a key (kid) issued until now; the key goes on signing
    Key(Named),
    /// List what is revoked as a whole, until when
    Rules(Rules),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin revoke token https://id.example 7f2c… --expires-at 1763630100
  jeton admin revoke token https://id.example 7f2c… 9a01…

With --expires-at, the token's exp, a revocation takes 16 bytes of memory and there may be millions.
Without it, it is a rule like that of a subject, of which there may be 100000.")]
struct Tokens {
    /// The issuer: its iss
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// The tokens' ids: their jti
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// When they expire: their exp, RFC 3339 or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    expires_at: Option<Timestamp>,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
struct Named {
    /// The issuer: its iss
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// What is revoked: its name in tokens. Names that begin with a hyphen follow --
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    #[command(flatten)]
    folder: Administered,
}

#[derive(Debug, Args)]
struct Rules {
    /// The issuer: its iss
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Print them as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    folder: Administered,
}

impl Revoke {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::Token(tokens) => tokens.run(),
            Command::Subject(named) => named.run(Subject::Subject),
            Command::Client(named) => named.run(Subject::Client),
            Command::Key(named) => named.run_on_keys(),
            Command::Rules(rules) => rules.run(),
        }
    }
}

impl Tokens {
    fn run(self) -> Outcome {
        let expires_at = self.expires_at.map(Timestamp::unix_seconds);
        if expires_at.is_some_and(|at| at + LEEWAY_SECONDS + CLOCK_SKEW_SECONDS <= display::now()) {
            return Err(
                Failure::error("--expires-at: a token that has expired needs no revoking").hint(
                    "it is the token's exp; without --expires-at the id is revoked whenever it expires",
                ),
            );
        }
        let revocation = |id: String| match expires_at {
            Some(at) => Revocation::token(&id, at),
            None => Revocation::all(Subject::Token(id)),
        };
        let revocations = self.ids.into_iter().map(revocation).collect();
        revoke(&self.folder.open()?, &self.iss, revocations)
    }
}

impl Named {
    fn run(self, subject: fn(String) -> Subject) -> Outcome {
        let revocations = self.names.into_iter().map(subject).map(Revocation::all);
        revoke(&self.folder.open()?, &self.iss, revocations.collect())
    }

    /// Of keys it is known which there are. A slip in one's id would leave its tokens good.
    fn run_on_keys(self) -> Outcome {
        let opened = self.folder.open()?;
        let (_, keyring) = opened.node.issuer(&self.iss).map_err(failure)?;
        let kids: Vec<_> = keyring.keys().iter().map(|key| key.kid.as_str()).collect();
        if let Some(unknown) = (self.names.iter()).find(|name| !kids.contains(&name.as_str())) {
            return Err(Failure::error(format!(
                "the issuer has no key {unknown:?}, and nothing was revoked"
            ))
            .hint(format!("its keys: {}", kids.join(", "))));
        }
        let keys = self.names.into_iter().map(Subject::Key);
        revoke(&opened, &self.iss, keys.map(Revocation::all).collect())
    }
}

impl Rules {
    fn run(self) -> Outcome {
        let opened = self.folder.open()?;
        let rules = opened.node.rules(&self.iss).map_err(failure)?;
        if self.json {
            return output::json(&rules);
        }
        let row = |rule: RevocationRule| {
            let issued = match rule.not_before {
                Some(at) => format!("made {}", display::moment(at)),
                None => "whenever issued".to_owned(),
            };
            let until = format!("kept until {}", display::moment(rule.until));
            [rule.kind, rule.name, issued, until]
        };
        let rows: Vec<_> = rules.into_iter().map(row).collect();
        output::text(&display::table(&rows))
    }
}

/// All at once: they share a flush.
fn revoke(opened: &Opened, iss: &str, revocations: Vec<Revocation>) -> Outcome {
    let count = revocations.len();
    let answers: Vec<_> = (revocations.into_iter())
        .map(|revocation| opened.node.revoke(&opened.actor, iss, revocation))
        .collect();
    for answer in answers {
        block_on(answer).map_err(failure)?;
    }
    output::status(format_args!("{count} revoked, and on disk"));
    Ok(())
}
