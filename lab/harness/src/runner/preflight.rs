//! The preflight: subjects verify each other's tokens, and must reject negative controls.
//!
//! A subject that fails is not timed with any operation; its rows contain the reason.

use std::collections::BTreeMap;

use serde_json::Value;

use super::case_run::{CaseRun, Stopped};
use super::checksum::Expected;
use crate::protocol::{ANSWER_LIMIT, Fault};
use jeton_lab_fixtures::Fixtures;
use jeton_lab_fixtures::empty_key::is_signed_with_an_empty_key;
use jeton_lab_model::protocol::{Prepare, Work};
use jeton_lab_model::result::Status;
use jeton_lab_model::{Format, Operation};

/// Checks all cases of this dialect.
pub(super) fn check(
    case_runs: &mut [CaseRun],
    group: &[usize],
    fixtures: &Fixtures,
) -> Result<(), Stopped> {
    let mut issued: Vec<(usize, String)> = Vec::new();
    for &i in group {
        if case_runs[i].case.operation.makes_tokens()
            && let Some(token) = check_issuer(&mut case_runs[i], fixtures)?
        {
            issued.push((i, token));
        }
    }
    // A fault of the issuer explains more than a rejection by every verifier.
    share_failures(case_runs, group);
    for &i in group {
        match case_runs[i].case.operation {
            Operation::Verify
            | Operation::VerifySignature
            | Operation::VerifyParsed
            | Operation::Decrypt => {
                check_verifier(&mut case_runs[i], fixtures)?;
            }
            Operation::RoundTrip => check_trip(&mut case_runs[i], fixtures)?,
            Operation::GenerateKey => case_runs[i].expected = Some(Expected::of_successes(1)),
            Operation::LoadKey => check_loader(&mut case_runs[i], fixtures)?,
            Operation::Sign | Operation::Encrypt => {}
        }
    }
    check_each_other(case_runs, group, &issued, fixtures)?;
    share_failures(case_runs, group);
    share_sizes(case_runs, group, fixtures);
    Ok(())
}

/// Checks that a verifier accepts the lab's tokens with their claims, and rejects every negative
/// control.
fn check_verifier(case_run: &mut CaseRun, fixtures: &Fixtures) -> Result<(), Stopped> {
    for (token, claims) in fixtures.tokens.iter().zip(&fixtures.claims) {
        let Some(answer) = case_run.ask(|p| p.verify(token))? else {
            return Ok(());
        };
        if !answer.accepted {
            let why = answer.reason.unwrap_or_else(|| "no reason given".into());
            case_run.fail(
                Status::FailedPreflight,
                format!("rejects a valid token: {why}"),
            );
            return Ok(());
        }
        if case_run.case.operation.checks_claims()
            && let Some(member) = difference(claims, answer.claims.as_ref())
        {
            case_run.fail(
                Status::FailedPreflight,
                format!("returns another `{member}` than was signed"),
            );
            return Ok(());
        }
    }
    for control in fixtures.controls(&case_run.case.clone()) {
        let Some(answer) = case_run.ask(|p| p.verify(&control.token))? else {
            return Ok(());
        };
        if answer.accepted {
            case_run.fail(Status::FailedPreflight, format!("accepts {}", control.what));
            return Ok(());
        }
    }
    case_run.expected = Some(match case_run.case.operation {
        Operation::VerifySignature | Operation::VerifyParsed => {
            Expected::of_successes(fixtures.tokens.len())
        }
        _ => Expected::of_claims(&fixtures.claims),
    });
    Ok(())
}

/// Checks that a round trip fails with a token that must be rejected, and succeeds otherwise.
fn check_trip(case_run: &mut CaseRun, fixtures: &Fixtures) -> Result<(), Stopped> {
    let (Some(made), true) = (case_run.expected.take(), case_run.live()) else {
        return Ok(());
    };
    case_run.expected = Some(Expected::of_trip(
        &made,
        &Expected::of_claims(&fixtures.claims),
    ));
    let trips = match fixtures.impossible_trips(&case_run.case) {
        Ok(trips) => trips,
        Err(reason) => {
            case_run.fail(Status::Unavailable, reason);
            return Ok(());
        }
    };
    for trip in trips {
        if fulfils(case_run, &trip.prepare)? {
            let reason = format!("a round trip accepts {}", trip.what);
            case_run.fail(Status::FailedPreflight, reason);
            return Ok(());
        }
    }
    Ok(())
}

/// Checks that loading a truncated key fails. Records which wrong keys are loaded: what loading checks differs, and is no
/// fault.
fn check_loader(case_run: &mut CaseRun, fixtures: &Fixtures) -> Result<(), Stopped> {
    case_run.expected = Some(Expected::of_successes(1));
    if let Ok(half) = fixtures.impossible_key(&case_run.case)
        && fulfils(case_run, &half)?
    {
        case_run.fail(Status::FailedPreflight, "loads a truncated key");
    }
    for wrong in fixtures.wrong_keys(&case_run.case) {
        if fulfils(case_run, &wrong.prepare)? {
            case_run.loads_wrong_keys.push(wrong.what.to_owned());
        }
    }
    Ok(())
}

