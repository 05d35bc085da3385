//! Revocations by an administrator, who names ids and has no token.

use jeton_issuer::{Node, RevocationRule, Revoke, Subject};
use jeton_proto::v1::{
    CreateRevocationsRequest, CreateRevocationsResponse, EndRevocationsRequest,
    EndRevocationsResponse, Revocation, RevocationStamp, revocation_rule::Kind,
};
use jeton_store::block_on;

use crate::failure::Failure;
use crate::permissions::Caller;
use crate::service::Service;

/// The most names of one call. They share transactions.
const NAMES: usize = 1000;

pub(super) fn create(
    service: &Service,
    caller: &Caller,
    request: CreateRevocationsRequest,
) -> Result<CreateRevocationsResponse, Failure> {
    let count = request.names.len();
    if count == 0 || count > NAMES {
        let what = format!("must have 1 to {NAMES} names, and has {count}");
        return Err(Failure::Field("names", what));
    }
    let node = &service.node;
    let (iss, kind, expires_at) = (&request.issuer, request.kind(), request.expires_at);
    if expires_at != 0 && kind != Kind::Token {
        let what = "is only for the kind KIND_TOKEN".to_owned();
        return Err(Failure::Field("expires_at", what));
    }
    if kind == Kind::Key {
        known_keys(node, iss, &request.names)?;
    }
    let subject = subject(kind)?;
    let revocation = |name: String| match expires_at {
        0 => Revoke::all(subject(name)),
        at => Revoke::token(&name, at),
    };
    service.take_revocations(caller, iss, u32::try_from(count).unwrap_or(u32::MAX))?;
    let answers: Vec<_> = (request.names.into_iter())
        .map(|name| node.revoke(caller.name(), iss, revocation(name)))
        .collect();
    let mut revision = 0;
    for answer in answers {
        let revoked = block_on(answer);
        let revoked = revoked.map_err(|error| service.not_revoked(caller, iss, error))?;
        revision = revision.max(revoked.number());
    }
    Ok(CreateRevocationsResponse { revision })
}

/// Ends rules. A key may have left the key set since.
pub(super) fn end(
    node: &Node,
    actor: &str,
    request: EndRevocationsRequest,
) -> Result<EndRevocationsResponse, Failure> {
    let subject = subject(request.kind())?;
    let rules: Vec<_> = request.names.into_iter().map(subject).collect();
    let revision = node.end_rules(actor, &request.issuer, &rules)?.number();
    Ok(EndRevocationsResponse { revision })
}

fn subject(kind: Kind) -> Result<fn(String) -> Subject, Failure> {
    match kind {
        Kind::Token => Ok(Subject::Token),
        Kind::Subject => Ok(Subject::Subject),
        Kind::Client => Ok(Subject::Client),
        Kind::Key => Ok(Subject::Key),
        Kind::Unspecified => Err(Failure::Field("kind", "is required".to_owned())),
    }
}

/// Fails for an unknown key id: a typing mistake would revoke nothing.
fn known_keys(node: &Node, iss: &str, kids: &[String]) -> Result<(), Failure> {
    let (_, keyring) = node.issuer(iss)?;
    let is_known = |kid: &String| keyring.keys().iter().any(|key| key.kid == *kid);
    if kids.iter().all(is_known) {
        Ok(())
    } else {
        Err(jeton_issuer::Error::UnknownKey.into())
    }
}

pub(super) fn message(rule: RevocationRule) -> Revocation {
    Revocation {
        kind: match rule.kind.as_str() {
            "token" => Kind::Token,
            "subject" => Kind::Subject,
            "client" => Kind::Client,
            "key" => Kind::Key,
            _ => Kind::Unspecified,
        } as i32,
        name: rule.name,
        created_at: rule.not_before,
        until: rule.until,
        stamp: rule.stamp.map(|stamp| RevocationStamp {
            epoch: stamp.epoch,
            number: stamp.number,
        }),
    }
}
