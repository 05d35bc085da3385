//! What can go wrong, parted by what is to be done about it.

use std::fmt;
use std::time::Duration;

/// The error of this crate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Settings or a call contradict themselves: the field, and the rule it breaks.
    Invalid(Rule),
    /// A claim that no token of the service may have: the field it came in, and the rule.
    Claims(Rule),
    /// The token is refused because it is larger than every call takes.
    TokenTooLarge {
        /// Its bytes.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The token is refused because no revocation could name it or its subject: the claim, and the rule.
    Irrevocable(Rule),
    /// The token cannot be revoked by itself: the field, and what can be done.
    Unsupported(Rule),
    /// No such issuer here.
    UnknownIssuer,
    /// There is such an issuer already.
    IssuerExists,
    /// The issuer has no such profile.
    UnknownProfile,
    /// The issuer has no such key.
    UnknownKey,
    /// No key may sign yet.
    NotReady,
    /// The node's view of the store is older than the freshness bound, and it is set to refuse then.
    Stale,
    /// A feed of revocations was not read for so long that what it has not told is no longer kept: begin a
    /// new one.
    FellBehind {
        /// What it has not told, bytes.
        bytes: u64,
        /// What is kept.
        limit: usize,
    },
    /// The node has not heard from the store for longer than it may issue without.
    CutOff {
        /// For how long.
        heard: Duration,
        /// For how long it may.
        limit: Duration,
    },
    /// The token is refused because it, its subject, its client or its key is revoked.
    Revoked,
    /// The token was not issued for that audience.
    WrongAudience,
    /// A private key was encrypted under another key-encryption key.
    WrongKeyEncryptionKey {
        /// The id of the one that is needed.
        needed: String,
    },
    /// A key-encryption key that cannot be read.
    KeyEncryptionKey(String),
    /// Private keys are there, and the file that they are encrypted under is not.
    NoKeyEncryptionKey {
        /// The file that is missing.
        file: String,
        /// The id of the key that is needed.
        needed: String,
    },
    /// There is no store in that folder.
    NoStore(String),
    /// A backup that is damaged, cut short or of a newer version, or that cannot be written.
    Backup(String),
    /// A record that is damaged or forged; the store's key of it.
    Record(String),
    /// A record of a newer jeton.
    NewerRecord {
        /// The store's key of it.
        key: String,
        /// Its schema.
        found: u64,
    },
    /// The audit chain is broken at that entry.
    Audit(u64),
    /// Other nodes were faster again and again. Nothing was changed.
    Contended,
    /// The store.
    Store(jeton_store::Error),
    /// The token library.
    Token(jeton::Error),
}

/// A field and the rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The field, as it is written in the settings.
    pub field: String,
    /// The rule, with the numbers.
    pub rule: String,
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

    /// Whether the token was refused, as against a node that cannot answer or a wrong call.
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
            Error::UnknownIssuer => f.write_str("there is no such issuer"),
            Error::IssuerExists => f.write_str("there is such an issuer already"),
            Error::UnknownProfile => f.write_str("the issuer has no such profile"),
            Error::UnknownKey => f.write_str("the issuer has no such key"),
            Error::NotReady => f.write_str("no key may sign yet"),
            Error::Stale => f.write_str("the view of the store is older than the freshness bound"),
            Error::FellBehind { bytes, limit } => write!(
                f,
                "the follower of revocations is {bytes} bytes behind, and the last {limit} are kept: follow \
                 anew"
            ),
            Error::CutOff { heard, limit } => write!(
                f,
                "nothing was heard from the store for {} s, the limit for issuing is {} s",
                heard.as_secs(),
                limit.as_secs()
            ),
            Error::Revoked => f.write_str("the token is revoked"),
            Error::WrongAudience => f.write_str("the token is for another audience"),
            Error::WrongKeyEncryptionKey { needed } => write!(
                f,
                "this is not the key-encryption key that the private keys are encrypted under: {needed} is needed"
            ),
            Error::KeyEncryptionKey(what) => write!(f, "the key-encryption key: {what}"),
            Error::NoKeyEncryptionKey { file, needed } => write!(
                f,
                "{file} is missing, and the private keys are encrypted under it: put the key {needed} \
                 back; without it they are lost"
            ),
            Error::NoStore(folder) => write!(f, "there is no store in {folder}"),
            Error::Backup(what) => write!(f, "the backup {what}"),
            Error::Record(key) => {
                write!(f, "the record {key} is damaged or forged: restore a backup")
            }
            Error::NewerRecord { key, found } => write!(
                f,
                "the record {key} has schema {found}, which a newer jeton wrote: use that version"
            ),
            Error::Audit(entry) => write!(f, "the audit chain is broken at entry {entry}"),
            Error::Contended => f.write_str(
                "other nodes changed the same again and again: nothing was changed, try again",
            ),
            Error::Store(error) => error.fmt(f),
            Error::Token(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<jeton_store::Error> for Error {
    fn from(error: jeton_store::Error) -> Self {
        Error::Store(error)
    }
}

impl From<jeton::Error> for Error {
    fn from(error: jeton::Error) -> Self {
        Error::Token(error)
    }
}
