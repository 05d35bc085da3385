//! Clients of all nodes, which record what they learn.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use base64ct::{Base64UrlUnpadded, Encoding as _};
use jeton_client::{
    Client, Error, IssueRequest, RevokeRequest, VerifyBatchRequest, VerifyRequest,
    revoke_request::What, verify_outcome,
};

use super::super::is_ready_within;
use super::cluster::{Cluster, EACH, connect};
use super::history::{Call, Issued, Name, Outcome, RuleCall};

const REVOKED: &str = "TOKEN_REVOKED";
const UNKNOWN_KEY: &str = "TOKEN_UNKNOWN_KEY";

/// Time between two calls of a client, with three nodes.
const PACE: Duration = Duration::from_millis(12);
const REVOKE_PACE: Duration = Duration::from_millis(150);

/// Subjects and clients that tokens have.
const SUBJECTS: usize = 40;
const CLIENTS: usize = 8;

/// A paused server answers late, and a store that cannot be reached takes two attempts of 5 s.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(3);
const REVOKE_TIMEOUT: Duration = Duration::from_secs(12);

/// Longer than a call takes after the faults, on a busy machine.
const LAST_TIMEOUT: Duration = Duration::from_secs(120);

/// Time between two questions whether a node is ready.
const READY_PACE: Duration = Duration::from_millis(250);

/// The store went back: what was written between these times may be lost. Microseconds since the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loss {
    /// Before the copy.
    pub(super) copied: u64,
    /// When the copy was in place.
    pub(super) restored: u64,
}

impl Loss {
    /// Whether the store may have lost what a call with these times wrote.
    pub(super) fn may_have_lost(&self, begun: u64, ended: u64) -> bool {
        begun < self.restored && ended > self.copied
    }
}

/// Revocations that a store may have lost.
#[derive(Debug, Default)]
pub(super) struct Lost {
    tokens: Vec<(usize, String)>,
    names: Vec<Name>,
}

impl Lost {
    pub(super) fn number(&self) -> usize {
        self.tokens.len() + self.names.len()
    }
}

/// Whether a node said that it is ready.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) is_ready: bool,
}

/// A verification that ended, in any way.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) node: usize,
    pub(super) token: usize,
    pub(super) begun: u64,
    pub(super) ended: u64,
    /// Why the token was not accepted.
    pub(super) refusal: Option<String>,
}

/// What the clients of all nodes did.
#[derive(Default)]
pub(super) struct Record {
    pub(super) calls: Vec<Call>,
    /// The tokens, by their numbers.
    pub(super) tokens: Vec<Issued>,
    /// Revocations of everything of a name.
    pub(super) rules: Vec<RuleCall>,
    /// How often each thing happened that no judge reads.
    pub(super) others: BTreeMap<String, u64>,
    /// Nodes that said they were ready and were not.
    pub(super) not_ready: Vec<String>,
    /// Verifications while things broke.
    pub(super) answers: Vec<Answer>,
    /// Of each node.
    pub(super) ready: Vec<Vec<Asked>>,
    pub(super) losses: Vec<Loss>,
}

#[derive(Default)]
struct Tokens {
    all: Vec<String>,
    issued: Vec<Issued>,
    /// Numbers of tokens whose revocation nobody has asked for.
    live: Vec<usize>,
    /// Numbers of the others, in order.
    asked: Vec<usize>,
}

struct Shared {
    begun: Instant,
    /// How many times three nodes there are.
    slower: u32,
    is_over: AtomicBool,
    tokens: Mutex<Tokens>,
    record: Mutex<Record>,
}

pub(super) struct Load {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts two clients of each node: one verifies, the other issues and revokes.
    pub(super) fn start(cluster: &Cluster) -> Load {
        let shared = Arc::new(Shared {
            begun: Instant::now(),
            slower: u32::try_from(cluster.nodes().div_ceil(EACH)).unwrap(),
            is_over: AtomicBool::new(false),
            tokens: Mutex::default(),
            record: Mutex::new(Record {
                ready: vec![Vec::new(); cluster.nodes()],
                ..Record::default()
            }),
        });
        let mut threads = Vec::new();
        for node in 0..cluster.nodes() {
            let host = Cluster::host(node);
            let own = shared.clone();
            threads.push(cluster.network.spawn(host, move || {
                own.run(async |own| own.verify_all_the_time(node).await);
            }));
            let own = shared.clone();
            threads.push(cluster.network.spawn(host, move || {
                own.run(async |own| own.revoke_all_the_time(node).await);
            }));
            let own = shared.clone();
            threads.push(
                cluster
                    .network
                    .spawn(host, move || own.ask_all_the_time(node)),
            );
        }
        Load { shared, threads }
    }

