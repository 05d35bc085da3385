//! A client gets a token for itself (RFC 6749, section 4.4).

use super::{Granted, TokenRequest};
use crate::failure::Failure;
use crate::token_rights::Chosen;

pub(super) fn grant(request: &TokenRequest<'_>) -> Result<Granted, Failure> {
    let caller = request.client()?;
    let tokens = caller.token_rights().tokens();
    let chosen = if caller.is_local() {
        trial(request)?
    } else {
        request.choose(tokens)?
    };
    // RFC 9068, section 2.2: the client is the subject.
    request.granted(chosen, caller.name(), caller.name(), &(), None)
}

/// In trial mode, every local process may issue every token over gRPC. Here it gets one of the first profile.
fn trial<'r>(request: &TokenRequest<'r>) -> Result<Chosen<'r>, Failure> {
    let scope = request.form.one("scope")?;
    let scopes = scope.map(crate::token_rights::parse_scope).transpose();
    let scopes = scopes.map_err(|_| super::malformed_scope())?;
    let target = match request.form.one("resource")? {
        Some(resource) => Some(resource),
        None => request.form.one("audience")?,
    };
    Ok(Chosen {
        profile: request.service.node.first_profile(request.iss)?,
        scopes: scopes.unwrap_or_default(),
        audience: target,
    })
}
