//! The attacks section: a summary for each library, a heat table for each kind of token, and the
//! evidence of every finding.

use maud::{Markup, html};

use crate::attack::{attacked, columns};
use crate::table::{Column, Page, Value};
use jeton_lab_conformance::attack::{Attack, Kind};
use jeton_lab_model::Format;
use jeton_lab_model::result::{AttackOutcome, AttackRow, MergedRun, Practice, RunResult};

use super::units;

/// The section.
pub(super) fn section(result: &RunResult) -> Markup {
    let rows = &result.rows.attack;
    let tables = tables(rows);
    html! {
        p {
            "Each cell is one attack on one library. The tokens and keys are new in each run. Each negative control has "
            "a positive control: the same token without the fault, which was accepted. The results apply to these versions only."
        }
        ul.legend {
            @for outcome in AttackOutcome::ALL {
                li { span.cell.(class(outcome)) { (mark(outcome)) } " " (meaning(outcome)) }
            }
            li { span.cell.plain { "○" } " void: the positive control was rejected too, so the result is unknown" }
        }
        (summary(rows))
        @for table in &tables { (heat(table)) }
        (evidence(result, rows))
    }
}

/// The rows of one kind of token.
struct Table<'a> {
    kind: Kind,
    subjects: Vec<Subject<'a>>,
}

/// The rows of one library with one practice.
struct Subject<'a> {
    first: &'a AttackRow,
    rows: Vec<&'a AttackRow>,
}

fn tables(rows: &[AttackRow]) -> Vec<Table<'_>> {
    let of = |kind| {
        let mut subjects: Vec<Subject<'_>> = Vec::new();
        let own = |r: &&AttackRow| Format::named(&r.format).and_then(Kind::of) == Some(kind);
        for row in rows.iter().filter(own) {
            match subjects
                .iter_mut()
                .find(|s| subject(s.first) == subject(row))
            {
                Some(known) => known.rows.push(row),
                None => subjects.push(Subject {
                    first: row,
                    rows: vec![row],
                }),
            }
        }
        Table { kind, subjects }
    };
    let all = [Kind::Jwt, Kind::Jwe, Kind::Paseto].map(of);
    all.into_iter().filter(|t| !t.subjects.is_empty()).collect()
}

fn subject(row: &AttackRow) -> (&str, &str, Practice) {
    (&row.subject.driver, &row.format, row.practice)
}

fn summary(rows: &[AttackRow]) -> Markup {
    html! {
        h3 #attack-summary { "Each library" }
        (Page::new("Attacks by outcome", "Attacks by library, table").figures().table(&columns(), &attacked(rows)))
    }
}

fn heat(table: &Table<'_>) -> Markup {
    let attacks: Vec<Attack> = Attack::all()
        .into_iter()
        .filter(|a| {
            table
                .subjects
                .iter()
                .any(|c| c.rows.iter().any(|r| r.attack == a.id))
        })
        .collect();
    let name = table.kind.name();
    let caption = format!(
        "{} on {}",
        units::count(attacks.len(), "attack", "attacks"),
        units::count(table.subjects.len(), "subject", "subjects")
    );
    let check = Column::text("check", |attack: &Attack| {
        Value::text(attack.defeats).on_page(
            html! { span title=(attack.title) { (attack.defeats) " " small { (attack.id) } } },
        )
    });
    let subjects = table.subjects.iter().map(|subject| {
        let (party, practice) = (&subject.first.subject, subject.first.practice.name());
        let heading = html! {
            (party.library) " " (party.version)
            small { " " (party.language) ", "
                @if table.kind == Kind::Paseto { (subject.first.format) ", " }
                (practice) }
        };
        let found = |attack: &Attack| subject.rows.iter().find(|row| row.attack == attack.id);
        Column::mark(practice, move |attack: &Attack| cell(found(attack)))
            .headed(heading, Some("subject"))
    });
    let columns: Vec<_> = std::iter::once(check).chain(subjects).collect();
    html! {
        h3 #{ "attack-" (name.to_lowercase()) } { (name) }
        (Page::new(caption, format!("Attacks on {name}, table")).class("heat").table(&columns, &attacks))
    }
}

/// Returns a cell: a letter; a finding links to its evidence.
fn cell(row: Option<&&AttackRow>) -> Value {
    let Some(row) = row else {
        return Value::none();
    };
    let Some(outcome) = row.outcome else {
        return Value::text("○").class("plain");
    };
    let letter = Value::text(mark(outcome)).class(class(outcome));
    if !outcome.is_finding() {
        return letter;
    }
    letter.on_page(html! {
        a href={ "#" (anchor(row)) } { (mark(outcome)) span.spoken { " " (outcome.label()) } }
    })
}

