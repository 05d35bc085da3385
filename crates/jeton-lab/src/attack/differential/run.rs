//! Which drivers are asked, and with what keys.

use std::time::Duration;

use super::corpus::{CorpusEntry, Replayed};
use super::panel::Panel;
use super::{Fuzzed, corpus, fuzz_panel};
use crate::attack::fixtures::Stage;
use crate::attack::run::{Event, Options, Stages, attackable};
use crate::attack::session::Stopped;
use crate::driver::{Built, Driver, Unbuilt};
use crate::stop::Stop;

/// Gives changed tokens, odd claims and changed keys to all drivers of a format at once, for so long.
/// Drivers that cannot be had are told of and left out.
///
/// # Errors
/// A sentence, where the run was asked to stop or fewer than two drivers can be had.
pub fn fuzz(
    drivers: &[Driver],
    options: &Options,
    time: Duration,
    stop: &Stop,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Fuzzed, String> {
    let built = ready(drivers, options, stop, tell)?;
    if built.len() < 2 {
        return Err("fewer than two drivers can be had, which cannot disagree".into());
    }
    let stages = stages();
    let all: Vec<&Stage> = stages.0.iter().collect();
    fuzz_panel(Panel::of(&built, stop), &all, options.seed, time, stop)
        .map_err(|Stopped| "ended before anything was found".into())
}

/// Judges the cases of a corpus again.
///
/// # Errors
/// A sentence, where the run was asked to stop.
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
    corpus::replay(cases, &mut Panel::of(&built, stop), &all)
        .map_err(|Stopped| "ended before every case was judged".into())
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
            Err(Unbuilt::Stopped) => return Err("ended before it began".into()),
            Err(Unbuilt::Unavailable(reason)) => tell(Event::Unavailable {
                driver: &driver.id,
                reason: &reason,
            }),
        }
    }
    Ok(built)
}

/// Nobody's address is asked for keys: nothing listens at this one.
fn stages() -> Stages {
    Stages::new(jiff::Timestamp::now().as_second(), "http://127.0.0.1:9/")
}
