//! Identifies the client that sends a form: to introspection, to revocation and to the token endpoint.
//!
//! A form may have credentials that other requests do not have: a client secret (HTTP Basic, RFC 6749, section
//! 2.3.1), or a signed assertion (`private_key_jwt`, RFC 7523, section 2.2). Certificates (RFC 8705) and bearer
//! tokens are those of [`auth`](crate::auth).
//!
//! A failure never says whether the client exists, and takes about the same time if it does not.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base64ct::{Base64UrlUnpadded, Encoding as _};
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};
use http::{HeaderMap, Request};
use jeton::Verify as _;
use jeton::error::Rejection;
use jeton::key::Alg;
use jeton_transport::{DrainedBody, Peer};
use zeroize::Zeroizing;

use crate::argon2_queue::Applicant;
use crate::assertion_rules::{self, NoClient};
use crate::auth::{Authenticator, Denied, Unidentified, several_headers};
use crate::basic::{Basic, Credentials};
use crate::client_secret::{Argon2Memory, SecretHash};
use crate::clients::Clients;
use crate::failure::Failure;
use crate::form::Form;
use crate::metrics::CallOutcome;
use crate::permissions::Caller;
use crate::refusal::Refusal;
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
    identified: Result<Arc<Caller>, Unidentified>,
    has_authorization: bool,
}

/// Identifies the client by the headers, before the form is read: a form of a client that is refused takes no memory.
///
/// # Errors
///
/// If the credentials in the headers are wrong. The reason is logged.
pub(crate) async fn identify_by_headers(
    service: &Service,
    peer: &Peer,
    request: &Request<DrainedBody>,
    iss: &str,
) -> Result<FromHeaders, Failure> {
    let headers = request.headers();
    let authenticator = service.authenticator.load_full();
    let authorization = headers.get(AUTHORIZATION);
    let mut identified = match authorization.and_then(|header| Basic::read(header.as_bytes())) {
        Some(_) if headers.get_all(AUTHORIZATION).iter().count() > 1 => Err(several_headers()),
        Some(basic) => Ok(by_secret(service, &authenticator, peer, &basic, iss).await?),
        None => authenticator.find(&service.node, service.certificate(peer), headers),
    };
    if authorization.is_some() {
        identified = Ok(identified.map_err(|unidentified| authenticator.log(unidentified))?);
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
    let FromHeaders {
        authenticator,
        identified,
        has_authorization,
    } = from_headers;
    if form.one("client_secret")?.is_some() {
        let clients = authenticator.clients();
        let client_id = form.one("client_id")?.unwrap_or_default();
        let client = clients.with_secret(client_id).map(|client| &*client.caller);
        let refusal = Refusal::of_parameter("secrets", "client_secret", "is in the form");
        service.log_refusal_of(client, iss, &refusal, None);
        return Err(Failure::from(Denied::SecretInForm).logged());
    }
    let assertion = form.one("client_assertion")?;
    if assertion.is_some() && has_authorization {
        let what = "not accepted together with `Authorization`: use one way to authenticate";
        return Err(Failure::Field("client_assertion", what.to_owned()));
    }
    let caller = match (assertion, identified) {
        // The certificate may be that of a proxy.
        (Some(assertion), _) => by_assertion(service, &authenticator, form, assertion, iss).await?,
        (None, Ok(caller)) => caller,
        (None, Err(unidentified)) if unidentified.denied == Denied::NoCredentials => {
            // There are no clients without credentials.
            return match form.one("client_id")? {
                None => Ok(None),
                Some(_) => Err(Denied::NoFormCredentials.into()),
            };
        }
        (None, Err(unidentified)) => return Err(authenticator.log(unidentified).into()),
    };
    if let Some(client_id) = form.one("client_id")?
        && client_id != caller.name()
        && !caller.is_local()
    {
        let what = "names another client than the credentials";
        let refusal = Refusal::of_parameter("client", "client_id", what);
        return Err(bad_credentials(service, Some(&caller), iss, &refusal, None));
    }
    Ok(Some(caller))
}

/// Logs why the credentials of a request are refused. The caller does not learn it.
fn bad_credentials(
    service: &Service,
    client: Option<&Caller>,
    iss: &str,
    refusal: &Refusal,
    assertion: Option<&str>,
) -> Failure {
    service.log_refusal_of(client, iss, refusal, assertion);
    if let Some(client) = client {
        client
            .calls()
            .count(CallOutcome::ClientError, Instant::now());
    }
    Failure::from(Denied::BadCredentials).logged()
}

/// Identifies a proxy that asks for a decision: by its certificate, or by HTTP Basic in `Proxy-Authorization`.
/// `Authorization` is not its own.
pub(crate) async fn identify_proxy(
    service: &Service,
    peer: &Peer,
    headers: &HeaderMap,
    iss: &str,
) -> Result<Arc<Caller>, Failure> {
    let authenticator = service.authenticator.load_full();
    let mut values = headers.get_all(PROXY_AUTHORIZATION).iter();
    let refused = |what: &'static str| {
        let refusal = Refusal::of_whole("credentials", what);
        bad_credentials(service, None, iss, &refusal, None)
    };
    match (values.next(), values.next()) {
        (None, _) => {
            let certificate = service.certificate(peer);
            Ok(authenticator.identify(&service.node, certificate, &HeaderMap::new())?)
        }
        (Some(header), None) => match Basic::read(header.as_bytes()) {
            Some(basic) => by_secret(service, &authenticator, peer, &basic, iss).await,
            None => Err(refused(
                "`proxy-authorization` has another scheme than Basic",
            )),
        },
        (Some(_), Some(_)) => Err(refused("several `proxy-authorization` headers")),
    }
}