fn evidence(result: &RunResult, rows: &[AttackRow]) -> Markup {
    let found: Vec<&AttackRow> = rows
        .iter()
        .filter(|r| r.outcome.is_some_and(AttackOutcome::is_finding))
        .collect();
    let of = |id: &'static str| found.iter().filter(move |r| r.attack == id).copied();
    html! {
        h3 #attack-evidence { "Evidence" }
        @if found.is_empty() {
            p { "Every token that must be rejected was rejected, and nothing crashed." }
        }
        @for attack in Attack::all().iter().filter(|a| of(a.id).next().is_some()) {
            h4 { (attack.id) }
            p { (attack.title) ". The check that it defeats: " (attack.defeats) ". " span.muted { (attack.reference) } }
            @for row in of(attack.id) { (opened(result, row)) }
        }
    }
}

/// Renders one finding: a token and its key, the names of others, and the command that repeats it.
fn opened(result: &RunResult, row: &AttackRow) -> Markup {
    let outcome = row.outcome.map_or("", AttackOutcome::name);
    let s = &row.subject;
    let practice = row.practice.name();
    let command = if s.is_endpoint() {
        format!(
            "jeton-lab attack --attack {} --target {} --target-key FILE",
            row.attack, s.driver
        )
    } else {
        format!(
            "jeton-lab attack --attack {} --subject {}:{}:{practice} --seed {}",
            row.attack,
            s.driver,
            row.format,
            seed(result)
        )
    };
    let more = (row.found as usize).saturating_sub(row.evidence.len() + row.also.len());
    html! {
        details.evidence #(anchor(row)) {
            summary { strong { (outcome) } ": " (s.library) " " (s.version) " (" (s.language) ", " (row.format) ", " (practice) "), " (row.found) " of " (row.tried) " tried" }
            @if let Some(closed) = closed(result, row) { p { (closed) } }
            @for one in &row.evidence {
                p { strong { (one.name()) } ": " (one.seen.as_deref().unwrap_or_default()) }
                @if let Some(token) = &one.token { pre { code { (token) } } }
                @if let Some(key) = &one.key { pre { code { (key) } } }
            }
            @if !row.also.is_empty() {
                p { "Also " (row.also.join("; ")) @if more > 0 { "; and " (more) " more" } "." }
            }
            p { code { (command) } }
        }
    }
}

/// Returns the seed of the attack run; a merged result has its own seed for the timed run.
fn seed(result: &RunResult) -> u64 {
    let of_attacks = |run: &&MergedRun| run.command.starts_with("jeton-lab attack");
    let own = result.runs.iter().find(of_attacks);
    own.map_or(result.seed, |run| run.seed)
}

/// Reports whether the library rejects the token when called as documented.
fn closed(result: &RunResult, row: &AttackRow) -> Option<&'static str> {
    if row.practice != Practice::Defaults {
        return None;
    }
    let documented = result.rows.attack.iter().find(|other| {
        other.attack == row.attack
            && other.format == row.format
            && other.subject == row.subject
            && other.practice == Practice::Documented
    })?;
    Some(match documented.outcome {
        Some(AttackOutcome::Refused) => "Called as documented, the library rejects it.",
        Some(o) if o.is_finding() => "Called as documented, the library also fails.",
        _ => "Called as documented, the result is unknown.",
    })
}

fn anchor(row: &AttackRow) -> String {
    let id = format!(
        "{}-{}-{}-{}",
        row.attack,
        row.subject.driver,
        row.format,
        row.practice.name()
    );
    let plain = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    format!("attack-{}", plain.collect::<String>())
}

fn class(outcome: AttackOutcome) -> &'static str {
    match outcome {
        AttackOutcome::NotApplicable | AttackOutcome::NotOffered => "plain",
        AttackOutcome::Refused => "good",
        AttackOutcome::OverLimit => "warn",
        AttackOutcome::Hung | AttackOutcome::Crashed | AttackOutcome::Accepted => "bad",
    }
}

/// Returns one letter per outcome, so that colour is not the only signal.
fn mark(outcome: AttackOutcome) -> &'static str {
    match outcome {
        AttackOutcome::NotApplicable => "·",
        AttackOutcome::NotOffered => "–",
        AttackOutcome::Refused => "✓",
        AttackOutcome::OverLimit => "L",
        AttackOutcome::Hung => "H",
        AttackOutcome::Crashed => "C",
        AttackOutcome::Accepted => "A",
    }
}

fn meaning(outcome: AttackOutcome) -> &'static str {
    match outcome {
        AttackOutcome::NotApplicable => "not applicable to the offered algorithms",
        AttackOutcome::NotOffered => "the library lacks the attacked feature",
        AttackOutcome::Refused => "rejected",
        AttackOutcome::OverLimit => "rejected, but at an excessive cost",
        AttackOutcome::Hung => "no answer in time",
        AttackOutcome::Crashed => "the library panicked or its process exited",
        AttackOutcome::Accepted => "accepted",
    }
}
