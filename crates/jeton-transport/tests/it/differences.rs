//! Sends the same requests to both servers and compares the responses.

use tokio::task::JoinSet;

use super::exchange::{Call, NO_END, OWN_END, Seen, exchange};
use super::intended::INTENDED;
use super::servers::Pair;

/// A difference between the two responses to a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    call: &'static str,
    aspect: String,
    ours: String,
    tonic: String,
}

/// Sends the calls to both servers and fails unless exactly the intended differences are found.
pub(super) async fn assert_intended(pair: Pair, calls: &[Call]) {
    let mut found = differences(pair, calls).await;
    let mut missing = Vec::new();
    for intended in &INTENDED {
        let sent = |call: &&&str| calls.iter().any(|other| other.name == **call);
        for call in intended.calls.iter().filter(sent) {
            for (aspect, ours, tonic) in intended.aspects {
                let is = |value: &str, expected: &str| expected == "*" || value == expected;
                let expected = |one: &Difference| {
                    one.call == *call
                        && one.aspect == *aspect
                        && is(&one.ours, ours)
                        && is(&one.tonic, tonic)
                };
                match found.iter().position(expected) {
                    Some(index) => drop(found.swap_remove(index)),
                    None => missing.push((call, aspect, ours, tonic)),
                }
            }
        }
    }
    assert!(
        found.is_empty() && missing.is_empty(),
        "not intended: {found:#?}\nintended and not found: {missing:#?}"
    );
}

async fn differences(pair: Pair, calls: &[Call]) -> Vec<Difference> {
    let mut exchanges = JoinSet::new();
    for call in calls.iter().cloned() {
        exchanges.spawn(async move {
            let (ours, tonic) = tokio::join!(
                exchange(pair.ours, &call, OWN_END),
                exchange(pair.tonic, &call, NO_END)
            );
            between(call.name, &ours, &tonic)
        });
    }
    let mut found: Vec<Difference> = exchanges.join_all().await.concat();
    found.sort();
    found
}

/// What differs between two responses.
///
/// A different kind of response or a different code says enough: what follows from it is left out.
fn between(call: &'static str, ours: &Seen, tonic: &Seen) -> Vec<Difference> {
    const FIRST: [&str; 3] = ["response", "grpc-status", "grpc-message"];
    let value = |seen: &Seen, aspect: &str| seen.get(aspect).cloned().unwrap_or("none".to_owned());
    let is_same = |aspect| value(ours, aspect) == value(tonic, aspect);
    let mut aspects: Vec<&str> = FIRST.to_vec();
    if is_same("response") && is_same("grpc-status") {
        aspects.extend(ours.keys().chain(tonic.keys()).map(String::as_str));
    }
    aspects.sort_unstable();
    aspects.dedup();
    let differs = aspects.into_iter().map(|aspect| Difference {
        call,
        aspect: aspect.to_owned(),
        ours: value(ours, aspect),
        tonic: value(tonic, aspect),
    });
    differs.filter(|one| one.ours != one.tonic).collect()
}
