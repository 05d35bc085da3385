//! Attacks as a section: counts for each library, a heat table for each kind of token, and the evidence of every
//! finding; and their rows for programs.

use itertools::Itertools as _;
use jeton_lab_conformance::attack::{Attack, Kind as TokenKind};
use jeton_lab_model::result::{
    ATTACK, AttackOutcome, AttackRow, MergedRun, Party, Practice, RunResult, Status,
};
use jeton_lab_model::{Format, names, units};
use maud::{Markup, html};

use crate::grouped::grouped;
use crate::section::{Kind, Section};
use crate::table::{Column, MARKDOWN, PAGE, PEOPLE, Table, Value, WIDE, columns};

/// The attacks on one library with one kind of token and one practice.
#[derive(Clone)]
struct Attacked<'a> {
    library: &'a Party,
    format: &'a str,
    practice: Practice,
    rows: Vec<&'a AttackRow>,
}

fn attacked(rows: &[AttackRow]) -> Vec<Attacked<'_>> {
    let keyed = rows.iter();
    let keyed = keyed.map(|row| ((&row.subject, row.format.as_str(), row.practice), row));
    let attacked = |((library, format, practice), rows)| Attacked {
        library,
        format,
        practice,
        rows,
    };
    let mut all: Vec<Attacked<'_>> = grouped(keyed).into_iter().map(attacked).collect();
    all.sort_by_key(|a| {
        let l = a.library;
        (&l.language, &l.library, &l.version, a.format, a.practice)
    });
    all
}

impl<'a> Attacked<'a> {
    fn absent(&self) -> Option<&'a str> {
        let first = self.rows.first()?;
        let reason = first.reason.as_deref().unwrap_or("no reason recorded");
        (first.status == Status::Unavailable).then_some(reason)
    }

    /// Returns the findings, the worst first: each outcome with the names of its attacks. Withheld findings have the
    /// date in place of the outcome.
    fn found(&self) -> Vec<(&'a str, Vec<&'a str>)> {
        let worst_first = AttackOutcome::ALL.into_iter().rev();
        let counted = worst_first.filter(|outcome| outcome.counts_against());
        grouped(counted.flat_map(|outcome| {
            self.with(outcome).map(move |row| {
                let until = row.reason.as_deref().filter(|_| !outcome.is_finding());
                (until.unwrap_or(outcome.name()), row.attack.as_str())
            })
        }))
    }

    fn with(&self, outcome: AttackOutcome) -> impl Iterator<Item = &'a AttackRow> + '_ {
        let rows = self.rows.iter().copied();
        rows.filter(move |row| row.outcome == Some(outcome))
    }
}

/// Returns the extent, for example "93 attacks on 24 libraries".
fn extent(rows: &[AttackRow]) -> String {
    let count = |name: fn(&AttackRow) -> &String| rows.iter().map(name).unique().count();
    let attacks = units::count(count(|row| &row.attack), "attack", "attacks");
    let libraries = units::count(count(|row| &row.subject.driver), "library", "libraries");
    format!("{attacks} on {libraries}")
}

const SUBJECT_COLUMNS: usize = 44;

/// The counted outcomes, the harmless one first.
const COUNTED: [AttackOutcome; 5] = [
    AttackOutcome::Refused,
    AttackOutcome::Accepted,
    AttackOutcome::Crashed,
    AttackOutcome::Hung,
    AttackOutcome::OverLimit,
];

fn columns<'a>() -> Vec<Column<'static, Attacked<'a>>> {
    let mut all = library();
    all.extend(COUNTED.map(|outcome| {
        let count = move |one: &Attacked<'_>| match one.absent() {
            Some(_) => Value::none(),
            None => Value::count(one.with(outcome).count() as u64),
        };
        let (label, width) = (outcome.label(), outcome.label().len() + 1);
        Column::number(label, count)
            .named(label)
            .on(PEOPLE)
            .wide(width)
    }));
    all.extend(columns![Attacked<'_>:
        number("void") |one| match one.absent() {
            Some(reason) => Value::text(format!("unavailable: {reason}")).over_row(),
            // The positive control of a void attack was rejected too.
            None => Value::count(one.rows.iter().filter(|row| row.status == Status::FailedPreflight).count() as u64),
        }, .named("void"), .on(PEOPLE), .wide(5);
    ]);
    all
}

/// The findings with one outcome on one library: the outcome and the names of the attacks.
type Found<'a> = (Attacked<'a>, &'a str, Vec<&'a str>);

