//! Random histories of three nodes on one store, each by a clock of its own and with a view of its own age:
//! a node accepts a token exactly if the token's node had seen every rule about it that the judging one has,
//! beside expiry by the judging node's clock and keys that it does not know.
//!
//! The clocks are as far apart as they may be. Now and then one jumps for less than ten minutes, by up to
//! forty days. What such a clock says of a token is not held against a rule that is over by then.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "histories/act.rs"]
mod act;
#[path = "../../tests/hand/mod.rs"]
mod hand;

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use jeton::jwt::MacKey;
use jeton::key::MacAlg;
use jeton_store::{MemoryStore, Moment, Store, block_on};
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{RevokeAnswer, Stale};
use super::hooked::Hooked;
use super::{OtherClocks, Steady, Trusted};
use crate::audit;
use crate::{
    CustomClaims, Error, Issued, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke,
    Subject, limits,
};
use act::{Act, What, act};
use hand::{Hand, START};

const ISS: &str = "https://id.example";
const PROFILES: [&str; 2] = ["a", "b"];
const ELSEWHERE: &str = "elsewhere";
const SKEW: i64 = limits::CLOCK_SKEW_SECONDS;
/// How far each node's clock is ahead.
const CLOCKS: [i64; 3] = [-SKEW / 2, 0, SKEW / 2];
/// A jump is over before it counts.
const LONGEST_JUMP: i64 = limits::STEADY_SECONDS - 1;
/// How long tokens of each profile live: what the settings are changed to.
const LIFETIMES: [[i64; 2]; 4] = [[900, 5000], [300, 900], [9000, 60], [5000, 20_000]];
/// A node that hears nothing issues no longer.
const LONGEST_LAG: i64 = limits::ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed();
/// What everybody does is looked at so often while time passes.
const LOOK_EVERY: i64 = 300;

/// A rule or a revoked token, as an onlooker saw it acknowledged or written.
#[derive(Debug)]
struct Revoked {
    what: Subject,
    /// About tokens that were issued later too.
    is_endless: bool,
    /// When, by the clock of who did, and whether that had jumped.
    made: i64,
    by_far: bool,
    over: i64,
}

#[derive(Debug)]
struct Minted {
    issued: Issued,
    issued_at: i64,
    who: u8,
    kid: String,
    /// How much of what was revoked its node had seen. None: it does not say.
    seen: Option<usize>,
    /// Its node's clock had jumped.
    is_far: bool,
}

struct Member {
    node: Node,
    clock: Hand,
    hooked: Hooked,
    steady: Steady,
    others: OtherClocks,
    /// How much of what was revoked it has seen.
    seen: usize,
    /// Since when it hears nothing.
    lags: Option<i64>,
    /// By how much its clock has jumped, and when.
    jumped: Option<(i64, i64)>,
    /// What it revoked while it lags: acknowledged when it has heard of that.
    unanswered: Option<RevokeAnswer>,
}

