//! How to build and run a driver.

use std::ffi::OsString;
use std::path::Path;

use super::runtime::{Runtime, Version};

/// How to build and run a driver or another process.
#[derive(Debug, Clone, Copy)]
pub struct Recipe<'a> {
    /// The name, `language/folder`, and the path in the cache.
    pub id: &'a str,
    /// The folder of the sources.
    pub folder: &'a Path,
    /// The runtime for building and running; `None` for the commands on `PATH`.
    pub runtime: Option<&'a Runtime>,
    /// Required commands on `PATH`.
    pub needs: &'a [String],
    /// The oldest version of the runtime that the library supports: `3.12`.
    pub oldest_runtime: Option<&'a str>,
    /// Further files, outside the folder, that make it stale.
    pub inputs: &'a [String],
    /// The build commands.
    pub build: &'a [Vec<String>],
    /// The run command.
    pub run: &'a [String],
}

impl<'a> Recipe<'a> {
    /// Returns what this machine lacks to build and run it, if anything: "needs `go`, which is not on PATH".
    #[must_use]
    pub fn unmet(&self) -> Option<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let has = |need: &str| {
            self.runtime.is_some_and(|runtime| runtime.has(need))
                || std::env::split_paths(&path).any(|folder| folder.join(need).is_file())
        };
        let missing = self.needs.iter().find(|need| !has(need));
        missing
            .map(|need| format!("needs `{need}`, which is not on PATH"))
            .or_else(|| self.old_runtime())
    }

    fn old_runtime(&self) -> Option<String> {
        let (runtime, oldest) = (self.runtime?, Version::in_text(self.oldest_runtime?)?);
        let found = runtime.label();
        (runtime.version < oldest).then(|| format!("needs version {oldest} or newer, not {found}"))
    }

    /// Returns the environment variables for building and running.
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        self.runtime.map(Runtime::environment).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn recipe_on_old_runtime_says_which_it_needs() {
        let runtime = Runtime {
            language: "python".into(),
            version: Version::in_text("3.11.7").unwrap(),
            found: "PATH".into(),
            folder: None,
        };
        let unmet = |oldest_runtime, runtime| {
            let recipe = Recipe {
                id: "python/one",
                folder: Path::new("."),
                runtime,
                needs: &[],
                oldest_runtime,
                inputs: &[],
                build: &[],
                run: &[],
            };
            recipe.unmet()
        };
        let said = "needs version 3.12 or newer, not CPython 3.11.7";
        assert_eq!(unmet(Some("3.12"), Some(&runtime)).unwrap(), said);
        for met in ["3.9", "3.11", "3.11.7"] {
            assert_eq!(unmet(Some(met), Some(&runtime)), None);
        }
        assert_eq!(unmet(None, Some(&runtime)), None);
        assert_eq!(unmet(Some("3.12"), None), None);
    }
}
