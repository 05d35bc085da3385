use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use http::Uri;
use jeton::Timestamp;
use jeton::jwk::KeySet;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::address::PlainHttp;
use crate::discovery::{DiscoveredIssuer, KeySetAddress, send};
use crate::error::{AddressError, DiscoveryError, FetchError};
use crate::fetch::{Fetch, FetchRequest, FetchResponse};
use crate::metrics::Metrics;
use crate::public_keys::{Reading, log_skipped, public_keys};
use crate::schedule::{Attempts, Need, Schedule, Times};

/// A remote JWK Set, fetched on demand and cached. Clones share the cache.
///
/// Fetching requires a Tokio runtime. Nothing is fetched before the first verification or
/// [`ready`](RemoteKeySet::ready).
#[derive(Clone)]
pub struct RemoteKeySet(Arc<Shared>);

struct Shared {
    location: Location,
    fetch: Arc<dyn Fetch>,
    schedule: Schedule,
    reading: Reading,
    cached: ArcSwapOption<FetchedKeys>,
    /// Locked while a request runs.
    state: Arc<Mutex<FetchState>>,
    /// The number of fetches that began. They are numbered from 1, and one runs at a time.
    fetches: AtomicU64,
    /// The number of the last fetch that ended.
    ended: AtomicU64,
    /// The number of the last fetch that ended and bypassed the caches of proxies.
    ended_past_proxies: AtomicU64,
    failures: AtomicU64,
    consecutive_failures: AtomicU64,
}

/// The location of the key set.
pub(crate) enum Location {
    Address(Uri, PlainHttp),
    Issuer(DiscoveredIssuer),
}

/// A fetched set. It has at least one public key that can verify.
pub(crate) struct FetchedKeys {
    /// The version of the text. A different text has a new version.
    pub(crate) version: u64,
    pub(crate) keys: KeySet,
    /// The text of the set, to detect changes.
    text: Arc<str>,
    times: Times,
    /// The system time of the last response that contained or confirmed the keys.
    confirmed: Timestamp,
}

/// Which fetches of a [`RemoteKeySet`] began and ended: their numbers.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The last fetch that began.
    pub begun: u64,
    /// The last fetch that ended.
    pub ended: u64,
    /// The last fetch that ended and bypassed the caches of proxies, for a token with an unknown key.
    pub ended_past_proxies: u64,
}

/// The state of fetching.
#[derive(Default)]
struct FetchState {
    attempts: Attempts,
    /// The address that the issuer published, unless the last request to it failed.
    address: Option<KeySetAddress>,
    /// The `ETag` of the cached set.
    etag: Option<String>,
    /// The error of the last request, if it failed.
    last_error: Option<FetchError>,
}

/// What caching proxies may do with a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProxyCache {
    /// They may answer from their copy.
    Allowed,
    /// They must ask the server whether their copy is current.
    Revalidate,
}

impl RemoteKeySet {
    pub(crate) fn from_parts(
        location: Location,
        fetch: Arc<dyn Fetch>,
        schedule: Schedule,
        reading: Reading,
    ) -> Self {
        Self(Arc::new(Shared {
            location,
            fetch,
            schedule,
            reading,
            cached: ArcSwapOption::empty(),
            state: Arc::default(),
            fetches: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            ended_past_proxies: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            consecutive_failures: AtomicU64::new(0),
        }))
    }

