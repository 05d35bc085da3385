//! One table: a line per subject, a block of columns per operation.

use std::fmt::{self, Write};

use itertools::Itertools as _;
use jeton_lab_harness::suite::{Suite, suite_named};
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::names;
use jeton_lab_model::result::{Row, Subject, Verdict};
use jeton_lab_model::units::list;

use super::{BOLD, hanging, lines};
use crate::comparison::{self, Comparison, Entry, Role, Shared, terminal_time};
use crate::grouped::{distinct, grouped};
use crate::sentences;
use crate::table::{Column, Table, Value, columns, of_terminal};
use crate::words::{self, plural, with_version};

/// The widest column of names; a longer name moves the rest of its line.
pub(super) const NAME_WIDTH_MAX: usize = 200;

/// The number of columns about the subject.
const DETAILS: usize = 2;

/// Reports whether the times have intervals.
pub(super) fn shows_spread(shown: &Block<'_>, columns: usize) -> bool {
    fitting(shown, columns).1
}

/// Returns the table with what fits, and whether it has intervals: details are dropped first, then intervals.
fn fitting(shown: &Block<'_>, columns: usize) -> (Table, bool) {
    let details = (0..=DETAILS).rev();
    let with_intervals = details.map(|details| table(shown, true, details));
    let is_fitting = |table: &Table| {
        let (head, _) = &table.terminal(columns)[0];
        head.chars().count() <= columns
    };
    match with_intervals.into_iter().find(is_fitting) {
        Some(table) => (table, true),
        None => (table(shown, false, 0), false),
    }
}

fn name_width(shown: &Block<'_>) -> usize {
    let lines = shown.lines.iter();
    let names = lines.map(|line| shown.name(line).chars().count());
    names.max().unwrap_or(0).min(NAME_WIDTH_MAX)
}

