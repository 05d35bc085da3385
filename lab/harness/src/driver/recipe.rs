//! How to build and run a driver.

use std::ffi::OsString;
use std::path::Path;

use super::runtime::Runtime;

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
    /// Further files, outside the folder, that make it stale.
    pub inputs: &'a [String],
    /// The build commands.
    pub build: &'a [Vec<String>],
    /// The run command.
    pub run: &'a [String],
}

impl<'a> Recipe<'a> {
    /// Returns the first required command that is missing on `PATH`.
    #[must_use]
    pub fn missing_command(&self) -> Option<&'a str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let has = |need: &str| {
            self.runtime.is_some_and(|runtime| runtime.has(need))
                || std::env::split_paths(&path).any(|folder| folder.join(need).is_file())
        };
        self.needs
            .iter()
            .map(String::as_str)
            .find(|need| !has(need))
    }

    /// Returns the environment variables for building and running.
    #[must_use]
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        self.runtime.map(Runtime::environment).unwrap_or_default()
    }
}
