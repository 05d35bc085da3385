//! Each fuzz target of the library, for seconds. `cargo xtask soak` runs them long.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use super::Outcome;
use crate::command::{Error, Workspace};
use crate::counted::count;
use crate::fuzz::{Optimised, Scope, Targets};
use crate::tally::Tally;

/// How long each target runs.
const EACH: Duration = Duration::from_secs(2);

/// Most targets that run at a time.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(4).expect("not zero");

pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let targets = Targets::build(workspace, Scope::Library, Optimised::Little)?;
    // A target has one thread, and may take a gigabyte.
    let at_once =
        thread::available_parallelism().map_or(NonZeroUsize::MIN, |cores| cores.min(AT_ONCE));
    let all = targets.run(workspace, EACH, at_once, |figures| {
        eprintln!("  {figures}");
    })?;
    let found: Vec<&str> = (all.iter())
        .filter(|figures| figures.finding.is_some())
        .map(|figures| figures.target.as_str())
        .collect();
    let failed = found.len();
    count(
        "fuzz targets",
        Tally {
            passed: (all.len() - failed) as u64,
            failed: failed as u64,
            skipped: 0,
        },
    );
    if found.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Error::Failed(format!(
        "{} found something; the inputs are named above",
        found.join(", ")
    )))
}