    pub(super) fn calls(&self) -> usize {
        self.shared.record.lock().unwrap().calls.len()
    }

    /// Microseconds since the start.
    pub(super) fn now(&self) -> u64 {
        self.shared.now()
    }

    /// Records that the store went back. Returns the revocations that it may have lost.
    pub(super) fn lose(&self, loss: Loss) -> Lost {
        let tokens = self.shared.tokens.lock().unwrap();
        let mut record = self.shared.record.lock().unwrap();
        record.losses.push(loss);
        let is_lost = |call: &&Call| {
            let is_revocation = matches!(call.outcome, Outcome::Acknowledged | Outcome::Unknown);
            is_revocation && loss.may_have_lost(call.begun, call.ended)
        };
        let calls = record.calls.iter().filter(is_lost);
        let rules = record.rules.iter();
        let rules = rules.filter(|rule| loss.may_have_lost(rule.begun, rule.ended));
        Lost {
            tokens: calls
                .map(|call| (call.token, tokens.all[call.token].clone()))
                .collect(),
            names: rules.map(|rule| rule.what.clone()).collect(),
        }
    }

    /// Makes revocations again, at the first node.
    pub(super) fn repeat(&self, cluster: &Cluster, lost: &Lost) {
        let (own, tokens, names) = (self.shared.clone(), lost.tokens.clone(), lost.names.clone());
        let repeating = cluster.network.spawn(Cluster::host(0), move || {
            own.run(async |own| {
                let client = connect(REVOKE_TIMEOUT).await;
                for (token, text) in tokens {
                    own.revoke(&client, 0, token, text).await;
                }
                for name in names {
                    own.revoke_rule(&client, 0, name).await;
                }
            });
        });
        repeating.join().unwrap();
    }

    /// Rotates the key that signs, by a command on the store. If it is compromised, all its tokens are rejected.
    pub(super) fn rotate(&self, cluster: &Cluster, is_compromised: bool) {
        let issuer = super::super::etcd::ISSUER;
        let shared = &self.shared;
        if !is_compromised {
            let (is_done, _) = cluster.admin(&["key", "rotate", issuer]);
            // A new key is published already.
            let what = if is_done { "done" } else { "refused" };
            return shared.happened(format!("rotations: {what}"));
        }
        let (_, said) = cluster.admin(&["key", "list", issuer, "--json"]);
        let keys: serde_json::Value = serde_json::from_str(&said).unwrap();
        let keys = keys.as_array().unwrap().iter();
        let mut signing = keys.filter(|key| key["state"] == "signing");
        let kid = signing.next().unwrap()["kid"].as_str().unwrap().to_owned();
        let begun = shared.now();
        let (is_done, said) = cluster.admin(&["key", "rotate", issuer, "--compromised", &kid]);
        let rule = RuleCall {
            // A process of its own.
            node: usize::MAX,
            what: Name::Compromised(kid),
            begun,
            ended: shared.now(),
            outcome: if is_done {
                Outcome::Acknowledged
            } else {
                Outcome::Unknown
            },
        };
        let what = if is_done { "done" } else { said.trim() };
        shared.happened(format!("compromised keys: {what}"));
        shared.add_rule(rule);
    }

    /// Ends the clients. Then every node verifies every token once more.
    pub(super) fn end(self, cluster: &Cluster) -> Record {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        let last = |node| {
            let own = self.shared.clone();
            cluster.network.spawn(Cluster::host(node), move || {
                own.run(async |own| own.verify_each_once(node).await);
            })
        };
        for thread in (0..cluster.nodes()).map(last).collect::<Vec<_>>() {
            thread.join().unwrap();
        }
        let tokens = std::mem::take(&mut self.shared.tokens.lock().unwrap().issued);
        let record = std::mem::take(&mut *self.shared.record.lock().unwrap());
        Record { tokens, ..record }
    }
}

