//! Progress on standard error: a progress bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use jeton_lab_conformance::{attack, interop};
use jeton_lab_harness::driver::BuildEvent;
use jeton_lab_harness::runner::Event;
use jeton_lab_load as servers;
use jeton_lab_model::units;
use jeton_lab_report::visible;

/// Says that a run will not decide small differences, and what would help.
fn noisy(rounds: u32, of: u32, floor: f64) -> String {
    format!(
        "warning: noisy after {rounds} rounds: after all {of}, differences below about {} will be undecided. \
         It helps to stop other programs, to use an idle machine, or to measure more rounds (--rounds {})",
        units::percent(floor),
        of.saturating_mul(4)
    )
}

/// Shows the progress of a run.
#[derive(Debug)]
pub(super) struct Progress {
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
    last_plain: String,
}

impl Progress {
    pub(super) fn begin() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(1);
            let style = ProgressStyle::with_template("{elapsed:>4} [{bar:24}] {msg}");
            bar.set_style(
                style
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("=> "),
            );
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self {
            bar,
            last_plain: String::new(),
        }
    }

    /// Prints a line above the progress bar.
    pub(super) fn say(&self, line: &str) {
        let line = visible::text(line);
        match &self.bar {
            Some(bar) if !bar.is_finished() => bar.suspend(|| anstream::eprintln!("{line}")),
            _ => anstream::eprintln!("{line}"),
        }
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) {
        match *event {
            Event::Build(event) => self.tell_build(event),
            Event::Checking { done, of } => {
                self.phase("preflight: every library verifies the others' tokens");
                self.at(done, of, String::new());
            }
            Event::Part { number, of } => self.say(&format!("part {number} of {of}")),
            Event::Warming { subject, done, of } => {
                self.phase("warming up");
                self.at(done, of, format!(" {subject}"));
            }
            Event::Rehearsing => self.phase("rehearsal: one round that does not count"),
            Event::FewerRounds { rounds, planned } => self.say(&format!(
                "the time limit allows {rounds} of {planned} rounds"
            )),
            Event::Round {
                number,
                of,
                visit,
                visits,
            } => {
                self.phase(&format!("round {number} of {of}"));
                self.at(
                    (number as usize - 1) * visits + visit,
                    of as usize * visits,
                    String::new(),
                );
            }
            Event::Noisy { rounds, of, floor } => {
                self.say(&noisy(rounds, of, floor));
            }
            Event::Judging => self.phase("computing verdicts"),
        }
    }

    fn tell_build(&mut self, event: BuildEvent<'_>) {
        match event {
            BuildEvent::Building { id, number, of } => {
                self.phase(&format!("building {id} ({number} of {of})"));
                self.at(number - 1, of, String::new());
            }
            BuildEvent::Unavailable { id, reason } => {
                self.say(&format!("skipped: {id}: {reason}"));
            }
        }
    }

    /// Shows a step of another command.
    pub(super) fn step(&mut self, line: &str, done: usize, of: usize) {
        self.phase(line);
        self.at(done, of, String::new());
    }

    pub(super) fn tell_attack(&mut self, event: &attack::Event<'_>) {
        use attack::Event;
        match *event {
            Event::Building(driver) => self.step(&format!("building {driver}"), 0, 1),
            Event::Unavailable { driver, reason } => {
                self.say(&format!("skipped: {driver}: {reason}"));
            }
            Event::Attacked {
                driver,
                took,
                done,
                of,
            } => {
                let seconds = took.as_secs();
                let line = format!("attacking: {driver} finished in {seconds} s");
                self.step(&line, done, of);
            }
        }
    }

    pub(super) fn tell_interop(&mut self, event: &interop::Event<'_>) {
        use interop::Event;
        match *event {
            Event::Build(event) => self.tell_build(event),
            Event::Starting { driver, done, of } => {
                self.phase("starting every driver");
                self.at(done, of, format!(" {driver}"));
            }
            Event::Exchange {
                kind,
                round,
                done,
                of,
            } => {
                self.phase("verifying every token with every driver");
                let round = match round {
                    1 => String::new(),
                    n => format!(", round {n}"),
                };
                self.at(done, of, format!(" {kind}{round}"));
            }
            Event::OutOfTime { done, of } => self.say(&format!(
                "the time limit allowed {done} of {of} kinds of token"
            )),
        }
    }

    pub(super) fn tell_servers(&mut self, event: &servers::Event<'_>) {
        use servers::Event;
        match *event {
            Event::Build(event) => self.tell_build(event),
            Event::Checking { server, cores } => {
                let on = if cores == 1 {
                    "1 core".to_owned()
                } else {
                    format!("{cores} cores")
                };
                self.phase(&format!(
                    "starting every server on {on} and checking its tokens"
                ));
                self.at(0, 1, format!(" {server}"));
            }
            Event::WarmingUp { server, cores } => {
                let on = if cores == 1 { "core" } else { "cores" };
                self.phase(&format!("warming up every server on {cores} {on}"));
                self.at(0, 1, format!(" {server}"));
            }
            Event::Unsettled { server } => {
                self.say(&format!("{server} did not settle during its first warm-up"))
            }
            Event::Found { server, what } => self.say(&format!("{server} {what}")),
            Event::Loading {
                scenario,
                server,
                done,
                of,
            } => {
                self.phase(scenario);
                self.at(done, of, format!(" {server}"));
            }
        }
    }

    pub(super) fn end(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn phase(&mut self, line: &str) {
        if line == self.last_plain {
            return;
        }
        line.clone_into(&mut self.last_plain);
        if self.bar.is_none() {
            anstream::eprintln!("{line}");
        }
    }

    fn at(&self, done: usize, of: usize, detail: String) {
        if let Some(bar) = &self.bar {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
            bar.set_message(format!("{}{detail}", self.last_plain));
        }
    }
}

/// Formats a duration as `45 s` or `3 min`.
pub(super) fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64().round();
    if seconds < 120.0 {
        format!("{seconds} s")
    } else {
        format!("{} min", (seconds / 60.0).round())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noisy_says_what_is_undecided_and_what_helps() {
        let said = noisy(3, 12, 0.084);
        assert!(said.starts_with("warning: noisy after 3 rounds"), "{said}");
        assert!(
            said.contains("8.4\u{a0}%") && said.contains("--rounds 48"),
            "{said}"
        );
    }
}
