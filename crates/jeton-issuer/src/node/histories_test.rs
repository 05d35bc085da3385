//! Random histories of three nodes on one store, with different clocks and views of different age. A node
//! must accept a token exactly if the token's node had seen every relevant rule that the judging node has.
//! Expiry by the judging node's clock and unknown keys are considered too.
//!
//! The clocks differ as much as allowed. Sometimes one jumps for less than ten minutes, by up to forty
//! days. Errors caused by such a clock are accepted for rules that have ended by then.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "histories_test/act.rs"]
mod act;
#[path = "../../tests/it/manual_clock.rs"]
#[allow(dead_code)]
mod manual_clock;

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use jeton::key::{MacAlg, MacKey};
use jeton_store::{MemoryStore, Moment, Store, block_on};
use jeton_testkit::is_whole;
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{RevokeAnswer, StalePolicy};
use super::intercepted_store::InterceptedStore;
use super::{ClockGuard, OtherClocks, Trusted};
use crate::audit;
use crate::{
    CustomClaims, Error, Issued, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke,
    Subject, limits,
};
use act::{Act, What, act};
use manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";
const PROFILES: [&str; 2] = ["a", "b"];
const ELSEWHERE: &str = "elsewhere";
const SKEW: i64 = limits::CLOCK_SKEW_SECONDS;
/// Difference of each node's clock.
const CLOCKS: [i64; 3] = [-SKEW / 2, 0, SKEW / 2];
/// A jump ends before it counts.
const LONGEST_JUMP: i64 = limits::STEADY_SECONDS - 1;
/// Token lifetimes of each profile, in the possible settings.
const LIFETIMES: [[i64; 2]; 4] = [[900, 5000], [300, 900], [9000, 60], [5000, 20_000]];
/// A disconnected node stops issuing after this time.
const LONGEST_LAG: i64 = limits::ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed();
/// Interval of observations while time passes.
const LOOK_EVERY: i64 = 300;

/// A rule or a revoked token, as acknowledged or written.
#[derive(Debug)]
struct Revoked {
    what: Subject,
    /// Applies to tokens issued later too.
    is_endless: bool,
    /// Creation time by the clock of its node, and whether that clock had jumped.
    made: i64,
    by_far: bool,
    over: i64,
}

#[derive(Debug)]
struct IssuedToken {
    issued: Issued,
    issued_at: i64,
    who: u8,
    kid: String,
    /// Number of revocations that its node had seen. None: unknown.
    seen: Option<usize>,
    /// The clock of its node had jumped.
    is_far: bool,
}

struct Member {
    node: Node,
    clock: ManualClock,
    store_hook: InterceptedStore,
    clock_guard: ClockGuard,
    others: OtherClocks,
    /// Number of revocations that it has seen.
    seen: usize,
    /// Since when it is disconnected.
    lags: Option<i64>,
    /// Jump of its clock, and when.
    jumped: Option<(i64, i64)>,
    /// A revocation while it lags, acknowledged once it catches up.
    unanswered: Option<RevokeAnswer>,
}

struct Service {
    store: Arc<dyn Store>,
    begun: Moment,
    now: i64,
    members: Vec<Member>,
    lifetimes: [i64; 2],
    /// Longest token lifetime in any settings.
    longest: i64,
    revoked: Vec<Revoked>,
    tokens: Vec<IssuedToken>,
    /// The store has lost rules that still apply on nodes that knew them.
    cleaned_early: bool,
    /// Signs tokens without stamps.
    elsewhere: MacKey,
}

