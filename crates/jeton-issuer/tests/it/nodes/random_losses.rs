//! Random histories of two nodes on a store that goes back to earlier copies, and of nodes that start again on it.
//!
//! Two minutes pass before each step, so the time of a token tells exactly whether it is older than a rule. A node must
//! reject a token exactly if it knows a rule that is younger, also a rule that the store has lost since.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Subject,
};
use jeton_store::{MemoryStore, Store, block_on};
use jeton_testkit::{is_whole, until};
use proptest::prelude::*;

use crate::manual_clock::ManualClock;

const ISS: &str = "https://id.example";
const NODES: usize = 2;

#[derive(Debug, Clone)]
enum Step {
    Issue(usize, u8),
    Revoke(usize, u8),
    Copy,
    GoBack,
    Restart(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..NODES, 0_u8..2).prop_map(|(node, who)| Step::Issue(node, who)),
        4 => (0..NODES, 0_u8..2).prop_map(|(node, who)| Step::Revoke(node, who)),
        1 => Just(Step::Copy),
        2 => Just(Step::GoBack),
        1 => (0..NODES).prop_map(Step::Restart),
    ]
}

struct Token {
    text: String,
    who: u8,
    step: usize,
}

/// Rules by subject and step.
type Rules = HashSet<(u8, usize)>;

struct Member {
    node: Node,
    knows: Rules,
}

struct Service {
    store: MemoryStore,
    clock: ManualClock,
    members: Vec<Member>,
    tokens: Vec<Token>,
    /// What the store has, and the last copy of it.
    rules: Rules,
    copy: (MemoryStore, Rules),
    number: usize,
}

fn start(store: &MemoryStore, clock: &ManualClock) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    // It looks for losses every second: another node may write so much that the revision is no proof.
    let options = Options::new(kek).run_as("host", Duration::ZERO);
    let store: Arc<dyn Store> = Arc::new(store.clone());
    Node::start(store, options, Arc::new(clock.clone())).unwrap()
}

impl Service {
    fn new() -> Service {
        let (store, clock) = (MemoryStore::new(), ManualClock::new());
        let nodes: Vec<Node> = (0..NODES).map(|_| start(&store, &clock)).collect();
        let settings = format!(
            r#"{{"iss":"{ISS}","profiles":[
                {{"name":"p","alg":"HS256","lifetime_seconds":86400,"audiences":["api"]}}]}}"#
        );
        let settings = IssuerSettings::from_json(&settings).unwrap();
        nodes[0].create_issuer("setup", settings).unwrap();
        let copy = (store.copy(), Rules::new());
        let member = |node| Member {
            node,
            knows: Rules::new(),
        };
        let service = Service {
            store,
            clock,
            members: nodes.into_iter().map(member).collect(),
            tokens: Vec::new(),
            rules: Rules::new(),
            copy,
            number: 0,
        };
        service.hear();
        service
    }

    fn step(&mut self, step: &Step) {
        self.clock.forward(120);
        self.number += 1;
        match step {
            Step::Issue(at, who) => {
                let request = format!("s{who}");
                let request = Request::new("p").subject(&request);
                let issued = self.members[*at].node.issue(ISS, &request).unwrap();
                self.tokens.push(Token {
                    text: issued.token,
                    who: *who,
                    step: self.number,
                });
            }
            Step::Revoke(at, who) => {
                let rule = Revoke::all(Subject::Subject(format!("s{who}")));
                block_on(self.members[*at].node.revoke("me", ISS, rule)).unwrap();
                self.rules.insert((*who, self.number));
                for member in &mut self.members {
                    member.knows.insert((*who, self.number));
                }
            }
            Step::Copy => self.copy = (self.store.copy(), self.rules.clone()),
            Step::GoBack => self.go_back(),
            Step::Restart(at) => {
                self.members[*at] = Member {
                    node: start(&self.store, &self.clock),
                    knows: self.rules.clone(),
                };
            }
        }
        self.hear();
    }

    fn go_back(&mut self) {
        let (copy, rules) = &self.copy;
        let earlier = block_on(copy.status()).unwrap().revision;
        let expected: Vec<u64> = (self.members.iter())
            .map(|member| {
                let is_lost = member.node.revision() > earlier;
                member.node.status().store_went_back + u64::from(is_lost)
            })
            .collect();
        self.store.go_back_to(copy);
        self.rules.clone_from(rules);
        for (member, expected) in self.members.iter().zip(expected) {
            until("it has recovered", || {
                member.node.status().store_went_back >= expected
            });
        }
    }

    /// Waits until every node has the newest view.
    fn hear(&self) {
        for member in &self.members {
            until("it has followed", || {
                let newest = block_on(self.store.status()).unwrap().revision;
                let status = member.node.status();
                status.revision >= newest && status.is_ready()
            });
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for (number, Member { node, knows }) in self.members.iter().enumerate() {
            for token in &self.tokens {
                let is_revoked = knows
                    .iter()
                    .any(|(who, step)| *who == token.who && *step > token.step);
                let verified = node.verify(ISS, "api", &token.text);
                let is_right = match &verified {
                    Ok(_) => !is_revoked,
                    Err(Error::Revoked) => is_revoked,
                    Err(_) => false,
                };
                prop_assert!(
                    is_right,
                    "node {number} says {:?} to a token of step {}, revoked {is_revoked}",
                    verified.err(),
                    token.step
                );
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if is_whole() { 128 } else { 8 }))]

    #[test]
    fn random_losses_make_no_revocation_ineffective(
        steps in proptest::collection::vec(step(), 1..24),
    ) {
        let mut service = Service::new();
        for step in &steps {
            service.step(step);
            service.check()?;
        }
    }
}
