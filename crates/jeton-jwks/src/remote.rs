use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use http::Uri;
use jeton::jwk::KeySet;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::error::FetchError;
use crate::fetch::{Answer, Fetch, Https, PATIENCE, Question, checked};
use crate::schedule::{Asked, Need, Schedule, Times};

/// The keys at an address. Clones share one set and one way of asking for it.
///
/// It needs a Tokio runtime when it asks, which is at the first verification and not before.
#[derive(Clone)]
pub struct RemoteKeySet(Arc<Shared>);

struct Shared {
    uri: Uri,
    fetch: Box<dyn Fetch>,
    schedule: Schedule,
    fetched: ArcSwapOption<Fetched>,
    /// Held as long as a question is under way.
    asking: Arc<Mutex<Course>>,
}

/// A set that was fetched. It has a public key that verifies.
pub(crate) struct Fetched {
    /// Another one than that of every other text.
    pub(crate) version: u64,
    pub(crate) text: Arc<str>,
    times: Times,
}

/// How asking goes.
#[derive(Default)]
struct Course {
    asked: Asked,
    /// What the address calls what is known.
    name: Option<String>,
    /// What became of the last question, if it was in vain.
    fault: Option<FetchError>,
}

/// What caches on the way do with a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caches {
    /// They may answer from a copy, and spare the address the question.
    MayAnswer,
    /// They must ask the address whether their copy is still what it publishes.
    MustAsk,
}

impl RemoteKeySet {
    /// The keys at an address, by the usual [`Schedule`], asked for by [`Https`].
    ///
    /// # Errors
    /// [`FetchError::Address`] if keys may not come from there, and as [`Https::new`].
    pub fn at(address: &str) -> Result<Self, FetchError> {
        Self::with(address, Https::new()?, Schedule::default())
    }

    /// The keys at an address, with a client and a schedule of one's own.
    ///
    /// # Errors
    /// [`FetchError::Address`] if keys may not come from there.
    pub fn with(address: &str, fetch: impl Fetch, schedule: Schedule) -> Result<Self, FetchError> {
        Ok(Self(Arc::new(Shared {
            uri: checked(address)?,
            fetch: Box::new(fetch),
            schedule,
            fetched: ArcSwapOption::empty(),
            asking: Arc::default(),
        })))
    }

    /// How long ago the keys were fetched, or found to be the same; none if they never were. What a
    /// dashboard shows.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        let fetched = self.0.fetched.load();
        fetched.as_ref().map(|set| set.times.fetched.elapsed())
    }

    /// Fetches the keys, if there are none: a service that does so when it starts does not keep its
    /// first caller waiting, and knows whether the address is right.
    ///
    /// # Errors
    /// Why there are none.
    pub async fn ready(&self) -> Result<(), FetchError> {
        self.current().await.map(drop)
    }

    /// The keys that are in force. It waits only where there are none.
    pub(crate) async fn current(&self) -> Result<Arc<Fetched>, FetchError> {
        let (held, need) = self.held();
        match (held, need) {
            (Some(held), Need::Nothing) => return Ok(held),
            (Some(held), Need::Newer) => {
                self.ask_behind();
                return Ok(held);
            }
            (None, _) | (_, Need::Keys) => {}
        }
        let course = Arc::clone(&self.0.asking).lock_owned().await;
        // Somebody else's question may have been answered meanwhile.
        if let (Some(held), Need::Nothing | Need::Newer) = self.held() {
            return Ok(held);
        }
        if !self.0.schedule.may_ask(&course.asked, Instant::now()) {
            return Err(course.fault.clone().unwrap_or(FetchError::TimedOut));
        }
        self.asked(course, Caches::MayAnswer).await;
        match self.held() {
            (Some(held), Need::Nothing | Need::Newer) => Ok(held),
            _ => {
                let course = self.0.asking.lock().await;
                Err(course.fault.clone().unwrap_or(FetchError::TimedOut))
            }
        }
    }

    /// Others than these, for a token whose key is not among them; none where it may not be asked again
    /// yet, or where it has no others.
    pub(crate) async fn others(&self, known: &Fetched) -> Option<Arc<Fetched>> {
        let other = || {
            let held = self.0.fetched.load_full()?;
            (held.version != known.version).then_some(held)
        };
        let course = Arc::clone(&self.0.asking).lock_owned().await;
        if let Some(other) = other() {
            return Some(other);
        }
        if !(self.0.schedule).may_ask_for_unknown(&course.asked, Instant::now()) {
            return None;
        }
        self.asked(course, Caches::MustAsk).await;
        other()
    }

    fn held(&self) -> (Option<Arc<Fetched>>, Need) {
        let held = self.0.fetched.load_full();
        let times = held.as_ref().map(|held| held.times);
        let need = self.0.schedule.need(times, Instant::now());
        (held, need)
    }

    fn ask_behind(&self) {
        let Ok(course) = Arc::clone(&self.0.asking).try_lock_owned() else {
            return;
        };
        if self.0.schedule.may_ask(&course.asked, Instant::now()) {
            drop(self.ask(course, Caches::MayAnswer));
        }
    }

    async fn asked(&self, course: OwnedMutexGuard<Course>, caches: Caches) {
        // It panicked, or the runtime ends: then there is no answer.
        let _ = self.ask(course, caches).await;
    }

    /// Asks, whether or not whoever wants to know stays.
    fn ask(&self, mut course: OwnedMutexGuard<Course>, caches: Caches) -> JoinHandle<()> {
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            let now = Instant::now();
            course.asked.last = Some(now);
            if caches == Caches::MustAsk {
                course.asked.last_for_unknown = Some(now);
            }
            // Until there is an answer it is in vain.
            course.asked.failures = course.asked.failures.saturating_add(1);
            course.fault = Some(FetchError::TimedOut);
            let question = Question {
                uri: shared.uri.clone(),
                known: course.name.clone(),
                no_cache: caches == Caches::MustAsk,
            };
            let answer = timeout(PATIENCE, shared.fetch.fetch(question)).await;
            let answer = answer.unwrap_or(Err(FetchError::TimedOut));
            match answer.and_then(|answer| shared.take(answer, &mut course.name)) {
                Ok(()) => {
                    course.asked.failures = 0;
                    course.fault = None;
                }
                Err(fault) => {
                    let host = shared.uri.host().unwrap_or_default();
                    tracing::warn!(host, %fault, failures = course.asked.failures, "no keys");
                    course.fault = Some(fault);
                }
            }
        })
    }
}

