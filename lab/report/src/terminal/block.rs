//! One table of the terminal: comparisons of the same subjects for several operations.

use crate::comparison::{Entry, Role, entry};
use crate::words::with_version;
use jeton_lab_model::names;
use jeton_lab_model::result::{Row, RunResult, Subject, Verdict};

/// One table.
pub(super) struct Block<'a> {
    pub suite: &'a str,
    /// True for the first table of its suite.
    pub opens_suite: bool,
    pub title: &'a str,
    /// The operations, one block of columns each.
    pub operations: Vec<&'a str>,
    /// The lines, the fastest first.
    pub lines: Vec<Line<'a>>,
    /// The factors of a confounded pair.
    pub confounded: Option<&'a [String]>,
}

/// One subject, or a reference.
pub(super) struct Line<'a> {
    pub subject: &'a str,
    pub reference: bool,
    /// One cell per operation.
    pub cells: Vec<Option<Entry<'a>>>,
}

impl<'a> Line<'a> {
    pub(super) fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.cells.iter().flatten().map(|cell| cell.row)
    }
}

/// Returns the tables of a result, in its order.
pub(super) fn blocks(result: &RunResult) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for verdict in &result.verdicts {
        // The title of the comparison without the operation.
        let tail = format!(", {}", verdict.operation);
        let title = verdict
            .comparison
            .strip_suffix(&tail)
            .unwrap_or(&verdict.comparison);
        let suite = verdict.suite.as_str();
        let known = blocks
            .iter()
            .position(|g| (g.suite, g.title) == (suite, title));
        let at = known.unwrap_or_else(|| {
            blocks.push(Block {
                suite,
                opens_suite: blocks.last().is_none_or(|g| g.suite != suite),
                title,
                operations: Vec::new(),
                lines: Vec::new(),
                confounded: None,
            });
            blocks.len() - 1
        });
        if verdict.confounded {
            blocks[at].confounded = Some(&verdict.factors);
        }
        blocks[at].add(result, verdict);
    }
    for block in &mut blocks {
        block.add_references(result);
        block.sort();
    }
    blocks
}

impl<'a> Block<'a> {
    fn add(&mut self, result: &'a RunResult, verdict: &'a Verdict) {
        let row = |id: &str| {
            result
                .rows
                .measured
                .iter()
                .find(|row| verdict.is_about(row, id))
        };
        let operation = verdict.operation.as_str();
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
            for line in &mut self.lines {
                line.cells.push(None);
            }
            if let Some(row) = row(&verdict.baseline) {
                self.put(row, Role::Baseline(verdict.baseline_group));
            }
        }
        if let Some(row) = row(&verdict.subject) {
            self.put(row, Role::Compared(verdict));
        }
    }

    fn put(&mut self, row: &'a Row, role: Role<'a>) {
        let Some(column) = self.operations.iter().position(|c| *c == row.operation) else {
            return;
        };
        let (subject, reference) = (row.subject.id.as_str(), matches!(role, Role::Reference));
        let known = self.lines.iter().position(|l| l.subject == subject);
        let at = known.unwrap_or_else(|| {
            let cells = self.operations.iter().map(|_| None).collect();
            self.lines.push(Line {
                subject,
                reference,
                cells,
            });
            self.lines.len() - 1
        });
        self.lines[at].cells[column] = Some(entry(row, role));
    }

    /// Adds the bare primitive below the table if all lines have its algorithm.
    fn add_references(&mut self, result: &'a RunResult) {
        let of = |row: &'a Row| (&row.subject.alg, &row.claims.name, row.threads);
        let Some(first) = self.rows().next().map(of).filter(|(alg, ..)| alg.is_some()) else {
            return;
        };
        if !self.rows().all(|row| of(row) == first) {
            return;
        }
        let references = result
            .rows
            .measured
            .iter()
            .filter(|row| row.reference && of(row) == first);
        for row in references.filter(|r| r.ns_per_op.is_some()) {
            self.put(row, Role::Reference);
        }
    }

    /// Sorts the fastest first, by the operations that every line has.
    fn sort(&mut self) {
        let lines = &self.lines;
        let full = |column: &usize| lines.iter().all(|l| l.cells[*column].is_some());
        let shared: Vec<usize> = (0..self.operations.len()).filter(full).collect();
        let pace = |line: &Line<'_>| -> f64 {
            let cells = shared.iter().filter_map(|c| line.cells[*c].as_ref());
            let times = cells.filter_map(|c| c.row.ns_per_op.as_ref());
            times.map(|t| t.median.ln()).sum()
        };
        self.lines.sort_by(|a, b| {
            a.reference
                .cmp(&b.reference)
                .then(pace(a).total_cmp(&pace(b)))
        });
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &'a Row> + '_ {
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
        let name = self.name(line);
        let version = line
            .rows()
            .next()
            .map(|row| format!(" {}", row.subject.version));
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
