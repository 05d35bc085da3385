//! One test for each known failure of token caches. Examples are entries found by a part of the token (litellm,
//! CVE-2026-35030) and entries kept after their expiry (fast-jwt, GHSA-rp9m-7r4c-75qg). Others are entries kept
//! after a change of keys, policy or revocations, races, eviction by an attacker, and cached rejections.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, RwLock};
use std::thread;
use std::time::Duration;

use jeton::error::{InvalidUse, Rejection};

use jeton::key::{ContentEnc, ContentKey, MacAlg, MacKey, SigAlg, SigningKey};
use jeton::{
    Cached, Claims, Clock, Error, Policy, RawClaims, Revocations, Scratch, Timestamp, Verified,
    Verify,
    jwt::{self, JwtVerifier},
    limits,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Visit {
    page: String,
}

/// A clock that the test sets.
#[derive(Clone)]
struct Hand(Arc<AtomicI64>);

impl Hand {
    const START: i64 = 1_800_000_000;

    fn new() -> Hand {
        Hand(Arc::new(AtomicI64::new(Self::START)))
    }

    fn forward(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    fn back(&self, seconds: i64) {
        self.forward(-seconds);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_seconds(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// Counts the verifications that reach the verifier.
struct Counting<V> {
    verifier: V,
    count: Arc<AtomicUsize>,
}

impl<V: Verify> Verify for Counting<V> {
    fn verify_raw(&self, token: &str) -> jeton::Result<Verified<RawClaims>> {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.verifier.verify_raw(token)
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> jeton::Result<()> {
        self.verifier.recheck(verified)
    }
}

/// A key, a clock, and a cache with a counting verifier.
struct Setup {
    key: SigningKey,
    clock: Hand,
    count: Arc<AtomicUsize>,
    cached: Cached<Counting<JwtVerifier>>,
}

fn policy() -> Policy {
    Policy::new("i", "a")
}

impl Setup {
    fn new(policy: Policy, entries: usize) -> Setup {
        let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
        let (clock, count) = (Hand::new(), Arc::new(AtomicUsize::new(0)));
        let verifier = counting(&key, policy, &clock, &count);
        let cached = Cached::new(verifier, entries).unwrap();
        Setup {
            key,
            clock,
            count,
            cached,
        }
    }

    fn verifier(&self, policy: Policy) -> Counting<JwtVerifier> {
        counting(&self.key, policy, &self.clock, &self.count)
    }

    fn token(&self, page: &str) -> String {
        self.issue(claims(page).expires_in(Duration::from_secs(60)))
    }

    fn issue(&self, claims: Claims<'_, Visit>) -> String {
        self.key.issue_with_clock(&claims, &self.clock).unwrap()
    }

    fn page(&self, token: &str) -> Result<String, Rejection> {
        let verified = self.cached.verify::<Visit>(token);
        let page = verified.map(|visit| visit.into_claims().page);
        page.map_err(|error| error.rejection().unwrap().clone())
    }

    /// Returns the number of verifications since the last call.
    fn verifications(&self) -> usize {
        self.count.swap(0, Ordering::SeqCst)
    }
}

fn counting(
    key: &SigningKey,
    policy: Policy,
    clock: &Hand,
    count: &Arc<AtomicUsize>,
) -> Counting<JwtVerifier> {
    Counting {
        verifier: JwtVerifier::new(key.verifying_key(), policy).clock(clock.clone()),
        count: Arc::clone(count),
    }
}

fn claims(page: &str) -> Claims<'static, Visit> {
    Claims::new(Visit { page: page.into() })
        .issuer("i")
        .audience("a")
}

#[test]
fn hit_deserializes_without_verifying_again() {
    let setup = Setup::new(policy(), 64);
    let token = setup.token("/");
    for _ in 0..3 {
        assert_eq!(setup.page(&token).as_deref(), Ok("/"));
        let mut scratch = Scratch::new();
        let visit = setup.cached.verify_in::<Visit>(&token, &mut scratch);
        assert_eq!(visit.unwrap().claims().page, "/");
    }
    assert_eq!((setup.verifications(), setup.cached.remembered()), (1, 1));
}

#[test]
fn hit_returns_all_verified_data() {
    let key = jeton::paseto::v4::LocalKey::generate().unwrap();
    let context = jeton::paseto::TokenContext::new().footer("f");
    let claims = claims("/\u{e9}\n")
        .subject("u\"7")
        .token_id("t")
        .expires_in(Duration::from_secs(9));
    let token = key.issue_with(&claims, context).unwrap();
    let cached = Cached::new(jeton::paseto::PasetoVerifier::new(&key, policy()), 8).unwrap();
    let (first, again) = (
        cached.verify::<Visit>(&token).unwrap(),
        cached.verify::<Visit>(&token).unwrap(),
    );
    let mut scratch = Scratch::new();
    let third = cached.verify_in::<Visit>(&token, &mut scratch).unwrap();
    assert_eq!(again.json(), first.json());
    assert_eq!(third.json(), first.json());
    assert_eq!(again.subject(), Some("u\"7"));
    assert_eq!(third.subject(), Some("u\"7"));
    assert_eq!(again.token_id(), first.token_id());
    assert_eq!(again.expires_at(), first.expires_at());
    assert_eq!(again.key_id(), first.key_id());
    assert_eq!(
        (again.footer(), third.footer()),
        (Some(&b"f"[..]), Some(&b"f"[..]))
    );
    assert_eq!(again.claims().page, "/\u{e9}\n");
}

/// CVE-2026-35030: the cache key was the start of the token, which is the header, the same for all tokens of an
/// issuer.
#[test]
fn tokens_with_a_common_prefix_are_distinct() {
    let setup = Setup::new(policy(), 4096);
    let one = setup.token("/one");
    assert_eq!(setup.page(&one).as_deref(), Ok("/one"));
    // Another payload with the same header, the same payload with another signature, and every changed
    // character: none of them is found.
    let two = setup.token("/two");
    assert_eq!(one[..20], two[..20]);
    assert_eq!(setup.page(&two).as_deref(), Ok("/two"));
    for at in 0..one.len() {
        let mut changed = one.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert!(setup.page(&changed).is_err(), "character {at}");
    }
    for shorter in 0..one.len() {
        assert!(setup.page(&one[..shorter]).is_err(), "{shorter} characters");
    }
    assert!(setup.page(&format!("{one}A")).is_err());
    assert!(setup.page(&format!("{one}.")).is_err());
    assert_eq!(setup.cached.remembered(), 2);
}

/// GHSA-rp9m-7r4c-75qg: the end of an entry was computed from `iat`, and tokens without it never expired.
#[test]
fn hit_without_iat_expires() {
    let setup = Setup::new(policy(), 64);
    let end = setup.clock.now().saturating_add(Duration::from_secs(60));
    let token = setup.issue(claims("/").without_issued_at().expires_at(end));
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    setup.clock.forward(59);
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    assert_eq!(setup.verifications(), 1);
    setup.clock.forward(1);
    assert_eq!(setup.page(&token), Err(Rejection::Expired));
    assert_eq!(setup.page(&token), Err(Rejection::Expired));
}

#[test]
fn hit_checks_exp_nbf_iat_and_max_age() {
    let setup = Setup::new(policy().max_age(Duration::from_secs(30)), 64);
    let now = setup.clock.now();
    let token = setup.issue(
        claims("/")
            .not_before(now)
            .expires_in(Duration::from_secs(60)),
    );
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    setup.clock.forward(31);
    assert_eq!(setup.page(&token), Err(Rejection::TooOld));
    setup.clock.back(31);
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    // After the clock was set back, the token is valid again.
    setup.clock.back(1);
    assert_eq!(setup.page(&token), Err(Rejection::NotYetValid));
    let mut scratch = Scratch::new();
    let rejected = setup.cached.verify_in::<Visit>(&token, &mut scratch);
    assert_eq!(
        rejected.map(drop).unwrap_err().rejection(),
        Some(&Rejection::NotYetValid)
    );
}

#[test]
fn replace_without_the_old_key_rejects_its_tokens() {
    let setup = Setup::new(policy(), 64);
    let token = setup.token("/");
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    let other = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let next = counting(&other, policy(), &setup.clock, &setup.count);
    setup.cached.replace(next);
    assert_eq!(setup.page(&token), Err(Rejection::Signature));
    // After the key is trusted again, the token is verified again.
    setup.cached.replace(setup.verifier(policy()));
    setup.verifications();
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    assert_eq!(setup.verifications(), 1);
}

#[test]
fn replace_with_another_policy_invalidates_entries() {
    let setup = Setup::new(policy(), 64);
    let token = setup.token("/");
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    for (policy, rejection) in [
        (Policy::new("i", "b"), Rejection::AudienceMismatch),
        (Policy::new("j", "a"), Rejection::IssuerMismatch),
        (policy().typ("at+jwt"), Rejection::TypeMismatch),
    ] {
        setup.cached.replace(setup.verifier(policy));
        assert_eq!(setup.page(&token), Err(rejection));
        setup.cached.replace(setup.verifier(self::policy()));
        assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    }
}

#[test]
fn two_caches_are_independent() {
    let setup = Setup::new(policy(), 64);
    let strict = Cached::new(setup.verifier(Policy::new("i", "b")), 64).unwrap();
    let token = setup.token("/");
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    let rejection = strict.verify::<Visit>(&token).unwrap_err();
    assert_eq!(rejection.rejection(), Some(&Rejection::AudienceMismatch));
}

/// A verification that started with the old keys ends after they were replaced. It uses the old keys, and its
/// result is not cached.
#[test]
fn verification_during_replace_is_not_cached() {
    struct Slow<V> {
        verifier: V,
        inside: Arc<Barrier>,
        is_slow: AtomicBool,
    }

    impl<V: Verify> Verify for Slow<V> {
        fn verify_raw(&self, token: &str) -> jeton::Result<Verified<RawClaims>> {
            let verified = self.verifier.verify_raw(token);
            if self.is_slow.swap(false, Ordering::SeqCst) {
                self.inside.wait();
                self.inside.wait();
            }
            verified
        }

        fn recheck(&self, verified: &Verified<RawClaims>) -> jeton::Result<()> {
            self.verifier.recheck(verified)
        }
    }

    let (old, new) = (
        SigningKey::generate(SigAlg::EdDSA).unwrap(),
        SigningKey::generate(SigAlg::EdDSA).unwrap(),
    );
    let inside = Arc::new(Barrier::new(2));
    let slow = |key: &SigningKey, is_slow| Slow {
        verifier: JwtVerifier::new(key.verifying_key(), policy()),
        inside: Arc::clone(&inside),
        is_slow: AtomicBool::new(is_slow),
    };
    let token = old
        .issue(&claims("/").expires_in(Duration::from_secs(60)))
        .unwrap();
    let cached = Cached::new(slow(&old, true), 64).unwrap();
    thread::scope(|scope| {
        let verifying = scope.spawn(|| cached.verify::<Visit>(&token).map(drop));
        inside.wait();
        cached.replace(slow(&new, false));
        inside.wait();
        // The verification started while the old key was trusted.
        assert_eq!(verifying.join().unwrap(), Ok(()));
    });
    let rejection = cached.verify::<Visit>(&token).unwrap_err();
    assert_eq!(rejection.rejection(), Some(&Rejection::Signature));
}

#[test]
fn revoked_token_is_rejected_on_the_next_hit() {
    let revoked = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(AtomicUsize::new(0));
    let mut setup = Setup::new(policy(), 64);
    let hook = (Arc::clone(&revoked), Arc::clone(&asked));
    setup.cached = setup
        .cached
        .revocations(move |token: &Verified<RawClaims>| {
            hook.1.fetch_add(1, Ordering::SeqCst);
            token.token_id() == Some("7") && hook.0.load(Ordering::SeqCst)
        });
    let token = setup.issue(
        claims("/")
            .token_id("7")
            .expires_in(Duration::from_secs(60)),
    );
    let other = setup.token("/other");
    for _ in 0..3 {
        assert_eq!(setup.page(&token).as_deref(), Ok("/"));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    revoked.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        assert_eq!(setup.page(&token), Err(Rejection::Revoked));
        assert_eq!(setup.page(&other).as_deref(), Ok("/other"));
    }
    let mut scratch = Scratch::new();
    let rejected = setup.cached.verify_in::<Visit>(&token, &mut scratch);
    assert_eq!(
        rejected.map(drop).unwrap_err().rejection(),
        Some(&Rejection::Revoked)
    );
    revoked.store(false, Ordering::SeqCst);
    assert_eq!(setup.page(&token).as_deref(), Ok("/"));
}

/// The list of a service that can be away. It answers true while it is, as `Revocations` requires.
struct Listed(Arc<RwLock<Option<HashSet<String>>>>);

impl Revocations for Listed {
    fn is_revoked(&self, token: &Verified<RawClaims>) -> bool {
        match (&*self.0.read().unwrap(), token.token_id()) {
            (Some(revoked), Some(id)) => revoked.contains(id),
            _ => true,
        }
    }
}

#[test]
fn revocations_that_cannot_answer_reject_every_token() {
    let list = Arc::new(RwLock::new(Some(HashSet::from(["8".to_owned()]))));
    let mut setup = Setup::new(policy(), 64);
    setup.cached = setup.cached.revocations(Listed(Arc::clone(&list)));
    let token = |id| {
        let claims = claims("/").token_id(id);
        setup.issue(claims.expires_in(Duration::from_secs(60)))
    };
    let (listed, other) = (token("8"), token("7"));
    assert!(setup.page(&other).is_ok());
    assert_eq!(setup.page(&listed), Err(Rejection::Revoked));
    let away = list.write().unwrap().take();
    assert_eq!(setup.page(&other), Err(Rejection::Revoked));
    *list.write().unwrap() = away;
    assert!(setup.page(&other).is_ok());
}

#[test]
fn rejected_token_is_not_cached() {
    let setup = Setup::new(policy(), 64);
    let now = setup.clock.now();
    let other_key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let forged = other_key
        .issue_with_clock(
            &claims("/").expires_in(Duration::from_secs(60)),
            &setup.clock,
        )
        .unwrap();
    for _ in 0..20 {
        assert_eq!(setup.page(&forged), Err(Rejection::Signature));
    }
    assert_eq!((setup.verifications(), setup.cached.remembered()), (20, 0));
    // A token that was rejected once can be accepted later.
    let later = now.saturating_add(Duration::from_secs(10));
    let early = setup.issue(
        claims("/")
            .not_before(later)
            .expires_in(Duration::from_secs(60)),
    );
    assert_eq!(setup.page(&early), Err(Rejection::NotYetValid));
    setup.clock.forward(10);
    assert_eq!(setup.page(&early).as_deref(), Ok("/"));
    assert_eq!(setup.page(&forged), Err(Rejection::Signature));
    // Claims of another shape do not invalidate the token.
    assert!(setup.cached.verify::<Vec<u8>>(&early).is_err());
    assert_eq!(setup.page(&early).as_deref(), Ok("/"));
}

#[test]
fn concurrent_misses_give_equal_results() {
    const THREADS: usize = 8;
    let setup = Setup::new(policy(), 64);
    let tokens: Vec<String> = (0..4).map(|page| setup.token(&page.to_string())).collect();
    let mut forged = tokens[0].clone().into_bytes();
    let middle = forged.len() - 20;
    forged[middle] = if forged[middle] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    let together = Barrier::new(THREADS);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                together.wait();
                for _ in 0..50 {
                    for (page, token) in tokens.iter().enumerate() {
                        assert_eq!(setup.page(token), Ok(page.to_string()));
                    }
                    assert_eq!(setup.page(&forged), Err(Rejection::Signature));
                }
            });
        }
    });
    assert_eq!(setup.cached.remembered(), tokens.len());
    let needed = setup.verifications() - THREADS * 50;
    assert!((tokens.len()..=THREADS * tokens.len()).contains(&needed));
}

