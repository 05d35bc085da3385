//! Revocations to be made, for a folder and for a server.

use jeton_client::admin::messages::revocation_rule::Kind;
use jeton_client::admin::messages::{CreateRevocationsRequest, EndRevocationsRequest};
use jeton_issuer::{Revoke, Subject};

/// The most names of one call to a server.
const NAMES: usize = 1000;
/// The most names that end together.
const ENDED_NAMES: usize = jeton_issuer::limits::REVOCATIONS_PER_TXN;

/// Several names to revoke in the same way.
pub(super) struct Revocations {
    pub(super) kind: Kind,
    pub(super) names: Vec<String>,
    /// The expiry of the tokens, if it is known.
    pub(super) expires_at: Option<i64>,
}

impl Revocations {
    fn subject(&self) -> fn(String) -> Subject {
        match self.kind {
            Kind::Subject => Subject::Subject,
            Kind::Client => Subject::Client,
            Kind::Key => Subject::Key,
            Kind::Token | Kind::Unspecified => Subject::Token,
        }
    }

    /// The revocations of a node.
    pub(super) fn of_node(&self) -> impl Iterator<Item = Revoke> + '_ {
        let subject = self.subject();
        (self.names.iter()).map(move |name| match self.expires_at {
            Some(at) => Revoke::token(name, at),
            None => Revoke::all(subject(name.clone())),
        })
    }

    /// The rules of a node that end together.
    pub(super) fn ended_of_node(&self) -> impl Iterator<Item = Vec<Subject>> + '_ {
        let subject = self.subject();
        (self.names.chunks(ENDED_NAMES))
            .map(move |names| names.iter().cloned().map(subject).collect())
    }

    /// The messages for a server that end rules.
    pub(super) fn end_messages(&self, iss: &str) -> impl Iterator<Item = EndRevocationsRequest> {
        self.names
            .chunks(ENDED_NAMES)
            .map(move |names| EndRevocationsRequest {
                issuer: iss.to_owned(),
                kind: self.kind as i32,
                names: names.to_vec(),
            })
    }

    /// The messages for a server.
    pub(super) fn messages(&self, iss: &str) -> impl Iterator<Item = CreateRevocationsRequest> {
        self.names
            .chunks(NAMES)
            .map(move |names| CreateRevocationsRequest {
                issuer: iss.to_owned(),
                kind: self.kind as i32,
                names: names.to_vec(),
                expires_at: self.expires_at.unwrap_or_default(),
            })
    }
}
