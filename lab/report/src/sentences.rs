//! Verdicts in sentences.

use itertools::Itertools as _;
use jeton_lab_model::result::{NoiseFloor, Verdict, VerdictKind};

use super::comparison::{Comparison, Entry, Role};
use super::grouped::distinct;
use jeton_lab_model::units;
use jeton_lab_stats::verdicts::band_for;

/// With more subjects than this, a sentence names only the extremes.
const NAMED_MAX: usize = 7;

/// Returns the noise bands of compiled and of managed subjects, in this order; smaller differences do not
/// count. The second is `None` if it is not the wider one.
pub(super) fn bands(noise: &NoiseFloor) -> (f64, Option<f64>) {
    let band = |managed| {
        let band = band_for(noise, std::iter::once(managed), noise.fewest_threads());
        band.believed_beyond()
    };
    let (compiled, managed) = (band(false), band(true));
    (
        compiled,
        Some(managed).filter(|managed| *managed > compiled),
    )
}

/// Formats the noise bands: `2.0 %, or 3.9 % with a managed runtime`.
pub(super) fn bands_in_words(noise: &NoiseFloor, percent: fn(f64) -> String) -> String {
    let (compiled, managed) = bands(noise);
    let managed = managed.map_or_else(String::new, |managed| {
        format!(", or {} with a managed runtime", percent(managed))
    });
    format!("{}{managed}", percent(compiled))
}

/// Formats the noise floors of more threads: `, 12 % on 2 threads`.
pub(super) fn floors_of_threads(noise: &NoiseFloor, percent: fn(f64) -> String) -> String {
    let floors = (noise.threads.iter())
        .map(|own| format!(", {} on {} threads", percent(own.floor), own.threads));
    floors.collect()
}

pub(super) fn first_group(comparison: &Comparison<'_>) -> Option<String> {
    let group = |entry: &Entry<'_>| entry.role.group();
    let first = comparison.entries.iter().filter_map(group).min()?;
    let own = comparison
        .entries
        .iter()
        .filter(|entry| group(entry) == Some(first));
    let names: Vec<&str> = own.map(|entry| entry.name.as_str()).collect();
    Some(match names.as_slice() {
        [one] => format!("Fastest: {one}."),
        several => format!("Fastest group: {}.", units::list(several)),
    })
}

pub(super) fn verdicts(comparison: &Comparison<'_>) -> Vec<String> {
    let Some(baseline) = comparison.baseline() else {
        let names = units::list(comparison.entries.iter().map(|e| e.name.as_str()));
        return vec![format!("{names} measured without a comparison.")];
    };
    let baseline = &baseline.name;
    if comparison.entries.len() > NAMED_MAX {
        return vec![summary(comparison, baseline)];
    }
    let different =
        judged(comparison, VerdictKind::Faster).chain(judged(comparison, VerdictKind::Slower));
    let clauses = different
        .map(|(entry, verdict)| format!("{} {}", entry.name, with_interval(verdict)))
        .join(", ");
    let equivalent = judged(comparison, VerdictKind::Equivalent);
    let equivalent = units::list(equivalent.map(|(entry, _)| entry.name.as_str()));
    let said = [("Against", clauses), ("Equivalent to", equivalent)].into_iter();
    let said = said.filter(|(_, names)| !names.is_empty());
    let said = said.map(|(what, names)| format!("{what} {baseline}: {names}."));
    let undecided = judged(comparison, VerdictKind::Undecided).map(|(entry, verdict)| {
        let more = verdict.more_rounds.map_or_else(String::new, |rounds| {
            let rounds = units::count(rounds as usize, "more round", "more rounds");
            format!("; about {rounds} would probably decide")
        });
        format!("Undecided: {} against {baseline}{more}.", entry.name)
    });
    said.chain(undecided).collect()
}

