//! Go benchmark text, as `go test -bench` prints it and `benchstat` reads it.

use std::collections::HashSet;
use std::fmt::Write;

use super::comparison::time;
use super::grouped::distinct;
use jeton_lab_model::result::{Row, RunResult};

/// Formats one line for each round of each measured row, in Go's benchmark format
/// (golang.org/design/14313-benchmark-format): ns/op, the token's size as B/token, and B/op and
/// allocs/op if the runtime counts them.
///
/// A row's name contains its operation and its factors, so that `benchstat` can group by them:
/// `BenchmarkVerify/format=jwt/alg=HS256/key=prepared/claims=standard/lang=go/lib=golang-jwt-1`.
/// The last number is the number of threads. Versions are not in the name, so that
/// `benchstat before.txt after.txt` compares two versions; lines that start with `#` contain them.
/// Compare libraries with `benchstat -col /lib -row .name,/format,/alg -ignore /lang FILE`. For the two
/// libraries of report 4, add `-filter /claims:report4` and `/bits` to the rows.
///
/// `benchstat` treats the rounds of two subjects as independent samples. Its p is the Mann-Whitney
/// `p_value` of the lab's verdicts; the verdicts themselves use pairs of rounds.
#[must_use]
pub fn text(result: &RunResult) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(result, &mut out);
    // Two suites may have a row of the same work: duplicate rounds would change the statistics.
    let mut written = HashSet::new();
    for row in &result.rows.measured {
        let name = name(row);
        if let Some(timing) = time(row).filter(|_| written.insert(name.clone())) {
            let memory = memory(row);
            for ns in &timing.rounds {
                let _ = writeln!(out, "{name} 1 {ns} ns/op{memory}");
            }
        }
    }
    out
}

fn head(result: &RunResult, out: &mut String) -> std::fmt::Result {
    let e = &result.environment;
    writeln!(out, "# {}", one_line(&result.command))?;
    let (started, seed, rounds) = (one_line(&e.started), result.seed, e.rounds_finished);
    writeln!(out, "# {started}, seed {seed}, {rounds} rounds")?;
    for reason in &e.disturbance.reasons {
        writeln!(out, "# disturbed: {}", one_line(reason))?;
    }
    let subjects = result.rows.measured.iter().map(|row| &row.subject);
    let said = subjects.map(|subject| (subject.driver(), subject.version.as_str()));
    for (driver, version) in distinct(said) {
        writeln!(out, "# {} {}", one_line(driver), one_line(version))?;
    }
    let os = e.kernel.split_whitespace().next().unwrap_or("unknown");
    writeln!(out, "goos: {}", os.to_lowercase())?;
    writeln!(out, "pkg: jeton-lab")?;
    writeln!(out, "cpu: {}", one_line(&e.cpu))
}

/// Returns a legal benchmark name (`Benchmark`, a capital letter, no space), with every factor as
/// `/key=value`.
fn name(row: &Row) -> String {
    let subject = &row.subject;
    let mut name = String::from("Benchmark");
    for word in row.operation.split('-') {
        let mut letters = word.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.extend(letters.filter(char::is_ascii_alphanumeric));
    }
    // The driver's name: two versions of one library are two drivers.
    let library = subject.driver().rsplit('/').next().unwrap_or_default();
    let bits = subject.key_bits.map(|bits| bits.to_string());
    let factors = [
        ("format", Some(subject.format.as_str())),
        ("alg", subject.alg.as_deref()),
        ("enc", subject.enc.as_deref()),
        ("bits", bits.as_deref()),
        ("key", Some(subject.key_handling.as_str())),
        ("claims", Some(row.claims.name.as_str())),
        ("lang", Some(subject.language.as_str())),
        ("lib", Some(library)),
    ];
    for (key, value) in factors {
        if let Some(value) = value {
            let _ = write!(name, "/{key}={}", word(value));
        }
    }
    // Without a thread count, benchstat takes the last digits of a name (`RSA-OAEP-256`) for it.
    let _ = write!(name, "-{}", row.threads);
    name
}

fn memory(row: &Row) -> String {
    let figures = [
        row.token_bytes.map(|bytes| format!(" {bytes} B/token")),
        row.bytes_per_op.map(|bytes| format!(" {bytes} B/op")),
        row.allocs_per_op
            .map(|allocs| format!(" {allocs} allocs/op")),
    ];
    figures.into_iter().flatten().collect()
}

/// Replaces characters that are not allowed in a name by `_`.
fn word(value: &str) -> String {
    let kept = |c: char| !c.is_whitespace() && !c.is_control() && c != '/' && c != '=';
    let letters = value.chars().map(|c| if kept(c) { c } else { '_' });
    letters.collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
