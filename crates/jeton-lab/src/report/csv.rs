//! Everything measured as comma-separated values (RFC 4180), for spreadsheets and data frames.

mod attack;
mod interop;
mod servers;

use csv::WriterBuilder;

use crate::result::{Row, RowId, RunResult};

const COLUMNS: [&str; 27] = [
    "suite",
    "contract",
    "status",
    "reason",
    "subject",
    "library",
    "version",
    "language",
    "format",
    "alg",
    "enc",
    "key_handling",
    "reference",
    "claims",
    "claims_bytes",
    "threads",
    "token_bytes",
    "median_ns",
    "low_ns",
    "high_ns",
    "outliers",
    "unsettled",
    "bytes_per_op",
    "allocs_per_op",
    "peak_rss_bytes",
    "tainted_run",
    "rounds",
];

/// Rows of one kind: they have the same columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What was timed.
    Measured,
    /// Servers under load.
    Servers,
    /// Whose tokens whom verifies.
    Interop,
    /// What must be refused.
    Attack,
}

impl Kind {
    /// Every kind, in the order in which a result is about them.
    pub const ALL: [Self; 4] = [Self::Measured, Self::Servers, Self::Interop, Self::Attack];

    /// How many rows of it a result has.
    #[must_use]
    pub fn count(self, result: &RunResult) -> usize {
        let rows = &result.rows;
        match self {
            Self::Measured => rows.measured.len(),
            Self::Servers => rows.servers.len(),
            Self::Interop => rows.interop.len(),
            Self::Attack => rows.attack.len(),
        }
    }

    /// The kind that a result is about: the first that it has rows of.
    #[must_use]
    pub fn of(result: &RunResult) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.count(result) > 0)
            .unwrap_or(Self::Measured)
    }
}

/// The rows of the kind that the result is about ([`Kind::of`]), as [`rows`] has them.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) -> std::io::Result<()> {
/// std::fs::write("results.csv", jeton_lab::report::csv::text(result))?;
/// # Ok(()) }
/// ```
#[must_use]
pub fn text(result: &RunResult) -> String {
    rows(result, Kind::of(result))
}

/// One line for the names of the columns, and one for each row of this kind. Of what was timed: who,
/// what, the median with the ends of its 95 % interval, memory, and then every round's nanoseconds per
/// operation in columns of their own, `round_1` and on. Of interop a line for each pair, with what each
/// encoding of the key came to; of servers one for each server under each load; of attacks one for each
/// attack on each library, without its evidence.
///
/// What was not measured is an empty field. Text that a spreadsheet would take for a formula (it
/// begins with `=`, `+`, `-` or `@`) has an apostrophe before it: reasons and names come from the
/// libraries.
#[must_use]
pub fn rows(result: &RunResult, kind: Kind) -> String {
    let disturbed = result.environment.disturbance.disturbed;
    let named = |columns: &[&str]| columns.iter().map(|name| (*name).to_owned()).collect();
    match kind {
        Kind::Measured => measured(result, disturbed),
        Kind::Servers => {
            let (head, lines) = servers::lines(&result.rows.servers, disturbed);
            table(head, lines)
        }
        Kind::Interop => {
            let lines = result.rows.interop.iter().map(interop::record);
            table(named(&interop::COLUMNS), lines.collect())
        }
        Kind::Attack => {
            let lines = result.rows.attack.iter().map(attack::record);
            table(named(&attack::COLUMNS), lines.collect())
        }
    }
}

fn measured(result: &RunResult, disturbed: bool) -> String {
    let rows = &result.rows.measured;
    let timings = rows.iter().filter_map(|r| r.ns_per_op.as_ref());
    let rounds = timings.map(|t| t.rounds.len()).max().unwrap_or(0);
    let head = COLUMNS.iter().map(|name| (*name).to_owned());
    let head = head.chain((1..=rounds).map(|round| format!("round_{round}")));
    let lines = rows.iter().map(|r| record(r, disturbed, rounds));
    table(head.collect(), lines.collect())
}