/// Compares a secret with the hashes of a client.
async fn by_secret(
    service: &Service,
    authenticator: &Authenticator,
    peer: &Peer,
    basic: &Basic,
    iss: &str,
) -> Result<Arc<Caller>, Failure> {
    let clients = authenticator.clients();
    for credentials in basic.readings() {
        if let Some(caller) = by_quick_hashes(clients, credentials) {
            return Ok(caller);
        }
    }
    // Each reading is a computation of its own in the queue.
    for credentials in basic.readings() {
        if let Some(caller) = by_slow_hashes(service, clients, peer, credentials).await? {
            return Ok(caller);
        }
    }
    let mut known = basic.readings().filter_map(|credentials| {
        let client = clients.with_secret(&credentials.client_id);
        client.map(|client| &*client.caller)
    });
    let known = known.next();
    let has_keys = |credentials: &Credentials| clients.with_keys(&credentials.client_id).is_some();
    let refusal = if known.is_some() {
        Refusal::of_whole(
            "secrets",
            "the secret matches none of `secrets` of the client",
        )
    } else if basic.readings().any(has_keys) {
        let what = "the client has `keys_file`, and authenticates with assertions";
        Refusal::of_whole("keys_file", what)
    } else if basic.is_malformed() {
        Refusal::of_whole("credentials", "malformed credentials for HTTP Basic")
    } else {
        Refusal::of_whole("client", "no client with `secrets` has this name")
    };
    Err(bad_credentials(service, known, iss, &refusal, None))
}

/// Compares a secret with hashes whose comparison is quick, and with the secrets that matched before.
fn by_quick_hashes(clients: &Clients, credentials: &Credentials) -> Option<Arc<Caller>> {
    let secret = credentials.secret.as_bytes();
    let mut none = Argon2Memory::default();
    let mut matches = |hash: &SecretHash| hash.matches(secret, &mut none).unwrap_or(false);
    let Some(client) = clients.with_secret(&credentials.client_id) else {
        // The same work as for a client.
        matches(&SecretHash::Sha256([0; 32]));
        return None;
    };
    let quick = client.hashes.iter().filter(|hash| hash.cost().is_none());
    // All are compared, so that the time does not tell which one matches.
    let mut is_match = quick.fold(false, |found, hash| matches(hash) | found);
    for known in client.known.iter().filter_map(OnceLock::get) {
        is_match |= is_known(known, secret);
    }
    is_match.then(|| client.caller.clone())
}

