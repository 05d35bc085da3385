//! Selects the drivers and the keys.

use std::time::Duration;

use super::corpus::{CorpusEntry, Replayed};
use super::panel::Panel;
use super::{Fuzzed, corpus, fuzz_panel};
use crate::attack::fixtures::Stage;
use crate::attack::run::{Event, Options, Stages, attackable};
use crate::attack::session::Stopped;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Built, Driver, Unbuilt};

/// Why nothing is fuzzed.
const TOO_FEW: &str = "fewer than two drivers are available: nothing to compare";

/// Sends changed tokens, unusual claims and changed keys to all drivers of a format, for the given
/// time. Reports and skips drivers that are unavailable.
///
/// # Errors
///
/// A sentence, if the run was stopped or fewer than two drivers are available.
pub fn fuzz(
    drivers: &[Driver],
    options: &Options,
    time: Duration,
    stop: &Stop,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Fuzzed, String> {
    let built = ready(drivers, options, stop, tell)?;
    if built.len() < 2 {
        return Err(TOO_FEW.into());
    }
    let stages = stages();
    let all: Vec<&Stage> = stages.0.iter().collect();
    let panel = Panel::of(&built, stop, tell);
    if panel.names().len() < 2 && !stop.requested() {
        return Err(TOO_FEW.into());
    }
    fuzz_panel(panel, &all, options.seed, time, stop)
        .map_err(|Stopped| "stopped before a case was found".into())
}

/// Judges the cases of a corpus again.
///
/// # Errors
///
/// A sentence, if the run was stopped.
pub fn replay(
    cases: &[CorpusEntry],
    drivers: &[Driver],
    options: &Options,
    stop: &Stop,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Replayed, String> {
    let built = ready(drivers, options, stop, tell)?;
    let stages = stages();
    let all: Vec<&Stage> = stages.0.iter().collect();
    let mut panel = Panel::of(&built, stop, tell);
    corpus::replay(cases, &mut panel, &all)
        .map_err(|Stopped| "stopped before every case was judged".into())
}

fn ready<'d>(
    drivers: &'d [Driver],
    options: &Options,
    stop: &Stop,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<(&'d Driver, Built)>, String> {
    let mut built = Vec::new();
    for driver in drivers.iter().filter(|d| attackable(d, &options.subjects)) {
        let stale = options.cache.stale(driver.recipe());
        if options.built_only && stale {
            continue;
        }
        if stale {
            tell(Event::Building(&driver.id));
        }
        match options.cache.build(driver.recipe(), stop) {
            Ok(made) => built.push((driver, made)),
            Err(Unbuilt::Stopped) => return Err("stopped before the start".into()),
            Err(Unbuilt::Unavailable(reason)) => tell(Event::Unavailable {
                driver: &driver.id,
                reason: &reason,
            }),
        }
    }
    Ok(built)
}

/// Nothing listens at this address: no keys are fetched.
fn stages() -> Stages {
    Stages::new(jiff::Timestamp::now().as_second(), "http://127.0.0.1:9/")
}