fn found_columns<'a>() -> Vec<Column<'a, Found<'a>>> {
    let library = library().into_iter();
    let library = library.map(|column| column.of(|found: &Found<'a>| Some(found.0.clone())));
    let more = columns![Found<'_>:
        text("outcome") |(_, outcome, _)| Value::text(*outcome);
        text("attacks") |(_, _, attacks)| Value::text(attacks.join(", "));
    ];
    library.chain(more).collect()
}

/// Returns the columns that name the subject; the terminal has them in one.
fn library<'a>() -> Vec<Column<'static, Attacked<'a>>> {
    columns![Attacked<'_>:
        text("library") |one| {
            let (name, version) = (&one.library.library, &one.library.version);
            let language = names::language_of(&one.library.language);
            Value::text(format!("{name} {version} ({language})"))
                .on_page(html! { (name) " " small { (version) " · " (language) } })
                .on_terminal(subject(one))
        }, .short("", SUBJECT_COLUMNS), .on(PEOPLE);
        text("token") |one| Value::text(one.format), .on(WIDE);
        text("called") |one| Value::text(one.practice.name()), .on(WIDE);
    ]
}

/// Names a subject in a line: `golang-jwt 5.3.1 go jwt defaults`.
fn subject(one: &Attacked<'_>) -> String {
    let (library, practice) = (one.library, one.practice.name());
    let (name, version, language) = (&library.library, &library.version, &library.language);
    format!("{name} {version} {language} {} {practice}", one.format)
}

pub(crate) fn row_columns<'a>() -> Vec<Column<'a, &'a AttackRow>> {
    columns![&AttackRow:
        text("suite") |_| Value::text(ATTACK);
        text("status") |row| Value::text(row.status.name());
        text("outcome") |row| Value::text(row.outcome.map_or("", |o| o.name()));
        text("reason") |row| Value::text(row.reason.as_deref().unwrap_or_default());
        text("attack") |row| Value::text(&row.attack);
        text("family") |row| Value::text(&row.family);
        text("subject") |row| Value::text(&row.subject.driver);
        text("library") |row| Value::text(&row.subject.library);
        text("version") |row| Value::text(&row.subject.version);
        text("language") |row| Value::text(&row.subject.language);
        text("format") |row| Value::text(&row.format);
        text("practice") |row| Value::text(row.practice.name());
        text("algs") |row| Value::text(row.algs.join(" "));
        number("tried") |row| Value::count(u64::from(row.tried));
        number("void") |row| Value::count(u64::from(row.void));
        number("found") |row| Value::count(u64::from(row.found));
    ]
}

const NOTHING_FOUND: &str = "Every token that must be rejected was rejected, and nothing crashed.";

pub(crate) fn section(result: &RunResult) -> Option<Section> {
    let rows = &result.rows.attack;
    if rows.is_empty() {
        return None;
    }
    // In a merged result, time and seed belong to the timed run.
    let is_alone = result.rows.measured.is_empty();
    let took = format!(" in {:.0} s", result.environment.elapsed_s);
    let [took, seed] = [took, format!(", seed {}", result.seed)]
        .map(|text| if is_alone { text } else { String::new() });
    let (extent, all) = (extent(rows), attacked(rows));
    let tried: u64 = rows.iter().map(|row| u64::from(row.tried)).sum();
    let about = "Each cell is one attack on one library. The tokens and keys are new in each run. Each negative control has a \
                 positive control: the same token without the fault, which was accepted. The results apply to these versions \
                 only.";
    let found = all.iter().flat_map(|one| {
        let found = one.found().into_iter();
        found.map(move |(outcome, attacks)| (one.clone(), outcome, attacks))
    });
    let found: Vec<Found<'_>> = found.collect();
    let (caption, label) = ("Attacks by outcome", "Attacks by library, table");
    let mut counts = Table::new(caption, label, &columns(), &all).figures();
    counts.below = all.iter().map(below).collect();
    let libraries = Section::new("Each library").id("attack-summary");
    let mut libraries = libraries.table(counts);
    libraries.on_terminal.0 = Some(String::new());
    libraries = if found.is_empty() {
        libraries.item_on(MARKDOWN, NOTHING_FOUND)
    } else {
        libraries.table(Table::new("", "", &found_columns(), &found).on(MARKDOWN))
    };
    let whole = format!("{extent}, {} tokens and keys.", units::whole(tried));
    let mut section = Section::new("Attacks").id("attacks");
    section.on_terminal = (
        Some(extent),
        format!("{took}, {tried} tokens and keys{seed}"),
    );
    Some(
        section
            .say_on(PAGE, about)
            .say_on(MARKDOWN, whole)
            .markup(Kind::Block, legend())
            .parts([libraries])
            .parts(tables(rows).iter().map(heat))
            .parts([evidence(result, rows)]),
    )
}

fn below(one: &Attacked<'_>) -> Result<Vec<String>, String> {
    if let Some(reason) = one.absent() {
        return Err(format!("{}: unavailable: {reason}", subject(one)));
    }
    let found = one.found().into_iter();
    let found = found.map(|(outcome, attacks)| format!("{outcome}: {}", attacks.join(", ")));
    Ok(found.collect())
}

fn legend() -> Markup {
    html! {
        ul.legend {
            @for outcome in AttackOutcome::ALL {
                @let (class, mark, meaning) = look(outcome);
                li { span.cell.(class) { (mark) } " " (meaning) }
            }
            li { span.cell.plain { "○" } " void: the positive control was rejected too, so the result is unknown" }
        }
    }
}

