//! The recorded calls, and two judges of them: porcupine, and a check of the freshness bound.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::load::{Loss, Record};

/// The environment variable with the path of tools/porcupine.
const PORCUPINE: &str = "JETON_PORCUPINE";

/// By which times of two clocks may differ, and the second in which a time is written. Microseconds.
const SKEW: u64 = 62_000_000;

/// What a client learned from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The revocation was acknowledged.
    Acknowledged,
    /// The revocation may have taken effect, or may do so later.
    Unknown,
    /// The token was verified.
    Accepted,
    /// The token was rejected because it is revoked.
    Refused,
    /// The token was rejected because the node has no such key.
    UnknownKey,
}

/// A token.
#[derive(Debug, Clone)]
pub(super) struct Issued {
    pub(super) node: usize,
    /// The call that issued it.
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) subject: usize,
    pub(super) client: usize,
    pub(super) kid: String,
}

/// What a revocation of many tokens names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    Subject(usize),
    Client(usize),
    Key(String),
    /// Its tokens are rejected whenever they were issued, and the key leaves the key set.
    Compromised(String),
}

/// A call that revokes everything of a name.
#[derive(Debug, Clone)]
pub(super) struct RuleCall {
    pub(super) node: usize,
    pub(super) what: Name,
    pub(super) begun: u64,
    pub(super) ended: u64,
    /// Acknowledged or unknown.
    pub(super) outcome: Outcome,
}

impl Name {
    pub(super) fn is_about(&self, token: &Issued) -> bool {
        match self {
            Name::Subject(subject) => *subject == token.subject,
            Name::Client(client) => *client == token.client,
            Name::Key(kid) | Name::Compromised(kid) => *kid == token.kid,
        }
    }
}

/// Returns the history of single tokens, as both judges read it. A revocation of a name is one of each of its tokens:
///
/// - It revokes those whose issue ended before the call.
/// - It does not revoke those that a node issued which had to know it: the node that acknowledged it from then on, and
///   others when the freshness bound has passed. Nodes issue no longer than that without contact to the store.
/// - It may revoke the others.
///
/// A rejection for an unknown key is one for its revocation if the key was reported as compromised.
///
/// If the store went back, what was acknowledged between may be lost. A token that was issued between may be of the lost
/// history, so times decide about it, and clocks may differ by a minute: it may be revoked by what was written up to then.
pub(super) fn of_tokens(record: &Record, freshness: Duration) -> Vec<Call> {
    let freshness = u64::try_from(freshness.as_micros()).unwrap();
    let outcome_of = |begun, ended, outcome| {
        let mut losses = record.losses.iter();
        match outcome {
            Outcome::Acknowledged if losses.any(|loss| loss.may_have_lost(begun, ended)) => {
                Outcome::Unknown
            }
            outcome => outcome,
        }
    };
    // Nodes issue with the view of the lost history until they hear from the store, or know that they do not.
    let is_of_lost_history = |token: &Issued| {
        let mut losses = record.losses.iter();
        losses.any(|loss| {
            let known = loss.restored + freshness;
            token.ended > loss.copied && token.begun < known
        })
    };
    let mut calls = Vec::new();
    let compromised = |token: &Issued| {
        let rules = record.rules.iter();
        rules
            .filter(|rule| matches!(rule.what, Name::Compromised(_)))
            .any(|rule| rule.what.is_about(token))
    };
    for call in &record.calls {
        let is_compromised = || compromised(&record.tokens[call.token]);
        let outcome = match call.outcome {
            Outcome::UnknownKey if is_compromised() => Outcome::Refused,
            other => outcome_of(call.begun, call.ended, other),
        };
        calls.push(Call { outcome, ..*call });
    }
    for rule in &record.rules {
        let tokens = record.tokens.iter().enumerate();
        for (number, token) in tokens.filter(|(_, token)| rule.what.is_about(token)) {
            let is_endless = matches!(rule.what, Name::Compromised(_));
            let known = if is_of_lost_history(token) {
                rule.ended + SKEW
            } else if rule.node == token.node {
                rule.ended
            } else {
                rule.ended + freshness
            };
            let outcome = outcome_of(rule.begun, rule.ended, rule.outcome);
            let is_acknowledged = rule.outcome == Outcome::Acknowledged;
            if !is_endless && is_acknowledged && token.begun > known {
                continue;
            }
            calls.push(Call {
                node: rule.node,
                token: number,
                begun: rule.begun,
                ended: rule.ended,
                outcome: if is_endless || token.ended < rule.begun {
                    outcome
                } else {
                    Outcome::Unknown
                },
            });
        }
    }
    calls
}

