//! Errors, grouped by what the caller can do.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use crate::limits::CLOCK_SKEW_SECONDS;

/// An error of this crate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Invalid settings or an invalid call: the field and the violated rule.
    Invalid(Rule),
    /// A claim that tokens of the service must not have: the field and the violated rule.
    Claims(Rule),
    /// The token is rejected because it exceeds the size limit.
    TokenTooLarge {
        /// Size in bytes.
        bytes: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The token is rejected because no revocation could name it or its subject: the claim and the violated
    /// rule.
    Irrevocable(Rule),
    /// The token cannot be revoked by itself: the field and the alternative.
    Unsupported(Rule),
    /// The issuer does not exist.
    UnknownIssuer,
    /// The issuer exists already.
    IssuerExists,
    /// The issuer has no such profile.
    UnknownProfile,
    /// The issuer has no such key.
    UnknownKey,
    /// The issuer has no such revocation rule in force.
    UnknownRule,
    /// No active signing key.
    NotReady,
    /// The signing key is held outside the store, and did not sign.
    SignerUnavailable(String),
    /// The node's view of the store is older than the freshness bound, and the node rejects requests then.
    Stale,
    /// The reader of a revocation feed is too slow, and its next changes are no longer kept: begin a new
    /// feed.
    FellBehind {
        /// Unread changes, bytes.
        bytes: u64,
        /// The limit, bytes.
        limit: usize,
    },
    /// A feed cannot resume there: the changes after that position are no longer kept, or the store has another history.
    /// Begin a new feed.
    PositionLost {
        /// Revision of the position.
        at: u64,
        /// Changes after this revision are kept.
        oldest: u64,
        /// The newest revision.
        newest: u64,
    },
    /// The node has been without contact to the store for longer than it may issue.
    StoreUnreachable {
        /// Time since the last contact.
        heard: Duration,
        /// The limit.
        limit: Duration,
    },
    /// The token is rejected because it, its subject, its client or its key is revoked.
    Revoked,
    /// The token was not issued for that audience.
    WrongAudience,
    /// The issuer has too many revocation rules in force, and all issuers together have no room for it.
    RulesFull {
        /// Rules of the issuer.
        used: usize,
        /// Rules that it can always have.
        limit: usize,
        /// Rules of all issuers.
        all: usize,
    },
    /// The caller has too many revocation rules in force.
    ClientRulesFull {
        /// Rules that it made.
        used: usize,
        /// The limit, see [`Options::rules_per_client`](crate::Options::rules_per_client).
        limit: usize,
    },
    /// A private key was encrypted under another key-encryption key.
    WrongKeyEncryptionKey {
        /// Id of the required key.
        needed: String,
    },
    /// A key-encryption key that cannot be read.
    KeyEncryptionKey(String),
    /// Private keys exist, and the file of their key-encryption key is missing.
    NoKeyEncryptionKey {
        /// The missing file.
        file: String,
        /// Id of the required key.
        needed: String,
    },
    /// The folder has no store.
    NoStore(String),
    /// A damaged, truncated or newer backup, or one that cannot be written.
    Backup(String),
    /// A damaged or forged record: its key in the store.
    Record(String),
    /// A record of a newer version of jeton.
    NewerRecord {
        /// Key of the record.
        key: String,
        /// Schema of the record.
        found: u64,
    },
    /// The audit log is broken: the first entry, with its chain, that is missing, changed or unexpected.
    Audit(String),
    /// An exported segment of the audit log that is missing, damaged, incomplete, or of another store, or a folder
    /// that cannot be read or written.
    AuditExport(String),
    /// A migration that cannot begin or continue, or whose check failed.
    Migrate(MigrateError),
    /// Too many conflicts with other nodes. Nothing was changed.
    Contended,
    /// The store went back to an earlier revision: it was restored. Nothing was changed. The node loads everything
    /// again and begins a new epoch.
    StoreWentBack {
        /// The revision that this node has seen.
        known: u64,
        /// The revision of the store.
        found: u64,
    },
    /// The clock of this node is apart from those of the majority, so it publishes no key.
    ClockApart {
        /// Seconds ahead of the majority.
        ahead: i64,
        /// Nodes of the majority.
        majority: usize,
        /// All nodes.
        nodes: usize,
    },
    /// No majority of the clocks agrees, so no key is published.
    ClocksDisagree {
        /// Seconds by which this clock is ahead of the one that differs most.
        ahead: i64,
        /// All nodes.
        nodes: usize,
    },
    /// The clock of this node is behind another, so it publishes no key.
    ClockBehind {
        /// Seconds.
        seconds: i64,
        /// The other clock.
        what: &'static str,
    },
    /// A server of an older version runs and would not read the record. Nothing was changed.
    OlderNode {
        /// Schema of the record.
        schema: u64,
        /// The newest schema that the server reads.
        reads: u64,
        /// Name and version of the server.
        node: String,
    },
    /// An error of the store.
    Store(jeton_store::Error),
    /// An error of the token library.
    Token(jeton::Error),
}

