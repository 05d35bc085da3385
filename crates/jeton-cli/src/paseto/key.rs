//! The key of a PASETO: a PASERK of the kind that the verb needs, and no other.

use std::path::Path;

use jeton::error::KeyProblem;
use jeton::paserk::Kind;

use crate::exit::{Failure, Outcome};
use crate::keyfile::{KeyFile, Refused};

/// Reads the key with the library's own reader, and says which verb would take another kind.
pub(super) fn load<K>(path: &Path, read: impl Fn(&str) -> jeton::Result<K>) -> Outcome<K> {
    let file = KeyFile::read(path)?;
    read(file.paserk()?).map_err(|error| {
        let refusal = file.refusal(Refused::from(error));
        match advice(error) {
            Some(advice) => refusal.hint(advice),
            None => refusal,
        }
    })
}

fn advice(error: jeton::Error) -> Option<&'static str> {
    let jeton::Error::Key(error) = error else {
        return None;
    };
    let KeyProblem::WrongKind { wanted, given } = error.problem() else {
        return None;
    };
    match (given, wanted) {
        (Kind::K4_SECRET, Kind::K4_PUBLIC) => Some("take its public half: jeton key public FILE"),
        (Kind::K4_PUBLIC, Kind::K4_SECRET) => Some("signing needs the secret key"),
        (Kind::K4_LOCAL, _) => {
            Some("a k4.local encrypts and decrypts: jeton paseto encrypt, jeton paseto decrypt")
        }
        (Kind::K4_SECRET, Kind::K4_LOCAL) => Some("a k4.secret signs: jeton paseto sign"),
        (Kind::K4_PUBLIC, Kind::K4_LOCAL) => Some("a k4.public verifies: jeton paseto verify"),
        _ => None,
    }
}

/// An error that is not about the token.
pub(super) fn wrong(error: jeton::Error) -> Failure {
    Failure::wrong(error.to_string())
}