/// Reports whether the driver performs an operation that it must reject, in `prepare` or in `run`. An
/// exit of the process is a fault.
fn fulfils(case_run: &mut CaseRun, order: &Prepare) -> Result<bool, Stopped> {
    let asked = case_run.ask(|p| {
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

/// Checks that an issuer makes a token of every claims value, not with an empty key. Returns its first
/// token.
fn check_issuer(case_run: &mut CaseRun, fixtures: &Fixtures) -> Result<Option<String>, Stopped> {
    let mut askings = [Vec::new(), Vec::new()];
    for asking in &mut askings {
        for index in 0..fixtures.claims.len() {
            let Some(token) = case_run.ask(|p| p.token(index))? else {
                return Ok(None);
            };
            asking.push(token);
        }
    }
    let [first, second] = askings;
    let alg = fixtures.dialect.alg.as_deref().unwrap_or_default();
    if is_signed_with_an_empty_key(alg, &first[0]) {
        case_run.fail(
            Status::FailedPreflight,
            "signs with an empty key instead of the given key",
        );
        return Ok(None);
    }
    case_run.token_bytes = first.first().map(|t| t.len() as u64);
    case_run.expected = Some(Expected::of_tokens(&first, &second));
    Ok(first.into_iter().next())
}

/// Every verifier verifies every issuer's token. If they disagree, the minority is at fault: all
/// verifiers have already accepted the lab's own tokens.
fn check_each_other(
    case_runs: &mut [CaseRun],
    group: &[usize],
    issued: &[(usize, String)],
    fixtures: &Fixtures,
) -> Result<(), Stopped> {
    // An opaque token means nothing to other libraries; the round trip covers it.
    if fixtures.dialect.format == Format::Opaque {
        return Ok(());
    }
    for (issuer, token) in issued {
        if !case_runs[*issuer].live() {
            continue;
        }
        let mut accepted = 0;
        let mut refused: Vec<(TokenVerifier, String)> = Vec::new();
        // The lab's library is one of the verifiers.
        match fixtures.open(token) {
            Ok(claims) => match difference(&fixtures.claims[0], Some(&claims)) {
                None => accepted += 1,
                Some(member) => {
                    refused.push((TokenVerifier::Lab, format!("returns another `{member}`")));
                }
            },
            Err(why) => refused.push((TokenVerifier::Lab, why)),
        }
        for &verifier in group {
            if !case_runs[verifier].live() || !case_runs[verifier].case.operation.opens_tokens() {
                continue;
            }
            let Some(answer) = case_runs[verifier].ask(|p| p.verify(token))? else {
                continue;
            };
            let decodes = case_runs[verifier].case.operation.checks_claims();
            let other = decodes
                .then(|| difference(&fixtures.claims[0], answer.claims.as_ref()))
                .flatten();
            match (answer.accepted, other) {
                (true, None) => accepted += 1,
                (true, Some(member)) => {
                    let what = format!("returns another `{member}`");
                    refused.push((TokenVerifier::CaseRun(verifier), what));
                }
                (false, _) => {
                    let why = answer.reason.unwrap_or_else(|| "no reason given".into());
                    refused.push((TokenVerifier::CaseRun(verifier), why));
                }
            }
        }
        if refused.is_empty() {
            continue;
        }
        let issuer_name = case_runs[*issuer].case.library.clone();
        let issuer_at_fault = accepted < refused.len();
        if issuer_at_fault {
            // The message of another library is more useful than the lab's.
            let (judge, why) = refused.last().unwrap_or(&refused[0]);
            let who = match judge {
                TokenVerifier::Lab => "the lab".to_owned(),
                TokenVerifier::CaseRun(verifier) => case_runs[*verifier].case.library.clone(),
            };
            let all = accepted + refused.len();
            case_runs[*issuer].fail(
                Status::FailedPreflight,
                format!(
                    "{} of {all} verifiers reject its token; {who}: {why}",
                    refused.len()
                ),
            );
        } else {
            for (judge, why) in refused {
                let TokenVerifier::CaseRun(verifier) = judge else {
                    continue;
                };
                case_runs[verifier].fail(
                    Status::FailedPreflight,
                    format!(
                        "rejects the token of {issuer_name}, which {accepted} others verify: {why}"
                    ),
                );
            }
        }
    }
    Ok(())
}

/// The verifier of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenVerifier {
    Lab,
    CaseRun(usize),
}

/// Applies a subject's failure to all its operations.
fn share_failures(case_runs: &mut [CaseRun], group: &[usize]) {
    let mut failed: BTreeMap<String, (Status, String)> = BTreeMap::new();
    for &i in group {
        if let Some((Status::FailedPreflight, reason)) = &case_runs[i].failure {
            failed
                .entry(case_runs[i].case.subject_id())
                .or_insert((Status::FailedPreflight, reason.clone()));
        }
    }
    for &i in group {
        if let Some((status, reason)) = failed.get(&case_runs[i].case.subject_id()) {
            case_runs[i].fail(*status, reason.clone());
        }
    }
}

/// Sets a verifier's token size: that of its own subject's token, or of the verified one.
fn share_sizes(case_runs: &mut [CaseRun], group: &[usize], fixtures: &Fixtures) {
    let sizes: BTreeMap<String, u64> = group
        .iter()
        .filter_map(|&i| Some((case_runs[i].case.subject_id(), case_runs[i].token_bytes?)))
        .collect();
    for &i in group {
        if !case_runs[i].case.operation.opens_tokens() {
            continue;
        }
        let own = sizes.get(&case_runs[i].case.subject_id()).copied();
        let worked_on = fixtures.tokens.first().map(|t| t.len() as u64);
        if case_runs[i].token_bytes.is_none() && case_runs[i].failure.is_none() {
            case_runs[i].token_bytes = own.or(worked_on);
        }
    }
}

/// Returns the first member in which the claims differ from the signed claims. A single audience may be
/// a string or a list, and a number may have a decimal point.
#[must_use]
pub fn difference(signed: &Value, seen: Option<&Value>) -> Option<String> {
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
    fn claims_difference_ignores_equivalent_forms() {
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