/// A field and the rule that it violates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The field, as written in the settings.
    pub field: String,
    /// The rule, with the actual value and the limit.
    pub rule: String,
}

/// Why a migration cannot begin or continue, or what its check found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MigrateError {
    /// The source has no issuer and no audit log.
    Empty,
    /// The target has a part of the records, from an interrupted migration of this source.
    Unfinished,
    /// The part has a key that jeton does not write. Nothing was changed.
    OtherKey(String),
    /// A record of the source changed meanwhile: its key.
    SourceChanged(String),
    /// A record differs after the copy: its key.
    Differs(String),
    /// Another process has finished the same migration.
    FinishedElsewhere,
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn rule(field: impl Into<String>, rule: impl Into<String>) -> Error {
        Error::Invalid(Rule {
            field: field.into(),
            rule: rule.into(),
        })
    }

    pub(crate) fn unsupported(rule: &str) -> Error {
        Error::Unsupported(Rule {
            field: "token".to_owned(),
            rule: rule.to_owned(),
        })
    }

    /// Returns whether the token was rejected. False for an invalid call or a node that cannot answer.
    pub fn is_rejection(&self) -> bool {
        match self {
            Error::Revoked
            | Error::WrongAudience
            | Error::TokenTooLarge { .. }
            | Error::Irrevocable(_) => true,
            Error::Token(error) => error.is_rejection(),
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(rule) | Error::Claims(rule) | Error::Unsupported(rule) => {
                write!(f, "`{}`: {}", rule.field, rule.rule)
            }
            Error::TokenTooLarge { bytes, limit } => {
                write!(f, "the token has {bytes} bytes, the limit is {limit}")
            }
            Error::Irrevocable(rule) => write!(
                f,
                "the token could not be revoked: its {} {}",
                rule.field, rule.rule
            ),
            Error::UnknownIssuer => f.write_str("unknown issuer"),
            Error::IssuerExists => f.write_str("the issuer exists already"),
            Error::UnknownProfile => f.write_str("unknown profile"),
            Error::UnknownKey => f.write_str("unknown key"),
            Error::UnknownRule => f.write_str("no such revocation is in force"),
            Error::NotReady => f.write_str("no active signing key"),
            Error::SignerUnavailable(why) => write!(f, "the HSM did not sign: {why}"),
            Error::Stale => f.write_str("the view of the store is older than the freshness bound"),
            Error::FellBehind { bytes, limit } => write!(
                f,
                "the reader of revocations is {bytes} bytes behind, the limit is {limit}: begin a new feed"
            ),
            Error::PositionLost { at, oldest, newest } if (oldest..=newest).contains(&at) => {
                write!(
                    f,
                    "revision {at} is of another history of the store: begin a new feed"
                )
            }
            Error::PositionLost { at, oldest, newest } => write!(
                f,
                "cannot resume after revision {at}: the changes after {oldest} to {newest} are kept: begin a new feed"
            ),
            Error::StoreUnreachable { heard, limit } => write!(
                f,
                "no contact to the store for {} s, the limit for issuing is {} s",
                heard.as_secs(),
                limit.as_secs()
            ),
            Error::Revoked => f.write_str("the token is revoked"),
            Error::RulesFull { used, limit, all } => write!(
                f,
                "{used} revocation rules of this issuer are in force, and {limit} are its own part; those of all \
                 issuers are {all} of {}: revoke single tokens by their id and expiry, end rules, or wait until rules are over",
                crate::limits::RULES
            ),
            Error::ClientRulesFull { used, limit } => write!(
                f,
                "{used} revocation rules of this client are in force, the limit is {limit}: revoke single tokens by \
                 their id and expiry, end rules, or wait until rules are over"
            ),
            Error::WrongAudience => f.write_str("the token is for another audience"),
            Error::WrongKeyEncryptionKey { needed } => write!(
                f,
                "wrong key-encryption key: the private keys are encrypted under {needed}"
            ),
            Error::KeyEncryptionKey(what) => write!(f, "invalid key-encryption key: {what}"),
            Error::NoKeyEncryptionKey { file, needed } => write!(
                f,
                "{file} is missing, and the private keys are encrypted under its key {needed}: restore the file; \
                 without it they are lost"
            ),
            Error::NoStore(folder) => write!(f, "no store in {folder}"),
            Error::Backup(what) => write!(f, "the backup {what}"),
            Error::Record(key) => {
                write!(f, "record {key} is damaged or forged: restore a backup")
            }
            Error::NewerRecord { key, found } => write!(
                f,
                "record {key} has schema {found}, which a newer version of jeton wrote: use that version"
            ),
            Error::Audit(what) => write!(f, "the audit log is broken: {what}"),
            Error::AuditExport(what) => write!(f, "exported audit log: {what}"),
            Error::Migrate(error) => error.fmt(f),
            Error::Contended => {
                f.write_str("too many conflicts with other nodes, nothing was changed: retry")
            }
            Error::ClockApart {
                ahead,
                majority,
                nodes,
            } => write!(
                f,
                "this clock is {} the clocks of {majority} of {nodes} servers, and {CLOCK_SKEW_SECONDS} s are allowed: \
                 nothing was changed; set the clock and retry",
                side(*ahead)
            ),
            Error::ClocksDisagree { ahead, nodes } => write!(
                f,
                "the clocks of {nodes} servers do not agree: this one is {} another, and {CLOCK_SKEW_SECONDS} s are \
                 allowed: nothing was changed; set the clocks and retry",
                side(*ahead)
            ),
            Error::ClockBehind { seconds, what } => write!(
                f,
                "this clock is {seconds} s behind {what}, and {CLOCK_SKEW_SECONDS} s are allowed: nothing was changed; \
                 set the clock of this machine and retry"
            ),
            Error::OlderNode {
                schema,
                reads,
                node,
            } => write!(
                f,
                "this needs records of schema {schema}, and the server {node} reads schemas up to {reads}: nothing was \
                 changed; upgrade that server first"
            ),
            Error::StoreWentBack { known, found } => write!(
                f,
                "the store was at revision {known} and is at {found}: it was restored or replaced; nothing was changed; \
                 this server loads everything again: retry"
            ),
            Error::Store(error) => error.fmt(f),
            Error::Token(error) => error.fmt(f),
        }
    }
}

