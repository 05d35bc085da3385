//! Before anything is timed: whose tokens does whom verify, and who accepts what must be refused?
//!
//! A subject that fails is not timed under any contract, and its rows say what it did.

use std::collections::BTreeMap;

use serde_json::Value;

use super::bench::{Bench, Stopped};
use super::checksum::Expected;
use super::empty_key::is_signed_with_an_empty_key;
use super::forge::Forge;
use crate::result::Status;
use crate::suite::{Contract, Format};
use crate::wire::{ANSWER_LIMIT, Fault, Prepare, Work};

/// Checks all benches that work with this forge's dialect.
pub(super) fn check(benches: &mut [Bench], group: &[usize], forge: &Forge) -> Result<(), Stopped> {
    let mut minted: Vec<(usize, String)> = Vec::new();
    for &i in group {
        if benches[i].cell.contract.makes_tokens()
            && let Some(token) = check_minter(&mut benches[i], forge)?
        {
            minted.push((i, token));
        }
    }
    // What a minter did wrong says more than that its verifier knows nobody's tokens.
    share_failures(benches, group);
    for &i in group {
        match benches[i].cell.contract {
            Contract::Verify
            | Contract::VerifySignature
            | Contract::VerifyParsed
            | Contract::Decrypt => {
                check_verifier(&mut benches[i], forge)?;
            }
            Contract::RoundTrip => check_trip(&mut benches[i], forge)?,
            Contract::GenerateKey => benches[i].expected = Some(Expected::of_yes(1)),
            Contract::LoadKey => check_loader(&mut benches[i], forge)?,
            Contract::Sign | Contract::Encrypt => {}
        }
    }
    check_each_other(benches, group, &minted, forge)?;
    share_failures(benches, group);
    share_sizes(benches, group, forge);
    Ok(())
}

/// A verifier accepts the lab's own tokens with their claims, and refuses every control.
fn check_verifier(bench: &mut Bench, forge: &Forge) -> Result<(), Stopped> {
    for (token, claims) in forge.tokens.iter().zip(&forge.claims) {
        let Some(answer) = bench.ask(|p| p.verify(token))? else {
            return Ok(());
        };
        if !answer.accepted {
            let why = answer.reason.unwrap_or_else(|| "it gives no reason".into());
            bench.fail(
                Status::FailedPreflight,
                format!("refuses a valid token: {why}"),
            );
            return Ok(());
        }
        if bench.cell.contract.checks_claims()
            && let Some(member) = difference(claims, answer.claims.as_ref())
        {
            bench.fail(
                Status::FailedPreflight,
                format!("gives back another `{member}` than was signed"),
            );
            return Ok(());
        }
    }
    for control in forge.controls(&bench.cell.clone()) {
        let Some(answer) = bench.ask(|p| p.verify(&control.token))? else {
            return Ok(());
        };
        if answer.accepted {
            bench.fail(Status::FailedPreflight, format!("accepts {}", control.what));
            return Ok(());
        }
    }
    bench.expected = Some(match bench.cell.contract {
        Contract::VerifySignature | Contract::VerifyParsed => Expected::of_yes(forge.tokens.len()),
        _ => Expected::of_claims(&forge.claims),
    });
    Ok(())
}

/// A round trip ends where its token must not be accepted, and goes all the way otherwise.
fn check_trip(bench: &mut Bench, forge: &Forge) -> Result<(), Stopped> {
    let (Some(made), true) = (bench.expected.take(), bench.live()) else {
        return Ok(());
    };
    bench.expected = Some(Expected::of_trip(
        &made,
        &Expected::of_claims(&forge.claims),
    ));
    let trips = match forge.impossible_trips(&bench.cell) {
        Ok(trips) => trips,
        Err(reason) => {
            bench.fail(Status::Unavailable, reason);
            return Ok(());
        }
    };
    for trip in trips {
        if fulfils(bench, &trip.prepare)? {
            let reason = format!("comes back from a round trip with {}", trip.what);
            bench.fail(Status::FailedPreflight, reason);
            return Ok(());
        }
    }
    Ok(())
}

