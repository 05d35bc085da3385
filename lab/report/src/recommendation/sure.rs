//! How sure an answer is, in words.

use jeton_lab_model::result::{RunResult, Verdict, VerdictKind};
use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::verdict::{Band, judge};
use jeton_lab_stats::verdicts::band_for;

use super::candidate::THREADS;

/// A ratio this many noise bands away from one stays as it is in a disturbed run.
const FAR_BANDS: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sureness {
    Sure,
    FairlySure,
    NotSure,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sure {
    pub(crate) sureness: Sureness,
    pub(crate) why: String,
}

impl Sureness {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Sure => "Sure",
            Self::FairlySure => "Fairly sure",
            Self::NotSure => "Not sure",
        }
    }
}

/// How clear a result is, before the machine counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Clear {
    No,
    /// A difference just above the noise.
    Near,
    /// Equivalent, or a large difference: a disturbance changes neither.
    Far,
}

pub(super) fn of_ratio(result: &RunResult, ratio: &Ratio, managed: bool) -> Sure {
    let band = band_for(&result.noise_floor, std::iter::once(managed), THREADS);
    of_kind(result, judge(ratio, band), ratio.interval(), band)
}

pub(super) fn of_verdict(result: &RunResult, verdict: &Verdict, managed: bool) -> Sure {
    let managed = std::iter::once(managed);
    let band = band_for(&result.noise_floor, managed, verdict.threads);
    of_kind(result, verdict.verdict, verdict.interval, band)
}

pub(crate) fn clear(kind: VerdictKind, [low, high]: [f64; 2], band: Band) -> Clear {
    let nearest = if low > 1.0 { low } else { high.recip() };
    match kind {
        VerdictKind::Undecided => Clear::No,
        VerdictKind::Equivalent => Clear::Far,
        _ if nearest > 1.0 + FAR_BANDS * band.believed_beyond() => Clear::Far,
        _ => Clear::Near,
    }
}

fn of_kind(result: &RunResult, kind: VerdictKind, interval: [f64; 2], band: Band) -> Sure {
    let clear = clear(kind, interval, band);
    let what = match (kind, clear) {
        (VerdictKind::Undecided, _) => "the interval reaches across the noise band",
        (VerdictKind::Equivalent, _) => "the interval is inside the noise band",
        (_, Clear::Far) => "the difference is far above the noise floor",
        _ => "the difference is above the noise floor, by less than three times",
    };
    of_choice(result, clear, what)
}

/// Judges a choice of the fastest, with what the machine did.
pub(crate) fn of_choice(result: &RunResult, clear: Clear, what: &str) -> Sure {
    let environment = &result.environment;
    let trouble = match result.noise_floor.floor {
        _ if environment.disturbance.disturbed => "disturbed run; ",
        _ if !environment.complete => "the run ended early; ",
        None => "no noise floor was measured; ",
        Some(_) => "",
    };
    let sureness = match (clear, trouble) {
        (Clear::Far, "") => Sureness::Sure,
        (Clear::Far, _) | (Clear::Near, "") => Sureness::FairlySure,
        _ => Sureness::NotSure,
    };
    let why = format!("{trouble}{what}");
    Sure { sureness, why }
}

impl Sure {
    pub(super) fn about(self, what: &str) -> Self {
        let why = format!("{what}: {}", self.why);
        Self { why, ..self }
    }

    /// Returns the less sure of two answers.
    pub(super) fn or_weaker(self, other: Self) -> Self {
        if other.sureness > self.sureness {
            other
        } else {
            self
        }
    }
}
