//! Checks that the figures of a submitted file follow from its rounds.
//!
//! A file contains its rounds, so that medians, intervals, the noise floor and verdicts can be computed
//! again. Reading a file checks the ranges; this check computes. It cannot detect rounds that were
//! invented.

use jeton_lab_model::result::{NoiseFloor, Row, RunResult, ServerRow, Timing, Verdict};
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::outliers::beyond_outer_fences;

use super::inputs::Named;
use super::merge::{noise_floor, runs, verdicts};
use super::same::Work;

/// A stored and a recomputed figure may differ by the rounding of another compiler's logarithms.
const ROUNDING: f64 = 1e-6;

/// One figure of a file that does not follow from its rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The row, pair or verdict.
    pub about: String,
    /// The member, what the file says, and what follows from the rounds.
    pub what: String,
}

/// What a check computed again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// The number of timed rows and loads of servers.
    pub rows: usize,
    /// The number of A/A pairs.
    pub pairs: usize,
    /// The number of verdicts.
    pub verdicts: usize,
    /// The number of verdicts whose group does not follow. Older labs computed groups in another way.
    pub groups: usize,
    /// The figures that do not follow.
    pub contradictions: Vec<Contradiction>,
}

/// Computes the figures of a file again.
#[must_use]
pub fn check(result: &RunResult) -> Checked {
    let named = Named {
        name: String::new(),
        result: result.clone(),
    };
    let rows = &result.rows.measured;
    let runs = runs(result);
    let own = noise_floor(std::slice::from_ref(&named), rows, &runs);
    let judged = verdicts(result, rows, &result.noise_floor, &runs);
    let mut found: Vec<Contradiction> = rows.iter().filter_map(of_row).collect();
    found.extend(result.rows.servers.iter().filter_map(of_server));
    found.extend(of_noise(&result.noise_floor, &own));
    found.extend(of_verdicts(&result.verdicts, &judged));
    let timed = rows.iter().filter(|row| row.ns_per_op.is_some()).count();
    let loaded = result.rows.servers.iter().filter(|row| row.load.is_some());
    Checked {
        rows: timed + loaded.count(),
        pairs: result.noise_floor.pairs.len(),
        verdicts: result.verdicts.len(),
        groups: groups(&result.verdicts, &judged),
        contradictions: found,
    }
}

fn of_row(row: &Row) -> Option<Contradiction> {
    let timing = row.ns_per_op.as_ref()?;
    let what = of_timing(timing)?;
    Some(Contradiction {
        about: Work::of(row).to_string(),
        what,
    })
}

fn of_timing(timing: &Timing) -> Option<String> {
    let own = median_interval(&timing.rounds).ok()?;
    let outliers = beyond_outer_fences(&timing.rounds);
    differ("median", timing.median, own.median)
        .or_else(|| differ_interval(timing.interval, own.interval))
        .or_else(|| {
            (timing.outliers != outliers).then(|| says("outliers", timing.outliers, outliers))
        })
}

/// The figures of a server are medians of its repetitions.
fn of_server(row: &ServerRow) -> Option<Contradiction> {
    let load = row.load.as_ref()?;
    let all = |figure: fn(&jeton_lab_model::result::Repetition) -> Option<f64>| {
        let figures: Vec<f64> = load.repetitions.iter().filter_map(figure).collect();
        jeton_lab_model::median(&figures)
    };
    let cpu = load.cpu_us_per_request;
    let what = all(|one| Some(one.requests_per_s))
        .and_then(|own| differ("requests_per_s", load.requests_per_s, own))
        .or_else(|| {
            differ(
                "cpu_us_per_request",
                cpu?,
                all(|one| one.cpu_us_per_request)?,
            )
        })?;
    Some(Contradiction {
        about: format!("{}, {}", row.subject.id, row.scenario),
        what,
    })
}

fn of_noise(file: &NoiseFloor, own: &NoiseFloor) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let mut add = |about: String, what: Option<String>| {
        found.extend(what.map(|what| Contradiction { about, what }));
    };
    // Files without the rounds of their pairs cannot be checked.
    if own.pairs.is_empty() {
        return found;
    }
    for (name, file, own) in [
        ("floor", file.floor, own.floor),
        ("managed", file.managed, own.managed),
    ] {
        let what = match (file, own) {
            (Some(file), Some(own)) => differ(name, file, own),
            (None, None) => None,
            (file, own) => Some(says(name, known(file), known(own))),
        };
        add("noise_floor".to_owned(), what);
    }
    let mut left: Vec<_> = own.pairs.iter().collect();
    for pair in &file.pairs {
        let same = |own: &&jeton_lab_model::result::AaPair| {
            (&own.subject, &own.operation) == (&pair.subject, &pair.operation)
        };
        let Some(at) = left.iter().position(same) else {
            continue;
        };
        let own = left.remove(at);
        let what = differ("ratio", pair.ratio, own.ratio)
            .or_else(|| differ_interval(pair.interval, own.interval))
            .or_else(|| {
                (pair.verdict != own.verdict).then(|| says_kind(pair.verdict, own.verdict))
            });
        add(
            format!("A/A pair {} {}", pair.subject, pair.operation),
            what,
        );
    }
    found
}

fn of_verdicts(file: &[Verdict], own: &[Verdict]) -> Vec<Contradiction> {
    let of_file = file.iter().filter_map(|verdict| {
        let about = format!("verdict on {}, {}", verdict.subject, verdict.comparison);
        let what = match counterpart(verdict, own) {
            None => Some("has no rounds to follow from".to_owned()),
            Some(own) => of_verdict(verdict, own),
        };
        what.map(|what| Contradiction { about, what })
    });
    of_file.collect()
}

fn counterpart<'v>(verdict: &Verdict, own: &'v [Verdict]) -> Option<&'v Verdict> {
    own.iter().find(|own| {
        (&own.comparison, &own.subject, &own.baseline)
            == (&verdict.comparison, &verdict.subject, &verdict.baseline)
    })
}

fn groups(file: &[Verdict], own: &[Verdict]) -> usize {
    let differs = |verdict: &&Verdict| {
        counterpart(verdict, own).is_some_and(|own| own.group != verdict.group)
    };
    file.iter().filter(differs).count()
}

fn of_verdict(file: &Verdict, own: &Verdict) -> Option<String> {
    differ("ratio", file.ratio, own.ratio)
        .or_else(|| differ_interval(file.interval, own.interval))
        .or_else(|| (file.verdict != own.verdict).then(|| says_kind(file.verdict, own.verdict)))
        .or_else(|| {
            (file.confounded != own.confounded)
                .then(|| says("confounded", file.confounded, own.confounded))
        })
        .or_else(|| differ("p_value", file.p_value, own.p_value))
}

fn differ(member: &str, file: f64, own: f64) -> Option<String> {
    let close = (file - own).abs() <= ROUNDING * own.abs().max(1e-9);
    (!close).then(|| says(member, file, own))
}

fn differ_interval(file: [f64; 2], own: [f64; 2]) -> Option<String> {
    differ("lower end of the interval", file[0], own[0])
        .or_else(|| differ("upper end of the interval", file[1], own[1]))
}

fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

fn says(member: &str, file: impl std::fmt::Display, own: impl std::fmt::Display) -> String {
    format!("the {member} is {file}; {own} follows from the rounds")
}

fn says_kind(
    file: jeton_lab_model::result::VerdictKind,
    own: jeton_lab_model::result::VerdictKind,
) -> String {
    says("verdict", file.label(), own.label())
}
