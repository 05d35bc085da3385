//! Asks a program for its version.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit for a tool to print its version. Maven takes seconds on a busy machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Returns the first line that a program prints, with these additional environment variables.
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
    // A version is shorter than the pipe's buffer, so no reader is needed meanwhile.
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