type Heat<'a> = (TokenKind, Vec<Vec<&'a AttackRow>>);

fn tables(rows: &[AttackRow]) -> Vec<Heat<'_>> {
    let of = |kind| {
        let own = |r: &&AttackRow| Format::named(&r.format).and_then(TokenKind::of) == Some(kind);
        let own = rows.iter().filter(own);
        let keyed = own.map(|row| ((&row.subject.driver, &row.format, row.practice), row));
        let subjects = grouped(keyed).into_iter().map(|(_, rows)| rows);
        (kind, subjects.collect())
    };
    let mut all = [TokenKind::Jwt, TokenKind::Jwe, TokenKind::Paseto]
        .map(of)
        .to_vec();
    all.retain(|(_, subjects): &Heat<'_>| !subjects.is_empty());
    all
}

fn heat((kind, subjects): &Heat<'_>) -> Section {
    let is_tried = |attack: &Attack| subjects.iter().flatten().any(|row| row.attack == attack.id);
    let attacks: Vec<Attack> = Attack::all().into_iter().filter(is_tried).collect();
    let mut all = columns![Attack:
        text("check") |attack| Value::text(attack.defeats)
            .on_page(html! { span title=(attack.title) { (attack.defeats) " " small { (attack.id) } } });
    ];
    all.extend(subjects.iter().map(|rows| {
        let (party, practice) = (&rows[0].subject, rows[0].practice.name());
        let heading = html! {
            (party.library) " " (party.version)
            small { " " (party.language) ", " @if *kind == TokenKind::Paseto { (rows[0].format) ", " } (practice) }
        };
        let found = move |attack: &Attack| cell(rows.iter().copied().find(|row| row.attack == attack.id));
        Column::mark(practice, found).headed(heading, Some("subject"))
    }));
    let name = kind.name();
    let rows = units::count(attacks.len(), "attack", "attacks");
    let subjects = units::count(subjects.len(), "subject", "subjects");
    let caption = format!("{rows} on {subjects}");
    let label = format!("Attacks on {name}, table");
    let table = Table::new(caption, label, &all, &attacks);
    let section = Section::new(name).id(format!("attack-{}", name.to_lowercase()));
    section.on(PAGE).table(table.class("heat"))
}

fn cell(row: Option<&AttackRow>) -> Value {
    let Some(row) = row else {
        return Value::none();
    };
    let Some(outcome) = row.outcome else {
        return Value::text("○").class("plain");
    };
    let (class, mark, _) = look(outcome);
    let letter = Value::text(mark).class(class);
    if outcome == AttackOutcome::Withheld {
        let until = row.reason.as_deref().unwrap_or_default();
        return letter.on_page(html! { span title=(until) { (mark) span.spoken { " " (until) } } });
    }
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
    let is_clean = !rows
        .iter()
        .any(|row| row.outcome.is_some_and(AttackOutcome::counts_against));
    if is_clean {
        return section.say(NOTHING_FOUND);
    }
    let part = |attack: Attack| {
        let own = found.iter().filter(|row| row.attack == attack.id);
        let own: Vec<&AttackRow> = own.copied().collect();
        let about = html! { (attack.title) ". The check that it defeats: " (attack.defeats) ". " span.muted { (attack.reference) } };
        let opened = html! { @for row in &own { (opened(result, row)) } };
        let part = Section::new(attack.id)
            .markup(Kind::Plain, about)
            .markup(Kind::Block, opened);
        (!own.is_empty()).then_some(part)
    };
    section.parts(Attack::all().into_iter().filter_map(part))
}

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
    let run = result.runs.iter().find(of_attacks);
    run.map_or(result.seed, |run| run.seed)
}

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
    let (driver, practice) = (&row.subject.driver, row.practice.name());
    let id = format!("attack-{}-{driver}-{}-{practice}", row.attack, row.format);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    id.chars().map(plain).collect()
}

/// Returns the class of an outcome, its letter, so that colour is not the only signal, and its meaning.
#[rustfmt::skip]
fn look(outcome: AttackOutcome) -> (&'static str, &'static str, &'static str) {
    match outcome {
        AttackOutcome::NotApplicable => ("plain", "·", "not applicable to the offered algorithms"),
        AttackOutcome::NotOffered => ("plain", "–", "the library lacks the attacked feature"),
        AttackOutcome::Withheld => ("plain", "W", "a finding that is not public yet"),
        AttackOutcome::Refused => ("good", "✓", "rejected"),
        AttackOutcome::OverLimit => ("warn", "L", "rejected, but at an excessive cost"),
        AttackOutcome::Hung => ("bad", "H", "no answer in time"),
        AttackOutcome::Crashed => ("bad", "C", "the library panicked or its process exited"),
        AttackOutcome::Accepted => ("bad", "A", "accepted"),
    }
}
