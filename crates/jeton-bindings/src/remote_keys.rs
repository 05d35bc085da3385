//! Remote key sets: jeton-jwks decides when to fetch, and the caller fetches.
//!
//! The key set of jeton-jwks runs without a separate thread. Its client passes each request to the caller and waits for
//! the response. Its tasks run while the caller asks for the next request.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use http::HeaderName;
use jeton::error::codes;
use jeton::key::Alg;
use jeton::{Policy, RawClaims, Verified};
use jeton_jwks::{
    Error, Fetch, FetchError, FetchFuture, FetchRequest, FetchResponse, RemoteKeySet,
    RemoteVerifier, Schedule, TIMEOUT,
};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::fault::Fault;
use crate::settings::{self, RemoteOptions, signature_alg};

/// A remote key set and its pending requests.
pub struct RemoteKeys {
    keys: RemoteKeySet,
    requests: Arc<Requests>,
    runtime: Mutex<Runtime>,
    /// The handle of `runtime`, to verify from many threads.
    handle: tokio::runtime::Handle,
}

/// The client of the key set.
#[derive(Default)]
struct Requests(Mutex<Waiting>);

type Response = Result<FetchResponse, FetchError>;

#[derive(Default)]
struct Waiting {
    last_id: u64,
    /// Not yet returned to the caller.
    new: VecDeque<(u64, FetchRequest)>,
    /// Without a response.
    open: HashMap<u64, oneshot::Sender<Response>>,
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetch for Requests {
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_> {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = self.lock();
        // A request that timed out needs no response.
        waiting.open.retain(|_, sender| !sender.is_closed());
        waiting.last_id += 1;
        let id = waiting.last_id;
        waiting.new.push_back((id, request));
        waiting.open.insert(id, sender);
        drop(waiting);
        Box::pin(async { receiver.await.unwrap_or(Err(FetchError::TimedOut)) })
    }
}

impl RemoteKeys {
    /// Creates a key set at an address, or at the address that an issuer publishes. It sends no request.
    ///
    /// The settings are [`REMOTE_KEYS`](crate::settings::REMOTE_KEYS).
    ///
    /// # Errors
    ///
    /// The address is not allowed, or a setting is unknown.
    pub fn new(settings: &str) -> Result<RemoteKeys, Fault> {
        let options: RemoteOptions = settings::read(settings)?;
        let requests = Arc::new(Requests::default());
        let mut builder = match (options.address, options.issuer) {
            (Some(address), None) => RemoteKeySet::builder(address),
            (None, Some(issuer)) => RemoteKeySet::builder_with_discovery(issuer),
            _ => {
                return Err(Fault::option(
                    "address",
                    "pass either `address` or `issuer`",
                ));
            }
        };
        if options.allow_private_addresses {
            builder = builder.allow_private_addresses();
        }
        if options.allow_plain_http {
            builder = builder.allow_plain_http();
        }
        match options
            .default_alg
            .as_deref()
            .map(|alg| signature_alg("default_alg", alg))
        {
            None => {}
            Some(Ok(Alg::Sig(alg))) => builder = builder.default_alg(alg),
            Some(Ok(_)) => {
                return Err(Fault::option(
                    "default_alg",
                    "a published key cannot have a MAC algorithm",
                ));
            }
            Some(Err(fault)) => return Err(fault),
        }
        let mut schedule = Schedule::default();
        if let Some(seconds) = options.fresh_for {
            schedule = schedule.fresh_for(seconds.into());
        }
        if let Some(seconds) = options.cooldown {
            schedule = schedule.cooldown(seconds.into());
        }
        if let Some(seconds) = options.usable_for {
            schedule = schedule.usable_for(seconds.into());
        }
        let keys = builder
            .schedule(schedule)
            .fetch(Arc::clone(&requests))
            .build()?;
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|_| Fault::Internal)?;
        Ok(RemoteKeys {
            keys,
            requests,
            handle: runtime.handle().clone(),
            runtime: Mutex::new(runtime),
        })
    }

    pub(crate) fn verifier(&self, policy: Policy) -> RemoteVerifier {
        RemoteVerifier::new(&self.keys, policy)
    }

    /// Verifies a token with the cached keys. If they must be fetched first, a request is queued for the caller.
    pub(crate) fn verify(
        &self,
        verifier: &RemoteVerifier,
        token: &str,
    ) -> Result<Verified<RawClaims>, Fault> {
        // A request runs in a task of this runtime.
        let _context = self.handle.enter();
        for _ in 0..LOOKS {
            match once(verifier.verify_raw(token)) {
                Poll::Ready(Ok(verified)) => return Ok(verified),
                Poll::Ready(Err(Error::Jeton(error))) => return Err(error.into()),
                Poll::Ready(Err(Error::NoKeys(error))) => return Err(error.into()),
                Poll::Ready(Err(_)) => return Err(Fault::Internal),
                Poll::Pending if self.has_requests() => return Err(to_fetch()),
                // Another thread is using the key set.
                Poll::Pending => std::thread::yield_now(),
            }
        }
        Err(to_fetch())
    }

