//! Random histories of rotation. In every order of events these rules hold:
//!
//! 1. No token is signed by a key that a caching verifier may not have. Exceptions: the first key of an
//!    issuer, and the replacement of a compromised key.
//! 2. A retired key stays as long as its last token.
//! 3. A node that could sign can still sign after every rotation, withdrawal or compromise, while a profile
//!    needs it.
//! 4. After a key was published by a clock far ahead, and that clock is no longer used, the next key signs
//!    after the pre-publication period.
//!
//! Decisions may be committed late, and a node may stop between the transactions of a rotation.
//!
//! Rules 1 to 3 are tested with three nodes whose clocks differ as much as allowed. Each signs by the
//! current state, or by an older one within the propagation time. Rule 4 has a fourth node whose clock is
//! arbitrarily far ahead.
//!
//! `src/node/histories_test.rs` tests histories of revocations, including cleanup.

use std::collections::{HashMap, HashSet};

use jeton_issuer::keyring::{Change, Decision, Event, Keyring, NewKey, decide};
use jeton_issuer::{IssuerSettings, KeyKind, limits};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::manual_clock::START;

const ISS: &str = "https://id.example";

/// Clocks that differ as much as allowed.
const CLOCKS: [i64; 3] = [
    -limits::CLOCK_SKEW_SECONDS / 2,
    0,
    limits::CLOCK_SKEW_SECONDS / 2,
];

/// How far ahead the clock of the fourth node is: around the allowed difference, and permanently far.
const JUMPS: [i64; 6] = [
    2 * limits::CLOCK_SKEW_SECONDS,
    599,
    3 * 3600,
    40 * 24 * 3600,
    365 * 24 * 3600,
    100 * 365 * 24 * 3600,
];

