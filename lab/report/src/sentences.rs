//! Verdicts in sentences.

use jeton_lab_model::result::{NoiseFloor, Verdict, VerdictKind};

use super::comparison::{Comparison, Entry, Role};
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

/// Names the members of the fastest group, if the comparison has groups.
pub(super) fn first_group(comparison: &Comparison<'_>) -> Option<String> {
    let groups = comparison.groups();
    let (_, members) = groups.first()?;
    let names: Vec<&str> = members.iter().map(|entry| entry.name.as_str()).collect();
    Some(match names.as_slice() {
        [one] => format!("Fastest: {one}."),
        several => format!("Fastest group: {}.", units::list(several)),
    })
}

/// Summarises the comparison: differences first, then equivalent and undecided subjects.
pub(super) fn verdicts(comparison: &Comparison<'_>) -> Vec<String> {
    let Some(baseline) = comparison.baseline() else {
        let names: Vec<&str> = comparison.entries.iter().map(|e| e.name.as_str()).collect();
        return vec![format!(
            "{} measured without a comparison.",
            units::list(&names)
        )];
    };
    if comparison.entries.len() > NAMED_MAX {
        return grouped(comparison, &baseline.name);
    }
    let mut sentences = Vec::new();
    let clauses: Vec<String> = judged(comparison, VerdictKind::Faster)
        .chain(judged(comparison, VerdictKind::Slower))
        .map(|(entry, verdict)| format!("{} {}", entry.name, effect(verdict)))
        .collect();
    if !clauses.is_empty() {
        sentences.push(format!(
            "Against {}: {}.",
            baseline.name,
            clauses.join(", ")
        ));
    }
    let equivalent: Vec<&str> = judged(comparison, VerdictKind::Equivalent)
        .map(|(e, _)| e.name.as_str())
        .collect();
    if !equivalent.is_empty() {
        sentences.push(format!(
            "Equivalent to {}: {}.",
            baseline.name,
            units::list(&equivalent)
        ));
    }
    for (entry, verdict) in judged(comparison, VerdictKind::Undecided) {
        let more = verdict.more_rounds.map_or_else(String::new, |rounds| {
            format!(
                "; about {} would probably decide",
                units::count(rounds as usize, "more round", "more rounds")
            )
        });
        sentences.push(format!(
            "Undecided: {} against {}{more}.",
            entry.name, baseline.name
        ));
    }
    sentences
}

/// Summarises many subjects: counts per verdict, and the extremes. The table has each subject.
fn grouped(comparison: &Comparison<'_>, baseline: &str) -> Vec<String> {
    let mut clauses = Vec::new();
    for (kind, words) in [
        (VerdictKind::Faster, "faster"),
        (VerdictKind::Slower, "slower"),
    ] {
        // Entries are ordered by time: the last of the faster ones is nearest to the baseline, and so
        // is the first of the slower ones.
        let mut all: Vec<_> = judged(comparison, kind).collect();
        if kind == VerdictKind::Faster {
            all.reverse();
        }
        match all.as_slice() {
            [] => {}
            [(entry, verdict)] => clauses.push(format!("{} {}", entry.name, short_effect(verdict))),
            [(near, least), .., (far, most)] => clauses.push(format!(
                "{} {words}, {} {} to {} {}",
                all.len(),
                near.name,
                bare_effect(least),
                far.name,
                bare_effect(most)
            )),
        }
    }
    for (kind, words) in [
        (VerdictKind::Equivalent, "equivalent"),
        (VerdictKind::Undecided, "undecided"),
    ] {
        let names: Vec<&str> = judged(comparison, kind)
            .map(|(e, _)| e.name.as_str())
            .collect();
        match names.len() {
            0 => {}
            1..=3 => clauses.push(format!("{words}: {}", units::list(&names))),
            many => clauses.push(format!("{many} {words}")),
        }
    }
    vec![format!("Against {baseline}: {}.", clauses.join("; "))]
}

/// Formats an effect as "3.1 ×" or "5.0 %", for sentences that already say faster or slower.
fn bare_effect(verdict: &Verdict) -> String {
    let effect = short_effect(verdict);
    let words = [" faster", " slower", " less time", " more time"];
    let bare = words.iter().find_map(|word| effect.strip_suffix(word));
    bare.map_or(effect.clone(), str::to_owned)
}

/// Names the factor that differs, or the factors of a confounded comparison.
pub(super) fn factors(comparison: &Comparison<'_>) -> Option<String> {
    if comparison.factors.is_empty() && !comparison.confounded {
        return None;
    }
    let factors: Vec<String> = comparison
        .factors
        .iter()
        .map(|f| f.replace('_', " "))
        .collect();
    Some(if comparison.confounded {
        let which = if factors.is_empty() {
            "several factors".to_owned()
        } else {
            units::list(&factors)
        };
        format!("Confounded: {which} differ together, so the ratio has no single cause.")
    } else if factors.len() == 1 {
        format!("One factor differs: {}.", units::list(&factors))
    } else {
        format!("Factors that differ: {}.", units::list(&factors))
    })
}

/// Formats an effect as "3.1 × faster", or in per cent if it is small.
pub(super) fn short_effect(verdict: &Verdict) -> String {
    match verdict.verdict {
        VerdictKind::Equivalent => "equivalent".to_owned(),
        VerdictKind::Undecided => "undecided".to_owned(),
        _ if !(verdict.ratio.is_finite() && verdict.ratio > 0.0) => "n/a".to_owned(),
        _ => {
            let (factor, word) = if verdict.ratio < 1.0 {
                (1.0 / verdict.ratio, "faster")
            } else {
                (verdict.ratio, "slower")
            };
            if factor < 1.2 {
                let (share, word) = if verdict.ratio < 1.0 {
                    (1.0 - verdict.ratio, "less time")
                } else {
                    (verdict.ratio - 1.0, "more time")
                };
                format!("{} {word}", units::percent(share))
            } else {
                format!("{}\u{a0}× {word}", times(factor))
            }
        }
    }
}

fn effect(verdict: &Verdict) -> String {
    let [low, high] = verdict.interval;
    let effect = short_effect(verdict);
    if effect.ends_with("time") || !(low > 0.0 && high.is_finite()) {
        return effect;
    }
    let (least, most) = if verdict.ratio < 1.0 {
        (1.0 / high, 1.0 / low)
    } else {
        (low, high)
    };
    let (least, most) = (times(least), times(most));
    if least == most {
        effect
    } else {
        format!("{effect} ({least} to {most})")
    }
}

fn times(factor: f64) -> String {
    units::fixed(factor, if factor < 10.0 { 1 } else { 0 })
}

fn judged<'c, 'a>(
    comparison: &'c Comparison<'a>,
    wanted: VerdictKind,
) -> impl Iterator<Item = (&'c Entry<'a>, &'a Verdict)> {
    comparison
        .entries
        .iter()
        .filter_map(move |entry| match entry.role {
            Role::Compared(verdict) if verdict.verdict == wanted => Some((entry, verdict)),
            _ => None,
        })
}