    /// Returns whether a request is pending: not yet returned, or without a response.
    fn has_requests(&self) -> bool {
        self.run();
        let waiting = self.requests.lock();
        !waiting.new.is_empty() || waiting.open.values().any(|sender| !sender.is_closed())
    }

    /// Runs the tasks until they wait for the caller.
    fn run(&self) {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        runtime.block_on(async {
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
        });
    }

    /// Returns the next new request as JSON: `id`, `url`, `etag` (or null), `no_cache`, `max_bytes`, `public_only`,
    /// `timeout_milliseconds`, and the `version` of this library for `User-Agent`.
    ///
    /// Call it when the program starts, and when a verification returns `KEY_SET_TO_FETCH`. Also call it regularly
    /// after verifications: stale keys are still used, and then fetched again.
    ///
    /// The program sends `etag` as `If-None-Match`, and `Cache-Control: no-cache` if `no_cache` is true. It sends
    /// `Accept: application/jwk-set+json, application/json` and `Accept-Encoding: identity`. It must not follow
    /// redirects. If `public_only` is true, it must connect to public addresses only.
    pub fn next(&self) -> Option<String> {
        {
            let _context = self.handle.enter();
            // Without keys, this starts the first request. A verification returns the same error.
            let _ = once(self.keys.ready());
        }
        self.run();
        let (id, request) = self.requests.lock().new.pop_front()?;
        let request = json!({
            "id": id,
            "url": request.uri.to_string(),
            "etag": request.etag,
            "no_cache": request.no_cache,
            "max_bytes": request.max_bytes,
            "public_only": request.public_only,
            "timeout_milliseconds": TIMEOUT.as_millis() as u64,
            "version": env!("CARGO_PKG_VERSION"),
        });
        Some(request.to_string())
    }

    /// Checks that keys are available. When a program starts, call it after the requests of [`RemoteKeys::next`].
    ///
    /// # Errors
    ///
    /// The error of the last fetch, or `KEY_SET_TO_FETCH` if requests are pending.
    pub fn ready(&self) -> Result<(), Fault> {
        let _context = self.handle.enter();
        for _ in 0..LOOKS {
            match once(self.keys.ready()) {
                Poll::Ready(ready) => return Ok(ready?),
                Poll::Pending if self.has_requests() => break,
                Poll::Pending => std::thread::yield_now(),
            }
        }
        Err(to_fetch())
    }

    /// Passes the response to a request. Status 0 means that there is no response. `headers` has one header per line,
    /// in HTTP/1.1 syntax; `ETag`, `Cache-Control`, `Age` and `Retry-After` are read.
    ///
    /// # Errors
    ///
    /// The id is unknown. If the response is not a key set, the next verification returns the error.
    pub fn respond(&self, id: u64, status: u32, headers: &str, body: &[u8]) -> Result<(), Fault> {
        let response = read_response(status, headers, body);
        let sender = self.requests.lock().open.remove(&id);
        let sender = sender.ok_or_else(|| Fault::option("id", "no pending request has this id"))?;
        // A request that timed out has already failed.
        let _ = sender.send(response);
        self.run();
        Ok(())
    }
}

#[cold]
fn to_fetch() -> Fault {
    Fault::argument(
        &codes::KEY_SET_TO_FETCH,
        "the key set must be fetched before the token can be verified",
    )
}

/// How often a verification retries while other threads use the key set.
const LOOKS: usize = 1_000;

/// How often tasks may continue per call. A response needs a few turns: the lock, the document, the keys.
const TURNS: usize = 64;

/// Polls a future once. Nothing wakes it: the caller calls again.
fn once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Reads the response of the caller's client.
fn read_response(status: u32, headers: &str, body: &[u8]) -> Response {
    if status == 0 {
        return Err(FetchError::Unreachable(
            "the HTTP client got no response".into(),
        ));
    }
    let status = u16::try_from(status).unwrap_or(u16::MAX);
    let mut response = http::Response::builder().status(status);
    for line in headers.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if let Ok(name) = HeaderName::try_from(name.trim())
            && let Ok(value) = http::HeaderValue::from_str(value.trim())
        {
            response = response.header(name, value);
        }
    }
    match response.body(body) {
        Ok(response) => FetchResponse::from_http(&response),
        Err(_) => Err(FetchError::Status(status)),
    }
}