/// Settings that differ in every relevant field.
fn settings() -> Vec<IssuerSettings> {
    let of = |times: &str, profiles: &[(&str, i64)]| {
        let profiles: Vec<_> = (profiles.iter())
            .map(|(alg, lifetime)| {
                format!(r#"{{"name":"{alg}","alg":"{alg}","lifetime_seconds":{lifetime},"audiences":["api"]}}"#)
            })
            .collect();
        let text = format!(
            r#"{{"iss":"{ISS}",{times}"profiles":[{}]}}"#,
            profiles.join(",")
        );
        IssuerSettings::from_json(&text).unwrap()
    };
    vec![
        of("", &[("ES256", 900)]),
        of("", &[("ES256", 90_000)]),
        of("", &[("ES256", 60), ("v4.public", 900)]),
        of("", &[("HS256", 900)]),
        of(
            r#""publish_before_use_seconds":600,"max_age_seconds":300,"rotate_every_seconds":1200,"#,
            &[("ES256", 900), ("HS256", 60)],
        ),
        of(
            r#""publish_before_use_seconds":7200,"max_age_seconds":3600,"rotate_every_seconds":20000,"#,
            &[("ES256", 900), ("v4.public", 7200)],
        ),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Wait(i64),
    Tick,
    Over,
    Rotate(Index),
    Import(Index),
    Compromised(Index),
    Retire(Index),
    Set(Index),
    BringForward,
    /// By the clock of the fourth node.
    Ahead(Index, Box<Step>),
    /// Delays of the two commits: of the decision, and of the confirmation of a new key.
    Late(i64, i64, Box<Step>),
    /// The node stops after the first commit.
    Stops(Box<Step>),
}

fn step() -> impl Strategy<Value = Step> {
    // Critical durations, and arbitrary ones.
    let turns = [
        1, 30, 59, 60, 61, 120, 299, 300, 301, 599, 600, 899, 900, 1079, 1080, 1200, 1799, 3539,
        3540, 3599, 3600, 3601, 3660, 7200,
    ];
    // Automatic maintenance and commands of an operator.
    let ahead = prop_oneof![
        2 => Just(Step::Tick),
        2 => any::<Index>().prop_map(Step::Rotate),
        1 => any::<Index>().prop_map(Step::Import),
    ];
    let late = prop_oneof![
        2 => Just(Step::Tick),
        1 => Just(Step::Over),
        2 => any::<Index>().prop_map(Step::Rotate),
        1 => any::<Index>().prop_map(Step::Import),
        1 => any::<Index>().prop_map(Step::Compromised),
        2 => any::<Index>().prop_map(Step::Set),
    ];
    let delay = || proptest::sample::select(vec![0, 30, 61, 599, 1200, 3600, 10_000]);
    prop_oneof![
        4 => prop_oneof![
            proptest::sample::select(turns.to_vec()),
            1_i64..10_000,
            Just(30 * 24 * 3600),
        ].prop_map(Step::Wait),
        3 => Just(Step::Tick),
        2 => Just(Step::Over),
        2 => any::<Index>().prop_map(Step::Rotate),
        1 => any::<Index>().prop_map(Step::Import),
        1 => any::<Index>().prop_map(Step::Compromised),
        1 => any::<Index>().prop_map(Step::Retire),
        1 => any::<Index>().prop_map(Step::Set),
        2 => Just(Step::BringForward),
        2 => (any::<Index>(), ahead.clone())
            .prop_map(|(jump, step)| Step::Ahead(jump, Box::new(step))),
        3 => (delay(), delay(), late)
            .prop_map(|(first, second, step)| Step::Late(first, second, Box::new(step))),
        1 => ahead.prop_map(|step| Step::Stops(Box::new(step))),
    ]
}

/// An issuer, as seen by an observer with the correct clock.
struct World {
    settings: IssuerSettings,
    keyring: Keyring,
    now: i64,
    made: usize,
    /// When each key was published.
    published: HashMap<String, i64>,
    /// Cache lifetimes, and since when they apply.
    max_ages: Vec<(i64, i64)>,
    /// Keys without a pre-publication period: the first ones and replacements of compromised keys.
    hurried: HashSet<String>,
    compromised: HashSet<String>,
    /// End of the last token of each key.
    last_tokens: HashMap<String, i64>,
    /// Kinds that each node could sign.
    could_sign: HashSet<(usize, KeyKind)>,
    /// Kinds that no profile needed at some time: a later profile may have to wait.
    given_up: HashSet<KeyKind>,
    /// Earlier states, and until when they applied.
    before: Vec<(i64, IssuerSettings, Keyring)>,
    /// Delays of the next commits.
    delays: [i64; 2],
    /// The node stops after the next commit.
    stops: bool,
}

impl World {
    fn new(settings: IssuerSettings) -> World {
        let mut world = World {
            max_ages: vec![(START, settings.max_age_seconds())],
            settings,
            keyring: Keyring::default(),
            now: START,
            made: 0,
            published: HashMap::new(),
            hurried: HashSet::new(),
            compromised: HashSet::new(),
            last_tokens: HashMap::new(),
            could_sign: HashSet::new(),
            given_up: HashSet::new(),
            before: Vec::new(),
            delays: [0; 2],
            stops: false,
        };
        world.decide(&Event::Tick, CLOCKS[2], Vec::new());
        world.hurried = world.published.keys().cloned().collect();
        world.look();
        world
    }

    /// Decides and writes, including the follow-up transactions.
    fn decide(&mut self, event: &Event, offset: i64, keys: Vec<NewKey>) {
        self.decide_with(self.settings.clone(), event, offset, keys);
    }

    fn decide_with(
        &mut self,
        settings: IssuerSettings,
        event: &Event,
        offset: i64,
        keys: Vec<NewKey>,
    ) {
        let ([first, second], stops) = (self.delays, self.stops);
        self.write(settings, event, offset, keys, first);
        if self.keyring.has_unconfirmed() && !stops {
            self.write(
                self.settings.clone(),
                &Event::Confirm,
                offset,
                Vec::new(),
                second,
            );
        }
    }

    /// Writes with a delay, and corrects a late commit.
    fn write(
        &mut self,
        settings: IssuerSettings,
        event: &Event,
        offset: i64,
        keys: Vec<NewKey>,
        delay: i64,
    ) {
        let (mut delay, mut change) = (delay, self.change(&settings, event, offset, keys.clone()));
        if delay > 0 {
            let is_withdrawn = |kid: &String| {
                let key = self.keyring.keys().iter().find(|key| key.kid == *kid);
                key.is_some_and(|key| key.is_confirmed() && key.signs_from > self.now)
            };
            let withdraws = (change.iter().flat_map(|change| &change.removed)).any(is_withdrawn);
            self.now += delay;
            self.look();
            // The node checks the delay before a commit.
            if withdraws {
                change = self.change(&settings, event, offset, keys);
                delay = 0;
            }
        }
        if settings != self.settings {
            self.max_ages.push((self.now, settings.max_age_seconds()));
        }
        let before = std::mem::replace(&mut self.settings, settings);
        let keyring = self.keyring.clone();
        let revoked = change.as_ref().and_then(|change| change.revoked.clone());
        if let Some(change) = change {
            self.keyring = change.keyring;
            for kid in change.removed {
                self.removed(&kid);
            }
            for kid in change.added {
                self.published.insert(kid, self.now);
            }
        }
        if let Event::Compromised(_) = event {
            // These keys sign by explicit command.
            for (other, kind) in CLOCKS.iter().flat_map(|other| {
                self.settings
                    .kinds()
                    .into_iter()
                    .map(move |kind| (other, kind))
            }) {
                let signer = self.keyring.signer(kind, self.now + other);
                self.hurried.extend(signer.map(|key| key.kid.clone()));
            }
        }
        let postponed = keyring.postponed(&self.keyring);
        if (&before, &keyring) != (&self.settings, &self.keyring) {
            self.before.push((self.now, before, keyring));
        }
        if delay > limits::PROPAGATION_SECONDS {
            let event = Event::CommittedLate {
                by: delay,
                revoked,
                postponed,
            };
            self.write(self.settings.clone(), &event, offset, Vec::new(), 0);
        }
    }

    /// Decides, and creates the required keys.
    fn change(
        &mut self,
        settings: &IssuerSettings,
        event: &Event,
        offset: i64,
        mut keys: Vec<NewKey>,
    ) -> Option<Change> {
        let clock = self.now + offset;
        loop {
            match decide(settings, &self.keyring, event, &keys, clock) {
                Ok(Decision::Make(kinds)) => {
                    keys.extend(kinds.into_iter().map(|kind| self.new_key(kind)));
                }
                Ok(Decision::Write(change)) => return Some(change),
                Ok(Decision::Nothing) | Err(_) => return None,
            }
        }
    }

    fn new_key(&mut self, kind: KeyKind) -> NewKey {
        self.made += 1;
        NewKey {
            kid: format!("k{}", self.made),
            kind,
            public: None,
            remote: None,
        }
    }

    fn removed(&mut self, kid: &str) {
        if self.compromised.contains(kid) {
            return;
        }
        let over = self.last_tokens.get(kid).copied().unwrap_or(i64::MIN);
        let slowest = self.now + CLOCKS[0];
        assert!(
            slowest >= over,
            "{kid} is gone, and a token of it is good for {} s more",
            over - slowest
        );
    }

    /// Every node signs everything that it can.
    fn look(&mut self) {
        let kinds = self.settings.kinds();
        self.could_sign.retain(|(_, kind)| kinds.contains(kind));
        for (node, offset) in CLOCKS.iter().enumerate() {
            for kind in &kinds {
                let clock = self.now + offset;
                let Some(key) = self.keyring.signer(*kind, clock) else {
                    assert!(
                        !self.could_sign.contains(&(node, *kind)) || self.given_up.contains(kind),
                        "node {node} could sign {kind} and cannot any more: {:?}",
                        self.keyring
                    );
                    continue;
                };
                let kid = key.kid.clone();
                self.could_sign.insert((node, *kind));
                let lifetime = self.settings.longest_lifetime_seconds(*kind);
                self.sign(kid, clock, lifetime);
            }
        }
        self.look_late();
    }

    /// So does every node that does not know the last changes.
    fn look_late(&mut self) {
        let heard_of = self.now - limits::PROPAGATION_SECONDS;
        self.before.retain(|(until, ..)| *until > heard_of);
        for (_, settings, keyring) in self.before.clone() {
            let kinds = settings.kinds();
            let pairs = CLOCKS
                .iter()
                .flat_map(|offset| kinds.iter().map(move |kind| (offset, kind)));
            for (offset, kind) in pairs {
                let (kind, clock) = (*kind, self.now + offset);
                let signer = keyring.signer(kind, clock).map(|key| key.kid.clone());
                let Some(kid) = signer.filter(|kid| !self.compromised.contains(kid)) else {
                    continue;
                };
                assert!(
                    self.keyring.keys().iter().any(|key| key.kid == kid),
                    "{kid} is gone, and a node that has not heard of it signs with it"
                );
                self.sign(kid, clock, settings.longest_lifetime_seconds(kind));
            }
        }
    }

    fn sign(&mut self, kid: String, clock: i64, lifetime: i64) {
        if !self.hurried.contains(&kid) {
            self.everybody_has(&kid);
        }
        let over = clock + lifetime + limits::LEEWAY_SECONDS;
        let last = self.last_tokens.entry(kid).or_insert(over);
        *last = over.max(*last);
    }

    /// Checks that no verifier may still use a key set without the key.
    fn everybody_has(&self, kid: &str) {
        let published = self.published[kid];
        let ends = self.max_ages[1..].iter().map(|(from, _)| *from);
        let ends = ends.chain([i64::MAX]);
        for ((from, max_age), end) in self.max_ages.iter().zip(ends) {
            // From a node that does not know the later changes.
            let last_view = end.min(published) - 1;
            let last_fetch = last_view + limits::PROPAGATION_SECONDS;
            assert!(
                last_view < *from || last_fetch + max_age <= self.now,
                "{kid} signs {} s after it was published, and a verifier may have cached the set \
                 without it for {max_age} s",
                self.now - published
            );
        }
    }

    /// Checks that the newest key of each kind signs within the longest pre-publication period.
    fn rotation_goes_on(&self, offset: i64) {
        let all = settings();
        let longest = all
            .iter()
            .map(IssuerSettings::publish_before_use_seconds)
            .max();
        // A clock ahead by less counts as right.
        let ahead = limits::CLOCK_SKEW_SECONDS + limits::STEADY_SECONDS;
        let last = self.now + offset + longest.unwrap() + ahead;
        for kind in self.settings.kinds() {
            let keys = self.keyring.keys().iter();
            let open = keys.filter(|key| key.kind == kind && key.signs_until.is_none());
            let signs = open.map(|key| key.signs_from).max();
            assert!(
                signs.is_some_and(|from| from <= last),
                "the next {kind} key signs {:?} s after it should at the latest",
                signs.map(|from| from - last)
            );
        }
    }

    fn step(&mut self, offset: i64, step: &Step) {
        let kinds = self.settings.kinds();
        let kid = |index: &Index, keyring: &Keyring| {
            let keys = keyring.keys();
            keys.get(index.index(keys.len().max(1)))
                .map(|key| key.kid.clone())
        };
        match step {
            Step::Wait(seconds) => self.now += seconds,
            Step::Tick => self.decide(&Event::Tick, offset, Vec::new()),
            Step::Over => {
                let by = self.now + offset;
                self.decide(&Event::Over(by), offset, Vec::new());
            }
            Step::Rotate(index) => {
                self.decide(&Event::Rotate(*index.get(&kinds)), offset, Vec::new());
            }
            Step::Import(index) => {
                let key = self.new_key(*index.get(&kinds));
                self.decide(&Event::Import, offset, vec![key]);
            }
            Step::Compromised(index) => {
                let Some(kid) = kid(index, &self.keyring) else {
                    return;
                };
                self.compromised.insert(kid.clone());
                self.decide(&Event::Compromised(kid), offset, Vec::new());
            }
            Step::Retire(index) => {
                if let Some(kid) = kid(index, &self.keyring) {
                    self.decide(&Event::Retire(kid), offset, Vec::new());
                }
            }
            Step::Set(index) => {
                let all = settings();
                let max_age_before = self.settings.max_age_seconds();
                let was_given_up = self.given_up.clone();
                self.given_up.extend(kinds);
                let settings = index.get(&all).clone();
                let kept = settings.kinds();
                self.given_up
                    .retain(|kind| !kept.contains(kind) || was_given_up.contains(kind));
                let event = Event::Settings { max_age_before };
                self.decide_with(settings, &event, offset, Vec::new());
            }
            Step::BringForward => {
                self.decide(&Event::BringForward, offset, Vec::new());
                self.decide(&Event::Tick, offset, Vec::new());
                self.rotation_goes_on(offset);
            }
            Step::Ahead(jump, step) => self.step(*jump.get(&JUMPS), step),
            Step::Late(first, second, step) => {
                self.delays = [*first, *second];
                self.step(offset, step);
                self.delays = [0; 2];
            }
            Step::Stops(step) => {
                self.stops = true;
                self.step(offset, step);
                self.stops = false;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn random_history_keeps_rotation_rules(
        first in any::<Index>(),
        steps in proptest::collection::vec((proptest::sample::select(CLOCKS.to_vec()), step()), 1..40),
    ) {
        let mut world = World::new(first.get(&settings()).clone());
        for (offset, step) in &steps {
            world.step(*offset, step);
            world.look();
            prop_assert!(world.keyring.keys().len() <= limits::KEYS_PER_ISSUER);
        }
    }
}

/// A regression: by the clock of the deciding node the key did not sign yet, but on another node it was the
/// only signer, with a successor published.
#[test]
fn compromised_key_signing_ahead_is_replaced() {
    let [slow, ahead] = [CLOCKS[0], CLOCKS[2]];
    let mut world = World::new(settings()[3].clone());
    let max_age_before = world.settings.max_age_seconds();
    let set = Event::Settings { max_age_before };
    world.decide_with(settings()[4].clone(), &set, ahead, Vec::new());
    let kind = world.settings.kinds()[0];
    world.look();
    world.now += 600;
    world.look();
    let signs = |world: &World, offset: i64| {
        let signer = world.keyring.signer(kind, world.now + offset);
        signer.map(|key| key.kid.clone())
    };
    let kid = signs(&world, ahead).unwrap();
    assert_eq!(signs(&world, slow), None);
    world.decide(&Event::Rotate(kind), ahead, Vec::new());
    world.compromised.insert(kid.clone());
    world.decide(&Event::Compromised(kid.clone()), slow, Vec::new());
    for offset in [slow, ahead] {
        assert!(signs(&world, offset).is_some_and(|signer| signer != kid));
    }
}

/// A regression: a key that a clock ahead published is rescheduled, and this is committed after the key began to
/// sign. It cannot be withdrawn then.
#[test]
fn key_rescheduled_by_a_late_commit_keeps_its_tokens() {
    let slow = CLOCKS[0];
    let mut world = World::new(settings()[4].clone());
    let kind = world.settings.kinds()[0];
    world.decide(&Event::Rotate(kind), JUMPS[0], Vec::new());
    world.look();
    let max_age_before = world.settings.max_age_seconds();
    let set = Event::Settings { max_age_before };
    world.decide_with(settings()[0].clone(), &set, slow, Vec::new());
    world.look();
    world.delays = [1200, 0];
    world.decide(&Event::Rotate(kind), slow, Vec::new());
    world.delays = [0; 2];
    world.look();
    let newest = world.keyring.keys().last().unwrap().kid.clone();
    assert!(world.last_tokens.contains_key(&newest));
    world.decide(&Event::Retire(newest.clone()), slow, Vec::new());
    assert!(world.keyring.keys().iter().any(|key| key.kid == newest));
}

/// A regression: two keys began in the same second, because clocks that differ rescheduled one of them. Withdrawing the
/// other one let the key before end early, and no key signed for 30 s.
#[test]
fn withdrawal_of_a_key_that_begins_with_another_leaves_no_gap() {
    let [slow, _, ahead] = CLOCKS;
    let mut world = World::new(settings()[0].clone());
    let kind = world.settings.kinds()[0];
    world.decide(&Event::Rotate(kind), ahead, Vec::new());
    let other = world.keyring.keys()[1].kid.clone();
    for (offset, event) in [(0, Event::Rotate(kind)), (ahead, Event::Tick)] {
        world.decide(&event, JUMPS[4], Vec::new());
        world.decide(&Event::BringForward, offset, Vec::new());
    }
    world.decide(&Event::Retire(other), slow, Vec::new());
    for _ in 0..7200 {
        world.look();
        world.now += 1;
    }
}

/// A node that does not know the withdrawal, with a clock ahead, would sign with the key.
#[test]
fn withdrawal_requires_propagation_before_signing() {
    let slow = CLOCKS[0];
    let earliest = limits::CLOCK_SKEW_SECONDS + limits::PROPAGATION_SECONDS;
    for (seconds_before, is_withdrawn) in [
        (earliest + 1, true),
        (earliest, false),
        (limits::CLOCK_SKEW_SECONDS + 1, false),
    ] {
        let mut world = World::new(settings()[0].clone());
        let kind = world.settings.kinds()[0];
        world.decide(&Event::Rotate(kind), 0, Vec::new());
        let next = world.keyring.keys()[1].clone();
        world.now = next.signs_from - seconds_before - slow;
        world.decide(&Event::Retire(next.kid.clone()), slow, Vec::new());
        let is_there = world.keyring.keys().iter().any(|key| key.kid == next.kid);
        for _ in 0..limits::PROPAGATION_SECONDS {
            world.look();
            world.now += 1;
        }
        assert_eq!(is_there, !is_withdrawn, "{seconds_before}");
    }
}

/// A regression: a step of the clock below [`limits::STEADY_SECONDS`] does not count as a jump, and a key that replaced
/// a compromised one within that time looked as if it had been published in the future. It was withdrawn while the
/// other nodes signed with it.
#[test]
fn clock_behind_by_less_than_a_jump_reschedules_nothing() {
    let [slow, _, ahead] = CLOCKS;
    for published_at in CLOCKS {
        let mut world = World::new(settings()[0].clone());
        let kind = world.settings.kinds()[0];
        world.now += 3600;
        world.compromised.insert("k1".to_owned());
        world.decide(
            &Event::Compromised("k1".to_owned()),
            published_at,
            Vec::new(),
        );
        world.decide(&Event::Rotate(kind), published_at, Vec::new());
        let before = world.keyring.clone();
        for offset in [slow, ahead] {
            let behind = offset - (limits::STEADY_SECONDS - 1);
            world.decide(&Event::BringForward, behind, Vec::new());
            assert_eq!(world.keyring, before, "{published_at} {offset}");
        }
    }
}

/// A regression: a clock ahead replaced a compromised key and published the next one. Bringing these forward left no
/// signer until the next one had been published for long enough.
#[test]
fn replacement_by_a_clock_ahead_signs_until_the_next_key() {
    for jump in [1, 2, 3, 4, 5].map(|index| JUMPS[index] + limits::STEADY_SECONDS) {
        let mut world = World::new(settings()[0].clone());
        let kind = world.settings.kinds()[0];
        world.now += 3600;
        world.compromised.insert("k1".to_owned());
        world.decide(&Event::Compromised("k1".to_owned()), jump, Vec::new());
        world.hurried.insert("k2".to_owned());
        world.decide(&Event::Rotate(kind), jump, Vec::new());
        world.decide(&Event::BringForward, 0, Vec::new());
        let kids: Vec<&str> = world.keyring.keys().iter().map(|key| &*key.kid).collect();
        assert_eq!(kids, ["k2", "k3"], "{jump}");
        for _ in 0..7200 {
            for offset in CLOCKS {
                let signer = world.keyring.signer(kind, world.now + offset);
                assert!(signer.is_some(), "{jump}: nobody signs at {}", world.now);
            }
            world.look();
            world.now += 1;
        }
    }
}
