//! One table of the terminal: comparisons of the same subjects for several operations.

use itertools::Itertools as _;

use crate::comparison::{Comparison, Entry, Role};
use crate::grouped::{distinct, grouped};
use crate::words::with_version;
use jeton_lab_model::names;
use jeton_lab_model::result::{Row, Subject, Verdict};

/// One table.
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

/// One subject, or a reference.
pub(super) struct Line<'a> {
    pub reference: bool,
    /// One cell per operation.
    pub cells: Vec<Option<&'a Entry<'a>>>,
}

impl<'a> Line<'a> {
    pub(super) fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
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

    /// Reports whether the table shows this row.
    pub(super) fn shows(&self, row: &Row) -> bool {
        let mut rows = self.lines.iter().flat_map(Line::rows);
        rows.any(|own| std::ptr::eq(own, row))
    }

    /// Returns the name of a line: only what distinguishes it from the other lines.
    pub(super) fn name(&self, line: &Line<'a>) -> String {
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
    pub(super) fn short_name(&self, line: &Line<'a>) -> String {
        let (name, row) = (self.name(line), line.rows().next());
        let version = row.map(|row| format!(" {}", row.subject.version));
        let short = version.and_then(|version| name.strip_suffix(&version));
        short.unwrap_or(&name).to_owned()
    }
}

/// Returns format and algorithm, and an unusual key size or key handling.
pub(super) fn kind(row: &Row) -> String {
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