impl Shared {
    fn run(&self, work: impl AsyncFnOnce(&Shared)) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(work(self));
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Microseconds since the start.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_micros()).unwrap()
    }

    fn happened(&self, what: String) {
        *self.record.lock().unwrap().others.entry(what).or_default() += 1;
    }

    fn ask_all_the_time(&self, node: usize) {
        while !self.is_over() {
            let begun = self.now();
            let is_ready = is_ready();
            let asked = Asked {
                begun,
                ended: self.now(),
                is_ready,
            };
            self.record.lock().unwrap().ready[node].push(asked);
            thread::sleep(READY_PACE * self.slower);
        }
    }

    async fn verify_all_the_time(&self, node: usize) {
        let client = connect(VERIFY_TIMEOUT).await;
        let mut random = Random::new(node as u64 + 1);
        for number in 0_u64.. {
            if self.is_over() {
                return;
            }
            tokio::time::sleep(PACE * self.slower).await;
            let Some((token, text)) = self.choose(&mut random) else {
                continue;
            };
            let was_ready = number.is_multiple_of(10) && is_ready();
            let is_stale = self.verify(&client, node, token, text).await;
            if was_ready && is_stale && is_ready() {
                let at = self.begun.elapsed().as_secs();
                let what = format!("{at} s: node {node} was ready and refused to verify");
                self.record.lock().unwrap().not_ready.push(what);
            }
        }
    }

    /// Chooses a token: more than half of them have just been revoked.
    fn choose(&self, random: &mut Random) -> Option<(usize, String)> {
        let tokens = self.tokens.lock().unwrap();
        let recent = tokens.asked.len().saturating_sub(30)..tokens.asked.len();
        let all = tokens.all.len();
        let token = match random.below(10) {
            0..6 if !recent.is_empty() => tokens.asked[recent.start + random.below(recent.len())],
            6..8 if !tokens.live.is_empty() => tokens.live[random.below(tokens.live.len())],
            // A login.
            8 if all > 0 => all - 1 - random.below(all.min(5)),
            _ if all > 0 => random.below(all),
            _ => return None,
        };
        Some((token, tokens.all[token].clone()))
    }

    /// Verifies a token, and returns whether the node refused because its view is too old.
    async fn verify(&self, client: &Client, node: usize, token: usize, text: String) -> bool {
        let begun = self.now();
        let request = VerifyRequest {
            audience: "api".to_owned(),
            token: text,
            ..VerifyRequest::default()
        };
        let answer = client.verify(request).await;
        self.record.lock().unwrap().answers.push(Answer {
            node,
            token,
            begun,
            ended: self.now(),
            refusal: answer.as_ref().err().map(ToString::to_string),
        });
        let outcome = match answer {
            Ok(_) => Outcome::Accepted,
            Err(Error::Rejected { reason, .. }) if reason == REVOKED => Outcome::Refused,
            Err(Error::Rejected { reason, .. }) if reason == UNKNOWN_KEY => Outcome::UnknownKey,
            Err(error) => {
                let is_stale = error.to_string().contains("freshness bound");
                self.happened(kind("verifications", &error));
                return is_stale;
            }
        };
        self.add(node, token, begun, outcome);
        false
    }

    fn add(&self, node: usize, token: usize, begun: u64, outcome: Outcome) {
        let ended = self.now();
        let call = Call {
            node,
            token,
            begun,
            ended,
            outcome,
        };
        self.record.lock().unwrap().calls.push(call);
    }

    /// Adds a revocation of everything of a name. Its tokens are no longer live.
    fn add_rule(&self, rule: RuleCall) {
        let mut tokens = self.tokens.lock().unwrap();
        let Tokens {
            issued,
            live,
            asked,
            ..
        } = &mut *tokens;
        live.retain(|&token| {
            let is_about = rule.what.is_about(&issued[token]);
            asked.extend(is_about.then_some(token));
            !is_about
        });
        drop(tokens);
        self.record.lock().unwrap().rules.push(rule);
    }

    async fn revoke_all_the_time(&self, node: usize) {
        let client = connect(REVOKE_TIMEOUT).await;
        let mut random = Random::new(node as u64 + 100);
        while !self.is_over() {
            tokio::time::sleep(REVOKE_PACE * self.slower).await;
            let (subject, of_client) = (random.below(SUBJECTS), random.below(CLIENTS));
            let request = IssueRequest {
                profile: "access".to_owned(),
                subject: format!("s{subject}"),
                claims_json: format!(r#"{{"client_id":"c{of_client}"}}"#),
                ..IssueRequest::default()
            };
            let begun = self.now();
            match client.issue(request).await {
                Ok(issued) => {
                    let mut tokens = self.tokens.lock().unwrap();
                    let number = tokens.all.len();
                    tokens.issued.push(Issued {
                        node,
                        begun,
                        ended: self.now(),
                        subject,
                        client: of_client,
                        kid: kid_of(&issued.token),
                    });
                    tokens.all.push(issued.token);
                    tokens.live.push(number);
                }
                Err(error) => self.happened(kind("issued", &error)),
            }
            if let Some(what) = self.choose_rule(&mut random) {
                self.revoke_rule(&client, node, what).await;
                continue;
            }
            let Some((token, text)) = self.take_live(&mut random) else {
                continue;
            };
            self.revoke(&client, node, token, text).await;
        }
    }

    async fn revoke(&self, client: &Client, node: usize, token: usize, text: String) {
        loop {
            let begun = self.now();
            let request = RevokeRequest {
                what: Some(What::Token(text.clone())),
                ..RevokeRequest::default()
            };
            match client.revoke(request).await {
                Ok(_) => self.add(node, token, begun, Outcome::Acknowledged),
                Err(error) => {
                    self.happened(kind("revocations", &error));
                    self.add(node, token, begun, Outcome::Unknown);
                }
            }
            if !self.is_lost_since(begun) {
                return;
            }
        }
    }

    /// Whether the store has gone back since then: what was revoked may be lost.
    fn is_lost_since(&self, begun: u64) -> bool {
        let record = self.record.lock().unwrap();
        record.losses.iter().any(|loss| begun < loss.restored)
    }

    /// Chooses what to revoke besides single tokens: now and then a subject, rarely a client, and hardly ever a key,
    /// because that revokes every token.
    fn choose_rule(&self, random: &mut Random) -> Option<Name> {
        match random.below(400) {
            0..40 => Some(Name::Subject(random.below(SUBJECTS))),
            40..50 => Some(Name::Client(random.below(CLIENTS))),
            50 => {
                let tokens = self.tokens.lock().unwrap();
                let newest = tokens.issued.last()?;
                Some(Name::Key(newest.kid.clone()))
            }
            _ => None,
        }
    }

    async fn revoke_rule(&self, client: &Client, node: usize, what: Name) {
        loop {
            let request = RevokeRequest {
                what: match &what {
                    Name::Subject(subject) => Some(What::Subject(format!("s{subject}"))),
                    Name::Client(client) => Some(What::ClientId(format!("c{client}"))),
                    Name::Key(kid) | Name::Compromised(kid) => Some(What::KeyId(kid.clone())),
                },
                ..RevokeRequest::default()
            };
            let begun = self.now();
            let revoked = client.revoke(request).await;
            if let Err(error) = &revoked {
                self.happened(kind("revocations of many", error));
            }
            self.add_rule(RuleCall {
                node,
                what: what.clone(),
                begun,
                ended: self.now(),
                outcome: if revoked.is_ok() {
                    Outcome::Acknowledged
                } else {
                    Outcome::Unknown
                },
            });
            if !self.is_lost_since(begun) {
                return;
            }
        }
    }

    /// Takes one of the tokens that are not revoked, while enough are left.
    fn take_live(&self, random: &mut Random) -> Option<(usize, String)> {
        let mut tokens = self.tokens.lock().unwrap();
        if tokens.live.len() < 20 {
            return None;
        }
        let index = random.below(tokens.live.len());
        let token = tokens.live.swap_remove(index);
        tokens.asked.push(token);
        Some((token, tokens.all[token].clone()))
    }

    async fn verify_each_once(&self, node: usize) {
        let client = connect(LAST_TIMEOUT).await;
        let tokens = self.tokens.lock().unwrap().all.clone();
        for (index, part) in tokens.chunks(50).enumerate() {
            let begun = self.now();
            let request = VerifyBatchRequest {
                audience: "api".to_owned(),
                tokens: part.to_vec(),
                ..VerifyBatchRequest::default()
            };
            let outcomes = client.verify_batch(request).await.unwrap().outcomes;
            for (offset, outcome) in outcomes.into_iter().enumerate() {
                let outcome = match outcome.outcome.unwrap() {
                    verify_outcome::Outcome::Verified(_) => Outcome::Accepted,
                    verify_outcome::Outcome::Error(error) if error.reason == REVOKED => {
                        Outcome::Refused
                    }
                    verify_outcome::Outcome::Error(error) if error.reason == UNKNOWN_KEY => {
                        Outcome::UnknownKey
                    }
                    verify_outcome::Outcome::Error(error) => {
                        self.happened(format!("verifications at the end: {}", error.reason));
                        continue;
                    }
                };
                self.add(node, index * 50 + offset, begun, outcome);
            }
        }
    }
}

/// The `kid` in the header of a JWT.
fn kid_of(token: &str) -> String {
    let header = token.split('.').next().unwrap();
    let header = Base64UrlUnpadded::decode_vec(header).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
    header["kid"].as_str().unwrap().to_owned()
}

/// Names what happened instead of a result.
fn kind(what: &str, error: &Error) -> String {
    let why = match error {
        Error::Rejected { reason, .. } => reason.as_str(),
        Error::Unavailable(message) if message.contains("freshness bound") => "view too old",
        Error::Unavailable(_) => "unavailable",
        Error::Unreachable(_) => "unreachable",
        Error::Overloaded(_) => "overloaded",
        _ => "other error",
    };
    format!("{what}: {why}")
}

/// Whether `/readyz` of the server on this host says so in a second.
fn is_ready() -> bool {
    is_ready_within(8420, Duration::from_secs(1))
}

/// Numbers that are the same in each run (xorshift).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }
}
