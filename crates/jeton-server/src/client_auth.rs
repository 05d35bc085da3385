//! Identifies the client that sends a form: to introspection, to revocation and to the token endpoint.
//!
//! A form may have credentials that other requests do not have: a client secret (HTTP Basic, RFC 6749, section
//! 2.3.1), or a signed assertion (`private_key_jwt`, RFC 7523, section 2.2). Certificates (RFC 8705) and bearer
//! tokens are those of [`auth`](crate::auth).
//!
//! A failure never says whether the client exists, and takes about the same time if it does not.

use std::sync::{Arc, OnceLock};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base64ct::{Base64, Base64UrlUnpadded, Encoding as _};
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};
use http::{HeaderMap, Request};
use jeton::__private::UnverifiedJwt;
use jeton::error::Rejection;
use jeton::key::Alg;
use jeton::{Limits as TokenLimits, Verify as _};
use jeton_issuer::limits::NAME_BYTES;
use jeton_transport::{DrainedBody, Peer};
use zeroize::Zeroizing;

use crate::argon2_queue::Applicant;
use crate::auth::{Authenticator, Denied};
use crate::client_secret::{Argon2Memory, SecretHash};
use crate::failure::Failure;
use crate::form::Form;
use crate::limits;
use crate::permissions::Caller;
use crate::service::Service;

/// `client_assertion_type` of a JWT (RFC 7523, section 2.2).
const JWT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Whether a request without credentials in its headers may still have some in its form.
pub(crate) fn may_be_in_form(service: &Service, peer: &Peer, headers: &HeaderMap) -> bool {
    let authenticator = service.authenticator.load();
    authenticator.clients().has_keys()
        || headers.contains_key(AUTHORIZATION)
        || peer.certificate.is_some()
        || authenticator.admin_token().is_some()
}

/// What the headers and the connection of a request with a form say about its client.
pub(crate) struct FromHeaders {
    authenticator: Arc<Authenticator>,
    identified: Result<Arc<Caller>, Denied>,
    has_authorization: bool,
}

/// Identifies the client by the headers, before the form is read: a form of a client that is refused takes no memory.
///
/// # Errors
///
/// If the credentials in the headers are wrong.
pub(crate) async fn identify_by_headers(
    service: &Service,
    peer: &Peer,
    request: &Request<DrainedBody>,
) -> Result<FromHeaders, Failure> {
    let headers = request.headers();
    let authenticator = service.authenticator.load_full();
    let authorization = headers.get(AUTHORIZATION);
    let identified = match authorization.and_then(|header| basic_credentials(header.as_bytes())) {
        Some(_) if headers.get_all(AUTHORIZATION).iter().count() > 1 => {
            return Err(Denied::BadCredentials.into());
        }
        Some(basic) => Ok(by_secret(service, &authenticator, peer, &basic).await?),
        None => authenticator.identify(&service.node, service.certificate(peer), headers),
    };
    if let (Some(_), Err(denied)) = (authorization, &identified) {
        return Err((*denied).into());
    }
    if let Ok(caller) = &identified {
        request.body().stream().charge().of_client(caller.name())?;
    }
    Ok(FromHeaders {
        authenticator,
        identified,
        has_authorization: authorization.is_some(),
    })
}

/// Identifies the client of a form. `None`: the request has no credentials.
///
/// The assertion of a client is accepted once, after that is durable.
pub(crate) async fn identify(
    service: &Service,
    from_headers: FromHeaders,
    form: &Form,
    iss: &str,
) -> Result<Option<Arc<Caller>>, Failure> {
    if form.one("client_secret")?.is_some() {
        let what = "not accepted in the form: send it with HTTP Basic authentication";
        return Err(Failure::Field("client_secret", what.to_owned()));
    }
    let FromHeaders {
        authenticator,
        identified,
        has_authorization,
    } = from_headers;
    let assertion = form.one("client_assertion")?;
    if assertion.is_some() && has_authorization {
        let what = "not accepted together with `Authorization`: use one way to authenticate";
        return Err(Failure::Field("client_assertion", what.to_owned()));
    }
    let caller = match (assertion, identified) {
        // The certificate may be that of a proxy.
        (Some(assertion), _) => by_assertion(service, &authenticator, form, assertion, iss).await?,
        // There are no clients without credentials.
        (None, Err(Denied::NoCredentials)) if form.one("client_id")?.is_none() => return Ok(None),
        (None, identified) => identified?,
    };
    if let Some(client_id) = form.one("client_id")?
        && client_id != caller.name()
        && !caller.is_local()
    {
        return Err(Denied::BadCredentials.into());
    }
    Ok(Some(caller))
}

