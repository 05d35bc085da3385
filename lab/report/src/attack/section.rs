//! Attacks as a section: counts for each library, a heat table for each kind of token, and the evidence of every
//! finding.

use maud::{Markup, html};

use jeton_lab_conformance::attack::{Attack, Kind as TokenKind};
use jeton_lab_model::Format;
use jeton_lab_model::result::{AttackOutcome, AttackRow, MergedRun, Practice, RunResult};
use jeton_lab_model::units;

use super::{Attacked, Found, attacked, columns, extent, found_columns, subject, tried};
use crate::section::{Kind, Section, Sentence};
use crate::table::{Column, MARKDOWN, PAGE, PLAIN, Table, Value};

const NOTHING_FOUND: &str = "Every token that must be rejected was rejected, and nothing crashed.";

/// Returns the section; `None` without attack rows.
pub(crate) fn section(result: &RunResult) -> Option<Section> {
    let rows = &result.rows.attack;
    if rows.is_empty() {
        return None;
    }
    let mut section = Section::new("Attacks").id("attacks");
    // In a merged result, time and seed belong to the timed run.
    let (took, seed) = if result.rows.measured.is_empty() {
        (
            format!(" in {:.0} s", result.environment.elapsed_s),
            format!(", seed {}", result.seed),
        )
    } else {
        (String::new(), String::new())
    };
    let (extent, tried) = (extent(rows), tried(rows));
    section.on_terminal = (
        Some(extent.clone()),
        format!("{took}, {tried} tokens and keys{seed}"),
    );
    let about = "Each cell is one attack on one library. The tokens and keys are new in each run. Each negative control has a \
                 positive control: the same token without the fault, which was accepted. The results apply to these versions \
                 only.";
    let all = attacked(rows);
    let found = all.iter().flat_map(|one| {
        let found = one.found().into_iter();
        found.map(move |(outcome, attacks)| (one.clone(), outcome, attacks))
    });
    let found: Vec<Found<'_>> = found.collect();
    let counts = Table::new(
        "Attacks by outcome",
        "Attacks by library, table",
        &columns(),
        &all,
    );
    let mut libraries = Section::new("Each library")
        .id("attack-summary")
        .table(counts.figures().on(PAGE));
    libraries.on_terminal = (Some(String::new()), String::new());
    let mut in_text = Table::new("", "", &columns(), &all).on(PLAIN);
    in_text.below = all.iter().map(below).collect();
    libraries = libraries.table(in_text);
    if found.is_empty() {
        libraries = libraries.with(Sentence::new(Kind::Item, NOTHING_FOUND).on(MARKDOWN));
    } else {
        libraries = libraries.table(Table::new("", "", &found_columns(), &found).on(MARKDOWN));
    }
    Some(
        section
            .with(Sentence::new(Kind::Plain, about).on(PAGE))
            .with(
                Sentence::new(
                    Kind::Plain,
                    format!("{extent}, {} tokens and keys.", units::whole(tried)),
                )
                .on(MARKDOWN),
            )
            .markup(Kind::Block, legend())
            .parts([libraries])
            .parts(tables(rows).iter().map(heat))
            .parts([evidence(result, rows)]),
    )
}

/// Returns what the terminal prints below the line of a library, or in its place.
fn below(one: &Attacked<'_>) -> Result<Vec<String>, String> {
    match one.absent() {
        Some(reason) => Err(format!("{}: unavailable: {reason}", subject(one))),
        None => {
            let found = one.found().into_iter();
            Ok(found
                .map(|(outcome, attacks)| format!("{}: {}", outcome.name(), attacks.join(", ")))
                .collect())
        }
    }
}

fn legend() -> Markup {
    html! {
        ul.legend {
            @for outcome in AttackOutcome::ALL {
                @let Look { class, mark, meaning } = look(outcome);
                li { span.cell.(class) { (mark) } " " (meaning) }
            }
            li { span.cell.plain { "○" } " void: the positive control was rejected too, so the result is unknown" }
        }
    }
}

/// The rows of one kind of token, by library and practice.
type Heat<'a> = (TokenKind, Vec<Vec<&'a AttackRow>>);

fn tables(rows: &[AttackRow]) -> Vec<Heat<'_>> {
    let of = |kind| {
        let mut subjects: Vec<Vec<&AttackRow>> = Vec::new();
        let own = |r: &&AttackRow| Format::named(&r.format).and_then(TokenKind::of) == Some(kind);
        for row in rows.iter().filter(own) {
            let is_same = |own: &&mut Vec<&AttackRow>| {
                own[0].subject.driver == row.subject.driver
                    && (&own[0].format, own[0].practice) == (&row.format, row.practice)
            };
            match subjects.iter_mut().find(is_same) {
                Some(known) => known.push(row),
                None => subjects.push(vec![row]),
            }
        }
        (kind, subjects)
    };
    let all = [TokenKind::Jwt, TokenKind::Jwe, TokenKind::Paseto].map(of);
    all.into_iter()
        .filter(|(_, subjects)| !subjects.is_empty())
        .collect()
}