/// The reports' figures, each with the measured one: one line for each published figure.
///
/// Published and measured figures are of two machines: compare the ratios, each inside its source.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) -> std::io::Result<()> {
/// std::fs::write("published.csv", jeton_lab::report::csv::published(result))?;
/// # Ok(()) }
/// ```
#[must_use]
pub fn published(result: &RunResult) -> String {
    let head = [
        "report",
        "table",
        "row",
        "column",
        "unit",
        "published",
        "published_text",
        "published_ratio",
        "measured",
        "measured_ratio",
        "missing",
        "subject",
        "contract",
        "claims",
        "threads",
        "ratio_to",
        "machine",
        "source",
    ];
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    let mut lines = Vec::new();
    for table in &result.published {
        for row in &table.rows {
            for (column, figure) in table.columns.iter().zip(&row.figures) {
                let work = figure.work.as_ref();
                let of_work = |part: fn(&RowId) -> &String| {
                    work.map_or_else(String::new, |work| plain(part(work)))
                };
                lines.push(vec![
                    table.report.to_string(),
                    plain(&table.title),
                    plain(&row.name),
                    plain(column),
                    table.quantity.unit().to_owned(),
                    number(figure.published),
                    plain(&figure.text),
                    number(figure.published_ratio),
                    number(figure.measured),
                    number(figure.measured_ratio),
                    plain(figure.missing.as_deref().unwrap_or_default()),
                    of_work(|work| &work.subject),
                    of_work(|work| &work.operation),
                    of_work(|work| &work.claims),
                    work.map_or_else(String::new, |work| work.threads.to_string()),
                    plain(&table.ratio_to),
                    plain(&table.machine),
                    plain(&table.source),
                ]);
            }
        }
    }
    table(head.map(str::to_owned).to_vec(), lines)
}

/// The reports' conclusions with their answers: one line for each.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) -> std::io::Result<()> {
/// std::fs::write("answers.csv", jeton_lab::report::csv::answers(result))?;
/// # Ok(()) }
/// ```
#[must_use]
pub fn answers(result: &RunResult) -> String {
    let head = [
        "id", "report", "claim", "answer", "measured", "why", "machine",
    ];
    let lines = result.claims_answered.iter().map(|claim| {
        vec![
            plain(&claim.id),
            claim.report.to_string(),
            plain(&claim.claim),
            claim.answer.words().to_owned(),
            plain(&claim.measured),
            plain(&claim.why),
            plain(&claim.machine),
        ]
    });
    table(head.map(str::to_owned).to_vec(), lines.collect())
}

fn table(head: Vec<String>, lines: Vec<Vec<String>>) -> String {
    let mut out = WriterBuilder::new().from_writer(Vec::new());
    for line in std::iter::once(head).chain(lines) {
        // Every line has as many fields as the first, and memory takes them all.
        out.write_record(&line)
            .expect("lines of one length are written to memory");
    }
    let bytes = out.into_inner().expect("memory takes the last line too");
    String::from_utf8(bytes).expect("fields are text, and so are commas")
}

fn record(row: &Row, disturbed: bool, rounds: usize) -> Vec<String> {
    let subject = &row.subject;
    let time = row.ns_per_op.as_ref();
    let figure = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    let count = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
    let mut fields = vec![
        plain(&row.suite),
        plain(&row.operation),
        row.status.name().to_owned(),
        plain(row.reason.as_deref().unwrap_or_default()),
        plain(&subject.id),
        plain(&subject.library),
        plain(&subject.version),
        plain(&subject.language),
        plain(&subject.format),
        plain(subject.alg.as_deref().unwrap_or_default()),
        plain(subject.enc.as_deref().unwrap_or_default()),
        plain(&subject.key_handling),
        row.reference.to_string(),
        plain(&row.claims.name),
        row.claims.bytes.to_string(),
        row.threads.to_string(),
        count(row.token_bytes),
        figure(time.map(|t| t.median)),
        figure(time.map(|t| t.interval[0])),
        figure(time.map(|t| t.interval[1])),
        count(time.map(|t| u64::from(t.outliers))),
        time.map_or_else(String::new, |t| t.unsettled.to_string()),
        figure(row.bytes_per_op),
        figure(row.allocs_per_op),
        count(row.peak_rss_bytes),
        disturbed.to_string(),
        count(time.map(|t| t.rounds.len() as u64)),
    ];
    let own = time.map_or(&[][..], |t| t.rounds.as_slice());
    fields.extend((0..rounds).map(|i| figure(own.get(i).copied())));
    fields
}

fn plain(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_text() {
        assert_eq!(plain("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
        assert_eq!(plain("golang-jwt"), "golang-jwt");
    }
}
