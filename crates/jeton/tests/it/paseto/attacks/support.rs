use std::time::Duration;

use jeton::error::{Rejection, TokenKind};
use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4::{LocalKey, SecretKey};
use jeton::paseto::{Message, TokenContext};
use jeton::{Claims, Error, FixedClock, Policy, Result, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Visit {
    pub(crate) page: String,
}

pub(crate) const ALPHABET: &[u8; 64] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix_seconds(1_700_000_000).unwrap()
}

pub(crate) fn claims() -> Claims<'static, Visit> {
    Claims::new(Visit { page: "/".into() })
        .issuer("https://id.example")
        .audience("api")
        .issued_at(now())
        .expires_in(Duration::from_secs(900))
}

/// Both purposes, so that every attack is tested with each.
pub(crate) enum Key {
    Local(LocalKey),
    Public(SecretKey),
}

impl Key {
    pub(crate) fn both() -> [Key; 2] {
        [
            Key::Local(LocalKey::generate().unwrap()),
            Key::Public(SecretKey::generate().unwrap()),
        ]
    }

    pub(crate) fn header(&self) -> &'static str {
        match self {
            Key::Local(_) => "v4.local.",
            Key::Public(_) => "v4.public.",
        }
    }

    pub(crate) fn issue(&self, context: TokenContext<'_>) -> String {
        match self {
            Key::Local(key) => key.issue_with(&claims(), context).unwrap(),
            Key::Public(key) => key.issue_with(&claims(), context).unwrap(),
        }
    }

    /// An authentic token with any bytes in it.
    pub(crate) fn make(&self, message: &[u8], context: TokenContext<'_>) -> String {
        match self {
            Key::Local(key) => key.encrypt(message, context).unwrap(),
            Key::Public(key) => key.sign(message, context).unwrap(),
        }
    }

    pub(crate) fn open(&self, token: &str, implicit_assertion: &[u8]) -> Result<Message> {
        match self {
            Key::Local(key) => key.decrypt(token, implicit_assertion),
            Key::Public(key) => key.public_key().verify(token, implicit_assertion),
        }
    }

    pub(crate) fn verifier_with(&self, policy: Policy) -> PasetoVerifier {
        match self {
            Key::Local(key) => PasetoVerifier::new(key, policy),
            Key::Public(key) => PasetoVerifier::new(key.public_key(), policy),
        }
        .clock(FixedClock(now()))
    }

    pub(crate) fn verifier(&self) -> PasetoVerifier {
        self.verifier_with(Policy::new("https://id.example", "api"))
    }

    /// The error for a forged token.
    pub(crate) fn forged(&self) -> Rejection {
        match self {
            Key::Local(_) => Rejection::Decryption,
            Key::Public(_) => Rejection::Signature,
        }
    }
}

pub(crate) fn rejection(verifier: &PasetoVerifier, token: &str) -> Rejection {
    why(verifier.verify::<Visit>(token))
}

pub(crate) fn why<T: std::fmt::Debug>(result: Result<T>) -> Rejection {
    match result {
        Err(Error::Rejected(rejection)) => rejection,
        other => panic!("not rejected: {other:?}"),
    }
}

/// The rejection of a token of another format, version or purpose than a key with this header.
pub(crate) fn wrong_format(token: &str, header: &str) -> Rejection {
    Rejection::WrongFormat {
        found: TokenKind::of(token),
        expected: TokenKind::of(header),
    }
}
