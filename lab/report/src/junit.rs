//! Attacks as JUnit XML for CI systems: a suite for each subject, a test for each attack.

use maud::html;

use crate::grouped::grouped;
use jeton_lab_model::result::{AttackOutcome, AttackRow, RunResult, Status};

/// Formats the report as UTF-8 XML.
///
/// A finding is a failure with its evidence. A void or unavailable row is an error. An attack that does
/// not apply, or whose finding is withheld, is skipped.
#[must_use]
pub fn text(result: &RunResult) -> String {
    let subjects = grouped(result.rows.attack.iter().map(|row| {
        let (driver, practice) = (&row.subject.driver, row.practice.name());
        (format!("{driver}:{}:{practice}", row.format), row)
    }));
    let suites = subjects.into_iter().map(|(name, rows)| {
        let count = |of: fn(&AttackRow) -> bool| rows.iter().filter(|r| of(r)).count();
        let (failures, errors, skipped) = (count(failed), count(is_error), count(skipped));
        let (tests, name) = (rows.len(), escaped(&name));
        let cases: String = rows.iter().map(|row| case(&name, row)).collect();
        format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n{cases}  </testsuite>\n"
        )
    });
    let suites: String = suites.collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"jeton-lab attack\">\n{suites}</testsuites>\n"
    )
}

/// `subject` is escaped.
fn case(subject: &str, row: &AttackRow) -> String {
    let name = escaped(&row.attack);
    let head = format!("    <testcase classname=\"{subject}\" name=\"{name}\"");
    let reason = escaped(row.reason.as_deref().unwrap_or_default());
    let body = if failed(row) {
        let outcome = row.outcome.map_or("", AttackOutcome::name);
        let evidence = row.evidence.iter().map(|evidence| {
            let seen = evidence.seen.as_deref().unwrap_or_default();
            format!("{}: {seen}", evidence.name())
        });
        let seen = evidence
            .chain(row.also.iter().cloned())
            .map(|line| escaped(&line));
        let seen = seen.collect::<Vec<_>>().join("\n");
        format!("<failure type=\"{outcome}\" message=\"{outcome}: {name}\">{seen}</failure>")
    } else if is_error(row) {
        let status = row.status.name();
        format!("<error type=\"{status}\" message=\"{reason}\"/>")
    } else if skipped(row) {
        format!("<skipped message=\"{reason}\"/>")
    } else {
        return format!("{head}/>\n");
    };
    format!("{head}>{body}</testcase>\n")
}

fn failed(row: &AttackRow) -> bool {
    row.outcome.is_some_and(AttackOutcome::is_finding)
}

fn is_error(row: &AttackRow) -> bool {
    matches!(row.status, Status::Unavailable | Status::FailedPreflight)
}

fn skipped(row: &AttackRow) -> bool {
    matches!(
        row.outcome,
        Some(AttackOutcome::NotApplicable | AttackOutcome::NotOffered | AttackOutcome::Withheld)
    )
}

/// Escapes text for XML 1.0, which allows no control characters.
fn escaped(text: &str) -> String {
    let allowed = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    };
    let text: String = text.chars().map(allowed).collect();
    html! { (text) }.into_string()
}