fn table<'a>(shown: &'a Block<'a>, has_room: bool, details: usize) -> Table {
    let width = name_width(shown);
    // A title that does not fit the first column has its own line.
    let title = if shown.title.chars().count() > width {
        ""
    } else {
        shown.title
    };
    let name = |line: &&Line<'a>| {
        let name = Value::text(format!("  {}", shown.name(line)));
        if line.reference {
            name.emphasised()
        } else {
            name
        }
    };
    let mut all = vec![Column::text(&format!("  {title}"), name).wide(width + 2)];
    for (index, comparison) in shown.comparisons.iter().enumerate() {
        // Some names are longer than the column.
        let head = match comparison.operation {
            "verify-signature" => "sig",
            "generate-key" => "make",
            "load-key" => "load",
            "round-trip" => "both",
            other => other,
        };
        let shared = Shared {
            has_room,
            ..Shared::of(std::iter::empty())
        };
        let mut block = of_terminal(comparison::columns(shared)).into_iter();
        let time = block.next().map(|column| column.titled(head));
        let block = time.into_iter().chain(block);
        all.extend(block.map(|column| column.of(move |line: &&'a Line<'a>| line.cells[index])));
        all.push(Column::number("", |_: &&Line<'a>| Value::none()).wide(1));
    }
    let of_subject = columns![&Line<'a>:
        number("bytes") |line| known(line.rows().find_map(|row| row.token_bytes).map(|bytes| bytes.to_string())), .wide(6);
        number("allocs") |line| {
            let allocs: Vec<Option<f64>> = line.rows().map(|row| row.allocs_per_op).collect();
            let joined = || allocs.iter().map(|allocs| allocs.map_or(UNKNOWN.to_owned(), |allocs| format!("{allocs:.0}")));
            known(allocs.iter().any(Option::is_some).then(|| joined().collect::<Vec<_>>().join("/")))
        }, .wide(7);
    ];
    all.extend(of_subject.into_iter().take(details));
    Table::new("", "", &all, &shown.lines.iter().collect::<Vec<_>>())
}

const UNKNOWN: &str = "n/a";

fn known(text: Option<String>) -> Value {
    Value::text(text.unwrap_or_else(|| UNKNOWN.to_owned()))
}

pub(super) fn write(shown: &Block<'_>, columns: usize, out: &mut String) -> fmt::Result {
    if shown.opens_suite {
        let question = suite_named(shown.suite).map_or("", Suite::question);
        writeln!(out, "\n{BOLD}{}{BOLD:#} {question}", shown.suite)?;
    }
    writeln!(out)?;
    if shown.title.chars().count() > name_width(shown) {
        writeln!(out, "  {BOLD}{}{BOLD:#}", shown.title)?;
    }
    lines(&fitting(shown, columns).0, columns, out)?;
    for sentence in said(shown) {
        hanging(&sentence, columns, out)?;
    }
    Ok(())
}

pub(super) fn write_alone(rows: &[&Row], out: &mut String) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Measured without a comparison{BOLD:#}")?;
    for row in rows {
        let (library, language) = (words::library(&row.subject), names::language(&row.subject));
        let name = format!("{library} ({language})");
        let mut what = kind(row);
        if row.claims.name != STANDARD {
            what = format!("{what} {}", row.claims.name);
        }
        if row.threads > 1 {
            what = format!("{what} ×{}", row.threads);
        }
        let (operation, time) = (&row.operation, terminal_time(row, true));
        writeln!(out, "  {name:<29} {what:<16} {operation:<17}{time:>12} µs")?;
    }
    Ok(())
}

fn said(shown: &Block<'_>) -> Vec<String> {
    let mut confounded = shown.comparisons.clone();
    confounded.retain(|one| one.confounded);
    let first = sentences::factors(&confounded);
    let mut said = vec![first.unwrap_or_else(|| first_groups(shown))];
    let cells = shown.lines.iter().flat_map(|l| l.cells.iter().flatten());
    let most = cells.filter_map(|cell| match cell.role {
        Role::Compared(verdict) => verdict.more_rounds,
        _ => None,
    });
    if let Some(most) = most.max() {
        let rounds = plural(most as usize, "more round");
        said.push(format!("{rounds} would probably decide the undecided."));
    }
    said
}

fn first_groups(shown: &Block<'_>) -> String {
    let subjects = shown.lines.iter().filter(|l| !l.reference).count();
    let leaders = |column: usize| {
        let group = |line: &Line<'_>| line.cells[column].and_then(|cell| cell.role.group());
        let firsts = shown.lines.iter().filter(|line| group(line) == Some(1));
        let names: Vec<String> = firsts.map(|line| shown.short_name(line)).collect();
        match names.len() {
            2 if subjects == 2 => "both".to_owned(),
            all if all == subjects => format!("all {subjects}"),
            _ => list(&names),
        }
    };
    let operations: Vec<&str> = shown.comparisons.iter().map(|one| one.operation).collect();
    let firsts: Vec<String> = (0..operations.len()).map(leaders).collect();
    let clauses = if firsts.iter().all_equal() {
        format!("{} ({})", firsts[0], list(&operations))
    } else {
        let pairs = firsts.iter().zip(&operations);
        pairs
            .map(|(names, operation)| format!("{names} ({operation})"))
            .join("; ")
    };
    format!("Fastest group: {clauses}.")
}

pub(super) struct Block<'a> {
    pub suite: &'a str,
    /// True for the first table of its suite.
    pub opens_suite: bool,
    pub title: &'a str,
    /// The comparisons, one block of columns each.
    pub comparisons: Vec<&'a Comparison<'a>>,
    /// The lines, the fastest first.
    pub lines: Vec<Line<'a>>,
}

pub(super) struct Line<'a> {
    pub reference: bool,
    /// One cell per operation.
    pub cells: Vec<Option<&'a Entry<'a>>>,
}

impl<'a> Line<'a> {
    fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.cells.iter().flatten().map(|cell| cell.row)
    }
}

/// Returns the tables of the comparisons with verdicts, in the order of these.
pub(super) fn blocks<'a>(verdicts: &'a [Verdict], all: &'a [Comparison<'a>]) -> Vec<Block<'a>> {
    let titled = verdicts.iter().map(|verdict| {
        // The title of the comparison without the operation.
        let (comparison, tail) = (&verdict.comparison, format!(", {}", verdict.operation));
        let title = comparison.strip_suffix(&tail).unwrap_or(comparison);
        ((verdict.suite.as_str(), title), comparison)
    });
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for ((suite, title), comparisons) in grouped(titled) {
        let own = distinct(comparisons).into_iter();
        let own = own.filter_map(|title| all.iter().find(|one| one.title == *title));
        let opens_suite = blocks.last().is_none_or(|block| block.suite != suite);
        blocks.push(Block::of(suite, opens_suite, title, own.collect()));
    }
    blocks
}