    /// Returns the time since the keys were fetched or confirmed as current, or `None` if they never were.
    /// Suitable as a metric.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        let cached = self.0.cached.load();
        cached.as_ref().map(|set| set.times.fetched.elapsed())
    }

    /// Returns counters and the state of the cache, for the metrics of a service.
    ///
    /// ```
    /// # let keys = jeton_jwks::RemoteKeySet::new("https://id.example/jwks.json")?;
    /// let metrics = keys.metrics();
    /// println!("jwks_fetch_failures_total {}", metrics.failures);
    /// # Ok::<(), jeton_jwks::FetchError>(())
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let cached = self.0.cached.load();
        let cached = cached.as_ref();
        // In this order, failures are never more than fetches.
        let failures = self.0.failures.load(Ordering::Acquire);
        Metrics {
            fetches: self.0.fetches.load(Ordering::Acquire),
            failures,
            consecutive_failures: self.0.consecutive_failures.load(Ordering::Acquire),
            last_success: cached.map(|set| set.confirmed),
            keys: cached.map_or(0, |set| set.keys.len()),
            skipped: cached.map_or(0, |set| set.keys.skipped().len()),
        }
    }

    /// Returns the cached keys, or `None` if none were fetched yet. [`KeySet::skipped`] lists the unused keys of the
    /// published set and the reasons. To verify tokens, use a [`RemoteVerifier`](crate::RemoteVerifier): it finds new
    /// keys.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), jeton_jwks::FetchError> {
    /// let keys = jeton_jwks::RemoteKeySet::new("https://id.example/jwks.json")?;
    /// keys.ready().await?;
    /// for skipped in keys.cached().iter().flat_map(|set| set.skipped()) {
    ///     eprintln!("warning: {skipped}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn cached(&self) -> Option<KeySet> {
        let cached = self.0.cached.load();
        cached.as_ref().map(|set| set.keys.clone())
    }

    /// Fetches the keys unless it has some. Call it when a service starts: then the first verification does not
    /// wait, and a wrong address is found early.
    ///
    /// # Errors
    /// Why the keys could not be fetched. [`FetchError::NoUsableKey`] lists the keys of the set.
    pub async fn ready(&self) -> Result<(), FetchError> {
        self.current().await.map(drop)
    }

    /// Returns which fetches began and ended, for jeton-bindings.
    #[doc(hidden)]
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            begun: self.0.fetches.load(Ordering::Acquire),
            ended: self.0.ended.load(Ordering::Acquire),
            ended_past_proxies: self.0.ended_past_proxies.load(Ordering::Acquire),
        }
    }

    /// Returns whether keys are cached that may be used, for jeton-bindings.
    #[doc(hidden)]
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.usable().is_some()
    }

    /// Returns the error of the last fetch if it failed, for jeton-bindings. Returns `None` while a fetch runs.
    #[doc(hidden)]
    #[must_use]
    pub fn last_error(&self) -> Option<FetchError> {
        self.0.state.try_lock().ok()?.last_error.clone()
    }

    /// Returns the cached keys if they may be used. Stale keys are refreshed in the background.
    pub(crate) fn usable(&self) -> Option<Arc<FetchedKeys>> {
        let (cached, need) = self.cached_for_now();
        match need {
            Need::Fetch => return None,
            Need::Refresh => self.refresh_in_background(),
            Need::Nothing => {}
        }
        cached
    }

    /// Returns the keys to verify with. It waits only if no usable keys are cached.
    pub(crate) async fn current(&self) -> Result<Arc<FetchedKeys>, FetchError> {
        if let Some(cached) = self.usable() {
            return Ok(cached);
        }
        let ended_before = self.progress().ended;
        let state = Arc::clone(&self.0.state).lock_owned().await;
        // Another task may have fetched them while this one waited for the lock.
        if let (Some(cached), Need::Nothing | Need::Refresh) = self.cached_for_now() {
            return Ok(cached);
        }
        // Without a cooldown, each waiting task would repeat a failed fetch.
        let has_failed = self.progress().ended > ended_before;
        if has_failed || !self.0.schedule.may_fetch(&state.attempts, Instant::now()) {
            return Err(state.last_error.clone().unwrap_or(FetchError::TimedOut));
        }
        self.fetch_and_wait(state, ProxyCache::Allowed).await;
        match self.cached_for_now() {
            (Some(cached), Need::Nothing | Need::Refresh) => Ok(cached),
            _ => {
                let state = self.0.state.lock().await;
                Err(state.last_error.clone().unwrap_or(FetchError::TimedOut))
            }
        }
    }

    /// Returns a set that differs from this one, for a token with a key that is not in it. Returns `None` if no
    /// request may be sent yet, or if the set has not changed.
    pub(crate) async fn newer_than(&self, known: &FetchedKeys) -> Option<Arc<FetchedKeys>> {
        let newer = || {
            let cached = self.0.cached.load_full()?;
            (cached.version != known.version).then_some(cached)
        };
        let begun_before = self.progress().begun;
        let state = Arc::clone(&self.0.state).lock_owned().await;
        if let Some(newer) = newer() {
            return Some(newer);
        }
        // Without a cooldown, each waiting task would repeat a fetch that has just ended.
        let is_answered = self.progress().ended_past_proxies > begun_before;
        if is_answered || !(self.0.schedule).may_fetch_unknown_key(&state.attempts, Instant::now())
        {
            return None;
        }
        self.fetch_and_wait(state, ProxyCache::Revalidate).await;
        newer()
    }

    fn cached_for_now(&self) -> (Option<Arc<FetchedKeys>>, Need) {
        let cached = self.0.cached.load_full();
        let times = cached.as_ref().map(|cached| cached.times);
        let need = self.0.schedule.need(times, Instant::now());
        (cached, need)
    }

    fn refresh_in_background(&self) {
        let Ok(state) = Arc::clone(&self.0.state).try_lock_owned() else {
            return;
        };
        if self.0.schedule.may_fetch(&state.attempts, Instant::now()) {
            drop(self.spawn_fetch(state, ProxyCache::Allowed));
        }
    }

    async fn fetch_and_wait(&self, state: OwnedMutexGuard<FetchState>, proxies: ProxyCache) {
        // An error means that the task panicked or the runtime shut down, so there is no response.
        let _ = self.spawn_fetch(state, proxies).await;
    }

    /// Fetches in a separate task, which continues if the caller is cancelled.
    fn spawn_fetch(
        &self,
        mut state: OwnedMutexGuard<FetchState>,
        proxies: ProxyCache,
    ) -> JoinHandle<()> {
        let shared = Arc::clone(&self.0);
        let number = shared.fetches.fetch_add(1, Ordering::AcqRel) + 1;
        tokio::spawn(async move {
            let now = Instant::now();
            state.attempts.last = Some(now);
            if proxies == ProxyCache::Revalidate {
                state.attempts.last_for_unknown = Some(now);
            }
            // Counted as a failure until the response arrives.
            state.attempts.failures = state.attempts.failures.saturating_add(1);
            state.last_error = Some(FetchError::TimedOut);
            match shared.fetch_set(&mut state, proxies).await {
                Ok(()) => {
                    state.attempts.failures = 0;
                    state.attempts.retry_after = Duration::ZERO;
                    state.last_error = None;
                    shared.consecutive_failures.store(0, Ordering::Release);
                }
                Err(error) => {
                    // The pause begins now. Otherwise each verification would ask a server that never answers.
                    state.attempts.last = Some(Instant::now());
                    state.attempts.retry_after = error.retry_after().unwrap_or_default();
                    shared.failures.fetch_add(1, Ordering::AcqRel);
                    shared.consecutive_failures.fetch_add(1, Ordering::AcqRel);
                    let host = shared.host();
                    let failures = state.attempts.failures;
                    tracing::warn!(host, %error, failures, "fetching the key set failed");
                    state.last_error = Some(error);
                }
            }
            shared.ended.store(number, Ordering::Release);
            if proxies == ProxyCache::Revalidate {
                shared.ended_past_proxies.store(number, Ordering::Release);
            }
        })
    }
}

