//! The columns of the tables of attacks, for all formats.

use maud::html;

use super::{Attacked, COUNTED};
use crate::table::{Column, PEOPLE, Value, WIDE};
use jeton_lab_model::names;
use jeton_lab_model::result::{ATTACK, AttackOutcome, AttackRow};

/// The number of characters of a subject on the terminal.
const SUBJECT_COLUMNS: usize = 44;

/// Returns the columns of one line for each library, kind of token and practice.
pub(crate) fn columns<'a>() -> Vec<Column<'static, Attacked<'a>>> {
    let mut all = library();
    all.extend(COUNTED.map(|outcome| {
        let label = outcome.label();
        Column::number(label, move |one: &Attacked<'_>| match one.absent() {
            Some(_) => Value::none(),
            None => Value::count(one.count(outcome) as u64),
        })
        .named(label)
        .on(PEOPLE)
        .wide(label.len() + 1)
    }));
    let void = Column::number("void", |one: &Attacked<'_>| match one.absent() {
        Some(reason) => Value::text(format!("unavailable: {reason}")).over_row(),
        None => Value::count(one.void() as u64),
    });
    all.push(void.named("void").on(PEOPLE).wide(5));
    all
}

/// The findings with one outcome on one library: the outcome and the names of the attacks.
pub(crate) type Found<'a> = (Attacked<'a>, AttackOutcome, Vec<&'a str>);

/// Returns the columns of one line for each library and outcome with findings.
pub(crate) fn found_columns<'a>() -> Vec<Column<'a, Found<'a>>> {
    let library = library().into_iter();
    let library = library.map(|column| column.of(|found: &Found<'a>| Some(found.0.clone())));
    let outcome = Column::text("outcome", |(_, outcome, _): &Found<'_>| {
        Value::text(outcome.name())
    });
    let attacks = Column::text("attacks", |(_, _, attacks): &Found<'_>| {
        Value::text(attacks.join(", "))
    });
    library.chain([outcome, attacks]).collect()
}

/// Returns the columns that name the subject; the terminal has them in one.
fn library<'a>() -> Vec<Column<'static, Attacked<'a>>> {
    vec![
        Column::text("library", |one: &Attacked<'_>| {
            let library = one.library;
            let (name, version) = (&library.library, &library.version);
            let language = names::language_of(&library.language);
            Value::text(format!("{name} {version} ({language})"))
                .on_page(html! { (name) " " small { (version) " · " (language) } })
                .on_terminal(subject(one))
        })
        .short("", SUBJECT_COLUMNS)
        .on(PEOPLE),
        Column::text("token", |one: &Attacked<'_>| Value::text(one.format)).on(WIDE),
        Column::text("called", |one: &Attacked<'_>| {
            Value::text(one.practice.name())
        })
        .on(WIDE),
    ]
}

/// Names a subject in a line: `golang-jwt 5.3.1 go jwt defaults`.
pub(crate) fn subject(one: &Attacked<'_>) -> String {
    let library = one.library;
    format!(
        "{} {} {} {} {}",
        library.library,
        library.version,
        library.language,
        one.format,
        one.practice.name()
    )
}

/// Returns the columns of one line for each attack on each library.
pub(crate) fn row_columns<'a>() -> Vec<Column<'a, &'a AttackRow>> {
    let text = |name: &str, value: fn(&AttackRow) -> &str| {
        Column::text(name, move |row: &&AttackRow| Value::text(value(row)))
    };
    let count = |name: &str, value: fn(&AttackRow) -> u32| {
        Column::number(name, move |row: &&AttackRow| {
            Value::count(u64::from(value(row)))
        })
    };
    vec![
        text("suite", |_| ATTACK),
        text("status", |row| row.status.name()),
        text("outcome", |row| row.outcome.map_or("", |o| o.name())),
        text("reason", |row| row.reason.as_deref().unwrap_or_default()),
        text("attack", |row| &row.attack),
        text("family", |row| &row.family),
        text("subject", |row| &row.subject.driver),
        text("library", |row| &row.subject.library),
        text("version", |row| &row.subject.version),
        text("language", |row| &row.subject.language),
        text("format", |row| &row.format),
        text("practice", |row| row.practice.name()),
        Column::text("algs", |row: &&AttackRow| Value::text(row.algs.join(" "))),
        count("tried", |row| row.tried),
        count("void", |row| row.void),
        count("found", |row| row.found),
    ]
}
