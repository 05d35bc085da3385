//! Checks that derived figures have valid ranges, and that rows exist for them.

use super::{ROUNDING, Wrong, not_negative, published_comparison, recommendation};
use crate::median;
use crate::result::{NoiseFloor, Row, RunResult, Timing, Verdict};

/// Returns the first error as `place: message`.
pub(in crate::result) fn derived(result: &RunResult) -> Result<(), String> {
    noise_floor(&result.noise_floor)?;
    for (i, row) in result.rows.measured.iter().enumerate() {
        let timing = row.ns_per_op.as_ref().map_or(Ok(()), timing);
        timing.map_err(|(_, what)| format!("rows[{i}].ns_per_op: {what}"))?;
    }
    for (i, verdict) in result.verdicts.iter().enumerate() {
        self::verdict(verdict, &result.rows.measured)
            .map_err(|(member, what)| format!("verdicts[{i}]{member}: {what}"))?;
    }
    published_comparison::check(result)?;
    recommendation::check(result).map_err(|what| format!("recommendation{what}"))
}

fn noise_floor(noise: &NoiseFloor) -> Result<(), String> {
    for (member, floor) in [("floor", noise.floor), ("managed", noise.managed)] {
        if !floor.is_none_or(not_negative) {
            return Err(format!(
                "noise_floor.{member}: is not a ratio above one (0.012 is 1.2 %)"
            ));
        }
    }
    for (i, own) in noise.threads.iter().enumerate() {
        if own.threads == 0 || !not_negative(own.floor) {
            return Err(format!(
                "noise_floor.threads[{i}]: is not a number of threads with a ratio above one"
            ));
        }
    }
    for (i, pair) in noise.pairs.iter().enumerate() {
        ratio(pair.ratio, pair.interval)
            .map_err(|(member, what)| format!("noise_floor.pairs[{i}]{member}: {what}"))?;
    }
    Ok(())
}

fn timing(timing: &Timing) -> Result<(), Wrong> {
    // The rounds were checked before; there is at least one.
    let median = median(&timing.rounds).unwrap_or_default();
    let same = |a: f64, b: f64| (a - b).abs() <= ROUNDING * b;
    if !same(timing.median, median) {
        return Err((".median", "is not the median of the rounds".into()));
    }
    let [low, high] = timing.interval;
    if !(low > 0.0 && low <= timing.median && timing.median <= high && high.is_finite()) {
        return Err((".interval", "does not contain the median".into()));
    }
    Ok(())
}

fn verdict(verdict: &Verdict, rows: &[Row]) -> Result<(), Wrong> {
    ratio(verdict.ratio, verdict.interval)?;
    if !(0.0..=1.0).contains(&verdict.p_value) {
        return Err((".p_value", "is not a probability".into()));
    }
    if verdict.group == 0 || verdict.baseline_group == Some(0) {
        return Err((".tier", "must be at least 1".into()));
    }
    let measured = |id: &str| {
        let mut about = rows.iter().filter(|row| verdict.is_about(row, id));
        about.any(|row| row.ns_per_op.is_some())
    };
    for (member, id) in [
        (".baseline", &verdict.baseline),
        (".subject", &verdict.subject),
    ] {
        if !measured(id) {
            return Err((member, "no row measured it with this operation".into()));
        }
    }
    Ok(())
}

fn ratio(ratio: f64, [low, high]: [f64; 2]) -> Result<(), Wrong> {
    if !(ratio.is_finite() && ratio > 0.0) {
        return Err((".ratio", "is not a ratio above zero".into()));
    }
    // Both are exponentials of sums: an interval of zero width may differ by rounding.
    let holds = low <= ratio * (1.0 + ROUNDING) && ratio <= high * (1.0 + ROUNDING);
    if !(low >= 0.0 && holds) {
        return Err((".interval", "does not contain the ratio".into()));
    }
    Ok(())
}