/// Returns how far a clock is ahead of others, or behind.
fn side(ahead: i64) -> String {
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    format!("{} s {side}", ahead.unsigned_abs())
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MigrateError::Empty => f.write_str("the source has no issuer: nothing to migrate"),
            MigrateError::Unfinished => f.write_str(
                "the target has a part of the records, from an interrupted migration of this source",
            ),
            MigrateError::OtherKey(key) => write!(
                f,
                "the target has the key {key}, which is not of this migration: nothing was changed"
            ),
            MigrateError::SourceChanged(key) => write!(
                f,
                "the source changed during the migration (record {key}): the migration is not finished"
            ),
            MigrateError::Differs(key) => write!(
                f,
                "record {key} of the target differs from the source: the migration is not finished"
            ),
            MigrateError::FinishedElsewhere => {
                f.write_str("another process has finished this migration")
            }
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for MigrateError {}

impl From<MigrateError> for Error {
    fn from(error: MigrateError) -> Self {
        Error::Migrate(error)
    }
}

impl From<jeton_store::Error> for Error {
    fn from(error: jeton_store::Error) -> Self {
        Error::Store(error)
    }
}

impl From<jeton::Error> for Error {
    fn from(error: jeton::Error) -> Self {
        match &error {
            jeton::Error::Remote(remote) => Error::SignerUnavailable(
                remote
                    .source()
                    .map_or_else(|| remote.to_string(), ToString::to_string),
            ),
            _ => Error::Token(error),
        }
    }
}
