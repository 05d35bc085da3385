//! One table of the terminal: comparisons of the same subjects for several operations.

use crate::comparison::{Entry, Role, entry};
use crate::words::with_version;
use jeton_lab_model::names;
use jeton_lab_model::result::{Row, RunResult, Verdict};

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

/// Returns the tables of a result, in its order.
pub(super) fn blocks(result: &RunResult) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for verdict in &result.verdicts {
        let title = stem(verdict);
        let known = blocks
            .iter()
            .position(|g| g.suite == verdict.suite && g.title == title);
        let at = known.unwrap_or_else(|| {
            blocks.push(Block {
                suite: &verdict.suite,
                opens_suite: blocks.last().is_none_or(|g| g.suite != verdict.suite),
                title,
                operations: Vec::new(),
                lines: Vec::new(),
                confounded: None,
            });
            blocks.len() - 1
        });
        let block = &mut blocks[at];
        if verdict.confounded {
            block.confounded = Some(&verdict.factors);
        }
        block.add(result, verdict);
    }
    for block in &mut blocks {
        block.add_references(result);
        block.sort();
    }
    blocks
}

/// Finds the row of one of the two subjects of a verdict.
fn row_of<'a>(result: &'a RunResult, verdict: &Verdict, subject: &str) -> Option<&'a Row> {
    result.rows.measured.iter().find(|r| {
        r.subject.id == subject
            && r.operation == verdict.operation
            && r.claims.name == verdict.claims
            && r.threads == verdict.threads
    })
}

/// Returns the comparison's title without the operation.
fn stem(verdict: &Verdict) -> &str {
    let tail = format!(", {}", verdict.operation);
    verdict
        .comparison
        .strip_suffix(&tail)
        .unwrap_or(&verdict.comparison)
}

impl<'a> Block<'a> {
    fn add(&mut self, result: &'a RunResult, verdict: &'a Verdict) {
        let operation = verdict.operation.as_str();
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
            for line in &mut self.lines {
                line.cells.push(None);
            }
            let role = Role::Baseline(verdict.baseline_group);
            if let Some(row) = row_of(result, verdict, &verdict.baseline) {
                self.put(row, role);
            }
        }
        if let Some(row) = row_of(result, verdict, &verdict.subject) {
            self.put(row, Role::Compared(verdict));
        }
    }

    fn put(&mut self, row: &'a Row, role: Role<'a>) {
        let operation = row.operation.as_str();
        let Some(column) = self.operations.iter().position(|c| *c == operation) else {
            return;
        };
        let subject = row.subject.id.as_str();
        let reference = matches!(role, Role::Reference);
        let at = self
            .lines
            .iter()
            .position(|l| l.subject == subject)
            .unwrap_or_else(|| {
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
        let Some(first) = self.rows().next() else {
            return;
        };
        let alike = |r: &Row| {
            r.subject.alg.is_some()
                && r.subject.alg == first.subject.alg
                && r.claims.name == first.claims.name
                && r.threads == first.threads
        };
        if !self.rows().all(alike) {
            return;
        }
        let references = result
            .rows
            .measured
            .iter()
            .filter(|r| r.reference && alike(r));
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
        lines.flat_map(|l| l.cells.iter().flatten()).map(|c| c.row)
    }

    /// Reports whether the table shows this row.
    pub(super) fn shows(&self, row: &Row) -> bool {
        let mut cells = self.lines.iter().flat_map(|l| l.cells.iter().flatten());
        cells.any(|c| std::ptr::eq(c.row, row))
    }

    /// Returns the name of a line: only what distinguishes it from the other lines.
    pub(super) fn name(&self, line: &Line<'a>) -> String {
        let Some(row) = line.cells.iter().flatten().map(|c| c.row).next() else {
            return String::new();
        };
        let subject = &row.subject;
        if line.reference {
            return format!("bare primitive ({})", subject.library);
        }
        let has_namesake = self.rows().any(|r| {
            r.subject.library == subject.library && r.subject.language != subject.language
        });
        let named = if has_namesake {
            format!("{} ({})", subject.library, names::language(subject))
        } else {
            subject.library.clone()
        };
        let mut rows = self.rows();
        let one_library = rows.all(|r| {
            (&r.subject.library, &r.subject.language) == (&subject.library, &subject.language)
                && r.subject.own_runtime() == subject.own_runtime()
        });
        let kinds: Vec<String> = self.rows().map(kind).collect();
        let one_kind = kinds.windows(2).all(|w| w[0] == w[1]);
        match (one_library, one_kind) {
            (_, true) => with_version(&named, subject),
            (true, false) => kind(row),
            (false, false) => format!("{named} {}", kind(row)),
        }
    }

    /// Returns the name without the version, for sentences.
    pub(super) fn short_name(&self, line: &Line<'a>) -> String {
        let subject = line.cells.iter().flatten().next().map(|c| &c.row.subject);
        let name = self.name(line);
        match subject.and_then(|s| name.strip_suffix(&format!(" {}", s.version))) {
            Some(short) => short.to_owned(),
            None => name,
        }
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
