//! Runs test programs, shows their output and counts their tests.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, PipeReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::command::{Error, shown};
use crate::tally::{Format, Reader, Tally};

/// A line that begins so is for the terminal, also when the output of a step goes to a file. See [`news`].
pub(crate) const NEWS: &str = "» ";

/// What ends the name in a line of [`count`].
const COUNTED: &str = ": ";

/// Begins the line of [`sampled`].
const SAMPLED: &str = "sampled: ";

/// Begins the line of [`skipped`].
const SKIPPED: &str = "skipped: ";

/// How long the output of a program stays open after its end, if it left another program running.
const LEFT_OPEN: Duration = Duration::from_secs(5);

/// Tells the person who waits for the step.
pub(crate) fn news(text: &str) {
    eprintln!("{NEWS}{text}");
}

/// Says how the tests of a program came out. The summary adds these lines up.
pub(crate) fn count(name: &str, tally: Tally) {
    news(&format!("{name}{COUNTED}{tally}"));
}

/// Says what a step does in part, and which step does it whole.
pub(crate) fn sampled(what: &str) {
    news(&format!("{SAMPLED}{what}"));
}

/// What follows it in a line of news, without [`NEWS`].
pub(crate) fn sample_in(news: &str) -> Option<&str> {
    news.strip_prefix(SAMPLED)
}

/// Says what a step leaves out, because this machine lacks something.
pub(crate) fn skipped(why: &str) {
    news(&format!("{SKIPPED}{why}"));
}

/// What follows it in a line of news, without [`NEWS`].
pub(crate) fn skip_in(news: &str) -> Option<&str> {
    news.strip_prefix(SKIPPED)
}

/// Reads a line of [`count`], without [`NEWS`].
pub(crate) fn counted(news: &str) -> Option<Tally> {
    Tally::parse(news.rsplit_once(COUNTED)?.1)
}

/// Runs a test program with the terminal as its output, and says how many tests passed. One that has none fails.
pub(crate) fn run(name: &str, format: Format, command: &mut Command) -> Result<(), Error> {
    match run_any(name, format, command)? {
        Tally { passed: 0, .. } => Err(Error::Failed(format!("{name} ran no test"))),
        _ => Ok(()),
    }
}

/// The same for a program that may have no tests.
pub(crate) fn run_any(name: &str, format: Format, command: &mut Command) -> Result<Tally, Error> {
    let line = shown(command);
    eprintln!("  $ {line}");
    let cannot = |error| Error::Usage(format!("`{line}` did not start: {error}"));
    let (output, input) = std::io::pipe().map_err(cannot)?;
    command.stderr(input.try_clone().map_err(cannot)?);
    let child = command.stdout(input).spawn();
    // The pipe ends when no program has it any more, this one included.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.map_err(cannot)?;

    let (send, ended) = mpsc::channel();
    let counting = thread::spawn(move || send.send(show(output, format)));
    let status = child.wait().map_err(cannot)?;
    let tally = ended.recv_timeout(LEFT_OPEN);
    if tally.is_ok() {
        let _ = counting.join();
    }
    let tally = tally.map_err(|_| Error::Failed(format!("`{line}` left a program running")))?;
    count(name, tally);
    if status.success() {
        Ok(tally)
    } else {
        Err(Error::Failed(format!("`{line}` ended with {status}")))
    }
}

/// Shows the output, and counts what it says.
fn show(output: PipeReader, format: Format) -> Tally {
    let mut reader = Reader::new(format);
    let mut go = GoOutput::default();
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while output
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        let text = String::from_utf8_lossy(&line);
        if reader.line(&text) {
            eprint!("{text}");
        } else {
            go.event(&text);
        }
        line.clear();
    }
    reader.tally()
}

/// The output of Go's tests, which is shown if a test fails.
#[derive(Default)]
struct GoOutput {
    by_test: BTreeMap<String, String>,
}

impl GoOutput {
    fn event(&mut self, line: &str) {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            return;
        };
        let text = event["Output"].as_str();
        let Some(test) = event["Test"].as_str() else {
            eprint!("{}", text.unwrap_or_default());
            return;
        };
        let name = format!("{} {test}", event["Package"].as_str().unwrap_or_default());
        match (event["Action"].as_str(), text) {
            (_, Some(text)) => self.by_test.entry(name).or_default().push_str(text),
            (Some("fail"), _) => eprint!("{}", self.by_test.remove(&name).unwrap_or_default()),
            (Some("pass" | "skip"), _) => drop(self.by_test.remove(&name)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Workspace;

    fn sh(script: &str) -> Command {
        let mut sh = Workspace::here().command("sh");
        sh.args(["-c", script]);
        sh
    }

    #[test]
    fn program_without_tests_fails() {
        let passes = run(
            "a",
            Format::Sentence,
            &mut sh("echo 2 tests passed, 0 failed"),
        );
        assert!(passes.is_ok(), "{passes:?}");
        let none = run("b", Format::Sentence, &mut sh("echo nothing"));
        assert!(none.is_err_and(|why| why.to_string().contains("ran no test")));
        let fails = run(
            "c",
            Format::Sentence,
            &mut sh("echo 2 tests passed, 1 failed; exit 3"),
        );
        assert!(fails.is_err_and(|why| why.to_string().contains("exit status: 3")));
    }

    #[test]
    fn line_of_a_count_is_read_again() {
        let tally = Tally::PASSED;
        assert_eq!(
            counted(&format!("crates/jeton it{COUNTED}{tally}")),
            Some(tally)
        );
        assert_eq!(counted("the build is ready"), None);
    }
}
