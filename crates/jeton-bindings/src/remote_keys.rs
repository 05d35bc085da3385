//! Remote key sets: jeton-jwks decides when to fetch, and the caller fetches.
//!
//! The key set of jeton-jwks runs without a separate thread. Its client passes each request to the caller and waits for
//! the response. Its tasks run while the caller asks for the next request.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use http::HeaderName;
use jeton::error::{Rejection, codes};
use jeton::key::Alg;
use jeton::{Policy, RawClaims, Verified};
use jeton_jwks::{
    Error, Fetch, FetchError, FetchFuture, FetchRequest, FetchResponse, Progress, RemoteKeySet,
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
    asked: Asked,
    /// Whether a response has arrived since the last call of `next`. Then the next request belongs to the same fetch.
    responded: AtomicBool,
    /// When the last response arrived.
    responded_at: Mutex<Option<Instant>>,
    runtime: Mutex<Runtime>,
    /// The handle of `runtime`, to verify from many threads.
    handle: tokio::runtime::Handle,
}

/// The tokens that wait for a fetch.
///
/// A verification that needs a fetch ends with `KEY_SET_TO_FETCH`, and the program verifies the token again after the
/// fetch. Without this memory and without a cooldown, each repetition would cause the next fetch.
#[derive(Default)]
struct Asked {
    hashes: RandomState,
    tokens: Mutex<HashMap<u64, Ask>>,
}

#[derive(Clone, Copy)]
struct Ask {
    missing: Missing,
    /// A fetch with a higher number answers.
    after: u64,
    at: Instant,
}

/// What a verification lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// Usable keys.
    Set,
    /// The key of the token.
    Key,
}

/// How long a token waits: longer than the requests of a fetch.
const ASKED_FOR: Duration = Duration::from_secs(6 * TIMEOUT.as_secs());

/// How long a fetch answers for the tokens that waited. A program that gave up may verify a token later. Then the keys are
/// fetched again.
const ANSWERS_FOR: Duration = TIMEOUT;

/// How many tokens can wait.
const ASKED_MAX: usize = 1_000;

/// In place of a token: the program waits for the keys without verifying one.
const NO_TOKEN: &str = "";

impl Asked {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Ask>> {
        lock(&self.tokens)
    }

    /// Remembers that a token waits for a fetch that ends or begins now.
    fn insert(&self, token: &str, missing: Missing, progress: Progress) {
        let after = match missing {
            Missing::Set => progress.ended,
            // A set that was requested earlier may be older than the key.
            Missing::Key => progress.begun,
        };
        let at = Instant::now();
        let mut tokens = self.lock();
        if tokens.len() >= ASKED_MAX {
            tokens.retain(|_, ask| ask.is_waiting());
        }
        if tokens.len() < ASKED_MAX {
            let ask = Ask { missing, after, at };
            let known = tokens.entry(self.hashes.hash_one(token)).or_insert(ask);
            if known.missing != missing || !known.is_waiting() {
                *known = ask;
            }
        }
    }

    fn contains(&self, token: &str) -> bool {
        let tokens = self.lock();
        !tokens.is_empty() && tokens.contains_key(&self.hashes.hash_one(token))
    }

    /// Returns whether the fetch that a token waits for has ended. Then the token waits no longer.
    fn take_ended(&self, token: &str, missing: Missing, progress: Progress) -> bool {
        let ended = match missing {
            Missing::Set => progress.ended,
            Missing::Key => progress.ended_past_proxies,
        };
        let mut tokens = self.lock();
        let hash = self.hashes.hash_one(token);
        let has_ended = tokens
            .get(&hash)
            .is_some_and(|ask| ask.missing == missing && ended > ask.after);
        if has_ended {
            tokens.remove(&hash);
        }
        has_ended
    }
}

impl Ask {
    fn is_waiting(&self) -> bool {
        self.at.elapsed() < ASKED_FOR
    }
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
        lock(&self.0)
    }
}

