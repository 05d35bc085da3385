//! Everything measured as comma-separated values (RFC 4180), for spreadsheets and data frames.

use csv::WriterBuilder;

use crate::result::{Row, RunResult};

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

/// One line for the names of the columns, and one for each row of the result: who, what, the median
/// with the ends of its 95 % interval, memory, and then every round's nanoseconds per operation in
/// columns of their own, `round_1` and on.
///
/// What was not measured is an empty field. Text that a spreadsheet would take for a formula (it
/// begins with `=`, `+`, `-` or `@`) has an apostrophe before it: reasons and names come from the
/// libraries.
///
/// # Examples
/// ```
/// # fn demo(result: &jeton_lab::result::RunResult) -> std::io::Result<()> {
/// std::fs::write("results.csv", jeton_lab::report::csv::text(result))?;
/// # Ok(()) }
/// ```
#[must_use]
pub fn text(result: &RunResult) -> String {
    let timings = result.rows.iter().filter_map(|r| r.ns_per_op.as_ref());
    let rounds = timings.map(|t| t.rounds.len()).max().unwrap_or(0);
    let mut out = WriterBuilder::new().from_writer(Vec::new());
    let head = COLUMNS.iter().map(|name| (*name).to_owned());
    let head = head.chain((1..=rounds).map(|round| format!("round_{round}")));
    let tainted = result.environment.taint.tainted;
    let lines = result.rows.iter().map(|r| record(r, tainted, rounds));
    for line in std::iter::once(head.collect()).chain(lines) {
        // Every line has as many fields as the first, and memory takes them all.
        out.write_record(&line)
            .expect("lines of one length are written to memory");
    }
    let bytes = out.into_inner().expect("memory takes the last line too");
    String::from_utf8(bytes).expect("fields are text, and so are commas")
}

fn record(row: &Row, tainted: bool, rounds: usize) -> Vec<String> {
    let subject = &row.subject;
    let time = row.ns_per_op.as_ref();
    let figure = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    let count = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
    let mut fields = vec![
        plain(&row.suite),
        plain(&row.contract),
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
        tainted.to_string(),
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
