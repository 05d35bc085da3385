//! What one run of one target has shown, read from libFuzzer's talk.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// One run of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// The name of the target.
    pub target: String,
    /// The number of inputs that were run.
    pub executions: u64,
    /// Edges of the code that were reached: by the seeds, and in the end.
    pub edges: (u64, u64),
    /// Inputs that reached something new.
    pub inputs_kept: u64,
    /// Peak resident memory, MB.
    pub peak_mb: u64,
    /// How long the target ran.
    pub ran: Duration,
    /// What went wrong, if anything did.
    pub finding: Option<String>,
}

impl Figures {
    /// Reads the talk of a run that took so long.
    pub(super) fn read(target: &str, talk: &str, ran: Duration) -> Self {
        let statistic = |name: &str| {
            let prefix = format!("stat::{name}:");
            talk.lines()
                .find_map(|line| line.strip_prefix(&prefix)?.trim().parse().ok())
        };
        let covered: Vec<(u64, &str)> = talk
            .lines()
            .filter_map(|line| Some((after(line, "cov: ")?, line)))
            .collect();
        let first = covered
            .iter()
            .find(|(_, line)| line.contains("INITED"))
            .or(covered.first());
        let last = covered.last();
        Self {
            target: target.to_owned(),
            executions: statistic("number_of_executed_units").unwrap_or(0),
            edges: (
                first.map_or(0, |(edges, _)| *edges),
                last.map_or(0, |(edges, _)| *edges),
            ),
            inputs_kept: last
                .and_then(|(_, line)| after(line, "corp: "))
                .unwrap_or(0),
            peak_mb: statistic("peak_rss_mb").unwrap_or(0),
            ran,
            finding: None,
        }
        .without_silence()
    }

    /// A fuzzer that ran nothing, or saw no code, has shown nothing.
    fn without_silence(mut self) -> Self {
        if self.executions == 0 || self.edges.1 == 0 {
            self.finding = Some("it ran nothing, or saw no coverage".into());
        }
        self
    }

    /// The run ended with a failure; `log` says which.
    pub(super) fn fail(&mut self, status: ExitStatus, talk: &str, log: &str) {
        let written = written_input(talk);
        let panic = talk
            .lines()
            .find(|line| line.contains("panicked at") || line.starts_with("SUMMARY:"));
        self.finding = Some(format!(
            "{status}: {}; input: {}; log: {log}",
            panic.unwrap_or("no panic"),
            written.unwrap_or("not written")
        ));
    }

    fn per_second(&self) -> u64 {
        (self.executions as f64 / self.ran.as_secs_f64().max(0.1)) as u64
    }

    /// The head of the table whose lines [`table_line`](Self::table_line) gives.
    pub const TABLE_HEAD: &str = "\
| target | seconds | executions | a second | edges, seeds | edges, end | inputs kept | peak MB | findings |
|---|---:|---:|---:|---:|---:|---:|---:|---|";

    /// Returns the figures as a line of that table.
    #[must_use]
    pub fn table_line(&self) -> String {
        format!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.target,
            self.ran.as_secs(),
            self.executions,
            self.per_second(),
            self.edges.0,
            self.edges.1,
            self.inputs_kept,
            self.peak_mb,
            self.finding.as_deref().unwrap_or("none")
        )
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<16}{:>9} executions, {:>6} a second, {:>5} edges ({} from seeds), {} MB",
            self.target,
            self.executions,
            self.per_second(),
            self.edges.1,
            self.edges.0,
            self.peak_mb
        )?;
        match &self.finding {
            None => Ok(()),
            Some(finding) => write!(f, "\n  FINDING: {finding}"),
        }
    }
}

/// The file of the input that ended a run.
fn written_input(talk: &str) -> Option<&str> {
    let mut lines = talk.lines();
    lines.find_map(|line| Some(line.split_once("Test unit written to ")?.1))
}

/// The file of the input that took too long, if a run ended with one.
pub(super) fn slow_input(talk: &str) -> Option<&str> {
    let is_slow = talk.contains("SUMMARY: libFuzzer: timeout");
    written_input(talk).filter(|_| is_slow)
}

/// The number after these words in the line.
fn after(line: &str, words: &str) -> Option<u64> {
    let rest = line.split_once(words)?.1;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const TALK: &str = "\
INFO: seed corpus: files: 12 min: 1b max: 40b total: 300b rss: 30Mb
#13\tINITED cov: 120 ft: 200 corp: 9/200b exec/s: 0 rss: 31Mb
#500\tNEW    cov: 140 ft: 260 corp: 11/230b lim: 40 exec/s: 250 rss: 32Mb L: 20/40 MS: 1 X-
INFO: signal received, trying to exit gracefully
stat::number_of_executed_units: 5000
stat::average_exec_per_sec:     1000
stat::peak_rss_mb:              33
";

    #[test]
    fn run_is_read_from_its_output() {
        let figures = Figures::read("jwk", TALK, Duration::from_secs(5));
        assert_eq!(figures.executions, 5000);
        assert_eq!(figures.edges, (120, 140));
        assert_eq!((figures.inputs_kept, figures.peak_mb), (11, 33));
        assert_eq!(figures.finding, None);
        assert_eq!(
            figures.table_line(),
            "| `jwk` | 5 | 5000 | 1000 | 120 | 140 | 11 | 33 | none |"
        );
    }

    #[test]
    fn silence_is_a_finding() {
        let blind = TALK.replace("cov: ", "cover: ");
        for talk in ["", &blind] {
            let figures = Figures::read("jwk", talk, Duration::from_secs(5));
            assert!(figures.finding.is_some(), "{talk}");
        }
    }

    #[test]
    fn finding_names_its_input() {
        use std::os::unix::process::ExitStatusExt;
        let talk = format!(
            "{TALK}thread '<unnamed>' panicked at fuzz_targets/jwk.rs:3:1:\n\
             artifact_prefix='x/'; Test unit written to x/jwk-crash-01\n"
        );
        let mut figures = Figures::read("jwk", &talk, Duration::from_secs(5));
        figures.fail(ExitStatus::from_raw(77 << 8), &talk, "jwk.log");
        let finding = figures.finding.unwrap();
        assert!(finding.contains("jwk.rs:3:1") && finding.contains("x/jwk-crash-01"));
        assert_eq!(slow_input(&talk), None);
    }

    #[test]
    fn slow_input_is_named() {
        let talk = format!(
            "{TALK}ALARM: working on the last Unit for 16 seconds\n\
             artifact_prefix='x/'; Test unit written to x/jwk-timeout-01\n\
             ==7== ERROR: libFuzzer: timeout after 16 seconds\nSUMMARY: libFuzzer: timeout\n"
        );
        assert_eq!(slow_input(&talk), Some("x/jwk-timeout-01"));
    }
}
