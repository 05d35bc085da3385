//! Follows the revocations of an issuer, for programs that verify tokens themselves.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::digest;
use jeton_proto::v1::revocation_rule::Kind;
use jeton_proto::v1::{RevocationRule, RevocationUpdate};
use jeton_proto::{CLAIMED_EXPIRY_SECONDS, CLOCK_SKEW_SECONDS, LEEWAY_SECONDS};
use tonic::Streaming;

use crate::clock_guard::ClockGuard;
use crate::error::{Error, Result};
use crate::moment::Moment;
use crate::rule::{merge, rejects};
use crate::view_age::{ServerTiming, ViewAge};

/// How long a revocation is kept after its tokens have expired, in seconds.
///
/// It covers the leeway of the verifier, a server clock that was ahead, a local clock that is behind, and an expiry that
/// was claimed too early.
const KEPT_AFTER_EXPIRY_SECONDS: i64 =
    LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS + CLAIMED_EXPIRY_SECONDS;

/// Minutes by which the claimed expiry of a revoked token may be off.
const NEAR: u32 = (CLAIMED_EXPIRY_SECONDS / 60) as u32;

/// The revocations of an issuer, with the age of this view.
///
/// The verifier decides how old the view may be, and checks [`age`](Follower::age). The server sends an update
/// at least every five seconds. Updates are applied only while [`next`](Follower::next) is called. A verifier
/// may accept tokens for [`LEEWAY_SECONDS`] after their expiry; after that, revocations are dropped.
#[derive(Debug)]
pub struct Follower {
    issuer: String,
    updates: Streaming<RevocationUpdate>,
    tokens: HashMap<u32, HashSet<[u8; 16]>>,
    rules: HashMap<(i32, String), RevocationRule>,
    revision: u64,
    age: ViewAge,
    clock_guard: ClockGuard,
    /// Where the server resumes. Empty: nowhere.
    resume_token: Vec<u8>,
}

impl Follower {
    pub(crate) async fn begin(
        issuer: String,
        updates: Streaming<RevocationUpdate>,
        requested_at: Moment,
    ) -> Result<Follower> {
        let mut follower = Follower {
            issuer,
            updates,
            tokens: HashMap::new(),
            rules: HashMap::new(),
            revision: 0,
            age: ViewAge::new(requested_at),
            clock_guard: ClockGuard::new(requested_at),
            resume_token: Vec::new(),
        };
        while follower.next().await? {}
        Ok(follower)
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    pub(crate) fn resume_token(&self) -> &[u8] {
        &self.resume_token
    }

    /// Continues with another stream, which begins after the last update.
    pub(crate) async fn resume(
        &mut self,
        updates: Streaming<RevocationUpdate>,
        requested_at: Moment,
    ) -> Result<()> {
        self.updates = updates;
        self.age.resume(requested_at);
        while self.next().await? {}
        Ok(())
    }

    /// Waits for the next update and applies it.
    ///
    /// Returns true if the update was a part of the snapshot, so that the view is not complete yet.
    ///
    /// # Errors
    ///
    /// [`Error::Unreachable`] if the stream has ended, for example because this was called too rarely, or another
    /// [`Error`]. The view stays, and its age grows. Call
    /// [`Client::resume_revocations`](crate::Client::resume_revocations).
    pub async fn next(&mut self) -> Result<bool> {
        let update = self.updates.message().await.map_err(Error::of_status)?;
        let update = update.ok_or_else(|| Error::Unreachable("the stream has ended".to_owned()))?;
        let now = Moment::now();
        let sent = update
            .age_ms
            .zip(update.clock_ms)
            .map(|(age, clock)| ServerTiming {
                age: Duration::from_millis(age),
                clock: Duration::from_millis(clock),
            });
        self.age.record(sent, update.is_snapshot, now);
        self.revision = update.revision;
        if !update.is_snapshot {
            self.resume_token = update.resume_token;
        }
        for token in update.tokens {
            if let Ok(hash) = token.hash.try_into() {
                self.tokens
                    .entry(token.expires_minute)
                    .or_default()
                    .insert(hash);
            }
        }
        for rule in update.rules {
            let key = (rule.kind, rule.name.clone());
            let rule = merge(rule, self.rules.get(&key));
            self.rules.insert(key, rule);
        }
        let bound = self.clock_guard.observe([update.at, local_seconds()], now);
        self.drop_before(bound.saturating_sub(KEPT_AFTER_EXPIRY_SECONDS));
        Ok(update.is_snapshot)
    }

    /// The age of the view: all earlier revocations are known.
    ///
    /// It includes the age of the server's own view, the network delay, and the time until
    /// [`next`](Follower::next) applied the update.
    pub fn age(&self) -> Duration {
        self.age.at(Moment::now())
    }

    /// The revision of the store that this view includes.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the token with this `jti`, `exp` and `iat` is revoked.
    pub fn is_token_revoked(&self, id: &str, expires_at: i64, issued_at: Option<i64>) -> bool {
        let minute = u32::try_from(expires_at.max(0) / 60).unwrap_or(u32::MAX);
        let hash = hash(&self.issuer, id);
        let mut near = minute.saturating_sub(NEAR)..=minute.saturating_add(NEAR);
        let by_hash = near.any(|minute| {
            let hashes = self.tokens.get(&minute);
            hashes.is_some_and(|hashes| hashes.contains(&hash))
        });
        by_hash || self.is_rejected(Kind::Token, id, Some(id), issued_at)
    }

    /// Whether the token of this subject with this `jti` and `iat` is revoked.
    pub fn is_subject_revoked(
        &self,
        subject: &str,
        token_id: Option<&str>,
        issued_at: Option<i64>,
    ) -> bool {
        self.is_rejected(Kind::Subject, subject, token_id, issued_at)
    }

    /// Whether the token of this client with this `jti` and `iat` is revoked.
    pub fn is_client_revoked(
        &self,
        client: &str,
        token_id: Option<&str>,
        issued_at: Option<i64>,
    ) -> bool {
        self.is_rejected(Kind::Client, client, token_id, issued_at)
    }

    /// Whether the token with this `jti` and `iat` of the key with this `kid` is revoked.
    pub fn is_key_revoked(
        &self,
        kid: &str,
        token_id: Option<&str>,
        issued_at: Option<i64>,
    ) -> bool {
        self.is_rejected(Kind::Key, kid, token_id, issued_at)
    }

    /// Drops tokens and rules that ended before this second.
    fn drop_before(&mut self, second: i64) {
        let minute = u32::try_from(second.max(0) / 60).unwrap_or(0);
        self.tokens.retain(|known, _| *known >= minute);
        self.rules.retain(|_, rule| rule.until > second);
    }

    fn is_rejected(
        &self,
        kind: Kind,
        name: &str,
        token_id: Option<&str>,
        issued_at: Option<i64>,
    ) -> bool {
        let rule = self.rules.get(&(kind as i32, name.to_owned()));
        rule.is_some_and(|rule| rejects(rule, token_id, issued_at))
    }
}

/// Seconds since 1970.
fn local_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

/// `RevokedToken.hash` in token.proto.
fn hash(issuer: &str, id: &str) -> [u8; 16] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in ["token", issuer] {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    context.update(id.as_bytes());
    let digest = context.finish();
    digest.as_ref().first_chunk().copied().unwrap_or_default()
}
