//! Identical subjects: how often a subject against itself comes out *equivalent* on this machine. And the
//! simulation of the lab's statistics, with its figures.

use std::time::{Duration, Instant};

use serde::Deserialize;
use xtask::command::{Error, Workspace, output, run as run_command};

use super::log::Log;
use super::{OUT, Plan};

/// How often a subject against itself must come out equivalent.
const WANTED_SHARE: f64 = 0.9;

pub(super) fn run(workspace: &Workspace, plan: &Plan, log: &mut Log) -> Result<(), Error> {
    let deadline = Instant::now() + Duration::from_secs(plan.minutes * 60);
    eprintln!("== soak: statistics, simulated");
    let simulation = simulate(workspace);
    match &simulation {
        Ok(figures) => log.section("Statistics, simulated", &format!("```\n{figures}\n```")),
        Err(stop) => log.section("Statistics, simulated", &format!("Failed: {stop}")),
    }

    eprintln!(
        "== soak: identical subjects, at most {} runs of the lab",
        plan.runs
    );
    let mut tally = Tally::default();
    for number in 1..=plan.runs {
        if Instant::now() >= deadline {
            eprintln!("== soak: the time is over after {} runs", number - 1);
            break;
        }
        tally.add(&one_run(workspace)?);
        eprintln!("== soak: run {number}: {}", tally.sentence());
    }
    log.section("Identical subjects", &tally.sentence());
    simulation?;
    tally.verdict()
}

fn simulate(workspace: &Workspace) -> Result<String, Error> {
    let mut test = workspace.cargo(&["test", "--release", "--locked", "-p", "jeton-lab-stats"]);
    // One thread, so that the figures of two tests do not run into each other.
    test.args(["--test", "it", "stats_simulation", "--"]).args([
        "--nocapture",
        "--include-ignored",
        "--test-threads",
        "1",
    ]);
    let figures = output(&mut test)?;
    println!("{figures}");
    Ok(figures.trim().to_owned())
}

fn one_run(workspace: &Workspace) -> Result<Vec<Pair>, Error> {
    run_command(&mut workspace.cargo(&[
        "run",
        "--release",
        "--locked",
        "--quiet",
        "--",
        "lab",
        "run",
        "--quick",
        "--out",
        OUT,
    ]))?;
    let path = workspace.path(OUT).join("results.json");
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::Failed(format!("{OUT}/results.json: {error}")))?;
    pairs(&text).map_err(Error::Failed)
}

#[derive(Deserialize)]
struct Results {
    noise_floor: NoiseFloor,
}

#[derive(Deserialize)]
struct NoiseFloor {
    pairs: Vec<Pair>,
}

/// One subject measured twice under two names.
#[derive(Deserialize)]
struct Pair {
    verdict: String,
}

fn pairs(results: &str) -> Result<Vec<Pair>, String> {
    serde_json::from_str::<Results>(results)
        .map(|results| results.noise_floor.pairs)
        .map_err(|error| format!("{OUT}/results.json cannot be read: {error}"))
}

/// What became of the identical pairs, over all runs.
#[derive(Debug, Default)]
struct Tally {
    runs: u32,
    /// Runs in which every pair was equivalent.
    clean_runs: u32,
    pairs: u32,
    equivalent: u32,
    /// Called faster or slower: wrong, as they are identical.
    wrong: u32,
}

impl Tally {
    fn add(&mut self, pairs: &[Pair]) {
        self.runs += 1;
        let equivalent = pairs
            .iter()
            .filter(|pair| pair.verdict == "equivalent")
            .count();
        let wrong = pairs
            .iter()
            .filter(|pair| pair.verdict == "faster" || pair.verdict == "slower")
            .count();
        self.pairs += pairs.len() as u32;
        self.equivalent += equivalent as u32;
        self.wrong += wrong as u32;
        if equivalent == pairs.len() && !pairs.is_empty() {
            self.clean_runs += 1;
        }
    }

    fn sentence(&self) -> String {
        format!(
            "{} of {} identical pairs came out equivalent, {} wrongly faster or slower; \
             in {} of {} runs every pair was equivalent.",
            self.equivalent, self.pairs, self.wrong, self.clean_runs, self.runs
        )
    }

    fn verdict(&self) -> Result<(), Error> {
        if self.pairs == 0 {
            return Err(Error::Usage("no identical pair was measured".into()));
        }
        let share = f64::from(self.equivalent) / f64::from(self.pairs);
        if share < WANTED_SHARE {
            return Err(Error::Failed(format!(
                "a subject against itself must be equivalent in {:.0} % of runs. {}",
                WANTED_SHARE * 100.0,
                self.sentence()
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn run_with(verdicts: &[&str]) -> Vec<Pair> {
        let pairs: Vec<_> = verdicts
            .iter()
            .map(|verdict| serde_json::json!({ "subject": "s", "verdict": verdict }))
            .collect();
        pairs_of(&serde_json::json!({ "noise_floor": { "floor": 0.01, "pairs": pairs } }))
    }

    fn pairs_of(results: &serde_json::Value) -> Vec<Pair> {
        pairs(&results.to_string()).unwrap()
    }

    #[test]
    fn nine_equivalent_pairs_of_ten_suffice() {
        let mut tally = Tally::default();
        for _ in 0..4 {
            tally.add(&run_with(&["equivalent", "equivalent"]));
        }
        tally.add(&run_with(&["equivalent", "cannot-tell"]));
        assert!(tally.verdict().is_ok(), "{tally:?}");
        assert!(tally.sentence().starts_with("9 of 10 identical pairs"));
        assert!(
            tally
                .sentence()
                .ends_with("in 4 of 5 runs every pair was equivalent.")
        );
    }

    #[test]
    fn eight_of_ten_do_not() {
        let mut tally = Tally::default();
        for number in 0..10 {
            let verdict = if number < 8 { "equivalent" } else { "faster" };
            tally.add(&run_with(&[verdict]));
        }
        assert!(matches!(tally.verdict(), Err(Error::Failed(_))));
        assert_eq!(tally.wrong, 2);
    }

    #[test]
    fn run_without_pairs_fails() {
        let mut tally = Tally::default();
        tally.add(&run_with(&[]));
        assert!(tally.verdict().is_err());
        assert!(Tally::default().verdict().is_err());
    }
}
