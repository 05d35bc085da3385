//! The toolchains that drivers are built and run with.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::Driver;

/// A tool that does not say its version in this time has none to say. Maven takes seconds on a busy
/// machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// What the languages of the lab are built and run with, and how each is asked for its version.
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

/// One tool, and who needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// The language it belongs to.
    pub language: String,
    /// The command.
    pub command: String,
    /// What it says its version is; `None` if it is not there, or does not answer.
    pub version: Option<String>,
    /// The drivers that cannot be had without it.
    pub needed_by: Vec<String>,
}

/// The lab's tools and whatever else the drivers need, each asked for its version.
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

/// The first line that the tool prints when it is asked.
fn version(command: &str, ask: &str) -> Option<String> {
    first_line(Path::new(command), ask, &[])
}

/// The first line that a program prints when it is asked, with these variables beside its environment.
pub(super) fn first_line(program: &Path, ask: &str, variables: &[(&str, &str)]) -> Option<String> {
    let mut child = Command::new(program)
        .arg(ask)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let began = Instant::now();
    // A version is far shorter than a pipe is deep: nobody has to read meanwhile.
    while child.try_wait().ok()?.is_none() {
        if began.elapsed() > ANSWER_LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut said = String::new();
    let stdout = child.stdout.take()?;
    stdout.take(4096).read_to_string(&mut said).ok()?;
    let line = said.lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_there_has_no_version() {
        assert_eq!(version("jeton-no-such-tool", "--version"), None);
        assert!(version("cargo", "--version").is_some_and(|v| v.starts_with("cargo ")));
    }
}