/// Returns the rejections for an unknown key that contradict the promises of the service, one line each: when the
/// freshness bound has passed since a token was issued, every node knows its key, unless it is compromised.
pub(super) fn unknown_keys(calls: &[Call], tokens: &[Issued], freshness: Duration) -> Vec<String> {
    let freshness = u64::try_from(freshness.as_micros()).unwrap();
    let rejected = calls.iter().filter(|call| {
        call.outcome == Outcome::UnknownKey && call.begun > tokens[call.token].ended + freshness
    });
    rejected
        .map(|call| {
            let late = (call.begun - tokens[call.token].ended) / 1000;
            format!(
                "token {} at node {}: its key is unknown {late} ms after it was issued",
                call.token, call.node
            )
        })
        .collect()
}

/// A call. Times are microseconds since the start of the history.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) node: usize,
    pub(super) token: usize,
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) outcome: Outcome,
}

impl Call {
    fn is_verification(&self) -> bool {
        matches!(self.outcome, Outcome::Accepted | Outcome::Refused)
    }
}

/// Returns what contradicts the promises of the service, one line each:
///
/// - A node refuses a token that it revoked, from its acknowledgement on.
/// - Every node refuses it when the freshness bound has passed since the acknowledgement.
/// - A node that refused a token as revoked never accepts it again.
/// - No node refuses a token as revoked before somebody asked for the revocation.
pub(super) fn violations(calls: &[Call], freshness: Duration) -> Vec<String> {
    let freshness = u64::try_from(freshness.as_micros()).unwrap();
    let mut tokens: BTreeMap<usize, Vec<&Call>> = BTreeMap::new();
    let judged = |call: &&Call| call.outcome != Outcome::UnknownKey;
    for call in calls.iter().filter(judged) {
        tokens.entry(call.token).or_default().push(call);
    }
    let mut found = Vec::new();
    for calls in tokens.values() {
        let first_asked = (calls.iter())
            .filter(|call| !call.is_verification())
            .map(|call| call.begun)
            .min()
            .unwrap_or(u64::MAX);
        // From then on a node must refuse.
        let must_refuse = |node: usize| {
            let acknowledged = |call: &&&Call| call.outcome == Outcome::Acknowledged;
            let by = calls.iter().filter(acknowledged).map(|call| {
                if call.node == node {
                    call.ended
                } else {
                    call.ended + freshness
                }
            });
            let seen = |call: &&&Call| call.outcome == Outcome::Refused && call.node == node;
            let seen = calls.iter().filter(seen).map(|call| call.ended);
            by.chain(seen).min().unwrap_or(u64::MAX)
        };
        for call in calls.iter().filter(|call| call.is_verification()) {
            let wrong = match call.outcome {
                Outcome::Accepted if call.begun > must_refuse(call.node) => {
                    let late = (call.begun - must_refuse(call.node)) / 1000;
                    format!("accepted {late} ms after it had to be refused")
                }
                Outcome::Refused if call.ended < first_asked => {
                    "refused as revoked before its revocation".to_owned()
                }
                _ => continue,
            };
            found.push(format!(
                "token {} at node {}: {wrong}",
                call.token, call.node
            ));
        }
    }
    found
}

/// Writes the calls as lines of JSON, as tools/porcupine reads them.
fn write(calls: &[Call], path: &Path) {
    let mut text = String::new();
    let judged = |call: &&Call| call.outcome != Outcome::UnknownKey;
    for call in calls.iter().filter(judged) {
        // A process that is no node has the number of none.
        let node = i64::try_from(call.node).unwrap_or(-1);
        let op = if call.is_verification() {
            "verify"
        } else {
            "revoke"
        };
        let ended = match call.outcome {
            Outcome::Unknown => "null".to_owned(),
            _ => call.ended.to_string(),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            r#"{{"op":"{op}","node":{node},"token":{},"call":{},"return":{ended},"revoked":{}}}"#,
            call.token,
            call.begun,
            call.outcome == Outcome::Refused
        );
    }
    std::fs::write(path, text).unwrap();
}

