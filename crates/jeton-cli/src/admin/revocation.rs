//! Revocations to be made, for a folder and for a server.

use jeton_client::admin::messages::CreateRevocationsRequest;
use jeton_client::admin::messages::revocation_rule::Kind;
use jeton_issuer::{Revoke, Subject};

/// The most names of one call to a server.
const NAMES: usize = 1000;

/// Several names to revoke in the same way.
pub(super) struct Revocations {
    pub(super) kind: Kind,
    pub(super) names: Vec<String>,
    /// The expiry of the tokens, if it is known.
    pub(super) expires_at: Option<i64>,
}

impl Revocations {
    /// The revocations of a node.
    pub(super) fn of_node(&self) -> impl Iterator<Item = Revoke> + '_ {
        let subject = match self.kind {
            Kind::Subject => Subject::Subject,
            Kind::Client => Subject::Client,
            Kind::Key => Subject::Key,
            Kind::Token | Kind::Unspecified => Subject::Token,
        };
        (self.names.iter()).map(move |name| match self.expires_at {
            Some(at) => Revoke::token(name, at),
            None => Revoke::all(subject(name.clone())),
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
