//! Verifies tokens with a remote JWK Set (RFC 7517): the keys are fetched once, cached and refreshed in the
//! background.
//!
//! ```no_run
//! use jeton::{Policy, Verified};
//! use jeton_jwks::{RemoteKeySet, RemoteVerifier};
//!
//! #[derive(serde::Deserialize)]
//! struct Session { tenant: String }
//!
//! # async fn example(token: &str) -> Result<(), jeton_jwks::Error> {
//! // Once.
//! let keys = RemoteKeySet::discover("https://id.example")?;
//! let verifier = RemoteVerifier::new(&keys, Policy::new("https://id.example", "api"));
//!
//! // For every token.
//! let session: Verified<Session> = verifier.verify(token).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`RemoteKeySet::discover`] finds the key set of an issuer; [`RemoteKeySet::new`] takes its address. A
//! [`MultiIssuerVerifier`] has one key set and one policy for each of several issuers.
//!
//! # Discovery
//!
//! [`RemoteKeySet::discover`] takes the issuer and finds its key set. It tries these addresses in order, and the
//! next one only after status 404 or 410:
//!
//! 1. `{issuer}/.well-known/openid-configuration` (OpenID Connect Discovery 1.0, section 4)
//! 2. `{host}/.well-known/oauth-authorization-server{path}` (RFC 8414, section 3)
//! 3. `{host}/.well-known/openid-configuration{path}`, if the issuer has a path
//!
//! - `issuer` of the document must equal the issuer, byte for byte, including a trailing slash.
//! - `jwks_uri` must use `https`, or `http` to a loopback host. It may be on another host, but not at a private
//!   address: see [`allow_private_addresses`](RemoteKeySetBuilder::allow_private_addresses). The host and port of
//!   the issuer are allowed. The address is checked after the name is resolved.
//! - A document has at most [`DISCOVERY_BYTES`], and each request has the time limit [`TIMEOUT`]. Other members are
//!   skipped, at any nesting depth.
//! - The document is read again with the next fetch after [`Schedule::address_fresh_for`], and after a failure.
//!
//! # When keys are fetched
//!
//! | situation | action |
//! |---|---|
//! | no keys were fetched yet | the first verification sends a request, and all others wait for it |
//! | the keys are stale ([`Schedule::fresh_for`], or `max-age` of the response) | tokens are verified with these keys, and a request runs in the background |
//! | the `kid` of a token is not in the set | a request with `Cache-Control: no-cache`, at most one per token and per [`Schedule::cooldown`] |
//! | a request fails | the cached keys are used for [`Schedule::usable_for`]; the next request follows after 1 s, 2 s, 4 s, up to the cooldown |
//! | the server asks for a pause (`Retry-After` with status 429 or 503) | the next request follows after the pause, at most 5 minutes |
//! | no request succeeded for that long | no token verifies, so a withdrawn key does not stay valid |
//!
//! The cooldown limits how often an attacker can trigger a request with invented key ids.
//!
//! At most one request runs at a time. It continues if a caller that waits for it is cancelled. A token
//! whose key is known never waits for a request.
//!
//! # Caching proxies
//!
//! A caching proxy may answer from its copy, except for an unknown `kid`: then the copy may be older than
//! the key. Some proxies ignore `no-cache`; nginx does by default. The token is then rejected
//! ([`UnknownKey`]), and the set is fetched again after the cooldown. The key is found when the copy of the
//! proxy has expired. If the response has an `Age` header, a warning is logged.
//!
//! [`UnknownKey`]: jeton::error::Rejection::UnknownKey
//!
//! # Which keys are accepted
//!
//! - Only public keys. Anyone who reads the set could use a symmetric or private key, so these are skipped.
//!   Keys that [`KeySet`](jeton::jwk::KeySet) skips are skipped too.
//! - A key without `alg` is skipped, unless its curve implies an algorithm or there is a
//!   [default](RemoteKeySetBuilder::default_alg).
//! - The log names the skipped keys and the reasons, except keys for another use. If no key is left,
//!   [`FetchError::NoUsableKey`] lists the skipped keys.
//! - A new set replaces the whole previous set.
//! - The address must use `https`, or `http` to a loopback host. For `http` to other hosts, see
//!   [`allow_plain_http`](RemoteKeySetBuilder::allow_plain_http). Redirects are not followed.
//! - A byte order mark is removed, and a response in gzip is decompressed.
//! - A response must arrive within [`TIMEOUT`] and have at most
//!   [`KEY_SET_BYTES`](jeton::limits::KEY_SET_BYTES).

#![cfg_attr(docsrs, feature(doc_cfg))]
// Without the client, some shared code is unused. The build with the client finds dead code.
#![cfg_attr(not(feature = "https"), allow(dead_code))]

mod address;
mod builder;
#[cfg(feature = "https")]
mod connector;
mod discovery;
mod error;
mod fetch;
#[cfg(feature = "https")]
mod https;
mod metrics;
mod multi_issuer;
mod network;
mod public_keys;
mod remote;
mod schedule;
mod verifier;

pub use address::{PlainHttp, check_address};
pub use builder::RemoteKeySetBuilder;
pub use discovery::{DISCOVERY_BYTES, check_issuer, discover_key_set};
pub use error::{AddressError, DiscoveryError, Error, FetchError, Result};
pub use fetch::{Fetch, FetchFuture, FetchRequest, FetchResponse, TIMEOUT};
#[cfg(feature = "https")]
pub use https::{Https, Response};
pub use metrics::Metrics;
pub use multi_issuer::{IssuerNotReady, MultiIssuerVerifier};
#[doc(hidden)]
pub use remote::Progress;
pub use remote::RemoteKeySet;
pub use schedule::Schedule;
pub use verifier::RemoteVerifier;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
