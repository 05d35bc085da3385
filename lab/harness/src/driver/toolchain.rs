//! The toolchains of the drivers.

use std::path::Path;

use serde::Serialize;

use super::Driver;
use super::first_line::first_line;

/// The tools of the lab's languages, and how to query their versions.
const TOOLS: [(&str, &str, &str); 8] = [
    ("rust", "cargo", "--version"),
    ("rust", "rustc", "--version"),
    ("go", "go", "version"),
    ("node", "node", "--version"),
    ("node", "npm", "--version"),
    ("java", "java", "--version"),
    ("java", "mvn", "--version"),
    ("python", "python3", "--version"),
];

/// A tool, and the drivers that need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// The language.
    pub language: String,
    /// The command.
    pub command: String,
    /// The version; `None` if the tool is missing or does not answer.
    pub version: Option<String>,
    /// The drivers that require the tool.
    pub needed_by: Vec<String>,
}

/// Returns the lab's tools and further tools of the drivers, with their versions.
#[must_use]
pub fn toolchains(drivers: &[Driver]) -> Vec<Tool> {
    let mut tools: Vec<Tool> = TOOLS
        .iter()
        .map(|(language, command, ask)| Tool {
            language: (*language).to_owned(),
            command: (*command).to_owned(),
            version: version(command, ask),
            needed_by: needed_by(command, drivers),
        })
        .collect();
    for driver in drivers {
        for need in &driver.manifest.needs {
            if tools.iter().all(|tool| tool.command != *need) {
                tools.push(Tool {
                    language: driver.manifest.language.clone(),
                    command: need.clone(),
                    version: version(need, "--version"),
                    needed_by: needed_by(need, drivers),
                });
            }
        }
    }
    tools
}

fn needed_by(command: &str, drivers: &[Driver]) -> Vec<String> {
    let needs = |d: &&Driver| d.manifest.needs.iter().any(|need| need == command);
    drivers.iter().filter(needs).map(|d| d.id.clone()).collect()
}

/// Returns the first line that the tool prints.
fn version(command: &str, ask: &str) -> Option<String> {
    first_line(Path::new(command), ask, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_missing_has_no_version() {
        assert_eq!(version("jeton-no-such-tool", "--version"), None);
        assert!(version("cargo", "--version").is_some_and(|v| v.starts_with("cargo ")));
    }
}
