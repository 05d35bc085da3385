//! The runtimes that drivers are built and run with: which there are, which of them a run takes,
//! and whether they still get fixes.

mod search;
mod support;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use search::Places;
pub use support::{Support, support};
pub use version::Version;

use super::Driver;
use crate::result::{RuntimeUsed, SupportState};

/// The oldest version of each runtime that the drivers are written for.
const OLDEST: [(&str, &[u32]); 4] = [
    ("go", &[1, 25]),
    ("node", &[20]),
    ("java", &[17]),
    ("python", &[3, 11]),
];

/// What a driver of a language runs on: Go's toolchain, Node, a JDK, CPython.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// The language of the drivers that it runs.
    pub language: String,
    /// Its version.
    pub version: Version,
    /// Where it was found, in words that tell nothing of the machine: `PATH`, `pyenv`.
    pub found: String,
    /// The folder of its commands; `None` if they are those on `PATH`.
    pub folder: Option<PathBuf>,
}

impl Runtime {
    /// `JDK 25.0.3`, `Node 26.10.0`.
    #[must_use]
    pub fn label(&self) -> String {
        let name = match self.language.as_str() {
            "go" => "Go",
            "node" => "Node",
            "java" => "JDK",
            "python" => "CPython",
            other => other,
        };
        format!("{name} {}", self.version)
    }

    /// Variables for the processes that build and run a driver with it: its commands are found before
    /// those on `PATH`, and its tools take it and no other.
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let Some(folder) = &self.folder else {
            return Vec::new();
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(folder.clone()).chain(std::env::split_paths(&path));
        let mut variables = Vec::new();
        if let Ok(path) = std::env::join_paths(folders) {
            variables.push(("PATH".into(), path));
        }
        match (self.language.as_str(), folder.parent()) {
            ("java", Some(home)) => variables.push(("JAVA_HOME".into(), home.into())),
            ("go", _) => variables.push(("GOTOOLCHAIN".into(), "local".into())),
            _ => {}
        }
        variables
    }

    /// Whether it has a command of this name beside its own.
    pub(super) fn has(&self, command: &str) -> bool {
        let in_folder = |folder: &Path| folder.join(command).is_file();
        self.folder.as_deref().is_some_and(in_folder)
    }

    /// Whether it still gets fixes on a day: `2026-11-26`.
    #[must_use]
    pub fn support(&self, today: &str) -> Support {
        support(&self.language, &self.version, today)
    }

    /// As a result has it.
    fn used(&self, today: &str) -> RuntimeUsed {
        let (support, end) = match self.support(today) {
            Support::Until(end) => (SupportState::Supported, Some(end)),
            Support::Ended(end) => (SupportState::Ended, end),
            Support::Unknown => (SupportState::Unknown, None),
        };
        RuntimeUsed {
            language: self.language.clone(),
            name: self.label(),
            found: self.found.clone(),
            support,
            support_ends: end.map(str::to_owned),
        }
    }

    fn is_old(&self) -> bool {
        let mut oldest = OLDEST.iter().filter(|(l, _)| *l == self.language);
        oldest.any(|(_, oldest)| self.version.numbers.as_slice() < *oldest)
    }
}

/// Which runtimes a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runtimes {
    /// Those that the commands on `PATH` start: what the user has.
    #[default]
    Path,
    /// Of each language the newest that is supported, wherever it is found.
    Newest,
    /// Of each language all that are found, each a subject of its own.
    All,
}

/// Drivers with their runtimes.
#[derive(Debug, Clone)]
pub struct Equipped {
    /// The drivers; under [`Runtimes::All`] each once per runtime.
    pub drivers: Vec<Driver>,
    /// Under [`Runtimes::All`]: those that were found and are older than the drivers need.
    pub left_out: Vec<Runtime>,
}

/// Gives each driver the runtime, or each of the runtimes, that it is to be measured on. `today`, as
/// `2026-11-26`, decides what is supported.
#[must_use]
pub fn equip(drivers: &[Driver], which: Runtimes, places: &Places, today: &str) -> Equipped {
    let mut languages: Vec<&str> = Vec::new();
    for driver in drivers {
        if !languages.contains(&driver.manifest.language.as_str()) {
            languages.push(&driver.manifest.language);
        }
    }
    // A JVM takes a while to say its version, and so does a pyenv.
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
    let mut equipped = Equipped {
        drivers: Vec::new(),
        left_out: Vec::new(),
    };
    let mut taken = Vec::new();
    for mut found in found {
        if which != Runtimes::Path {
            let (old, recent): (Vec<_>, Vec<_>) = found.into_iter().partition(Runtime::is_old);
            if which == Runtimes::All {
                equipped.left_out.extend(old);
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
        taken.extend(found);
    }
    for driver in drivers {
        let own = taken
            .iter()
            .filter(|r| r.language == driver.manifest.language);
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

/// The runtimes of these drivers, each once, with what is known of their support on a day.
pub(crate) fn used<'d>(
    drivers: impl Iterator<Item = &'d Driver>,
    started: jiff::Timestamp,
) -> Vec<RuntimeUsed> {
    let today = day(started);
    let mut all: Vec<RuntimeUsed> = Vec::new();
    for runtime in drivers.filter_map(|d| d.runtime.as_ref()) {
        let used = runtime.used(&today);
        if !all.contains(&used) {
            all.push(used);
        }
    }
    all
}

/// The day of a moment, in UTC.
#[must_use]
pub fn day(moment: jiff::Timestamp) -> String {
    moment.strftime("%Y-%m-%d").to_string()
}
