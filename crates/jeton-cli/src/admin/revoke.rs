//! `jeton admin revoke`.

use clap::{Args, Subcommand, ValueEnum};
use jeton::Timestamp;
use jeton::error::TokenKind;
use jeton_client::admin::messages::revocation_rule::Kind;
use jeton_issuer::limits::{CLOCK_SKEW_SECONDS, LEEWAY_SECONDS};

use super::display;
use super::key_id::KeyAlgorithm;
use super::revocation::Revocations;
use super::target::{Target, TargetArgs};
use super::view::RuleView;
use crate::exit::{Failure, Outcome};
use crate::output;
use crate::time;

/// Revoke tokens, subjects, clients and keys, or end a revocation
///
/// A revocation is on disk when the command ends. It is stored until the last affected token has expired.
///
/// A revocation of a subject, client or key affects the tokens that were issued before it, also in the same second.
/// Tokens of an imported key that another issuer issued are affected if their `iat` is at most 60 s after the
/// revocation, because clocks may differ.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin revoke token https://id.example 7f2c…
  jeton admin revoke subject https://id.example user-7
  jeton admin revoke signed-by https://id.example 2026-11
  jeton admin revoke list https://id.example
  jeton admin revoke end subject https://id.example user-7")]
pub(super) struct Revoke {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Revoke single tokens by their id (`jti`)
    Token(Tokens),
    /// Revoke every token of a subject (`sub`) issued until now
    Subject(Named),
    /// Revoke every token of a client (`client_id`) issued until now
    Client(Named),
    /// Revoke every token that a key (`kid`) has signed until now; the key continues to sign
    SignedBy(SignedBy),
    /// List the revocations of subjects, clients and keys, and of token ids without an expiry
    List(List),
    /// End a revocation before its time: its tokens are accepted again
    End(End),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin revoke token https://id.example 7f2c… --expires-at 1763630100
  jeton admin revoke token https://id.example 7f2c… 9a01…

With --expires-at, a revocation needs 16 bytes of memory, so there can be millions. Without it, a revocation is \
stored like that of a subject, and jeton admin revoke list shows it. At most 100000 of these are stored.")]
struct Tokens {
    /// Issuer, by its `iss`
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Ids of the tokens (`jti`)
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// Expiry of the tokens (`exp`): RFC 3339 or seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time::moment)]
    expires_at: Option<Timestamp>,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
struct Named {
    /// Issuer, by its `iss`
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Names as in the tokens; put -- before a name that begins with a hyphen
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("alg", |alg| alg.help("Algorithm of the key, to name one of several with `current` or `next`")), after_help = "\
Examples:
  jeton admin revoke signed-by https://id.example 2026-11
  jeton admin revoke signed-by https://id.example current --alg ES256")]
struct SignedBy {
    /// Issuer, by its `iss`
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Ids of the keys (`kid`), or `current` for the key that signs, or `next` for the published one; put -- before an
    /// id that begins with a hyphen
    #[arg(value_name = "KID", required = true)]
    keys: Vec<String>,

    #[command(flatten)]
    alg: KeyAlgorithm,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
struct List {
    /// Issuer, by its `iss`
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin revoke end subject https://id.example user-7
  jeton admin revoke end signed-by https://id.example 2026-11

Up to 100 names end together or not at all. Other servers accept the tokens again within the freshness bound. Tokens \
that expired meanwhile stay invalid, and so do tokens that were revoked by their id with an expiry. The revocation of \
a compromised key cannot be ended.")]
struct End {
    /// Kind of the revocation
    #[arg(value_name = "KIND")]
    kind: EndKind,

    /// Issuer, by its `iss`
    #[arg(value_name = "ISSUER")]
    iss: String,

    /// Names as `jeton admin revoke list` shows them; put -- before a name that begins with a hyphen
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    #[command(flatten)]
    target: TargetArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EndKind {
    /// Token id that was revoked without an expiry
    Token,
    /// Subject
    Subject,
    /// Client
    Client,
    /// Key, by its `kid`
    SignedBy,
}

impl Revoke {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::Token(tokens) => tokens.run(),
            Command::Subject(named) => named.run(Kind::Subject),
            Command::Client(named) => named.run(Kind::Client),
            Command::SignedBy(signed_by) => signed_by.run(),
            Command::List(list) => list.run(),
            Command::End(end) => end.run(),
        }
    }
}

impl Tokens {
    fn run(self) -> Outcome {
        // It would be stored, shown in the audit log, and revoke nothing.
        if self.ids.iter().any(|id| is_token(id)) {
            return Err(Failure::error(
                "ID is a whole token, or a file with one, and not the id of a token",
            )
            .hint("pass its `jti`, which `jeton inspect` shows"));
        }
        let expires_at = self.expires_at.map(Timestamp::unix_seconds);
        if expires_at.is_some_and(|at| at + LEEWAY_SECONDS + CLOCK_SKEW_SECONDS <= display::now()) {
            return Err(
                Failure::error("--expires-at: the token has already expired").hint(
                    "pass the exp of the token; to revoke the id without an expiry, remove `--expires-at`",
                ),
            );
        }
        let revocations = Revocations {
            kind: Kind::Token,
            names: self.ids,
            expires_at,
        };
        revoke(&self.target.open()?, &self.iss, revocations)
    }
}

/// Whether a text is a token in place of its id, or names a file as other commands do.
fn is_token(text: &str) -> bool {
    let has_parts = (2..=4).contains(&text.matches('.').count());
    text.starts_with('@') || (has_parts && TokenKind::of(text) != TokenKind::Unknown)
}

impl Named {
    fn run(self, kind: Kind) -> Outcome {
        let revocations = Revocations {
            kind,
            names: self.names,
            expires_at: None,
        };
        revoke(&self.target.open()?, &self.iss, revocations)
    }
}

impl SignedBy {
    /// An unknown key is an error: a typing mistake would revoke nothing.
    fn run(self) -> Outcome {
        let target = self.target.open()?;
        let issuer = target.issuer(&self.iss)?;
        let id = |named: &String| self.alg.key(&issuer, named).map(|key| key.kid.clone());
        let revocations = Revocations {
            kind: Kind::Key,
            names: self.keys.iter().map(id).collect::<Outcome<_>>()?,
            expires_at: None,
        };
        revoke(&target, &self.iss, revocations)
    }
}

impl List {
    fn run(self) -> Outcome {
        let rules = self.target.open()?.rules(&self.iss)?;
        if self.json {
            return output::json(&rules);
        }
        let row = |rule: RuleView| {
            let issued = match rule.not_before {
                Some(at) => format!("created {}", display::moment(at)),
                None => "any issue time".to_owned(),
            };
            let until = format!("stored until {}", display::moment(rule.until));
            [rule.kind, rule.name, issued, until]
        };
        let rows: Vec<_> = rules.into_iter().map(row).collect();
        output::text(&display::table(&rows))
    }
}

impl End {
    fn run(self) -> Outcome {
        let rules = Revocations {
            kind: match self.kind {
                EndKind::Token => Kind::Token,
                EndKind::Subject => Kind::Subject,
                EndKind::Client => Kind::Client,
                EndKind::SignedBy => Kind::Key,
            },
            names: self.names,
            expires_at: None,
        };
        self.target.open()?.end_rules(&self.iss, &rules)?;
        output::status(format_args!("ended {}", rules.names.len()));
        Ok(())
    }
}

fn revoke(target: &Target, iss: &str, revocations: Revocations) -> Outcome {
    target.revoke(iss, &revocations)?;
    output::status(format_args!("revoked {}", revocations.names.len()));
    Ok(())
}