/// Identifies a proxy that asks for a decision: by its certificate, or by HTTP Basic in `Proxy-Authorization`.
/// `Authorization` is not its own.
pub(crate) async fn identify_proxy(
    service: &Service,
    peer: &Peer,
    headers: &HeaderMap,
) -> Result<Arc<Caller>, Failure> {
    let authenticator = service.authenticator.load_full();
    let mut values = headers.get_all(PROXY_AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (None, _) => {
            let certificate = service.certificate(peer);
            Ok(authenticator.identify(&service.node, certificate, &HeaderMap::new())?)
        }
        (Some(header), None) => match basic_credentials(header.as_bytes()) {
            Some(basic) => by_secret(service, &authenticator, peer, &basic).await,
            None => Err(Denied::BadCredentials.into()),
        },
        (Some(_), Some(_)) => Err(Denied::BadCredentials.into()),
    }
}

/// A `client_id` and a secret.
struct Basic {
    client_id: String,
    secret: Zeroizing<String>,
}

/// Reads the credentials of HTTP Basic (RFC 7617). Both are encoded as in a form (RFC 6749, section 2.3.1).
/// `None`: another scheme. Malformed credentials belong to no client.
fn basic_credentials(header: &[u8]) -> Option<Basic> {
    let (scheme, encoded) = header.split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") {
        return None;
    }
    let malformed = || Basic {
        client_id: String::new(),
        secret: Zeroizing::default(),
    };
    Some(parse_basic(encoded).unwrap_or_else(malformed))
}

fn parse_basic(encoded: &[u8]) -> Option<Basic> {
    let encoded = std::str::from_utf8(encoded).ok()?.trim();
    let text = Zeroizing::new(Base64::decode_vec(encoded).ok()?);
    let colon = text.iter().position(|byte| *byte == b':')?;
    let decode = |bytes: &[u8]| {
        let mut pairs = form_urlencoded::parse(bytes);
        match (pairs.next(), pairs.next()) {
            // `=` and `&` are encoded in both.
            (Some((text, value)), None) if value.is_empty() => Some(text.into_owned()),
            _ => None,
        }
    };
    Some(Basic {
        client_id: decode(&text[..colon])?,
        secret: Zeroizing::new(decode(&text[colon + 1..])?),
    })
}

async fn by_secret(
    service: &Service,
    authenticator: &Authenticator,
    peer: &Peer,
    basic: &Basic,
) -> Result<Arc<Caller>, Failure> {
    let clients = authenticator.clients();
    let client = clients.with_secret(&basic.client_id);
    let secret = basic.secret.as_bytes();
    let mut none = Argon2Memory::default();
    let mut matches = |hash: &SecretHash| hash.matches(secret, &mut none).unwrap_or(false);
    if let Some(client) = client {
        let quick = client.hashes.iter().filter(|hash| hash.cost().is_none());
        // All are compared, so that the time does not tell which one matches.
        let mut is_match = quick.fold(false, |found, hash| matches(hash) | found);
        for known in client.known.iter().filter_map(OnceLock::get) {
            is_match |= is_known(known, secret);
        }
        if is_match {
            return Ok(client.caller.clone());
        }
    } else {
        // The same work as for a client.
        matches(&SecretHash::Sha256([0; 32]));
    }
    let slow = clients.slow_comparisons(client);
    if !slow.is_empty() {
        let copy = basic.secret.clone();
        let compare = move |memory: &mut Argon2Memory| {
            let mut matched = None;
            for (own, hash) in slow {
                let is_match = hash.matches(copy.as_bytes(), memory).unwrap_or(false);
                matched = own.filter(|_| is_match).or(matched);
            }
            matched
        };
        let applicant = if peer.is_proxy {
            Applicant::Name(basic.client_id.clone())
        } else {
            Applicant::Network(peer.network)
        };
        let compared = service.argon2.run(applicant, client.is_some(), compare);
        let matched = compared.await?;
        if let (Some(client), Some(index)) = (client, matched) {
            // The next request with this secret costs no memory.
            let _ = client.known[index].set(digest(secret));
            return Ok(client.caller.clone());
        }
    }
    Err(Denied::BadCredentials.into())
}

