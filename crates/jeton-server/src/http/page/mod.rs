//! The page of the admin listener, which needs the right of `admin status`, and the links to it.

mod audit;
mod clients;
mod issuers;
mod nodes;
mod state;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue, SET_COOKIE};
use http::{Method, Request, Response, StatusCode};
use jeton_issuer::Node;
use jeton_page::Page;
use jeton_store::Moment;
use jeton_transport::Peer;
use maud::html;
use tonic::body::Body;

use super::{error_response, json, no_store, plain, respond};
use crate::auth::Denied;
use crate::authority::Authority;
use crate::config::Permission;
use crate::cross_origin::is_cross_origin;
use crate::failure::Failure;
use crate::grpc;
use crate::metrics::{Call, CallOutcome};
use crate::page_links::{LINK, SESSION, Visit};
use crate::service::Service;

/// The style that only this page has.
const STYLE: &str = include_str!("page.css");

const FOREIGN: &str = "refused: the page was opened from another site, which `Origin` or `Sec-Fetch-Site` names. Type \
                       its address, or run `jeton admin page`\n";
const LINK_ENDED: &str =
    "refused: the link was opened before, or has ended. For another one, run `jeton admin page`\n";
const NO_RANDOM: &str = "the random generator of the system failed\n";

/// Headers of the page in addition to its policy: nobody embeds it, and its address goes to nobody.
const HEADERS: [(&str, &str); 4] = [
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// What a request may do.
pub(super) enum Access {
    /// See the page. A browser that has opened a link gets a cookie.
    Granted(Option<HeaderValue>),
    /// See what everybody sees.
    Unknown,
    Refused(Box<Response<Body>>),
}

/// `GET /`. `public` is for callers without credentials.
pub(super) async fn page(
    service: &Arc<Service>,
    access: Access,
    public: &'static str,
) -> Response<Body> {
    let started = Instant::now();
    let cookie = match access {
        Access::Granted(cookie) => cookie,
        Access::Unknown => return plain(StatusCode::OK, public),
        Access::Refused(response) => return *response,
    };
    let shared = service.clone();
    let rendered = tokio::task::spawn_blocking(move || rendered(&shared)).await;
    let (outcome, response) = match rendered {
        Ok(page) => (CallOutcome::Ok, of_page(&page, cookie)),
        Err(_) => {
            let internal = plain(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n");
            (CallOutcome::ServerError, internal)
        }
    };
    service.metrics.count(Call::Admin, outcome, started);
    response
}

/// `POST /page-link`: a link that opens the page once.
pub(super) fn link<B>(service: &Service, peer: &Peer, request: &Request<B>) -> Response<Body> {
    let started = Instant::now();
    let caller = service.identify_administrator(peer, request.headers());
    let allowed = caller.and_then(|caller| {
        let may = caller.may_for_all_issuers(Permission::Admin);
        may.then_some(caller)
            .ok_or(Denied::Permission(Permission::Admin))
    });
    let (outcome, response) = match allowed {
        Err(denied) => {
            let failure = Failure::from(denied);
            (failure.outcome(), error_response(&failure))
        }
        Ok(caller) => {
            let generation = service.authenticator.load().generation();
            match service.page_links.create(generation, Moment::now()) {
                None => (
                    CallOutcome::ServerError,
                    plain(StatusCode::INTERNAL_SERVER_ERROR, NO_RANDOM),
                ),
                Some(secret) => {
                    tracing::info!(client = caller.name(), "link to the page created");
                    let link = serde_json::json!({
                        "path": format!("/?link={secret}"),
                        "expires_in": LINK.as_secs(),
                    });
                    (CallOutcome::Ok, json(StatusCode::OK, &link))
                }
            }
        }
    };
    service.metrics.count(Call::Admin, outcome, started);
    response
}

/// Decides what a request to the page may do. It opens a link.
pub(super) fn access<B>(service: &Service, peer: &Peer, request: &Request<B>) -> Access {
    let refused = |response| Access::Refused(Box::new(response));
    let headers = request.headers();
    // The transport has checked the authority already.
    let is_foreign =
        Authority::of(request).is_ok_and(|own| is_cross_origin(headers, &own, peer.is_tls));
    if is_foreign {
        return refused(plain(StatusCode::FORBIDDEN, FOREIGN));
    }
    let visit = Visit {
        generation: service.authenticator.load().generation(),
        network: peer.network,
        now: Moment::now(),
    };
    let name = cookie_name(peer.is_tls);
    let links = &service.page_links;
    if cookie_values(request, name).any(|secret| links.is_session(secret, visit)) {
        return Access::Granted(None);
    }
    if let Some(secret) = linked(request) {
        let session = links.open(secret, visit);
        let cookie = session.and_then(|secret| cookie(name, &secret, peer.is_tls));
        return match cookie {
            Some(cookie) => Access::Granted(Some(cookie)),
            None => refused(no_store(plain(StatusCode::FORBIDDEN, LINK_ENDED))),
        };
    }
    match service.identify_administrator(peer, headers) {
        Ok(caller) if caller.may_for_all_issuers(Permission::Admin) => Access::Granted(None),
        Ok(_) => {
            let denied = Denied::Permission(Permission::Admin);
            refused(error_response(&Failure::from(denied)))
        }
        Err(Denied::NoCredentials | Denied::NoAdminToken)
            if !headers.contains_key(AUTHORIZATION) =>
        {
            Access::Unknown
        }
        Err(denied) => refused(error_response(&Failure::from(denied))),
    }
}

/// The secret of a link. Only a GET opens it: programs that look at links first send HEAD.
fn linked<B>(request: &Request<B>) -> Option<&str> {
    let query = request.uri().query()?;
    (request.method() == Method::GET)
        .then_some(query)?
        .strip_prefix("link=")
}

/// With TLS, the prefix keeps other hosts of the domain from setting the cookie (RFC 6265bis, section 4.1.3.2).
fn cookie_name(is_tls: bool) -> &'static str {
    if is_tls { "__Host-jeton" } else { "jeton" }
}

fn cookie(name: &str, secret: &str, is_tls: bool) -> Option<HeaderValue> {
    let secure = if is_tls { "; Secure" } else { "" };
    let seconds = SESSION.as_secs();
    let text =
        format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// The values of the cookie with this name.
fn cookie_values<'r, B>(request: &'r Request<B>, name: &'r str) -> impl Iterator<Item = &'r str> {
    let headers = request.headers().get_all(COOKIE).iter();
    let texts = headers.filter_map(|header| header.to_str().ok());
    texts
        .flat_map(|text| text.split(';'))
        .filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

fn rendered(service: &Service) -> Page<'static> {
    let now = service.node.now().unix_seconds();
    let state = grpc::state(&service.node);
    // A store that has not answered for the state is not asked again.
    let has_answered = !state.engine.is_empty();
    let asked = has_answered.then(|| grpc::ask_store(&service.node, Node::newest_audit));
    let entries = asked.flatten().and_then(Result::ok);
    Page {
        program: "jeton serve",
        heading: "State of the server",
        style: STYLE,
        main: html! {
            (state::section(&state))
            (clients::section(&service.authenticator.load()))
            (issuers::section(&service.node, now))
            (audit::section(entries.as_deref()))
            (nodes::section(&state.nodes))
        },
        footer: html! {
            "Made by jeton " (env!("CARGO_PKG_VERSION")) " at " (time(now)) ". It does not change by itself: load it again."
        },
    }
}

fn of_page(page: &Page<'_>, cookie: Option<HeaderValue>) -> Response<Body> {
    let html = Bytes::from(page.html());
    let mut response = no_store(respond(StatusCode::OK, "text/html; charset=utf-8", html));
    let headers = response.headers_mut();
    let policy = format!("{}; frame-ancestors 'none'", page.policy());
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(HeaderName::from_static("content-security-policy"), policy);
    }
    for (name, value) in HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    if let Some(cookie) = cookie {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

/// A time in RFC 3339.
fn time(seconds: i64) -> String {
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.to_string(),
        Err(_) => format!("{seconds} seconds since 1970"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn cookie_is_found_among_others() {
        let request = Request::get("/")
            .header(COOKIE, "a=b; jeton=one")
            .header(COOKIE, "jeton-other=x;jeton=two")
            .body(())
            .unwrap();
        let found: Vec<&str> = cookie_values(&request, "jeton").collect();
        assert_eq!(found, ["one", "two"]);
        assert_eq!(cookie_values(&request, "__Host-jeton").count(), 0);
    }

    #[test]
    fn cookie_is_for_this_host_and_no_script() {
        let plain = cookie(cookie_name(false), "s", false).unwrap();
        assert_eq!(
            plain,
            "jeton=s; Path=/; Max-Age=1800; HttpOnly; SameSite=Strict"
        );
        let tls = cookie(cookie_name(true), "s", true).unwrap();
        let expected = "__Host-jeton=s; Path=/; Max-Age=1800; HttpOnly; SameSite=Strict; Secure";
        assert_eq!(tls, expected);
    }
}
