//! Assigns runtimes to drivers.

use super::Driver;
use super::runtime::{Places, Runtime, Support, day};
use jeton_lab_model::result::RuntimeUsed;

/// The runtimes that a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runtimes {
    /// The commands on `PATH`.
    #[default]
    Path,
    /// The newest supported runtime of each language that is installed.
    Newest,
    /// All installed runtimes, each as its own subject.
    All,
}

/// Drivers with their runtimes.
#[derive(Debug, Clone)]
pub struct Equipped {
    /// The drivers; with [`Runtimes::All`] each once per runtime.
    pub drivers: Vec<Driver>,
    /// With [`Runtimes::All`]: installed runtimes that are too old for the drivers.
    pub left_out: Vec<Runtime>,
}

/// Assigns the selected runtime or runtimes to each driver. `today`, as `2026-11-26`, determines
/// support.
#[must_use]
pub fn equip(drivers: &[Driver], which: Runtimes, places: &Places, today: &str) -> Equipped {
    let mut languages: Vec<&str> = Vec::new();
    for driver in drivers.iter().filter(|driver| driver.has_runtime()) {
        if !languages.contains(&driver.manifest.language.as_str()) {
            languages.push(&driver.manifest.language);
        }
    }
    let Selected { taken, left_out } = select(&languages, which, places, today);
    let mut equipped = Equipped {
        drivers: Vec::new(),
        left_out,
    };
    for driver in drivers {
        let own = taken
            .iter()
            .filter(|r| driver.has_runtime() && r.language == driver.manifest.language);
        let mut of_driver: Vec<Driver> = own
            .enumerate()
            .map(|(i, runtime)| driver.on(runtime, i > 0))
            .collect();
        if of_driver.is_empty() {
            of_driver.push(driver.clone());
        }
        equipped.drivers.extend(of_driver);
    }
    equipped
}

/// Returns the runtime of each of these languages: the one on `PATH`, or with [`Runtimes::Newest`] the newest supported
/// one. Languages without a runtime, such as Rust, have none.
#[must_use]
pub fn one_of_each(
    languages: &[&str],
    which: Runtimes,
    places: &Places,
    today: &str,
) -> Vec<Runtime> {
    let mut one = select(languages, which, places, today).taken;
    one.dedup_by(|later, first| later.language == first.language);
    one
}

struct Selected {
    /// Those of a language follow each other.
    taken: Vec<Runtime>,
    /// With [`Runtimes::All`]: those that are too old.
    left_out: Vec<Runtime>,
}

fn select(languages: &[&str], which: Runtimes, places: &Places, today: &str) -> Selected {
    // Queries run in parallel: JVM and pyenv are slow to print their versions.
    let found: Vec<Vec<Runtime>> = std::thread::scope(|scope| {
        let asking: Vec<_> = languages
            .iter()
            .map(|language| {
                scope.spawn(move || match which {
                    Runtimes::Path => places.on_path(language).into_iter().collect(),
                    Runtimes::Newest | Runtimes::All => places.all(language),
                })
            })
            .collect();
        let answers = asking.into_iter().map(|a| a.join().unwrap_or_default());
        answers.collect()
    });
    let mut selected = Selected {
        taken: Vec::new(),
        left_out: Vec::new(),
    };
    for mut found in found {
        if which != Runtimes::Path {
            let (old, recent): (Vec<_>, Vec<_>) = found.into_iter().partition(Runtime::is_old);
            if which == Runtimes::All {
                selected.left_out.extend(old);
            }
            found = recent;
        }
        if which == Runtimes::Newest {
            let rank = |r: &&Runtime| {
                let pre_release = !r.version.pre_release.is_empty();
                let standing = match r.support(today) {
                    Support::Ended(_) => 0,
                    Support::Unknown => 1,
                    Support::Until(_) => 2,
                };
                (!pre_release, standing, r.version.clone())
            };
            found = found.iter().max_by_key(rank).cloned().into_iter().collect();
        }
        selected.taken.extend(found);
    }
    selected
}

/// Returns the distinct runtimes of these, with their support state on a day.
#[must_use]
pub fn runtimes_used<'r>(
    runtimes: impl Iterator<Item = &'r Runtime>,
    started: jiff::Timestamp,
) -> Vec<RuntimeUsed> {
    let today = day(started);
    let mut all: Vec<RuntimeUsed> = Vec::new();
    for runtime in runtimes {
        let used = runtime.used(&today);
        if !all.contains(&used) {
            all.push(used);
        }
    }
    all
}
