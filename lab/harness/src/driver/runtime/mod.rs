//! Language runtimes of the drivers: search, selection and support.

mod search;
mod support;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use search::Places;
pub(super) use search::command_of;
pub use support::{Support, support};
pub use version::Version;

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
    pub(super) fn used(&self, today: &str) -> RuntimeUsed {
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

    pub(super) fn is_old(&self) -> bool {
        let mut oldest = OLDEST.iter().filter(|(l, _)| *l == self.language);
        oldest.any(|(_, oldest)| self.version.numbers.as_slice() < *oldest)
    }
}

/// Returns the day of a time, in UTC.
#[must_use]
pub fn day(moment: jiff::Timestamp) -> String {
    moment.strftime("%Y-%m-%d").to_string()
}