/// Compares a secret with hashes whose comparison is slow, on another thread.
async fn by_slow_hashes(
    service: &Service,
    clients: &Clients,
    peer: &Peer,
    credentials: &Credentials,
) -> Result<Option<Arc<Caller>>, Failure> {
    let client = clients.with_secret(&credentials.client_id);
    let slow = clients.slow_comparisons(client);
    if slow.is_empty() {
        return Ok(None);
    }
    let copy = credentials.secret.clone();
    let compare = move |memory: &mut Argon2Memory| {
        let mut matched = None;
        for (own, hash) in slow {
            let is_match = hash.matches(copy.as_bytes(), memory).unwrap_or(false);
            matched = own.filter(|_| is_match).or(matched);
        }
        matched
    };
    let applicant = if peer.is_proxy {
        Applicant::Name(credentials.client_id.clone())
    } else {
        Applicant::Network(peer.network)
    };
    let compared = service.argon2.run(applicant, client.is_some(), compare);
    let matched = compared.await?;
    let (Some(client), Some(index)) = (client, matched) else {
        return Ok(None);
    };
    // The next request with this secret costs no memory.
    let _ = client.known[index].set(digest(credentials.secret.as_bytes()));
    Ok(Some(client.caller.clone()))
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
    let clients = authenticator.clients();
    let refused = |client: Option<&Caller>, refusal: &Refusal| {
        bad_credentials(service, client, iss, refusal, Some(assertion))
    };
    let client = match assertion_rules::client_of(clients, assertion) {
        Ok(client) => client,
        Err(NoClient { refusal, named }) => {
            // One signature is checked in any case. Otherwise the time would tell which clients exist, and their keys.
            check_another(clients, assertion);
            return Err(refused(named.map(|client| &*client.caller), &refusal));
        }
    };
    let caller = &*client.caller;
    let verified = client.verifier.verify_raw(assertion).map_err(|error| {
        let unchecked = [Rejection::AlgorithmMismatch, Rejection::UnknownKey];
        if error.rejection().is_some_and(|why| unchecked.contains(why)) {
            check_another(clients, assertion);
        }
        refused(Some(caller), &Refusal::of_rejected(&error))
    })?;
    let now = service.node.now();
    let is_own = |audience: &str| assertion_rules::is_own_name(audience, iss);
    let once = assertion_rules::check(&verified, caller.name(), is_own, now);
    let (id, expires_at) = once.map_err(|refusal| refused(Some(caller), &refusal))?;
    // Before the write: a client must not fill the store.
    client.assertions.take().map_err(|exceeded| {
        let what = "more assertions than requests per minute";
        let refusal = Refusal::of_whole("requests_per_minute", what);
        service.log_refusal_of(Some(caller), iss, &refusal, None);
        Failure::from(exceeded).logged()
    })?;
    let party = format!("client {}", caller.name());
    if service.node.use_once(iss, &party, id, expires_at).await? {
        Ok(client.caller.clone())
    } else {
        let refusal = Refusal::of_claim("once", "jti", "was used before");
        Err(refused(Some(caller), &refusal))
    }
}

/// Checks a signature with the key of another client.
fn check_another(clients: &Clients, assertion: &str) {
    let decoy = alg_of(assertion).and_then(|alg| clients.assertion_decoy(alg));
    drop(decoy.map(|decoy| decoy.verify_raw(assertion)));
}

/// The algorithm that an assertion names.
fn alg_of(assertion: &str) -> Option<Alg> {
    let (header, _) = assertion.split_once('.')?;
    let header = Base64UrlUnpadded::decode_vec(header).ok()?;
    let header: serde_json::Value = serde_json::from_slice(&header).ok()?;
    header.get("alg")?.as_str()?.parse().ok()
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