/// Lets porcupine judge a history. Returns what it prints, as the error if the history is not linearizable.
pub(super) fn judged(calls: &[Call], freshness: Duration, path: &Path) -> Result<String, String> {
    write(calls, path);
    let program =
        std::env::var_os(PORCUPINE).expect("JETON_PORCUPINE is the path of tools/porcupine");
    let bound = format!("{}ms", freshness.as_millis());
    let output = Command::new(program)
        .args(["-freshness", &bound])
        .arg(path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    match output.status.code() {
        Some(0) => Ok(said),
        Some(1) => Err(said),
        _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Changes a history so that a promise is broken, and requires that both judges notice. Returns the number of
/// controls.
pub(super) fn controls_are_caught(calls: &[Call], freshness: Duration, path: &Path) -> usize {
    let bound = u64::try_from(freshness.as_micros()).unwrap();
    let acknowledged = |call: &&Call| call.outcome == Outcome::Acknowledged && call.node < 3;
    let revoked = **calls
        .iter()
        .filter(acknowledged)
        .collect::<Vec<_>>()
        .first()
        .unwrap();
    let end = calls.iter().map(|call| call.ended).max().unwrap();
    let other = (revoked.node + 1) % 3;
    let accepted = |node, begun| Call {
        node,
        token: revoked.token,
        begun,
        ended: begun + 1000,
        outcome: Outcome::Accepted,
    };
    let refused = |token, begun| Call {
        token,
        outcome: Outcome::Refused,
        ..accepted(other, begun)
    };
    // Nothing else revokes the token, and nobody has refused it.
    let is_kept = |call: &&Call| {
        let is_itself = call.node == revoked.node && call.begun == revoked.begun;
        call.token != revoked.token || call.outcome == Outcome::Accepted || is_itself
    };
    let kept: Vec<Call> = calls.iter().filter(is_kept).copied().collect();
    let with = |mut calls: Vec<Call>, call| {
        calls.push(call);
        calls
    };
    let new_token = calls.iter().map(|call| call.token).max().unwrap() + 1;
    let controls = [
        (
            "a lost revocation",
            accepted(revoked.node, end + bound + 1000),
        ),
        (
            "a stale acceptance",
            accepted(other, revoked.ended + bound + 1000),
        ),
        (
            "no effect on its own node",
            accepted(revoked.node, revoked.ended + 1),
        ),
        (
            "a revocation that nobody asked for",
            refused(new_token, end),
        ),
    ];
    let count = controls.len() + 1;
    for (what, call) in controls {
        let changed = with(kept.clone(), call);
        assert!(!violations(&changed, freshness).is_empty(), "{what}");
        assert!(judged(&changed, freshness, path).is_err(), "{what}");
    }
    // A node that refused a token accepts it again.
    let refused = calls
        .iter()
        .find(|call| call.outcome == Outcome::Refused)
        .unwrap();
    let again = Call {
        begun: refused.ended + 1,
        ended: refused.ended + 2,
        outcome: Outcome::Accepted,
        ..*refused
    };
    let changed = with(calls.to_vec(), again);
    assert!(!violations(&changed, freshness).is_empty());
    assert!(judged(&changed, freshness, path).is_err());
    // The positive control: within the bound, another node may accept.
    let allowed = with(
        kept.clone(),
        accepted(other, revoked.ended + bound - 1_000_000),
    );
    assert_eq!(
        violations(&allowed, freshness),
        violations(&kept, freshness)
    );
    assert_eq!(
        judged(&allowed, freshness, path).is_ok(),
        judged(&kept, freshness, path).is_ok()
    );
    count
}

/// Adds an acceptance or a rejection to a history so that a promise about many tokens is broken, and requires that the
/// judges notice. Returns the number of controls.
pub(super) fn rule_controls_are_caught(record: &Record, freshness: Duration, path: &Path) -> usize {
    let bound = u64::try_from(freshness.as_micros()).unwrap();
    let end = record.calls.iter().map(|call| call.ended).max().unwrap() + bound + 1000;
    let is_acknowledged = |rule: &&RuleCall| rule.outcome == Outcome::Acknowledged;
    let tokens = || record.tokens.iter().enumerate();
    // Both judges judge each token on its own.
    let with = |token: usize, outcome: Outcome, rules: Vec<RuleCall>| Record {
        calls: vec![Call {
            node: 0,
            token,
            begun: end,
            ended: end + 1000,
            outcome,
        }],
        tokens: record.tokens.clone(),
        rules,
        ..Record::default()
    };
    let is_caught = |record: &Record| {
        let calls = of_tokens(record, freshness);
        let wrong = !violations(&calls, freshness).is_empty();
        assert_eq!(wrong, judged(&calls, freshness, path).is_err());
        wrong
    };
    type IsKind = fn(&Name) -> bool;
    let kinds: [(&str, IsKind); 4] = [
        ("subject", |name| matches!(name, Name::Subject(_))),
        ("client", |name| matches!(name, Name::Client(_))),
        ("key", |name| matches!(name, Name::Key(_))),
        ("compromised key", |name| {
            matches!(name, Name::Compromised(_))
        }),
    ];
    let mut count = 0;
    for (what, is_kind) in kinds {
        let mut rules = record.rules.iter().filter(is_acknowledged);
        let older = rules.find_map(|rule| {
            let is_older = |(_, token): &(usize, &Issued)| {
                rule.what.is_about(token) && token.ended < rule.begun
            };
            is_kind(&rule.what)
                .then(|| tokens().find(is_older))
                .flatten()
                .map(|(token, _)| (rule, token))
        });
        let Some((rule, token)) = older else {
            println!("  no revocation of a {what} was acknowledged");
            continue;
        };
        // Without that revocation it may be accepted.
        let accepted = with(token, Outcome::Accepted, vec![rule.clone()]);
        assert!(
            is_caught(&accepted),
            "an acceptance after the revocation of a {what}"
        );
        assert!(!is_caught(&with(token, Outcome::Accepted, Vec::new())));
        count += 1;
    }
    // A login after the revocation of its subject is rejected; without an acknowledgement it may be.
    let newer = record
        .rules
        .iter()
        .filter(is_acknowledged)
        .find_map(|rule| {
            let is_newer = |(_, token): &(usize, &Issued)| {
                rule.what.is_about(token) && token.begun > rule.ended + bound
            };
            let is_ended = matches!(rule.what, Name::Subject(_) | Name::Client(_) | Name::Key(_));
            is_ended
                .then(|| tokens().find(is_newer))
                .flatten()
                .map(|(token, _)| (rule, token))
        });
    let (rule, token) = newer.expect("a token is newer than a revocation of its subject");
    let refused = with(token, Outcome::Refused, vec![rule.clone()]);
    assert!(is_caught(&refused), "a rejection of a token that is newer");
    let unknown = RuleCall {
        outcome: Outcome::Unknown,
        ..rule.clone()
    };
    assert!(!is_caught(&with(token, Outcome::Refused, vec![unknown])));
    // A node does not learn of a new key.
    let known = with(token, Outcome::UnknownKey, Vec::new());
    assert_eq!(
        unknown_keys(&known.calls, &known.tokens, freshness).len(),
        1
    );
    let calls = of_tokens(&known, freshness);
    assert!(violations(&calls, freshness).is_empty());
    count + 2
}

#[test]
fn revocation_of_a_name_is_one_of_its_older_tokens() {
    let freshness = Duration::from_micros(100);
    let token = |node, begun| Issued {
        node,
        begun,
        ended: begun + 10,
        subject: 1,
        client: 2,
        kid: "k".to_owned(),
    };
    let of = |token: Issued, what: &Name, outcome| {
        let record = Record {
            tokens: vec![token],
            rules: vec![RuleCall {
                node: 0,
                what: what.clone(),
                begun: 1000,
                ended: 1100,
                outcome,
            }],
            ..Record::default()
        };
        let calls = of_tokens(&record, freshness);
        calls.first().map(|call| call.outcome)
    };
    let (acknowledged, unknown) = (Outcome::Acknowledged, Outcome::Unknown);
    for what in [Name::Subject(1), Name::Client(2), Name::Key("k".to_owned())] {
        for (node, begun, becomes) in [
            (0, 980, Some(acknowledged)),
            (1, 980, Some(acknowledged)),
            (0, 995, Some(unknown)),
            (0, 1100, Some(unknown)),
            (0, 1101, None),
            (1, 1101, Some(unknown)),
            (1, 1201, None),
        ] {
            assert_eq!(
                of(token(node, begun), &what, acknowledged),
                becomes,
                "{begun}"
            );
            assert_eq!(of(token(node, begun), &what, unknown), Some(unknown));
        }
    }
    let compromised = Name::Compromised("k".to_owned());
    assert_eq!(
        of(token(0, 9000), &compromised, acknowledged),
        Some(acknowledged)
    );
    assert_eq!(of(token(0, 0), &Name::Subject(3), acknowledged), None);
}

#[test]
fn acknowledgement_that_the_store_lost_is_none() {
    let freshness = Duration::from_micros(100);
    let token = |begun| Issued {
        node: 1,
        begun,
        ended: begun + 10,
        subject: 1,
        client: 2,
        kid: "k".to_owned(),
    };
    let loss = Loss {
        copied: 5000,
        restored: 6000,
    };
    let of = |issued: u64, begun: u64| {
        let revoked = Call {
            node: 0,
            token: 0,
            begun,
            ended: begun + 100,
            outcome: Outcome::Acknowledged,
        };
        let record = Record {
            calls: vec![revoked],
            tokens: vec![token(issued)],
            rules: vec![RuleCall {
                node: 0,
                what: Name::Subject(1),
                begun,
                ended: begun + 100,
                outcome: Outcome::Acknowledged,
            }],
            losses: vec![loss],
            ..Record::default()
        };
        let calls = of_tokens(&record, freshness);
        let outcomes: Vec<Outcome> = calls.iter().map(|call| call.outcome).collect();
        outcomes
    };
    let (acknowledged, unknown) = (Outcome::Acknowledged, Outcome::Unknown);
    assert_eq!(of(1000, 4800), [acknowledged, acknowledged]);
    assert_eq!(of(1000, 4950), [unknown, unknown]);
    assert_eq!(of(1000, 5999), [unknown, unknown]);
    assert_eq!(of(1000, 6001), [acknowledged, acknowledged]);
    // A token of the lost history is judged by its time.
    assert_eq!(of(5500, 4000), [acknowledged, unknown]);
    assert_eq!(of(6050, 4000), [acknowledged, unknown]);
    assert_eq!(of(6101, 4000), [acknowledged]);
}

#[test]
fn violations_are_found_beyond_the_bound_only() {
    let freshness = Duration::from_millis(10);
    let call = |node, begun, outcome| Call {
        node,
        token: 1,
        begun,
        ended: begun + 100,
        outcome,
    };
    let (accepted, refused) = (Outcome::Accepted, Outcome::Refused);
    let revoked = call(0, 1000, Outcome::Acknowledged);
    let found = |calls: &[Call]| violations(&[&[revoked], calls].concat(), freshness);
    assert!(found(&[call(1, 11_000, accepted), call(1, 12_000, refused)]).is_empty());
    assert!(found(&[call(0, 1050, accepted)]).is_empty());
    assert_eq!(found(&[call(0, 1200, accepted)]).len(), 1);
    assert_eq!(
        found(&[call(1, 12_100, accepted)]),
        ["token 1 at node 1: accepted 1 ms after it had to be refused"]
    );
    assert_eq!(
        found(&[call(1, 2000, refused), call(1, 3000, accepted)]).len(),
        1
    );
    assert_eq!(found(&[call(1, 500, refused)]).len(), 1);
    // A revocation without acknowledgement may take effect later, or never.
    let unknown = call(0, 1000, Outcome::Unknown);
    assert!(
        violations(
            &[unknown, call(0, 90_000, accepted), call(0, 99_000, refused)],
            freshness
        )
        .is_empty()
    );
}