impl Waiting {
    /// Returns the next request that still needs a response.
    fn next(&mut self) -> Option<(u64, FetchRequest)> {
        loop {
            let (id, request) = self.new.pop_front()?;
            if self.open.get(&id).is_some_and(|sender| !sender.is_closed()) {
                return Some((id, request));
            }
        }
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
            asked: Asked::default(),
            responded: AtomicBool::new(false),
            responded_at: Mutex::new(None),
            handle: runtime.handle().clone(),
            runtime: Mutex::new(runtime),
        })
    }

    pub(crate) fn verifier(&self, policy: Policy) -> RemoteVerifier {
        RemoteVerifier::new(&self.keys, policy)
    }

    /// Verifies a token with the cached keys. If they must be fetched first, a request is queued for the caller. After
    /// that fetch, the fetched keys decide about the same token: it causes no other fetch.
    pub(crate) fn verify(
        &self,
        verifier: &RemoteVerifier,
        token: &str,
    ) -> Result<Verified<RawClaims>, Fault> {
        // A request runs in a task of this runtime.
        let _context = self.handle.enter();
        let mut missing = match with_cached(verifier, token) {
            Ok(done) => return done,
            Err(missing) => missing,
        };
        if self.asked.contains(token) {
            // The fetch may have timed out.
            self.run();
            // Read first, so that the cached keys are those of the last ended fetch, or newer.
            let progress = self.keys.progress();
            missing = match with_cached(verifier, token) {
                Ok(done) => return done,
                Err(missing) => missing,
            };
            if let Some(fault) = self.answer(token, missing, progress) {
                return Err(fault);
            }
        }
        let progress = self.keys.progress();
        for _ in 0..LOOKS {
            match once(verifier.verify_raw(token)) {
                Poll::Ready(Ok(verified)) => return Ok(verified),
                Poll::Ready(Err(Error::Jeton(error))) => return Err(error.into()),
                Poll::Ready(Err(Error::NoKeys(error))) => return Err(error.into()),
                Poll::Ready(Err(_)) => return Err(Fault::Internal),
                Poll::Pending if self.has_requests() => break,
                // Another thread is using the key set.
                Poll::Pending => std::thread::yield_now(),
            }
        }
        self.asked.insert(token, missing, progress);
        Err(to_fetch())
    }

    /// Returns why a verification fails if the fetch that it waits for has just ended.
    fn answer(&self, token: &str, missing: Missing, progress: Progress) -> Option<Fault> {
        if !self.asked.take_ended(token, missing, progress) {
            return None;
        }
        let at = *lock(&self.responded_at);
        at.filter(|at| at.elapsed() < ANSWERS_FOR)?;
        match missing {
            // `None` if another fetch is already running.
            Missing::Set => self.keys.last_error().map(Fault::from),
            Missing::Key => Some(Rejection::UnknownKey.into()),
        }
    }

    /// Returns whether a request is pending: not yet returned, or without a response.
    fn has_requests(&self) -> bool {
        self.run();
        let waiting = self.requests.lock();
        waiting.open.values().any(|sender| !sender.is_closed())
    }

    /// Runs the tasks until they wait for the caller.
    fn run(&self) {
        let runtime = lock(&self.runtime);
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
        // After a response, only the rest of the same fetch follows. The settings may allow another fetch at once.
        if !self.responded.swap(false, Ordering::AcqRel) {
            let _context = self.handle.enter();
            let progress = self.keys.progress();
            // Without keys, this starts the first request. A verification returns the same error.
            let is_pending = once(self.keys.ready()).is_pending();
            // Another fetch is that of a verification.
            if is_pending && self.keys.progress().begun > progress.begun {
                self.asked.insert(NO_TOKEN, Missing::Set, progress);
            }
        }
        self.run();
        let (id, request) = self.requests.lock().next()?;
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
        if self.asked.contains(NO_TOKEN) {
            self.run();
            let progress = self.keys.progress();
            if !self.keys.is_usable()
                && let Some(fault) = self.answer(NO_TOKEN, Missing::Set, progress)
            {
                return Err(fault);
            }
        }
        let progress = self.keys.progress();
        for _ in 0..LOOKS {
            match once(self.keys.ready()) {
                Poll::Ready(ready) => return Ok(ready?),
                Poll::Pending if self.has_requests() => break,
                Poll::Pending => std::thread::yield_now(),
            }
        }
        self.asked.insert(NO_TOKEN, Missing::Set, progress);
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
        *lock(&self.responded_at) = Some(Instant::now());
        // A request that timed out has already failed.
        let _ = sender.send(response);
        self.run();
        // A program that got no response asks no further.
        self.responded.store(status != 0, Ordering::Release);
        Ok(())
    }
}

/// Verifies a token with the cached keys. Returns what is missing if a fetch may help.
fn with_cached(
    verifier: &RemoteVerifier,
    token: &str,
) -> Result<Result<Verified<RawClaims>, Fault>, Missing> {
    match verifier.verify_cached(token) {
        None => Err(Missing::Set),
        Some(Err(error)) if error.rejection() == Some(&Rejection::UnknownKey) => Err(Missing::Key),
        Some(done) => Ok(done.map_err(Fault::from)),
    }
}

#[cold]
fn to_fetch() -> Fault {
    Fault::argument(
        &codes::KEY_SET_TO_FETCH,
        "the key set must be fetched before the token can be verified",
    )
}

/// Locks a mutex. A panic of another call does not matter.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
