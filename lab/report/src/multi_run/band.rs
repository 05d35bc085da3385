//! The noise band of a ratio between two runs, and what sets it.

use serde::Serialize;

use super::same::Work;
use jeton_lab_model::result::{AaPair, NoiseFloor, Row, RunResult, is_managed};
use jeton_lab_stats::interval::Ratio;
use jeton_lab_stats::unpaired::{BetweenRuns, CommonShift, between_runs};
use jeton_lab_stats::verdict::{PRACTICAL_DIFFERENCE, UNMEASURED_FLOOR};

/// The number of controls of the same kind that makes those of the other kind unnecessary.
const OWN_KIND_MIN: usize = 2;

/// What sets the width of a band: the widest of three.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SetBy {
    /// Smaller differences are of no interest.
    PracticalDifference,
    /// The noise floor of one of the runs.
    NoiseFloor {
        /// The run: `before` or `after`.
        run: &'static str,
        /// The A/A pair with the largest difference.
        pair: Farthest,
    },
    /// One of the runs has no A/A pair on as many threads: its noise is not known.
    NoNoiseFloor {
        /// The run: `before` or `after`.
        run: &'static str,
        /// The threads of the row.
        threads: u32,
    },
    /// The controls, which differ this much between the runs.
    Controls {
        /// The number of controls.
        count: usize,
        /// The kind of the controls.
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
    /// The operation and subject.
    pub what: String,
    /// The ratio: second to first of an A/A pair; later to earlier of a control, without the common
    /// shift.
    pub ratio: f64,
    /// The interval of the ratio.
    pub interval: [f64; 2],
}

/// The difference between two runs, as their controls show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ControlsShow {
    /// The kind of subjects that it applies to.
    #[serde(rename = "for")]
    pub judged: Kind,
    /// The number of controls.
    pub controls: usize,
    /// The kind of the controls.
    pub of: Kind,
    /// The common shift of the controls, later to earlier: 1.12 if all became slower by 12 %, one if
    /// they do not agree. It is attributed to the machine.
    pub shift: f64,
    /// True if the shift is removed from the ratios. It is kept if there are fewer than three controls,
    /// if all are of the other kind, or if it is larger than 50 %.
    pub shift_removed: bool,
    /// The remaining spread of unchanged subjects, as a ratio minus one.
    pub spread: f64,
}

/// A subject with unchanged code in both runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Control<'a> {
    pub(super) row: &'a Row,
    pub(super) ratio: Ratio,
}

/// All controls of two runs, and their noise floors.
pub(super) struct Noise<'a> {
    runs: [&'a RunResult; 2],
    controls: Vec<Control<'a>>,
    /// The number of simultaneous verdicts.
    comparisons: usize,
}