fn heat((kind, subjects): &Heat<'_>) -> Section {
    let is_tried = |attack: &Attack| subjects.iter().flatten().any(|row| row.attack == attack.id);
    let attacks: Vec<Attack> = Attack::all().into_iter().filter(is_tried).collect();
    let name = kind.name();
    let check = Column::text("check", |attack: &Attack| {
        let markup =
            html! { span title=(attack.title) { (attack.defeats) " " small { (attack.id) } } };
        Value::text(attack.defeats).on_page(markup)
    });
    let subject = |rows: &Vec<&'_ AttackRow>| {
        let (party, practice) = (&rows[0].subject, rows[0].practice.name());
        let heading = html! {
            (party.library) " " (party.version)
            small { " " (party.language) ", " @if *kind == TokenKind::Paseto { (rows[0].format) ", " } (practice) }
        };
        let rows: Vec<AttackRow> = rows.iter().map(|row| (*row).clone()).collect();
        let found = move |attack: &Attack| cell(rows.iter().find(|row| row.attack == attack.id));
        Column::mark(practice, found).headed(heading, Some("subject"))
    };
    let columns: Vec<_> = std::iter::once(check)
        .chain(subjects.iter().map(subject))
        .collect();
    let caption = format!(
        "{} on {}",
        units::count(attacks.len(), "attack", "attacks"),
        units::count(subjects.len(), "subject", "subjects")
    );
    Section::new(name)
        .id(format!("attack-{}", name.to_lowercase()))
        .on(PAGE)
        .table(
            Table::new(
                caption,
                format!("Attacks on {name}, table"),
                &columns,
                &attacks,
            )
            .class("heat"),
        )
}

/// Returns a cell: a letter; a finding links to its evidence.
fn cell(row: Option<&AttackRow>) -> Value {
    let Some(row) = row else {
        return Value::none();
    };
    let Some(outcome) = row.outcome else {
        return Value::text("○").class("plain");
    };
    let Look { class, mark, .. } = look(outcome);
    let letter = Value::text(mark).class(class);
    if !outcome.is_finding() {
        return letter;
    }
    letter.on_page(
        html! { a href={ "#" (anchor(row)) } { (mark) span.spoken { " " (outcome.label()) } } },
    )
}

fn evidence(result: &RunResult, rows: &[AttackRow]) -> Section {
    let is_finding = |row: &&AttackRow| row.outcome.is_some_and(AttackOutcome::is_finding);
    let found: Vec<&AttackRow> = rows.iter().filter(is_finding).collect();
    let section = Section::new("Evidence").id("attack-evidence").on(PAGE);
    if found.is_empty() {
        return section.say(NOTHING_FOUND);
    }
    let part = |attack: Attack| {
        let own: Vec<&AttackRow> = found
            .iter()
            .filter(|row| row.attack == attack.id)
            .copied()
            .collect();
        let about = html! { (attack.title) ". The check that it defeats: " (attack.defeats) ". " span.muted { (attack.reference) } };
        let opened = html! { @for row in &own { (opened(result, row)) } };
        let part = Section::new(attack.id)
            .markup(Kind::Plain, about)
            .markup(Kind::Block, opened);
        (!own.is_empty()).then_some(part)
    };
    section.parts(Attack::all().into_iter().filter_map(part))
}

/// Renders one finding: a token and its key, the names of others, and the command that repeats it.
fn opened(result: &RunResult, row: &AttackRow) -> Markup {
    let outcome = row.outcome.map_or("", AttackOutcome::name);
    let (s, attack, practice) = (&row.subject, &row.attack, row.practice.name());
    let command = if s.is_endpoint() {
        format!(
            "jeton-lab attack --attack {attack} --target {} --target-key FILE",
            s.driver
        )
    } else {
        let (driver, format, seed) = (&s.driver, &row.format, seed(result));
        format!(
            "jeton-lab attack --attack {attack} --subject {driver}:{format}:{practice} --seed {seed}"
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
    result
        .runs
        .iter()
        .find(of_attacks)
        .map_or(result.seed, |run| run.seed)
}

/// Reports whether the library rejects the token when called as documented.
fn closed(result: &RunResult, row: &AttackRow) -> Option<&'static str> {
    let documented = result.rows.attack.iter().find(|other| {
        (&other.attack, &other.format, &other.subject) == (&row.attack, &row.format, &row.subject)
            && (row.practice, other.practice) == (Practice::Defaults, Practice::Documented)
    })?;
    Some(match documented.outcome {
        Some(AttackOutcome::Refused) => "Called as documented, the library rejects it.",
        Some(o) if o.is_finding() => "Called as documented, the library also fails.",
        _ => "Called as documented, the result is unknown.",
    })
}

fn anchor(row: &AttackRow) -> String {
    let practice = row.practice.name();
    let id = format!(
        "attack-{}-{}-{}-{practice}",
        row.attack, row.subject.driver, row.format
    );
    id.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// The class of an outcome, its letter, so that colour is not the only signal, and its meaning.
struct Look {
    class: &'static str,
    mark: &'static str,
    meaning: &'static str,
}

fn look(outcome: AttackOutcome) -> Look {
    let (class, mark, meaning) = match outcome {
        AttackOutcome::NotApplicable => ("plain", "·", "not applicable to the offered algorithms"),
        AttackOutcome::NotOffered => ("plain", "–", "the library lacks the attacked feature"),
        AttackOutcome::Refused => ("good", "✓", "rejected"),
        AttackOutcome::OverLimit => ("warn", "L", "rejected, but at an excessive cost"),
        AttackOutcome::Hung => ("bad", "H", "no answer in time"),
        AttackOutcome::Crashed => ("bad", "C", "the library panicked or its process exited"),
        AttackOutcome::Accepted => ("bad", "A", "accepted"),
    };
    Look {
        class,
        mark,
        meaning,
    }
}