impl<'a> Block<'a> {
    fn of(
        suite: &'a str,
        opens_suite: bool,
        title: &'a str,
        comparisons: Vec<&'a Comparison<'a>>,
    ) -> Self {
        let is_judged = |entry: &&Entry<'_>| !matches!(entry.role, Role::Alone);
        // The bare primitive is below the table if all lines have its algorithm.
        let of = |entry: &'a Entry<'a>| {
            let row = entry.row;
            (&row.subject.alg, &row.claims.name, row.threads)
        };
        let judged = comparisons
            .iter()
            .flat_map(|one| one.entries.iter().filter(is_judged));
        let common = judged.map(of).all_equal_value().ok();
        let common = common.filter(|(alg, ..)| alg.is_some());
        let cells = comparisons.iter().enumerate().flat_map(|(column, one)| {
            let references = one.references.iter().filter(|one| Some(of(one)) == common);
            let entries = one.entries.iter().filter(is_judged).chain(references);
            entries.map(move |entry| {
                (
                    (&entry.row.subject.id, entry.row.reference),
                    (column, entry),
                )
            })
        });
        let line = |((_, reference), own): (_, Vec<(usize, &'a Entry<'a>)>)| {
            let mut cells = vec![None; comparisons.len()];
            for (column, entry) in own {
                cells[column] = Some(entry);
            }
            Line { reference, cells }
        };
        let mut lines: Vec<Line<'a>> = grouped(cells).into_iter().map(line).collect();
        // The fastest by the operations that every line has.
        let is_full = |column: &usize| lines.iter().all(|line| line.cells[*column].is_some());
        let shared: Vec<usize> = (0..comparisons.len()).filter(is_full).collect();
        let pace = |line: &Line<'_>| -> f64 {
            let cells = shared.iter().filter_map(|column| line.cells[*column]);
            let times = cells.filter_map(|cell| cell.row.ns_per_op.as_ref());
            times.map(|time| time.median.ln()).sum()
        };
        lines.sort_by(|a, b| {
            let order = a.reference.cmp(&b.reference);
            order.then(pace(a).total_cmp(&pace(b)))
        });
        Self {
            suite,
            opens_suite,
            title,
            comparisons,
            lines,
        }
    }

    fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
        let lines = self.lines.iter().filter(|l| !l.reference);
        lines.flat_map(Line::rows)
    }

    pub(super) fn shows(&self, row: &Row) -> bool {
        let mut rows = self.lines.iter().flat_map(Line::rows);
        rows.any(|own| std::ptr::eq(own, row))
    }

    /// Returns the name of a line: only what distinguishes it from the other lines.
    fn name(&self, line: &Line<'a>) -> String {
        let Some(row) = line.rows().next() else {
            return String::new();
        };
        let subject = &row.subject;
        if line.reference {
            return format!("bare primitive ({})", subject.library);
        }
        let (library, language) = (&subject.library, &subject.language);
        let mut subjects = self.rows().map(|row| &row.subject);
        let has_namesake = subjects.any(|s| s.library == *library && s.language != *language);
        let named = if has_namesake {
            format!("{library} ({})", names::language(subject))
        } else {
            library.clone()
        };
        let whose = |s: &'a Subject| (&s.library, &s.language, s.own_runtime());
        let one_library = self.rows().all(|row| whose(&row.subject) == whose(subject));
        let one_kind = self.rows().all(|other| kind(other) == kind(row));
        match (one_library, one_kind) {
            (_, true) => with_version(&named, subject),
            (true, false) => kind(row),
            (false, false) => format!("{named} {}", kind(row)),
        }
    }

    /// Returns the name without the version, for sentences.
    fn short_name(&self, line: &Line<'a>) -> String {
        let (name, row) = (self.name(line), line.rows().next());
        let version = row.map(|row| format!(" {}", row.subject.version));
        let short = version.and_then(|version| name.strip_suffix(&version));
        short.unwrap_or(&name).to_owned()
    }
}

fn kind(row: &Row) -> String {
    let subject = &row.subject;
    let mut kind = match (subject.format.as_str(), &subject.alg, &subject.enc) {
        ("jwt", Some(alg), _) => format!("JWT {alg}"),
        ("jwe", Some(alg), Some(enc)) => format!("JWE {alg}+{enc}"),
        (format, ..) => format.to_owned(),
    };
    if let Some(bits) = subject.key_bits {
        let weak = if subject.is_weak() { ", WEAK" } else { "" };
        kind.push_str(&format!(" ({bits} bits{weak})"));
    }
    match subject.key_handling.as_str() {
        "prepared" => kind,
        handling => format!("{kind} {handling}"),
    }
}