/// A loader refuses the text of half a key.
fn check_loader(bench: &mut Bench, forge: &Forge) -> Result<(), Stopped> {
    bench.expected = Some(Expected::of_yes(1));
    if let Ok(half) = forge.impossible_key(&bench.cell)
        && fulfils(bench, &half)?
    {
        bench.fail(
            Status::FailedPreflight,
            "loads a key whose text ends in the middle",
        );
    }
    Ok(())
}

/// Whether the driver does an operation that it must refuse, in `prepare` or in `run`. Dying of it
/// is a fault; saying no is right.
fn fulfils(bench: &mut Bench, order: &Prepare) -> Result<bool, Stopped> {
    let asked = bench.ask(|p| {
        let done = p
            .prepare(order)
            .and_then(|()| p.run(Work::of(1), 1, ANSWER_LIMIT));
        match done {
            Ok(_) => Ok(true),
            Err(Fault::Failed(_) | Fault::Unsupported(_)) => Ok(false),
            Err(other) => Err(other),
        }
    })?;
    Ok(asked.unwrap_or(false))
}

/// A minter makes a token of every claims value, and not with an empty key. Its first token.
fn check_minter(bench: &mut Bench, forge: &Forge) -> Result<Option<String>, Stopped> {
    let mut askings = [Vec::new(), Vec::new()];
    for asking in &mut askings {
        for index in 0..forge.claims.len() {
            let Some(token) = bench.ask(|p| p.token(index))? else {
                return Ok(None);
            };
            asking.push(token);
        }
    }
    let [first, second] = askings;
    let alg = forge.dialect.alg.as_deref().unwrap_or_default();
    if is_signed_with_an_empty_key(alg, &first[0]) {
        bench.fail(
            Status::FailedPreflight,
            "signs with an empty key, whatever key it is given",
        );
        return Ok(None);
    }
    bench.token_bytes = first.first().map(|t| t.len() as u64);
    bench.expected = Some(Expected::of_tokens(&first, &second));
    Ok(first.into_iter().next())
}

/// Every verifier sees every minter's token. Where they disagree, the one that stands alone is
/// at fault: all verifiers here have accepted the lab's own tokens already.
fn check_each_other(
    benches: &mut [Bench],
    group: &[usize],
    minted: &[(usize, String)],
    forge: &Forge,
) -> Result<(), Stopped> {
    // A token that stands for claims in somebody's table means nothing to anybody else; that it does
    // there is what a round trip shows.
    if forge.dialect.format == Format::Opaque {
        return Ok(());
    }
    for (minter, token) in minted {
        if !benches[*minter].live() {
            continue;
        }
        let mut accepted = 0;
        let mut refused: Vec<(Judge, String)> = Vec::new();
        // The lab's own library is a verifier among the others.
        match forge.open(token) {
            Ok(claims) => match difference(&forge.claims[0], Some(&claims)) {
                None => accepted += 1,
                Some(member) => {
                    refused.push((Judge::Lab, format!("reads another `{member}` in it")));
                }
            },
            Err(why) => refused.push((Judge::Lab, why)),
        }
        for &verifier in group {
            if !benches[verifier].live() || !benches[verifier].cell.contract.opens_tokens() {
                continue;
            }
            let Some(answer) = benches[verifier].ask(|p| p.verify(token))? else {
                continue;
            };
            let decodes = benches[verifier].cell.contract.checks_claims();
            let other = decodes
                .then(|| difference(&forge.claims[0], answer.claims.as_ref()))
                .flatten();
            match (answer.accepted, other) {
                (true, None) => accepted += 1,
                (true, Some(member)) => {
                    let what = format!("reads another `{member}` in it");
                    refused.push((Judge::Bench(verifier), what));
                }
                (false, _) => {
                    let why = answer.reason.unwrap_or_else(|| "no reason given".into());
                    refused.push((Judge::Bench(verifier), why));
                }
            }
        }
        if refused.is_empty() {
            continue;
        }
        let minter_name = benches[*minter].cell.library.clone();
        let minter_at_fault = accepted < refused.len();
        if minter_at_fault {
            // Another library's words say more to its author than the lab's.
            let (judge, why) = refused.last().unwrap_or(&refused[0]);
            let who = match judge {
                Judge::Lab => "the lab".to_owned(),
                Judge::Bench(verifier) => benches[*verifier].cell.library.clone(),
            };
            let all = accepted + refused.len();
            benches[*minter].fail(
                Status::FailedPreflight,
                format!(
                    "its token is refused by {} of {all} verifiers; {who}: {why}",
                    refused.len()
                ),
            );
        } else {
            for (judge, why) in refused {
                let Judge::Bench(verifier) = judge else {
                    continue;
                };
                benches[verifier].fail(
                    Status::FailedPreflight,
                    format!("refuses {minter_name}'s token, which {accepted} others verify: {why}"),
                );
            }
        }
    }
    Ok(())
}

