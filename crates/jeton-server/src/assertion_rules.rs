//! The rules for the assertion with which a client authenticates (RFC 7523, section 3).

use jeton::__private::UnverifiedJwt;
use jeton::{Limits as TokenLimits, RawClaims, Timestamp, Verified};
use jeton_issuer::limits::NAME_BYTES;

use crate::clients::{Clients, KeyClient};
use crate::limits::CLIENT_ASSERTION_SECONDS;
use crate::named_issuer::named_issuer;
use crate::refusal::Refusal;

/// Why no client is found whose keys could verify an assertion.
pub(crate) struct NoClient<'c> {
    pub(crate) refusal: Refusal,
    /// The client that a malformed assertion names. It is for the log only.
    pub(crate) named: Option<&'c KeyClient>,
}

/// The client that an assertion names, which is not verified yet.
pub(crate) fn client_of<'c>(
    clients: &'c Clients,
    assertion: &str,
) -> Result<&'c KeyClient, NoClient<'c>> {
    let unverified = UnverifiedJwt::read(assertion, &TokenLimits::default());
    let unverified = unverified.map_err(|why| NoClient {
        refusal: Refusal::of_rejected(&why.into()),
        named: named_issuer(assertion).and_then(|name| clients.with_keys(&name)),
    })?;
    let refused = |what: &'static str| NoClient {
        refusal: Refusal::of_claim("client", "iss", what),
        named: None,
    };
    let name = unverified.issuer();
    let name = name.ok_or_else(|| refused("is missing: it names the client"))?;
    clients.with_keys(name).ok_or_else(|| {
        refused(match clients.with_secret(name) {
            Some(_) => "names a client with `secrets`, which has no `keys_file`",
            None => "names no client with `keys_file`",
        })
    })
}

/// Checks an assertion whose signature, issuer and times are verified. Returns its id and its end, in seconds since 1970.
///
/// `is_own` returns whether an audience is this server.
pub(crate) fn check<'v>(
    verified: &'v Verified<RawClaims>,
    client: &str,
    is_own: impl Fn(&str) -> bool,
    now: Timestamp,
) -> Result<(&'v str, i64), Refusal> {
    match verified.subject() {
        Some(subject) if subject == client => {}
        Some(_) => {
            let what = "is not the client, which `iss` names";
            return Err(Refusal::of_claim("subject", "sub", what));
        }
        None => return Err(Refusal::of_claim("subject", "sub", "is missing")),
    }
    let wrong_audience = |what: &'static str| Err(Refusal::of_claim("audience", "aud", what));
    let mut audiences = verified.audiences();
    match (audiences.next(), audiences.next()) {
        (Some(audience), None) if is_own(&audience) => {}
        (Some(_), None) => {
            return wrong_audience("is neither the issuer nor its token endpoint");
        }
        // The service that receives the assertion could present it to another one.
        (Some(_), Some(_)) => return wrong_audience("has several audiences, and one is allowed"),
        (None, _) => return wrong_audience("is missing"),
    }
    let expires_at = verified.expires_at();
    let expires_at =
        expires_at.ok_or_else(|| Refusal::of_claim("lifetime", "exp", "is missing"))?;
    let expires_at = expires_at.unix_seconds();
    if expires_at > now.unix_seconds() + CLIENT_ASSERTION_SECONDS {
        let what = format!("is more than {CLIENT_ASSERTION_SECONDS} s ahead");
        return Err(Refusal::of_claim("lifetime", "exp", what));
    }
    match verified.token_id() {
        Some(id) if id.len() <= NAME_BYTES => Ok((id, expires_at)),
        Some(id) => {
            let what = format!("has {} bytes, maximum {NAME_BYTES}", id.len());
            Err(Refusal::of_claim("once", "jti", what))
        }
        None => Err(Refusal::of_claim("once", "jti", "is missing")),
    }
}

/// Whether an audience is the issuer or its token endpoint (RFC 7523, section 3).
pub(crate) fn is_own_name(audience: &str, iss: &str) -> bool {
    let base = iss.trim_end_matches('/');
    audience == iss || audience.strip_prefix(base) == Some("/token")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names_are_the_issuer_and_its_token_endpoint() {
        for (audience, iss, is_own) in [
            ("https://id.example", "https://id.example", true),
            ("https://id.example/token", "https://id.example", true),
            ("https://id.example/token", "https://id.example/", true),
            ("https://id.example/", "https://id.example", false),
            ("https://id.example/a/token", "https://id.example", false),
            ("https://id.example.evil/token", "https://id.example", false),
            ("", "https://id.example", false),
        ] {
            assert_eq!(is_own_name(audience, iss), is_own, "{audience} {iss}");
        }
    }
}