/// Verifies an assertion (RFC 7523, section 3).
async fn by_assertion(
    service: &Service,
    authenticator: &Authenticator,
    form: &Form,
    assertion: &str,
    iss: &str,
) -> Result<Arc<Caller>, Failure> {
    if form.required("client_assertion_type")? != JWT_ASSERTION {
        let what = format!("expected {JWT_ASSERTION}");
        return Err(Failure::Field("client_assertion_type", what));
    }
    let bad = || Failure::from(Denied::BadCredentials);
    let unverified = UnverifiedJwt::read(assertion, &TokenLimits::default()).map_err(|_| bad())?;
    let client = unverified
        .issuer()
        .and_then(|client_id| authenticator.clients().with_keys(client_id));
    // One signature is checked in any case. Otherwise the time would tell which clients exist, and their keys.
    let check_another = || {
        let alg = alg_of(assertion);
        let decoy = alg.and_then(|alg| authenticator.clients().assertion_decoy(alg));
        drop(decoy.map(|decoy| decoy.verify_raw(assertion)));
    };
    let Some(client) = client else {
        check_another();
        return Err(bad());
    };
    let verified = client.verifier.verify_raw(assertion).map_err(|error| {
        let unchecked = [Rejection::AlgorithmMismatch, Rejection::UnknownKey];
        if error.rejection().is_some_and(|why| unchecked.contains(why)) {
            check_another();
        }
        bad()
    })?;
    let name = client.caller.name();
    let mut audiences = verified.audiences();
    // One audience: the service that receives the assertion cannot present it to another one.
    let is_for_us = match (audiences.next(), audiences.next()) {
        (Some(audience), None) => is_own_name(&audience, iss),
        _ => false,
    };
    let expires_at = verified.expires_at().ok_or_else(bad)?.unix_seconds();
    let longest = service.node.now().unix_seconds() + limits::CLIENT_ASSERTION_SECONDS;
    let id = verified.token_id().filter(|id| id.len() <= NAME_BYTES);
    let (true, true, Some(id)) = (
        is_for_us && verified.subject() == Some(name),
        expires_at <= longest,
        id,
    ) else {
        return Err(bad());
    };
    // Before the write: a client must not fill the store.
    client.assertions.take()?;
    let party = format!("client {name}");
    if service.node.use_once(iss, &party, id, expires_at).await? {
        Ok(client.caller.clone())
    } else {
        Err(bad())
    }
}

/// The algorithm that an assertion names.
fn alg_of(assertion: &str) -> Option<Alg> {
    let (header, _) = assertion.split_once('.')?;
    let header = Base64UrlUnpadded::decode_vec(header).ok()?;
    let header: serde_json::Value = serde_json::from_slice(&header).ok()?;
    header.get("alg")?.as_str()?.parse().ok()
}

/// Whether an audience is the issuer or its token endpoint (RFC 7523, section 3).
fn is_own_name(audience: &str, iss: &str) -> bool {
    let base = iss.trim_end_matches('/');
    audience == iss || audience.strip_prefix(base) == Some("/token")
}

/// A digest under a key of this process: useless without its memory.
fn digest(secret: &[u8]) -> [u8; 32] {
    static KEY: OnceLock<Option<hmac::Key>> = OnceLock::new();
    let new = || {
        let mut bytes = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(bytes.as_mut_slice()).ok()?;
        Some(hmac::Key::new(hmac::HMAC_SHA256, bytes.as_slice()))
    };
    let mut array = [0; 32];
    if let Some(key) = KEY.get_or_init(new) {
        array.copy_from_slice(hmac::sign(key, secret).as_ref());
    }
    array
}

/// Whether this is the secret that matched before. Without a random key, no secret is known.
fn is_known(known: &[u8; 32], secret: &[u8]) -> bool {
    *known != [0; 32] && verify_slices_are_equal(known, &digest(secret)).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn basic_credentials_are_decoded_as_form() {
        let read = |text: &str| {
            let header = format!("Basic {}", Base64::encode_string(text.as_bytes()));
            let Basic { client_id, secret } = basic_credentials(header.as_bytes()).unwrap();
            (client_id, secret.as_str().to_owned())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(read("ci:secret"), pair("ci", "secret"));
        assert_eq!(read("a%3Ab:c%20d"), pair("a:b", "c d"));
        assert_eq!(read("a:b:c"), pair("a", "b:c"));
        assert_eq!(read("a:b+c"), pair("a", "b c"));
        for malformed in ["", "ci", ":", "ci:", ":secret", "ci:a=b", "ci:a&b"] {
            assert_eq!(read(malformed), pair("", ""), "{malformed}");
        }
        assert!(basic_credentials(b"Bearer abc").is_none());
        assert!(basic_credentials(b"Basic").is_none());
        assert_eq!(basic_credentials(b"basic !").unwrap().client_id, "");
    }

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
