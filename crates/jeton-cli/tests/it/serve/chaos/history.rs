//! The recorded calls, and two judges of them: porcupine, and a check of the freshness bound.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The environment variable with the path of tools/porcupine.
const PORCUPINE: &str = "JETON_PORCUPINE";

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
    for call in calls {
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
    for call in calls {
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
            r#"{{"op":"{op}","node":{},"token":{},"call":{},"return":{ended},"revoked":{}}}"#,
            call.node,
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
    let acknowledged = |call: &&Call| call.outcome == Outcome::Acknowledged;
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
    let without_refusals =
        |call: &&Call| call.token != revoked.token || call.outcome != Outcome::Refused;
    let kept: Vec<Call> = calls.iter().filter(without_refusals).copied().collect();
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