fn settings([a, b]: [i64; 2]) -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"a","alg":"ES256","lifetime_seconds":{a},"audiences":["api"]}},
            {{"name":"b","alg":"v4.local","lifetime_seconds":{b},"audiences":["api"]}},
            {{"name":"c","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn start(store: &Arc<dyn Store>, clock: &ManualClock) -> (Node, InterceptedStore) {
    let store_hook = InterceptedStore::new(store);
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    // The machine may be slow: only the test controls the views.
    let options = Options::new(kek)
        .freshness(Duration::from_secs(3600), StalePolicy::Refuse)
        .issue_without_store(limits::ISSUE_WITHOUT_STORE_MAX);
    let node = Node::start(store_hook.store(), options, Arc::new(clock.clone()));
    (node.unwrap(), store_hook)
}

fn issue_token(
    node: &Node,
    clock: &ManualClock,
    profile: &str,
    who: u8,
) -> Result<IssuedToken, Error> {
    let client = format!("{{\"client_id\":\"c{who}\"}}");
    let claims = CustomClaims::from_json(&client, limits::TOKEN_BYTES).unwrap();
    let subject = format!("s{who}");
    let request = Request::new(profile).subject(&subject).claims(claims);
    let issued = node.issue(ISS, &request)?;
    let (settings, keyring) = node.issuer(ISS).unwrap();
    let kind = settings.profile(profile).unwrap().alg;
    let kid = keyring.signer(kind, clock.seconds()).unwrap().kid.clone();
    Ok(IssuedToken {
        issued,
        issued_at: clock.seconds(),
        who,
        kid,
        seen: None,
        is_far: false,
    })
}

impl Service {
    fn new() -> Service {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let begun = Moment::now();
        let member = |ahead: i64| {
            let clock = ManualClock::ahead(ahead);
            let (node, store_hook) = start(&store, &clock);
            Member {
                node,
                clock,
                store_hook,
                clock_guard: ClockGuard::new(START + ahead, begun),
                others: OtherClocks::default(),
                seen: 0,
                lags: None,
                jumped: None,
                unanswered: None,
            }
        };
        let members: Vec<Member> = CLOCKS.into_iter().map(member).collect();
        let lifetimes = LIFETIMES[0];
        let created = members[1].node.create_issuer("setup", settings(lifetimes));
        created.unwrap();
        let elsewhere = MacKey::generate(MacAlg::HS256).unwrap();
        let elsewhere = elsewhere.with_key_id(ELSEWHERE).unwrap();
        let (kind, key) = ("HS256".parse().unwrap(), elsewhere.to_jwk());
        members[1].node.import("setup", ISS, kind, &key).unwrap();
        let mut service = Service {
            store,
            begun,
            now: START,
            members,
            lifetimes,
            longest: lifetimes[0].max(lifetimes[1]),
            revoked: Vec::new(),
            tokens: Vec::new(),
            cleaned_early: false,
            elsewhere,
        };
        service.heard();
        service
    }

    fn act(&mut self, at: usize, act: &Act) {
        match act {
            Act::Issue(profile, who) => {
                let Member { node, clock, .. } = &self.members[at];
                let issued_token =
                    issue_token(node, clock, PROFILES[profile.index(PROFILES.len())], *who);
                self.keep(at, self.members[at].seen, issued_token);
            }
            Act::IssueWithoutStamp(who) => self.issue_without_stamp(at, *who),
            Act::Revoke(what) => self.revoke(at, what),
            Act::RevokeMeanwhile(what, first, who) => {
                let other = self.other(at, who);
                self.catch_up(at);
                self.meanwhile(at, other, first, |service| service.revoke(at, what));
            }
            Act::Due => {
                let member = &mut self.members[at];
                let (now, moment) = (member.clock.seconds(), moment(self.begun, self.now));
                let trusted = Trusted::by(&mut member.clock_guard, &mut member.others, now, moment);
                self.due(at, &trusted);
            }
            Act::Clean => self.clean(at),
            Act::CleanMeanwhile(what, who) => {
                let other = self.other(at, who);
                self.meanwhile(at, other, what, |service| service.clean(at));
            }
            Act::CleanEarly(ahead) => {
                self.cleaned_early = true;
                // One wrong clock at a time.
                self.members.iter_mut().for_each(Member::jump_back);
                let trusted = Trusted {
                    due: None,
                    over: None,
                    over_for_all: Some(self.now + ahead),
                    future: None,
                };
                let clock = ManualClock::ahead(self.now - START + ahead);
                let (ahead, _) = start(&self.store, &clock);
                ahead.inner.drop_what_is_over(&trusted).unwrap();
            }
            Act::Lag => {
                let now = self.now;
                let member = &mut self.members[at];
                member.store_hook.lag();
                member.lags.get_or_insert(now);
            }
            Act::CatchUp => self.catch_up(at),
            Act::Jump(by) => {
                // One wrong clock at a time: it hears what another deleted early before its own is wrong.
                if self.cleaned_early {
                    self.catch_up(at);
                }
                let now = self.now;
                let member = &mut self.members[at];
                member.jump_back();
                member.clock.forward(*by);
                member.jumped = Some((*by, now));
            }
            Act::Forward(seconds) => self.forward(*seconds),
            Act::Over(more) => {
                let node = &self.members[at].node;
                let rules = node.rules(ISS).unwrap().into_iter();
                let first = rules.map(|rule| rule.until).min();
                let left = first.map_or(0, |until| until + more - self.members[at].clock.seconds());
                // A rule made by a jumped clock may end after the rest of the history.
                if left < 7 * 24 * 3600 {
                    self.forward(left.max(0));
                }
            }
            Act::Lifetimes(_) | Act::Rotate | Act::Compromised => self.administer(at, act),
            // It would start from the store.
            Act::Restart if self.cleaned_early => {}
            Act::Restart => {
                self.catch_up(at);
                let member = &mut self.members[at];
                (member.node, member.store_hook) = start(&self.store, &member.clock);
                let moment = moment(self.begun, self.now);
                member.clock_guard = ClockGuard::new(member.clock.seconds(), moment);
                member.others = OtherClocks::default();
            }
        }
    }

    /// Runs a command of an operator, who has checked the clock.
    fn administer(&mut self, at: usize, act: &Act) {
        self.catch_up(at);
        let member = &mut self.members[at];
        member.jump_back();
        let node = &member.node;
        match act {
            Act::Lifetimes(index) => {
                self.lifetimes = *index.get(&LIFETIMES);
                node.set_issuer("me", &settings(self.lifetimes)).unwrap();
                let [a, b] = self.lifetimes;
                self.longest = self.longest.max(a).max(b);
            }
            Act::Rotate => {
                // A second rotation is rejected while one is in progress.
                let _ = node.rotate("me", ISS, "ES256".parse().unwrap());
            }
            _ => {
                let (_, keyring) = node.issuer(ISS).unwrap();
                let signer = keyring.signer("ES256".parse().unwrap(), member.clock.seconds());
                let kid = signer.unwrap().kid.clone();
                match node.compromised("me", ISS, &kid) {
                    Ok(()) => {}
                    // The issuer has the maximum number of keys.
                    Err(Error::Invalid(_)) => return,
                    Err(other) => panic!("{other:?}"),
                }
                let revoked = Revoked {
                    what: Subject::Key(kid),
                    is_endless: true,
                    made: i64::MAX,
                    by_far: false,
                    over: i64::MAX,
                };
                self.revoked.push(revoked);
            }
        }
    }

    fn other(&mut self, at: usize, who: &Index) -> usize {
        let other = (at + 1 + who.index(self.members.len() - 1)) % self.members.len();
        self.catch_up(other);
        other
    }

    /// Between that node's read and its next commit of rules, the other revokes and both issue.
    fn meanwhile(&mut self, at: usize, other: usize, what: &What, work: impl FnOnce(&mut Service)) {
        let Some((revoke, revoked)) = self.wanted(other, what) else {
            return work(self);
        };
        let issuing = [at, other].map(|at| {
            let Member { node, clock, .. } = &self.members[at];
            (node.clone(), clock.clone())
        });
        let (sender, issued_token) = channel();
        let member = &self.members[at];
        let (store_hook, lags) = (member.store_hook.clone(), member.lags.is_some());
        member.store_hook.before_commit("/rule/", move || {
            store_hook.lag();
            block_on(issuing[1].0.revoke("me", ISS, revoke)).unwrap();
            issue_all(&issuing, &sender);
            if !lags {
                store_hook.catch_up();
            }
        });
        let before = self.revoked.len();
        // It precedes what the work adds.
        self.revoked.push(revoked);
        work(self);
        if !self.members[at].store_hook.has_acted() {
            self.members[at].store_hook.forget_act();
            self.revoked.remove(before);
            return;
        }
        self.members[other].seen = before + 1;
        let seen = [self.members[at].seen.min(before), before + 1];
        for ((at, seen), issued_token) in [at, other].into_iter().zip(seen).zip(issued_token) {
            self.keep(at, seen, issued_token);
        }
    }

    fn keep(&mut self, at: usize, seen: usize, issued_token: Result<IssuedToken, Error>) {
        let is_far = self.members[at].is_far();
        match issued_token {
            Ok(issued_token) => self.tokens.push(IssuedToken {
                seen: Some(seen),
                is_far,
                ..issued_token
            }),
            // By its clock no key signs yet.
            Err(Error::NotReady) if is_far => {}
            Err(other) => panic!("node {at} does not issue: {other:?}"),
        }
    }

    fn issue_without_stamp(&mut self, at: usize, who: u8) {
        let issued_at = self.members[at].clock.seconds();
        let expires_at = issued_at + 900;
        let token_id = format!("{:032x}", self.tokens.len());
        let claims = serde_json::json!({
            "iss": ISS, "aud": "api", "sub": format!("s{who}"), "client_id": format!("c{who}"),
            "jti": token_id, "iat": issued_at, "exp": expires_at,
        });
        let signer = jeton::jws::JwsSigner::new(&self.elsewhere);
        let token = signer.sign(claims.to_string().as_bytes()).unwrap();
        self.tokens.push(IssuedToken {
            issued: Issued {
                token,
                token_id,
                expires_at,
            },
            issued_at,
            who,
            kid: ELSEWHERE.to_owned(),
            seen: None,
            is_far: self.members[at].is_far(),
        });
    }

    fn token(&self, index: &Index) -> Option<&IssuedToken> {
        (!self.tokens.is_empty()).then(|| index.get(&self.tokens))
    }

    fn wanted(&self, at: usize, what: &What) -> Option<(Revoke, Revoked)> {
        let subject = match what {
            What::Subject(who) => Subject::Subject(format!("s{who}")),
            What::Client(who) => Subject::Client(format!("c{who}")),
            What::Key(index) => Subject::Key(self.token(index)?.kid.clone()),
            What::Token(index) | What::TokenWithoutExpiry(index) => {
                Subject::Token(self.token(index)?.issued.token_id.clone())
            }
        };
        let now = self.members[at].clock.seconds();
        let (revoke, over) = match (what, self.token_of(&subject)) {
            (What::Token(_), Some(token)) => {
                let Issued {
                    token_id,
                    expires_at,
                    ..
                } = &token.issued;
                let revoke = Revoke::token(token_id, *expires_at);
                (revoke, *expires_at)
            }
            _ => (Revoke::all(subject.clone()), now + self.lifetimes[1]),
        };
        let revoked = Revoked {
            is_endless: matches!(subject, Subject::Token(_)),
            what: subject,
            made: now,
            by_far: self.members[at].is_far(),
            over,
        };
        Some((revoke, revoked))
    }

    fn token_of(&self, what: &Subject) -> Option<&IssuedToken> {
        let is_it = |token: &&IssuedToken| matches!(what, Subject::Token(id) if *id == token.issued.token_id);
        self.tokens.iter().find(is_it)
    }

    fn revoke(&mut self, at: usize, what: &What) {
        let Some((revoke, revoked)) = self.wanted(at, what) else {
            return;
        };
        if self.members[at].unanswered.is_some() {
            self.catch_up(at);
        }
        let before = block_on(self.store.status()).unwrap().revision;
        let has_rule = revoke.expires_at.is_none();
        let member = &mut self.members[at];
        let clock = member.clock.clone();
        (member.store_hook).each_commit(move || clock.expect_reader());
        let answer = member.node.revoke("me", ISS, revoke);
        match member.lags {
            None => {
                block_on(answer).unwrap();
            }
            Some(_) => {
                while block_on(self.store.status()).unwrap().revision == before {
                    thread::yield_now();
                }
                // The writer reads its clock after the commit: a rule that took long is written again.
                if has_rule {
                    member.clock.wait_for_reader();
                }
                member.unanswered = Some(answer);
            }
        }
        self.revoked.push(revoked);
    }

    fn clean(&mut self, at: usize) {
        let member = &self.members[at];
        // A jumped clock decides nothing.
        if member.is_far() {
            return;
        }
        let now = Some(member.clock.seconds());
        let trusted = Trusted {
            due: now,
            over: now,
            over_for_all: now,
            future: now,
        };
        self.due(at, &trusted);
    }

    fn due(&mut self, at: usize, trusted: &Trusted) {
        let Member {
            node, clock, lags, ..
        } = &self.members[at];
        let mut faults = Vec::new();
        // A lagging node would wait for its own write.
        if lags.is_none() {
            (node.inner).keys_that_are_due(clock.seconds(), trusted, &mut faults);
        }
        assert_eq!(faults, Vec::<String>::new());
        node.inner.drop_what_is_over(trusted).unwrap();
    }

    fn catch_up(&mut self, at: usize) {
        let member = &mut self.members[at];
        member.store_hook.catch_up();
        member.lags = None;
        if let Some(answer) = member.unanswered.take() {
            block_on(answer).unwrap();
        }
        self.heard();
    }

    fn forward(&mut self, seconds: i64) {
        let mut left = seconds;
        loop {
            let step = left.min(LOOK_EVERY);
            let now = self.now + step;
            for at in 0..self.members.len() {
                let member = &mut self.members[at];
                if member.jumped.is_some_and(|(_, at)| now - at > LONGEST_JUMP) {
                    member.jump_back();
                }
                let ends = |since: i64| now - since > LONGEST_LAG;
                if member.lags.is_some_and(ends) {
                    self.catch_up(at);
                }
                self.members[at].clock.forward(step);
            }
            self.now = now;
            self.observe();
            left -= step;
            if left <= 0 {
                return;
            }
        }
    }

    /// Every node observes its clock, as it does every second.
    fn observe(&mut self) {
        let moment = moment(self.begun, self.now);
        for member in &mut self.members {
            let observed = member.clock_guard.observe(member.clock.seconds(), moment);
            if observed.has_jumped {
                member.others.forget();
            }
        }
    }

    /// Updates the nodes that do not lag.
    fn heard(&mut self) {
        let newest = block_on(self.store.status()).unwrap().revision;
        let written = audit::newest_time(&*self.store).unwrap();
        let moment = moment(self.begun, self.now);
        for member in &mut self.members {
            if member.lags.is_some() {
                continue;
            }
            while member.node.revision() < newest {
                thread::yield_now();
            }
            member.seen = self.revoked.len();
            if let Some(written) = written
                && member.others.newest() != Some(written)
            {
                let clock = member.clock.seconds();
                member.others.hear(written, Duration::ZERO, clock, moment);
            }
        }
    }

    /// Checks that every node accepts exactly what it should.
    fn look(&mut self) {
        self.heard();
        self.observe();
        for (number, member) in self.members.iter().enumerate() {
            let (now, is_far) = (member.clock.seconds(), member.is_far());
            self.judge(&member.node, now, member.seen, is_far)
                .map_err(|wrong| format!("node {number}: {wrong}"))
                .unwrap();
        }
    }

    /// Checks the same for a node that starts now.
    fn check_new_node(&self) {
        if !self.cleaned_early {
            let (node, _) = start(&self.store, &ManualClock::ahead(self.now - START));
            self.judge(&node, self.now, self.revoked.len(), false)
                .map_err(|wrong| format!("a node that begins: {wrong}"))
                .unwrap();
        }
    }

    fn judge(&self, node: &Node, now: i64, seen: usize, is_far: bool) -> Result<(), String> {
        let (_, keyring) = node.issuer(ISS).unwrap();
        for token in &self.tokens {
            let known = self.revoked[..seen].iter().enumerate();
            let mut rejecting = known.filter(|(at, revoked)| revoked.rejects(*at, token));
            let is_over = token.issued.expires_at + limits::LEEWAY_SECONDS <= now
                || token.issued_at > now + limits::LEEWAY_SECONDS;
            let is_known = keyring.keys().iter().any(|key| key.kid == token.kid);
            let is_revoked = rejecting.clone().next().is_some();
            let is_excused = |revoked: &Revoked| {
                let is_over = revoked.over <= self.now - SKEW;
                let by_far_times = revoked.by_far && token.seen.is_none();
                (is_far || token.is_far) && is_over || by_far_times
            };
            if is_revoked && rejecting.all(|(_, revoked)| is_excused(revoked)) {
                continue;
            }
            let verified = node.verify(ISS, "api", &token.issued.token);
            // A node does not know how long it has lagged here: it measures that by the time of the machine. So a
            // token that is newer than its view may seem to be of a lost history. Then the times decide of those rules
            // that the node knows.
            let seems_lost = token.seen.is_some_and(|at| at > seen)
                && (self.revoked[..seen].iter()).any(|revoked| revoked.is_about(token));
            if seems_lost && matches!(verified, Err(Error::Revoked)) {
                continue;
            }
            if verified.is_ok() != (!is_over && is_known && !is_revoked) {
                return Err(format!(
                    "at {} s it has seen {seen} and says {:?} to {token:?}: over {is_over}, key known \
                     {is_known}, revoked {is_revoked}",
                    self.now - START,
                    verified.err()
                ));
            }
        }
        Ok(())
    }
}

impl Member {
    fn is_far(&self) -> bool {
        self.jumped.is_some()
    }

    fn jump_back(&mut self) {
        if let Some((by, _)) = self.jumped.take() {
            self.clock.forward(-by);
        }
    }
}

impl Revoked {
    /// Returns whether the token's node had not seen it. If unknown, the times decide.
    fn rejects(&self, at: usize, token: &IssuedToken) -> bool {
        let is_older = match token.seen {
            Some(seen) => at >= seen,
            None => token.issued_at <= self.made.saturating_add(SKEW),
        };
        self.is_about(token) && (self.is_endless || is_older)
    }

    fn is_about(&self, token: &IssuedToken) -> bool {
        match &self.what {
            Subject::Token(id) => *id == token.issued.token_id,
            Subject::Subject(name) => *name == format!("s{}", token.who),
            Subject::Client(name) => *name == format!("c{}", token.who),
            Subject::Key(kid) => *kid == token.kid,
        }
    }
}

/// The monotonic clock.
fn moment(begun: Moment, now: i64) -> Moment {
    begun + Duration::from_secs((now - START).unsigned_abs())
}

fn issue_all(issuing: &[(Node, ManualClock)], sender: &Sender<Result<IssuedToken, Error>>) {
    for (node, clock) in issuing {
        let _ = sender.send(issue_token(node, clock, "a", 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_whole() { 256 } else { 48 }))]

    #[test]
    fn random_history_accepts_exactly_unrevoked_tokens(
        acts in proptest::collection::vec((0..CLOCKS.len(), act()), 1..50),
    ) {
        let mut service = Service::new();
        for (at, act) in &acts {
            service.act(*at, act);
            service.look();
            service.check_new_node();
        }
    }
}
