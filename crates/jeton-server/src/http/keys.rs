//! Key sets, with their `ETag` and `Cache-Control`.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Request, Response, StatusCode};
use jeton_issuer::KeySetDocument;
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::{error_response, plain, respond};
use crate::failure::Failure;
use crate::metrics::{Call, CallOutcome};
use crate::service::Service;

/// `…/.well-known/jwks.json` (RFC 7517, section 8.5).
pub(super) fn key_set<B>(service: &Service, request: &Request<B>, at: &str) -> Response<Body> {
    document(service, request, at, |keys| {
        ("application/jwk-set+json", shared(keys))
    })
}

/// `…/.well-known/paserks.json`: the public keys that verify PASETOs.
pub(super) fn paserks<B>(service: &Service, request: &Request<B>, at: &str) -> Response<Body> {
    document(service, request, at, |keys| {
        let body = serde_json::json!({ "keys": keys.paserks });
        ("application/json", Bytes::from(body.to_string()))
    })
}

/// The text of a key set. All responses have the same bytes.
fn shared(keys: &Arc<KeySetDocument>) -> Bytes {
    Bytes::from_owner(SharedKeySet(keys.clone()))
}

struct SharedKeySet(Arc<KeySetDocument>);

impl AsRef<[u8]> for SharedKeySet {
    fn as_ref(&self) -> &[u8] {
        &self.0.jwk_set
    }
}

fn document<B>(
    service: &Service,
    request: &Request<B>,
    at: &str,
    body: impl FnOnce(&Arc<KeySetDocument>) -> (&'static str, Bytes),
) -> Response<Body> {
    let started = Instant::now();
    let Some(iss) = issuer_of(service, request, at) else {
        service
            .metrics
            .count(Call::KeySet, CallOutcome::ClientError, started);
        return plain(StatusCode::NOT_FOUND, "unknown issuer\n");
    };
    let keys = match service.node.key_set(&iss) {
        Ok(keys) => keys,
        Err(error) => {
            service
                .metrics
                .count(Call::KeySet, CallOutcome::ServerError, started);
            return error_response(&Failure::from(error));
        }
    };
    let mut response = if is_known(request.headers(), &keys.etag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let (content_type, body) = body(&keys);
        respond(StatusCode::OK, content_type, body)
    };
    let may_be_cached = service.node.key_sets_may_be_cached();
    set_cache_headers(
        response.headers_mut(),
        may_be_cached.then_some(keys.max_age_seconds),
    );
    if let Ok(etag) = HeaderValue::from_str(&keys.etag) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    service
        .metrics
        .count(Call::KeySet, CallOutcome::Ok, started);
    response
}

/// Sets `Cache-Control`, and allows every web page to read the response. `None`: caches must revalidate.
///
/// There is no `stale-while-revalidate`: a new key signs after the pre-publication period, and half of that
/// period is reserved for clock differences and propagation to other nodes.
pub(super) fn set_cache_headers(headers: &mut HeaderMap, max_age: Option<i64>) {
    if let Ok(value) = HeaderValue::from_str(&cache_control(max_age)) {
        headers.insert(header::CACHE_CONTROL, value);
    }
    let everyone = HeaderValue::from_static("*");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, everyone);
}

/// Reduces the maximum age by up to a tenth at random, so that verifiers do not all return at once.
fn cache_control(max_age: Option<i64>) -> String {
    let Some(max_age) = max_age else {
        return "no-cache".to_owned();
    };
    let spread = max_age / 10 + 1;
    let less = i64::from(jitter()) % spread;
    format!("public, max-age={}", max_age - less)
}

/// Whether `If-None-Match` contains this tag (RFC 9110, section 13.1.2).
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let known = headers.get_all(header::IF_NONE_MATCH).iter();
    let known = known.filter_map(|value| value.to_str().ok());
    known.flat_map(|value| value.split(',')).any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
    })
}

/// A number that spreads clients over time. Not for secrets.
fn jitter() -> u32 {
    use std::hash::{BuildHasher as _, RandomState};
    thread_local! {
        static STATE: RandomState = RandomState::new();
        static COUNT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }
    let count = COUNT.replace(COUNT.get().wrapping_add(1));
    let hash = STATE.with(|state| state.hash_one(count));
    (hash >> 33) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients that do not read the key set would otherwise hold a copy each.
    #[test]
    fn responses_share_the_bytes_of_a_key_set() {
        let keys = Arc::new(KeySetDocument {
            jwk_set: vec![b' '; 100_000],
            paserks: Vec::new(),
            etag: String::new(),
            max_age_seconds: 0,
        });
        let responses = [shared(&keys), shared(&keys)];
        for response in responses {
            assert_eq!(response.as_ptr(), keys.jwk_set.as_ptr());
        }
    }

    #[test]
    fn cache_control_without_max_age_is_no_cache() {
        assert_eq!(cache_control(None), "no-cache");
        assert_eq!(cache_control(Some(0)), "public, max-age=0");
        let ages = (0..1000).map(|_| cache_control(Some(300)));
        let ages: std::collections::BTreeSet<String> = ages.collect();
        assert!(ages.contains("public, max-age=300") && ages.contains("public, max-age=270"));
        assert_eq!(ages.len(), 31);
    }

    #[test]
    fn is_known_accepts_each_form_of_a_tag() {
        let with = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static(value));
            headers
        };
        for value in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*"] {
            assert!(is_known(&with(value), "\"a\""), "{value}");
        }
        assert!(!is_known(&with("\"b\""), "\"a\""));
        assert!(!is_known(&HeaderMap::new(), "\"a\""));
    }
}