#[test]
fn flood_of_tokens_keeps_entries_in_use() {
    const ENTRIES: usize = 64;
    let setup = Setup::new(policy(), ENTRIES);
    let regular = setup.token("/regular");
    let mut again = 0;
    for page in 0..2_000 {
        assert!(setup.page(&setup.token(&page.to_string())).is_ok());
        if page % 10 == 0 {
            setup.verifications();
            assert_eq!(setup.page(&regular).as_deref(), Ok("/regular"));
            again += setup.verifications();
        }
    }
    assert!(setup.cached.remembered() <= ENTRIES);
    // 200 uses; the first is a miss, and few others are.
    assert!(again <= 3, "{again}");
}

#[test]
fn cache_of_one_entry_works_and_of_zero_is_an_error() {
    let setup = Setup::new(policy(), 1);
    for page in 0..20 {
        assert!(setup.page(&setup.token(&page.to_string())).is_ok());
    }
    assert_eq!(setup.cached.remembered(), 1);
    for entries in [0, limits::CACHE_ENTRIES + 1] {
        let invalid_use = Error::InvalidUse(InvalidUse::CacheEntries {
            entries,
            limit: limits::CACHE_ENTRIES,
        });
        let verifier = setup.verifier(policy());
        assert_eq!(Cached::new(verifier, entries).map(drop), Err(invalid_use));
    }
}