/// Who looked at a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judge {
    Lab,
    Bench(usize),
}

/// What a subject did wrong under one contract counts for it under every other.
fn share_failures(benches: &mut [Bench], group: &[usize]) {
    let mut failed: BTreeMap<String, (Status, String)> = BTreeMap::new();
    for &i in group {
        if let Some((Status::FailedPreflight, reason)) = &benches[i].failure {
            failed
                .entry(benches[i].cell.subject_id())
                .or_insert((Status::FailedPreflight, reason.clone()));
        }
    }
    for &i in group {
        if let Some((status, reason)) = failed.get(&benches[i].cell.subject_id()) {
            benches[i].fail(*status, reason.clone());
        }
    }
}

/// A verifier's size is that of its own subject's token, or else of the one it verifies.
fn share_sizes(benches: &mut [Bench], group: &[usize], forge: &Forge) {
    let sizes: BTreeMap<String, u64> = group
        .iter()
        .filter_map(|&i| Some((benches[i].cell.subject_id(), benches[i].token_bytes?)))
        .collect();
    for &i in group {
        if !benches[i].cell.contract.opens_tokens() {
            continue;
        }
        let own = sizes.get(&benches[i].cell.subject_id()).copied();
        let worked_on = forge.tokens.first().map(|t| t.len() as u64);
        if benches[i].token_bytes.is_none() && benches[i].failure.is_none() {
            benches[i].token_bytes = own.or(worked_on);
        }
    }
}

/// The first member in which the claims differ from those that were signed. One audience may be
/// written as a text or as a list of one, and a number with or without its point.
pub(crate) fn difference(signed: &Value, seen: Option<&Value>) -> Option<String> {
    let Some(Value::Object(seen)) = seen else {
        return Some("claims".into());
    };
    let Value::Object(signed) = signed else {
        return None;
    };
    let lost = signed
        .iter()
        .find(|(name, value)| !seen.get(*name).is_some_and(|s| same(name, value, s)));
    let added = seen
        .iter()
        .find(|(name, value)| !signed.contains_key(*name) && !value.is_null());
    lost.or(added).map(|(name, _)| name.clone())
}

fn same(name: &str, a: &Value, b: &Value) -> bool {
    let one = |v: &Value| match v {
        Value::Array(list) if list.len() == 1 => list[0].clone(),
        other => other.clone(),
    };
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits(),
        _ if name == "aud" => one(a) == one(b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn claims_are_compared_by_meaning() {
        let signed = json!({"aud": ["api"], "exp": 5, "name": "x"});
        let differs = |seen: Value| difference(&signed, Some(&seen));
        assert_eq!(
            differs(json!({"aud": "api", "exp": 5.0, "name": "x"})),
            None
        );
        assert_eq!(
            differs(json!({"aud": "api", "exp": 6, "name": "x"})),
            Some("exp".into())
        );
        assert_eq!(
            differs(json!({"aud": "api", "exp": 5})),
            Some("name".into())
        );
        assert_eq!(
            differs(json!({"aud": "api", "exp": 5, "name": "x", "admin": true})),
            Some("admin".into())
        );
        assert_eq!(difference(&signed, None), Some("claims".into()));
    }
}