/// The noise of one row.
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
    pub(super) fn new(
        runs: [&'a RunResult; 2],
        controls: Vec<Control<'a>>,
        comparisons: usize,
    ) -> Self {
        Self {
            runs,
            controls,
            comparisons,
        }
    }

    pub(super) fn controls(&self) -> usize {
        self.controls.len()
    }

    /// Returns the noise of a row with changed code.
    pub(super) fn around(&self, row: &Row) -> Around {
        let controls = self.of_kind(row.subject.is_managed(), None);
        self.with(row, &controls, self.comparisons)
    }

    /// Returns the noise of a control, from all other controls.
    pub(super) fn around_control(&self, row: &Row) -> Around {
        let others = self.of_kind(row.subject.is_managed(), Some(row));
        self.with(row, &others, self.controls.len())
    }

    /// Returns what the controls show for each kind of subjects.
    pub(super) fn shown(&self, kinds: impl IntoIterator<Item = bool>) -> Vec<ControlsShow> {
        let shown = kinds.into_iter().filter_map(|managed| {
            let selected = self.of_kind(managed, None);
            let between = self.between(&selected, self.comparisons)?;
            Some(ControlsShow {
                judged: Kind::of(managed),
                controls: selected.controls.len(),
                of: selected.of,
                shift: between.log_shift_seen().exp(),
                shift_removed: between.log_shift() != 0.0,
                spread: between.spread(),
            })
        });
        shown.collect()
    }

    /// Returns the controls that apply to this kind of subjects.
    fn of_kind(&self, managed: bool, except: Option<&Row>) -> Selected<'_, 'a> {
        let others = || {
            let others = self.controls.iter();
            others.filter(move |c| except.is_none_or(|row| !std::ptr::eq(row, c.row)))
        };
        let own: Vec<&Control<'a>> = others()
            .filter(|c| c.row.subject.is_managed() == managed)
            .collect();
        if own.len() >= OWN_KIND_MIN {
            return Selected {
                controls: own,
                of: Kind::of(managed),
                common: CommonShift::Remove,
            };
        }
        // A shift of Node alone may not be the machine's: compiled code must show it too.
        let common = match own.is_empty() {
            true => CommonShift::Keep,
            false => CommonShift::Remove,
        };
        Selected {
            controls: others().collect(),
            of: Kind::Any,
            common,
        }
    }

    fn between(&self, selected: &Selected<'_, '_>, comparisons: usize) -> Option<BetweenRuns> {
        let ratios: Vec<Ratio> = selected.controls.iter().map(|c| c.ratio).collect();
        between_runs(&ratios, comparisons, selected.common)
    }

    fn with(&self, row: &Row, selected: &Selected<'_, '_>, comparisons: usize) -> Around {
        let mut widest = (PRACTICAL_DIFFERENCE, SetBy::PracticalDifference);
        let mut consider = |width: f64, set_by: SetBy| {
            if width > widest.0 {
                widest = (width, set_by);
            }
        };
        for (run, name) in self.runs.iter().zip(["before", "after"]) {
            match floor(&run.noise_floor, row) {
                Some((width, pair)) => {
                    let pair = self::farthest(pair);
                    consider(width, SetBy::NoiseFloor { run: name, pair });
                }
                None => {
                    let threads = row.threads;
                    consider(UNMEASURED_FLOOR, SetBy::NoNoiseFloor { run: name, threads });
                }
            }
        }
        let (mut log_shift, mut log_shift_seen) = (0.0, 0.0);
        if let Some(between) = self.between(selected, comparisons) {
            (log_shift, log_shift_seen) = (between.log_shift(), between.log_shift_seen());
            let control = selected.controls[between.farthest()];
            let ratio = control.ratio.without_shift(log_shift);
            let control = Farthest {
                what: Work::of(control.row).to_string(),
                ratio: ratio.ratio(),
                interval: ratio.interval(),
            };
            let set_by = SetBy::Controls {
                count: selected.controls.len(),
                of: selected.of,
                control,
            };
            consider(between.spread(), set_by);
        }
        let (width, set_by) = widest;
        Around {
            log_shift,
            log_shift_seen,
            width,
            set_by,
        }
    }
}

struct Selected<'n, 'a> {
    controls: Vec<&'n Control<'a>>,
    of: Kind,
    common: CommonShift,
}

impl Kind {
    fn of(managed: bool) -> Self {
        match managed {
            true => Self::Managed,
            false => Self::Compiled,
        }
    }
}

/// Returns a run's floor for the kind and threads of this row, and the pair with the largest difference.
/// A floor that no pair shows is none.
fn floor<'n>(noise: &'n NoiseFloor, row: &Row) -> Option<(f64, &'n AaPair)> {
    let fewest = noise.fewest_threads();
    let (width, of) = floor_of_kind(noise, row.subject.is_managed())?;
    let pair = widest_pair(noise, fewest, of)?;
    if row.threads == fewest {
        return Some((width, pair));
    }
    let own = noise
        .threads
        .iter()
        .find(|own| own.threads == row.threads)?;
    let own_pair = widest_pair(noise, own.threads, Kind::Any)?;
    Some(match own.floor > width {
        true => (own.floor, own_pair),
        false => (width, pair),
    })
}

/// Returns the floor on the fewest threads for this kind of subjects, and the kind of its pairs.
fn floor_of_kind(noise: &NoiseFloor, managed: bool) -> Option<(f64, Kind)> {
    let of_managed = noise.managed.filter(|_| managed);
    Some(match (noise.floor, of_managed) {
        (Some(floor), Some(managed)) if managed > floor => (managed, Kind::Managed),
        (None, Some(managed)) => (managed, Kind::Managed),
        // If managed code has its own floor, the other floor is of compiled code only.
        (Some(floor), _) if noise.managed.is_some() => (floor, Kind::Compiled),
        (Some(floor), _) => (floor, Kind::Any),
        (None, None) => return None,
    })
}

fn widest_pair(noise: &NoiseFloor, threads: u32, of: Kind) -> Option<&AaPair> {
    let is_of_floor = |pair: &&AaPair| {
        let language = pair.subject.split('/').next().unwrap_or_default();
        let is_of_kind = of == Kind::Any || Kind::of(is_managed(language)) == of;
        is_of_kind && pair.threads == threads
    };
    let pairs = noise.pairs.iter().filter(is_of_floor);
    pairs.max_by(|a, b| extent(a.interval).total_cmp(&extent(b.interval)))
}

fn farthest(pair: &AaPair) -> Farthest {
    Farthest {
        what: format!("{} {}", pair.operation, pair.subject),
        ratio: pair.ratio,
        interval: pair.interval,
    }
}

/// Returns the distance of an interval's far end from one.
fn extent([low, high]: [f64; 2]) -> f64 {
    low.ln().abs().max(high.ln().abs())
}