#[test]
fn token_over_cached_limit_is_not_cached() {
    let setup = Setup::new(policy(), 64);
    let token = setup.token(&"x".repeat(limits::CACHED_TOKEN_BYTES));
    for _ in 0..3 {
        assert!(setup.page(&token).is_ok());
    }
    assert_eq!((setup.verifications(), setup.cached.remembered()), (3, 0));
    let huge = "x".repeat(3 * 1024 * 1024);
    assert!(matches!(setup.page(&huge), Err(Rejection::TooLarge { .. })));
}

#[test]
fn cache_works_with_every_verifier_type() {
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let content = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let encrypted = jwt::EncryptedIssuer::new(&content, ContentEnc::A256Gcm);
    let claims = claims("/").expires_in(Duration::from_secs(60));
    let several: [(String, Box<dyn Verify>); 2] = [
        (
            mac.issue(&claims).unwrap(),
            Box::new(JwtVerifier::new(&mac, policy())),
        ),
        (
            encrypted.issue(&claims).unwrap(),
            Box::new(jwt::EncryptedVerifier::new(&content, policy())),
        ),
    ];
    for (token, verifier) in several {
        let cached = Cached::new(verifier, 8).unwrap();
        for _ in 0..2 {
            assert_eq!(cached.verify::<Visit>(&token).unwrap().claims().page, "/");
        }
        assert_eq!(cached.remembered(), 1);
    }
}
