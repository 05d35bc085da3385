//! Findings of attacks as SARIF 2.1.0, for code hosts.

use serde_json::{Value, json};

use jeton_lab_conformance::attack::Attack;
use jeton_lab_model::result::{AttackOutcome, AttackRow, Evidence, RunResult};

/// Formats the report as JSON. The rules are the attacks; the results are the findings, without tokens
/// and keys.
#[must_use]
pub fn text(result: &RunResult) -> String {
    let rules: Vec<Value> = Attack::all()
        .iter()
        .map(|a| {
            json!({
                "id": a.id,
                "shortDescription": {"text": a.title},
                "fullDescription": {"text": format!("Missing check: {}.", a.defeats)},
                "help": {"text": a.reference},
            })
        })
        .collect();
    let results: Vec<Value> = result.rows.attack.iter().filter_map(finding).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "jeton-lab attack",
                "version": result.environment.jeton,
                "rules": rules,
            }},
            "invocations": [{
                "commandLine": result.command,
                "executionSuccessful": result.environment.complete,
            }],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn finding(row: &AttackRow) -> Option<Value> {
    let outcome = row.outcome.filter(|o| o.is_finding())?;
    let level = if outcome == AttackOutcome::OverLimit {
        "warning"
    } else {
        "error"
    };
    let s = &row.subject;
    let mut seen: Vec<String> = row.evidence.iter().map(Evidence::name).collect();
    seen.extend(row.also.iter().cloned());
    let (library, version, language) = (&s.library, &s.version, &s.language);
    let (format, practice, seen) = (&row.format, row.practice.name(), seen.join("; "));
    let outcome = outcome.name();
    let text = format!("{library} {version} ({language}, {format}, {practice}) {outcome}: {seen}");
    // The location is a driver's manifest, or the endpoint.
    let place = if s.is_endpoint() {
        s.driver.clone()
    } else {
        format!("drivers/{}/driver.toml", s.driver)
    };
    Some(json!({
        "ruleId": row.attack,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": place}}}],
        "partialFingerprints": {
            "subject/v1": format!("{}:{}:{}:{}", row.attack, s.driver, row.format, row.practice.name()),
        },
    }))
}