/// Summarises many subjects: counts per verdict, and the extremes. The table has each subject.
fn summary(comparison: &Comparison<'_>, baseline: &str) -> String {
    let mut clauses = Vec::new();
    for kind in [VerdictKind::Faster, VerdictKind::Slower] {
        // Entries are ordered by time: the last of the faster ones is nearest to the baseline, and so
        // is the first of the slower ones.
        let mut all: Vec<_> = judged(comparison, kind).collect();
        if kind == VerdictKind::Faster {
            all.reverse();
        }
        let one = |(entry, verdict): &(&Entry<'_>, &Verdict)| {
            format!("{} {}", entry.name, effect(verdict).0)
        };
        match all.as_slice() {
            [] => {}
            [only] => clauses.push(format!("{}{}", one(only), effect(only.1).1)),
            [near, .., far] => {
                let (count, kind) = (all.len(), kind.label());
                clauses.push(format!("{count} {kind}, {} to {}", one(near), one(far)));
            }
        }
    }
    for kind in [VerdictKind::Equivalent, VerdictKind::Undecided] {
        let names = judged(comparison, kind).map(|(entry, _)| entry.name.as_str());
        match judged(comparison, kind).count() {
            0 => {}
            1..=3 => clauses.push(format!("{}: {}", kind.label(), units::list(names))),
            many => clauses.push(format!("{many} {}", kind.label())),
        }
    }
    format!("Against {baseline}: {}.", clauses.join("; "))
}

/// Names the factor that differs, or the factors of confounded comparisons.
pub(super) fn factors(all: &[&Comparison<'_>]) -> Option<String> {
    let factors = distinct(all.iter().flat_map(|one| &one.factors));
    let named = units::list(factors.iter().map(|f| f.replace('_', " ")));
    let together = "differ together, so the ratio has no single cause.";
    let confounded = all.iter().any(|one| one.confounded);
    Some(match (confounded, factors.len()) {
        (false, 0) => return None,
        (true, 0) => format!("Confounded: several factors {together}"),
        (true, _) => format!("Confounded: {named} {together}"),
        (false, 1) => format!("One factor differs: {named}."),
        (false, _) => format!("Factors that differ: {named}."),
    })
}

/// Formats an effect and its direction: `3.1 ×` and ` faster`, or in per cent if it is small.
pub(super) fn effect(verdict: &Verdict) -> (String, &'static str) {
    let ratio = verdict.ratio;
    let factor = ratio.max(ratio.recip());
    let either = |less, more| if ratio < 1.0 { less } else { more };
    match verdict.verdict {
        VerdictKind::Equivalent | VerdictKind::Undecided => {
            (verdict.verdict.label().to_owned(), "")
        }
        _ if !(ratio.is_finite() && ratio > 0.0) => ("n/a".to_owned(), ""),
        _ if factor >= 1.2 => {
            let factor = format!("{}\u{a0}×", times(factor));
            (factor, either(" faster", " slower"))
        }
        _ => {
            let share = units::percent((ratio - 1.0).abs());
            (share, either(" less time", " more time"))
        }
    }
}

fn with_interval(verdict: &Verdict) -> String {
    let [low, high] = verdict.interval;
    let (size, direction) = effect(verdict);
    let ends = if verdict.ratio < 1.0 {
        [high.recip(), low.recip()]
    } else {
        [low, high]
    };
    let [least, most] = ends.map(times);
    let has_none = direction.ends_with("time") || !(low > 0.0 && high.is_finite());
    if has_none || least == most {
        return format!("{size}{direction}");
    }
    format!("{size}{direction} ({least} to {most})")
}

fn times(factor: f64) -> String {
    units::fixed(factor, if factor < 10.0 { 1 } else { 0 })
}

fn judged<'c, 'a>(
    comparison: &'c Comparison<'a>,
    wanted: VerdictKind,
) -> impl Iterator<Item = (&'c Entry<'a>, &'a Verdict)> {
    let entries = comparison.entries.iter();
    entries.filter_map(move |entry| match entry.role {
        Role::Compared(verdict) if verdict.verdict == wanted => Some((entry, verdict)),
        _ => None,
    })
}
