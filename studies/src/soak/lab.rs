//! Identical subjects: how often a subject against itself comes out *equivalent* on this machine. And the
//! simulation of the lab's statistics, with its figures.

use std::time::{Duration, Instant};

use jeton_lab_model::result::{self, AaPair, VerdictKind};
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

fn one_run(workspace: &Workspace) -> Result<Vec<AaPair>, Error> {
    run_command(&mut workspace.cargo(&[
        "run",
        "--release",
        "--locked",
        "--quiet",
        "-p",
        "jeton-lab",
        "--",
        "run",
        "--quick",
        "--out",
        OUT,
    ]))?;
    let results = result::read(&workspace.path(OUT).join("results.json"))
        .map_err(|error| Error::Failed(error.to_string()))?;
    Ok(results.noise_floor.pairs)
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
    fn add(&mut self, pairs: &[AaPair]) {
        self.runs += 1;
        let count = |of: VerdictKind| pairs.iter().filter(|pair| pair.verdict == of).count();
        let equivalent = count(VerdictKind::Equivalent);
        let wrong = count(VerdictKind::Faster) + count(VerdictKind::Slower);
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
    use VerdictKind::{Equivalent, Faster, Undecided};

    use super::*;

    fn run_with(verdicts: &[VerdictKind]) -> Vec<AaPair> {
        let pair = |&verdict: &VerdictKind| AaPair {
            subject: "s".into(),
            operation: "sign".into(),
            threads: 1,
            ratio: 1.0,
            interval: [1.0, 1.0],
            verdict,
            rounds: [Vec::new(), Vec::new()],
        };
        verdicts.iter().map(pair).collect()
    }

    #[test]
    fn nine_equivalent_pairs_of_ten_suffice() {
        let mut tally = Tally::default();
        for _ in 0..4 {
            tally.add(&run_with(&[Equivalent, Equivalent]));
        }
        tally.add(&run_with(&[Equivalent, Undecided]));
        assert!(tally.verdict().is_ok(), "{tally:?}");
        assert!(tally.sentence().starts_with("9 of 10 identical pairs"));
        assert!(
            tally
                .sentence()
                .ends_with("in 4 of 5 runs every pair was equivalent.")
        );
    }

    #[test]
    fn eight_equivalent_pairs_of_ten_do_not_suffice() {
        let mut tally = Tally::default();
        for number in 0..10 {
            let verdict = if number < 8 { Equivalent } else { Faster };
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
