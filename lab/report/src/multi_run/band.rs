//! The noise band of a ratio between two runs, and what sets it.

use serde::Serialize;

use super::runs::Work;
use jeton_lab_model::result::{AaPair, NoiseFloor, Row, RunResult, is_managed};
use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::unpaired::{
    BetweenRuns, CommonShift, SHIFT_CONTROLS_MIN, SHIFT_MAX, between_runs,
};
use jeton_lab_stats::verdict::{PRACTICAL_DIFFERENCE, UNMEASURED_FLOOR};

/// The number of controls of the same kind, on as many threads, that makes the others unnecessary.
const OWN_MIN: usize = 2;

/// What sets the width of a band: the widest of three.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SetBy {
    /// Smaller differences are of no interest.
    PracticalDifference,
    NoiseFloor {
        run: &'static str,
        /// The A/A pair with the largest difference.
        pair: Farthest,
    },
    /// One of the runs has no A/A pair on as many threads: its noise is not known.
    NoNoiseFloor { run: &'static str, threads: u32 },
    /// The controls, which differ this much between the runs.
    Controls {
        count: usize,
        of: Kind,
        /// The control with the largest difference from the others.
        control: Farthest,
    },
}

/// Kinds of subjects with different noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Compiled before it runs: Rust, Go.
    Compiled,
    /// Compiled while it runs: Node, Java, Python.
    Managed,
    /// Both, because there are too few of one.
    Any,
}

/// The pair or control with the largest difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Farthest {
    pub what: String,
    /// The ratio: second to first of an A/A pair; later to earlier of a control, without the common
    /// shift.
    pub ratio: f64,
    pub interval: [f64; 2],
}

/// The difference between two runs, as their controls show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ControlsShow {
    /// The kind of subjects that it applies to.
    #[serde(rename = "for")]
    pub judged: Kind,
    /// The threads of the rows that it applies to.
    pub threads: u32,
    pub controls: usize,
    pub of: Kind,
    /// The common shift of the controls, later to earlier: 1.12 if all became slower by 12 %, one if
    /// they do not agree. It is attributed to the machine.
    pub shift: f64,
    pub shift_removed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift_kept: Option<ShiftKept>,
    /// The remaining spread of unchanged subjects, as a ratio minus one.
    pub spread: f64,
}

/// The reason why a common shift of the controls stays in the ratios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShiftKept {
    TooFewControls,
    TooLarge,
    NoOwnControl,
    /// The only control of the same kind, on as many threads, does not show it.
    OwnControlDiffers,
}

/// A subject with unchanged code in both runs, and its ratio.
pub(super) type Control<'a> = (&'a Row, Ratio);

/// All controls of two runs, and their noise floors.
pub(super) struct Noise<'a> {
    pub(super) runs: [&'a RunResult; 2],
    pub(super) controls: Vec<Control<'a>>,
    pub(super) comparisons: usize,
}

pub(super) struct Around {
    /// The shift to remove from its ratio, a natural logarithm.
    pub(super) log_shift: f64,
    /// A shift that could be removed but is kept.
    pub(super) log_shift_seen: f64,
    /// The band around one, as a ratio minus one: 0.05 is 5 %.
    pub(super) width: f64,
    pub(super) set_by: SetBy,
}

impl<'a> Noise<'a> {
    pub(super) fn shown(&self, rows: impl IntoIterator<Item = Like>) -> Vec<ControlsShow> {
        let shown = rows.into_iter().filter_map(|like| {
            let selected = self.selected(like, None);
            let shown = selected.between(self.comparisons)?;
            Some(ControlsShow {
                judged: Kind::of(like.managed),
                threads: like.threads,
                controls: selected.controls.len(),
                of: selected.of,
                shift: shown.log_shift_seen.exp(),
                shift_removed: shown.between.log_shift() != 0.0,
                shift_kept: shown.kept,
                spread: shown.between.spread(),
            })
        });
        shown.collect()
    }

    fn selected(&self, like: Like, except: Option<&Row>) -> Selected<'a> {
        let is_other = |c: &&Control<'a>| except.is_none_or(|row| !std::ptr::eq(row, c.0));
        let controls: Vec<Control<'a>> = self.controls.iter().filter(is_other).copied().collect();
        let own = controls.iter().copied().filter(|c| Like::of(c.0) == like);
        let own: Vec<Control<'a>> = own.collect();
        let (has_own, is_enough) = (!own.is_empty(), own.len() >= OWN_MIN);
        let single = own.first().filter(|_| !is_enough);
        Selected {
            single: single.map(|(_, ratio)| *ratio),
            of: if is_enough {
                Kind::of(like.managed)
            } else {
                Kind::Any
            },
            controls: if is_enough { own } else { controls },
            has_own,
        }
    }

    /// Returns the noise of a row with changed code; that of a control from all other controls.
    pub(super) fn around(&self, row: &Row, is_control: bool) -> Around {
        let selected = self.selected(Like::of(row), is_control.then_some(row));
        let comparisons = if is_control {
            self.controls.len()
        } else {
            self.comparisons
        };
        let mut bands = vec![(PRACTICAL_DIFFERENCE, SetBy::PracticalDifference)];
        for (noise, run) in self.runs.iter().zip(["before", "after"]) {
            let threads = row.threads;
            bands.push(match floor(&noise.noise_floor, row) {
                Some((width, pair)) => {
                    let pair = Farthest {
                        what: format!("{} {}", pair.operation, pair.subject),
                        ratio: pair.ratio,
                        interval: pair.interval,
                    };
                    (width, SetBy::NoiseFloor { run, pair })
                }
                None => (UNMEASURED_FLOOR, SetBy::NoNoiseFloor { run, threads }),
            });
        }
        let (mut log_shift, mut log_shift_seen) = (0.0, 0.0);
        if let Some(shown) = selected.between(comparisons) {
            (log_shift, log_shift_seen) = (shown.between.log_shift(), shown.log_shift_seen);
            let (control, ratio) = selected.controls[shown.between.farthest()];
            let ratio = ratio.without_shift(log_shift);
            let control = Farthest {
                what: Work::of(control).to_string(),
                ratio: ratio.ratio(),
                interval: ratio.interval(),
            };
            let (count, of) = (selected.controls.len(), selected.of);
            bands.push((
                shown.between.spread(),
                SetBy::Controls { count, of, control },
            ));
        }
        // Of equal bands, the first.
        let widest = bands.into_iter();
        let widest = widest.reduce(|widest, band| if band.0 > widest.0 { band } else { widest });
        let (width, set_by) = widest.expect("there is a practical difference");
        Around {
            log_shift,
            log_shift_seen,
            width,
            set_by,
        }
    }
}