struct Service {
    store: Arc<dyn Store>,
    begun: Moment,
    now: i64,
    members: Vec<Member>,
    lifetimes: [i64; 2],
    /// The longest that a token of any settings lives.
    longest: i64,
    revoked: Vec<Revoked>,
    tokens: Vec<Minted>,
    /// The store has lost what still counts on nodes that knew it.
    cleaned_early: bool,
    /// It signs tokens without stamps.
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

fn start(store: &Arc<dyn Store>, clock: &Hand) -> (Node, Hooked) {
    let hooked = Hooked::new(store);
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    // The machine may be slow: only the test says what is known.
    let options = Options::new(kek)
        .freshness(Duration::from_secs(3600), Stale::Refuse)
        .issue_without_store(limits::ISSUE_WITHOUT_STORE_MAX);
    let node = Node::start(hooked.store(), options, Arc::new(clock.clone()));
    (node.unwrap(), hooked)
}

fn mint(node: &Node, clock: &Hand, profile: &str, who: u8) -> Result<Minted, Error> {
    let client = format!("{{\"client_id\":\"c{who}\"}}");
    let claims = CustomClaims::from_json(&client, limits::TOKEN_BYTES).unwrap();
    let subject = format!("s{who}");
    let request = Request::new(profile).subject(&subject).claims(claims);
    let issued = node.issue(ISS, &request)?;
    let (settings, keyring) = node.issuer(ISS).unwrap();
    let kind = settings.profile(profile).unwrap().alg;
    let kid = keyring.signer(kind, clock.seconds()).unwrap().kid.clone();
    Ok(Minted {
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
            let clock = Hand::ahead(ahead);
            let (node, hooked) = start(&store, &clock);
            Member {
                node,
                clock,
                hooked,
                steady: Steady::new(START + ahead, begun),
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
                let minted = mint(node, clock, PROFILES[profile.index(PROFILES.len())], *who);
                self.keep(at, self.members[at].seen, minted);
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
                let trusted = Trusted::by(&mut member.steady, &mut member.others, now, moment);
                self.due(at, &trusted);
            }
            Act::Clean => self.clean(at),
            Act::CleanMeanwhile(what, who) => {
                let other = self.other(at, who);
                self.meanwhile(at, other, what, |service| service.clean(at));
            }
            Act::CleanEarly(ahead) => {
                self.cleaned_early = true;
                // What is wrong is one clock at a time.
                self.members.iter_mut().for_each(Member::jump_back);
                let trusted = Trusted {
                    due: None,
                    over: None,
                    over_for_all: Some(self.now + ahead),
                    future: None,
                };
                let clock = Hand::ahead(self.now - START + ahead);
                let (ahead, _) = start(&self.store, &clock);
                ahead.inner.drop_what_is_over(&trusted).unwrap();
            }
            Act::Lag => {
                let now = self.now;
                let member = &mut self.members[at];
                member.hooked.lag();
                member.lags.get_or_insert(now);
            }
            Act::CatchUp => self.catch_up(at),
            Act::Jump(by) => {
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
                // What is made by a clock that has jumped is over when nothing is left of this history.
                if left < 7 * 24 * 3600 {
                    self.forward(left.max(0));
                }
            }
            Act::Lifetimes(_) | Act::Rotate | Act::Compromised => self.administer(at, act),
            // It would begin with what the store has.
            Act::Restart if self.cleaned_early => {}
            Act::Restart => {
                self.catch_up(at);
                let member = &mut self.members[at];
                (member.node, member.hooked) = start(&self.store, &member.clock);
                let moment = moment(self.begun, self.now);
                member.steady = Steady::new(member.clock.seconds(), moment);
                member.others = OtherClocks::default();
            }
        }
    }

    /// By an operator who has looked at the clock.
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
                // One that is on its way already is not made twice.
                let _ = node.rotate("me", ISS, "ES256".parse().unwrap());
            }
            _ => {
                let (_, keyring) = node.issuer(ISS).unwrap();
                let signer = keyring.signer("ES256".parse().unwrap(), member.clock.seconds());
                let kid = signer.unwrap().kid.clone();
                match node.compromised("me", ISS, &kid) {
                    Ok(()) => {}
                    // There are as many keys as there may be.
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

    /// Between that node's look and its next commit of rules the other revokes, and both issue.
    fn meanwhile(&mut self, at: usize, other: usize, what: &What, work: impl FnOnce(&mut Service)) {
        let Some((revoke, revoked)) = self.wanted(other, what) else {
            return work(self);
        };
        let issuing = [at, other].map(|at| {
            let Member { node, clock, .. } = &self.members[at];
            (node.clone(), clock.clone())
        });
        let (sender, minted) = channel();
        let member = &self.members[at];
        let (hooked, lags) = (member.hooked.clone(), member.lags.is_some());
        member.hooked.before_commit("/rule/", move || {
            hooked.lag();
            block_on(issuing[1].0.revoke("me", ISS, revoke)).unwrap();
            mint_all(&issuing, &sender);
            if !lags {
                hooked.catch_up();
            }
        });
        let before = self.revoked.len();
        // Its place in time is before what the work adds.
        self.revoked.push(revoked);
        work(self);
        if !self.members[at].hooked.has_acted() {
            self.members[at].hooked.forget_act();
            self.revoked.remove(before);
            return;
        }
        self.members[other].seen = before + 1;
        let seen = [self.members[at].seen.min(before), before + 1];
        for ((at, seen), minted) in [at, other].into_iter().zip(seen).zip(minted) {
            self.keep(at, seen, minted);
        }
    }

    fn keep(&mut self, at: usize, seen: usize, minted: Result<Minted, Error>) {
        let is_far = self.members[at].is_far();
        match minted {
            Ok(minted) => self.tokens.push(Minted {
                seen: Some(seen),
                is_far,
                ..minted
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
        let signer = jeton::jws::Signer::new(&self.elsewhere);
        let token = signer.sign(claims.to_string().as_bytes()).unwrap();
        self.tokens.push(Minted {
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

    fn token(&self, index: &Index) -> Option<&Minted> {
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

    fn token_of(&self, what: &Subject) -> Option<&Minted> {
        let is_it =
            |token: &&Minted| matches!(what, Subject::Token(id) if *id == token.issued.token_id);
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
        let member = &mut self.members[at];
        let answer = member.node.revoke("me", ISS, revoke);
        match member.lags {
            None => {
                block_on(answer).unwrap();
            }
            Some(_) => {
                while block_on(self.store.status()).unwrap().revision == before {
                    thread::yield_now();
                }
                member.unanswered = Some(answer);
            }
        }
        self.revoked.push(revoked);
    }

    fn clean(&mut self, at: usize) {
        let member = &self.members[at];
        // A clock that jumped is not asked.
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
        // Otherwise it would wait until it has heard of what it has written.
        if lags.is_none() {
            (node.inner).keys_that_are_due(clock.seconds(), trusted, &mut faults);
        }
        assert_eq!(faults, Vec::<String>::new());
        node.inner.drop_what_is_over(trusted).unwrap();
    }

    fn catch_up(&mut self, at: usize) {
        let member = &mut self.members[at];
        member.hooked.catch_up();
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

    /// Every node looks at its clock, as it does every second.
    fn observe(&mut self) {
        let moment = moment(self.begun, self.now);
        for member in &mut self.members {
            let observed = member.steady.observe(member.clock.seconds(), moment);
            if observed.has_jumped {
                member.others.forget();
            }
        }
    }

    /// Those that do not lag have heard of everything, and when it was written.
    fn heard(&mut self) {
        let newest = block_on(self.store.status()).unwrap().revision;
        let entry = block_on(audit::newest(&*self.store)).unwrap();
        let written = entry.as_ref().and_then(audit::written_at);
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

    /// Every node takes what it should and nothing else.
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

    /// So does one that begins now.
    fn look_anew(&self) {
        if !self.cleaned_early {
            let (node, _) = start(&self.store, &Hand::ahead(self.now - START));
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
    /// The token's node had not seen it. Where that is not known, the times decide.
    fn rejects(&self, at: usize, token: &Minted) -> bool {
        let is_older = match token.seen {
            Some(seen) => at >= seen,
            None => token.issued_at <= self.made.saturating_add(SKEW),
        };
        self.is_about(token) && (self.is_endless || is_older)
    }

    fn is_about(&self, token: &Minted) -> bool {
        match &self.what {
            Subject::Token(id) => *id == token.issued.token_id,
            Subject::Subject(name) => *name == format!("s{}", token.who),
            Subject::Client(name) => *name == format!("c{}", token.who),
            Subject::Key(kid) => *kid == token.kid,
        }
    }
}

/// The clock that counts for how long something lasts.
fn moment(begun: Moment, now: i64) -> Moment {
    begun + Duration::from_secs((now - START).unsigned_abs())
}

fn mint_all(issuing: &[(Node, Hand)], sender: &Sender<Result<Minted, Error>>) {
    for (node, clock) in issuing {
        let _ = sender.send(mint(node, clock, "a", 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn token_is_accepted_exactly_if_its_node_had_seen_the_rule_when_it_issued_it(
        acts in proptest::collection::vec((0..CLOCKS.len(), act()), 1..50),
    ) {
        let mut service = Service::new();
        for (at, act) in &acts {
            service.act(*at, act);
            service.look();
            service.look_anew();
        }
    }
}
