//! Language runtimes of the drivers: search, selection and support.

mod search;
mod support;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use search::Places;
pub use support::{Support, support};
pub use version::Version;

use super::Driver;
use jeton_lab_model::result::{RuntimeUsed, SupportState};

/// The oldest supported version of each runtime for the drivers.
const OLDEST: [(&str, &[u32]); 4] = [
    ("go", &[1, 25]),
    ("node", &[20]),
    ("java", &[17]),
    ("python", &[3, 11]),
];

/// A runtime: Go's toolchain, Node, a JDK, or CPython.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// The language of its drivers.
    pub language: String,
    /// The version.
    pub version: Version,
    /// Where it was found, without details of the machine: `PATH`, `pyenv`.
    pub found: String,
    /// The folder of its commands; `None` for commands on `PATH`.
    pub folder: Option<PathBuf>,
}

impl Runtime {
    /// Returns `JDK 25.0.3`, `Node 26.10.0`.
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

    /// Returns the environment variables to build and run a driver with this runtime: its commands come
    /// before those on `PATH`, and its tools use it.
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

    /// Reports whether it has another command of this name.
    pub(super) fn has(&self, command: &str) -> bool {
        let in_folder = |folder: &Path| folder.join(command).is_file();
        self.folder.as_deref().is_some_and(in_folder)
    }

    /// Returns the support state on a day: `2026-11-26`.
    #[must_use]
    pub fn support(&self, today: &str) -> Support {
        support(&self.language, &self.version, today)
    }

    /// Returns it for the result file.
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
    for driver in drivers {
        if !languages.contains(&driver.manifest.language.as_str()) {
            languages.push(&driver.manifest.language);
        }
    }
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

/// Returns the distinct runtimes of these drivers, with their support state on a day.
#[must_use]
pub fn used<'d>(
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

/// Returns the day of a time, in UTC.
#[must_use]
pub fn day(moment: jiff::Timestamp) -> String {
    moment.strftime("%Y-%m-%d").to_string()
}