/// What noise depends on: the kind of the subject, and its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Like {
    managed: bool,
    threads: u32,
}

impl Like {
    pub(super) fn of(row: &Row) -> Self {
        Self {
            managed: row.subject.is_managed(),
            threads: row.threads,
        }
    }
}

struct Selected<'a> {
    controls: Vec<Control<'a>>,
    of: Kind,
    /// The only control of the row's kind, on as many threads.
    single: Option<Ratio>,
    has_own: bool,
}

/// The difference between two runs, and the shift that its controls show.
struct Shown {
    between: BetweenRuns,
    /// The shift, even if it is kept; zero if the controls do not agree.
    log_shift_seen: f64,
    kept: Option<ShiftKept>,
}

impl Selected<'_> {
    fn between(&self, comparisons: usize) -> Option<Shown> {
        let ratios: Vec<Ratio> = self.controls.iter().map(|(_, ratio)| *ratio).collect();
        let between = |common| between_runs(&ratios, comparisons, common);
        let common = if self.has_own {
            CommonShift::Remove
        } else {
            CommonShift::Keep
        };
        let shown = between(common)?;
        let shift = shown.log_shift();
        // A shift of Node alone, or of one thread alone, may not be the machine's: such a row must show it
        // too. It does not if it took as long as before, rather than as long as the shift says.
        let denies = |own: Ratio| (own.log_mean() - shift).abs() >= own.log_mean().abs();
        if shift != 0.0 && self.single.is_some_and(denies) {
            return Some(Shown {
                between: between(CommonShift::Keep)?,
                log_shift_seen: shift,
                kept: Some(ShiftKept::OwnControlDiffers),
            });
        }
        let log_shift_seen = shown.log_shift_seen();
        let why_kept = || match self.controls.len() {
            ..SHIFT_CONTROLS_MIN => ShiftKept::TooFewControls,
            _ if log_shift_seen.abs() > SHIFT_MAX.ln_1p() => ShiftKept::TooLarge,
            _ => ShiftKept::NoOwnControl,
        };
        let kept = (log_shift_seen != 0.0 && shift == 0.0).then(why_kept);
        Some(Shown {
            between: shown,
            log_shift_seen,
            kept,
        })
    }
}

impl Kind {
    fn of(managed: bool) -> Self {
        if managed {
            Self::Managed
        } else {
            Self::Compiled
        }
    }
}

/// Returns a run's floor for the kind and threads of this row, and the pair with the largest difference.
/// Without an A/A pair there is no noise floor.
fn floor<'n>(noise: &'n NoiseFloor, row: &Row) -> Option<(f64, &'n AaPair)> {
    let fewest = noise.fewest_threads();
    let of_managed = noise.managed.filter(|_| row.subject.is_managed());
    let (width, of) = match (noise.floor, of_managed) {
        (Some(floor), Some(managed)) if managed > floor => (managed, Kind::Managed),
        (None, Some(managed)) => (managed, Kind::Managed),
        // If managed code has its own floor, the other floor is of compiled code only.
        (Some(floor), _) if noise.managed.is_some() => (floor, Kind::Compiled),
        (Some(floor), _) => (floor, Kind::Any),
        (None, None) => return None,
    };
    let pair = widest_pair(noise, fewest, of)?;
    if row.threads == fewest {
        return Some((width, pair));
    }
    let own = noise
        .threads
        .iter()
        .find(|own| own.threads == row.threads)?;
    let own_pair = widest_pair(noise, own.threads, Kind::Any)?;
    let is_wider = own.floor > width;
    Some(if is_wider {
        (own.floor, own_pair)
    } else {
        (width, pair)
    })
}

fn widest_pair(noise: &NoiseFloor, threads: u32, of: Kind) -> Option<&AaPair> {
    let is_of_floor = |pair: &&AaPair| {
        let language = pair.subject.split('/').next().unwrap_or_default();
        let is_of_kind = of == Kind::Any || Kind::of(is_managed(language)) == of;
        is_of_kind && pair.threads == threads
    };
    // The distance of an interval's far end from one.
    let extent = |pair: &AaPair| {
        pair.interval
            .map(|end| end.ln().abs())
            .into_iter()
            .fold(0.0, f64::max)
    };
    let pairs = noise.pairs.iter().filter(is_of_floor);
    pairs.max_by(|a, b| extent(a).total_cmp(&extent(b)))
}
