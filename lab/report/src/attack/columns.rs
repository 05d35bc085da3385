//! The columns of the tables of attacks, for all formats.

use maud::html;

use super::Attacked;
use crate::table::{Column, PEOPLE, Value, WIDE, columns};
use jeton_lab_model::names;
use jeton_lab_model::result::{ATTACK, AttackOutcome, AttackRow, Status};

/// The number of characters of a subject on the terminal.
const SUBJECT_COLUMNS: usize = 44;

/// The counted outcomes, the harmless one first.
const COUNTED: [AttackOutcome; 5] = [
    AttackOutcome::Refused,
    AttackOutcome::Accepted,
    AttackOutcome::Crashed,
    AttackOutcome::Hung,
    AttackOutcome::OverLimit,
];

/// Returns the columns of one line for each library, kind of token and practice.
pub(super) fn columns<'a>() -> Vec<Column<'static, Attacked<'a>>> {
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
pub(super) type Found<'a> = (Attacked<'a>, &'a str, Vec<&'a str>);

/// Returns the columns of one line for each library and outcome with findings.
pub(super) fn found_columns<'a>() -> Vec<Column<'a, Found<'a>>> {
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
pub(super) fn subject(one: &Attacked<'_>) -> String {
    let (library, practice) = (one.library, one.practice.name());
    let (name, version, language) = (&library.library, &library.version, &library.language);
    format!("{name} {version} {language} {} {practice}", one.format)
}

/// Returns the columns of one line for each attack on each library.
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