impl Shared {
    /// Fetches the set. First discovers its address, if the address is unknown or stale.
    async fn fetch_set(
        &self,
        state: &mut FetchState,
        proxies: ProxyCache,
    ) -> Result<(), FetchError> {
        // After a failure, the issuer may have moved its keys, so the address is read from the document again.
        let known = state.address.take();
        let (request, address) = match &self.location {
            Location::Address(uri, plain_http) => {
                (FetchRequest::new(uri.clone()).plain_http(*plain_http), None)
            }
            Location::Issuer(issuer) => {
                let is_fresh = |known: &KeySetAddress| {
                    let age = Instant::now().saturating_duration_since(known.discovered);
                    self.schedule.address_is_fresh(age)
                };
                let address = match known.filter(is_fresh) {
                    Some(known) => known,
                    None => {
                        // The `ETag` belongs to the previous address.
                        state.etag = None;
                        issuer.discover(&*self.fetch).await?
                    }
                };
                (address.request(), Some(address))
            }
        };
        let request = request.etag(state.etag.clone());
        let request = match proxies {
            ProxyCache::Allowed => request,
            ProxyCache::Revalidate => request.no_cache(),
        };
        let response = send(&*self.fetch, request).await;
        let response = response.map_err(|error| match (&self.location, error) {
            (Location::Issuer(_), FetchError::InvalidAddress(why @ AddressError::Private)) => {
                DiscoveryError::InvalidKeySetAddress(why).into()
            }
            (_, error) => error,
        })?;
        self.store(response, &mut state.etag)?;
        state.address = address;
        Ok(())
    }

    /// Replaces the cached set with the one in the response.
    fn store(
        &self,
        response: FetchResponse,
        known_etag: &mut Option<String>,
    ) -> Result<(), FetchError> {
        let before = self.cached.load_full();
        let had_etag = known_etag.is_some();
        let has_text = response.text.is_some();
        let (text, keys, version) = match (response.text, &before) {
            (Some(text), Some(before)) if *before.text == *text => (
                Arc::clone(&before.text),
                before.keys.clone(),
                before.version,
            ),
            (Some(text), _) => {
                let keys = public_keys(&text, &self.reading)?;
                log_skipped(self.host(), &keys);
                let version = before.as_ref().map_or(0, |before| before.version + 1);
                (Arc::from(text), keys, version)
            }
            (None, Some(before)) if had_etag => (
                Arc::clone(&before.text),
                before.keys.clone(),
                before.version,
            ),
            (None, _) => return Err(FetchError::Status(304)),
        };
        if has_text {
            *known_etag = response.etag;
        }
        self.cached.store(Some(Arc::new(FetchedKeys {
            version,
            keys,
            text,
            times: Times {
                fetched: Instant::now(),
                fresh_for: self.schedule.freshness(response.max_age),
            },
            confirmed: Timestamp::now(),
        })));
        Ok(())
    }

    fn host(&self) -> &str {
        match &self.location {
            Location::Address(uri, _) => uri.host().unwrap_or_default(),
            Location::Issuer(issuer) => issuer.host(),
        }
    }
}

impl fmt::Debug for RemoteKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteKeySet")
            .field("host", &self.0.host())
            .field("schedule", &self.0.schedule)
            .field("age", &self.age())
            .finish_non_exhaustive()
    }
}