impl Shared {
    /// Puts an answer in the place of the one before.
    fn take(&self, answer: Answer, known: &mut Option<String>) -> Result<(), FetchError> {
        let before = self.fetched.load_full();
        let (text, name, max_age) = match answer {
            Answer::Set {
                text,
                name,
                max_age,
            } => (Arc::from(public(&text)?), name, max_age),
            Answer::Unchanged { max_age } => match &before {
                Some(before) => (Arc::clone(&before.text), known.take(), max_age),
                None => return Err(FetchError::Status(304)),
            },
        };
        let version = match &before {
            Some(before) if before.text == text => before.version,
            Some(before) => before.version + 1,
            None => 0,
        };
        *known = name;
        self.fetched.store(Some(Arc::new(Fetched {
            version,
            text,
            times: Times {
                fetched: Instant::now(),
                fresh_for: self.schedule.freshness(max_age),
            },
        })));
        Ok(())
    }
}

#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

/// What tells a key that is no secret.
#[derive(Deserialize)]
struct Shape {
    kty: String,
    d: Option<IgnoredAny>,
    k: Option<IgnoredAny>,
    r#priv: Option<IgnoredAny>,
}

/// A set without its secret keys: who could read them here could sign.
fn public(text: &str) -> Result<String, FetchError> {
    let set: Set<'_> = serde_json::from_str(text).map_err(|_| FetchError::NoKeySet)?;
    let is_public = |key: &&&RawValue| {
        let shape: Result<Shape, _> = serde_json::from_str(key.get());
        shape.is_ok_and(|shape| {
            let Shape { kty, d, k, r#priv } = shape;
            kty != "oct" && d.is_none() && k.is_none() && r#priv.is_none()
        })
    };
    let keys: Vec<&str> = set
        .keys
        .iter()
        .filter(is_public)
        .map(|key| key.get())
        .collect();
    let text = format!("{{\"keys\":[{}]}}", keys.join(","));
    match KeySet::from_json(&text) {
        Ok(_) => Ok(text),
        Err(_) => Err(FetchError::NoKeySet),
    }
}

impl fmt::Debug for RemoteKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteKeySet")
            .field("host", &self.0.uri.host())
            .field("schedule", &self.0.schedule)
            .field("age", &self.age())
            .finish_non_exhaustive()
    }
}
