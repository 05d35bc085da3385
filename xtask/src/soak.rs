//! `cargo xtask soak`: checks that take too long for every change.
//!
//! The simulation of the lab's statistics, with its figures; the lab's own correctness: how often a
//! subject against itself comes out *equivalent* on this machine; every fuzz target for its share of
//! the time; an issuer that is killed during revocations; a server with twice the load
//! that it can carry; and, if it is asked for, all libraries against each other. The log in docs/soak/
//! says what was seen, with the command that repeats it.

mod attack;

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::command::{Error, Workspace, output, run as run_command};
use crate::etcd;
use crate::fuzz::{self, Figures, Scope, Targets};

/// How often a subject against itself must come out equivalent.
const WANTED_SHARE: f64 = 0.9;

const OUT: &str = "target/lab-soak";

/// How long a server is overloaded, in seconds.
const OVERLOAD_SECONDS: u32 = 60;

/// What is soaked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Lab,
    Fuzz,
    Kill,
    Overload,
    /// Needs every driver, and so is done when it is asked for by name.
    Attack,
}

/// Which parts, how long each, and how often at most.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    parts: Vec<Part>,
    minutes: u64,
    runs: u32,
    kills: u32,
}

impl Plan {
    /// Reads `--only PART`, `--minutes N`, `--runs N` and `--kills N`.
    pub(crate) fn parse(options: &[String]) -> Result<Self, Error> {
        let mut plan = Self {
            parts: vec![Part::Lab, Part::Fuzz, Part::Kill, Part::Overload],
            minutes: 30,
            runs: 10,
            kills: 1000,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            if option == "--only" {
                plan.parts = match options.next().map(String::as_str) {
                    Some("lab") => vec![Part::Lab],
                    Some("fuzz") => vec![Part::Fuzz],
                    Some("kill") => vec![Part::Kill],
                    Some("overload") => vec![Part::Overload],
                    Some("attack") => vec![Part::Attack],
                    _ => {
                        let parts = "--only needs a value: lab, fuzz, kill, overload or attack";
                        return Err(Error::Usage(parts.into()));
                    }
                };
                continue;
            }
            let number = || Error::Usage(format!("{option} must be from 1 to 10000"));
            let mut value = |most: u32| {
                options
                    .next()
                    .and_then(|text| text.parse::<u32>().ok())
                    .filter(|value| (1..=most).contains(value))
                    .ok_or_else(number)
            };
            match option.as_str() {
                "--minutes" => plan.minutes = u64::from(value(10_000)?),
                "--runs" => plan.runs = value(10_000)?,
                "--kills" => plan.kills = value(10_000)?,
                other => {
                    return Err(Error::Usage(format!(
                        "`soak` knows --only PART, --minutes N, --runs N and --kills N, not `{other}`"
                    )));
                }
            }
        }
        Ok(plan)
    }
}

/// Runs the long checks and writes the log, also when one of them fails.
pub(crate) fn run(workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    let mut log = Log::new(workspace, plan)?;
    let outcomes: Vec<Result<(), Error>> = (plan.parts.iter())
        .map(|part| match part {
            Part::Lab => lab(workspace, plan, &mut log),
            Part::Fuzz => fuzz_targets(workspace, plan, &mut log),
            Part::Kill => kills(workspace, plan, &mut log),
            Part::Overload => overload(workspace, &mut log),
            Part::Attack => attack::run(workspace, plan, &mut log),
        })
        .collect();
    let path = log.write(workspace)?;
    eprintln!("== soak: log in {path}");
    outcomes.into_iter().collect()
}

fn lab(workspace: &Workspace, plan: &Plan, log: &mut Log) -> Result<(), Error> {
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

fn fuzz_targets(workspace: &Workspace, plan: &Plan, log: &mut Log) -> Result<(), Error> {
    let targets = Targets::build(workspace, Scope::Everything)?;
    let each = Duration::from_secs(plan.minutes * 60) / targets.count() as u32;
    eprintln!(
        "== soak: {} fuzz targets, {} s each",
        targets.count(),
        each.as_secs()
    );
    let all = targets.run(workspace, each, |figures| eprintln!("  {figures}"))?;
    let lines: String = (all.iter())
        .map(|figures| format!("{}\n", figures.table_line()))
        .collect();
    let executions: u64 = all.iter().map(|figures| figures.executions).sum();
    let findings = all.iter().filter(|one| one.finding.is_some()).count();
    let body = format!(
        "libfuzzer-sys {}: {executions} executions, {findings} findings.\n\n{}\n{lines}",
        fuzz::engine_version(workspace),
        Figures::TABLE_HEAD
    );
    log.section("Fuzzing", body.trim_end());
    if findings == 0 {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "{findings} fuzz targets found something"
        )))
    }
}

fn kills(workspace: &Workspace, plan: &Plan, log: &mut Log) -> Result<(), Error> {
    eprintln!(
        "== soak: an issuer killed {} times amid revocations",
        plan.kills
    );
    let often = plan.kills.to_string();
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", "kill"]).env("JETON_KILLS", &often);
    logged(&mut test, "Kills amid revocations", log)?;
    if let Some(missing) = etcd::missing() {
        log.section(
            "Kills amid revocations on etcd",
            &format!("Not run: {missing} is not installed."),
        );
        return Ok(());
    }
    eprintln!("== soak: the same on an etcd, which is killed too");
    let mut test = etcd::test(workspace, &etcd::build(workspace)?, "kill");
    test.envs([("JETON_KILL_STORE", "etcd"), ("JETON_KILLS", &often)]);
    logged(&mut test, "Kills amid revocations on etcd", log)
}

fn overload(workspace: &Workspace, log: &mut Log) -> Result<(), Error> {
    eprintln!("== soak: overload: twice the load that a server can serve, {OVERLOAD_SECONDS} s");
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", "overload", "--", "--nocapture"])
        .env("JETON_OVERLOAD_SECONDS", OVERLOAD_SECONDS.to_string());
    logged(
        &mut test,
        "Overload: twice the load that the server can serve",
        log,
    )
}

/// Runs a test as `cargo xtask test` does, with its profile, and puts what it says into the log.
fn logged(test: &mut Command, title: &str, log: &mut Log) -> Result<(), Error> {
    let figures = output(test);
    let body = match &figures {
        Ok(figures) => format!("```\n{}\n```", figures.trim()),
        Err(stop) => format!("Failed: {stop}"),
    };
    log.section(title, &body);
    figures.map(drop)
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

/// The log: one Markdown file a day and commit.
struct Log {
    path: String,
    text: String,
}

impl Log {
    fn new(workspace: &Workspace, plan: &Plan) -> Result<Self, Error> {
        let day = output(workspace.command("date").args(["-u", "+%F"]))?;
        let commit = output(
            workspace
                .command("git")
                .args(["rev-parse", "--short", "HEAD"]),
        )?;
        let (day, commit) = (day.trim(), commit.trim());
        let rustc = output(workspace.command("rustc").arg("-V"))?;
        let (kind, options) = match plan.parts[..] {
            [Part::Fuzz] => ("-fuzz", format!("--only fuzz --minutes {}", plan.minutes)),
            [Part::Attack] => (
                "-attack",
                format!("--only attack --minutes {}", plan.minutes),
            ),
            [Part::Lab] => (
                "-lab",
                format!("--only lab --minutes {} --runs {}", plan.minutes, plan.runs),
            ),
            [Part::Kill] => ("-kill", format!("--only kill --kills {}", plan.kills)),
            [Part::Overload] => ("-overload", "--only overload".to_owned()),
            _ => (
                "",
                format!(
                    "--minutes {} --runs {} --kills {}",
                    plan.minutes, plan.runs, plan.kills
                ),
            ),
        };
        Ok(Self {
            path: format!("docs/soak/{day}-{commit}{kind}.md"),
            text: format!(
                "# Soak of {day}, commit {commit}\n\n`cargo xtask soak {options}`\n\n\
                 {}, {}.\n",
                rustc.trim(),
                cpu()
            ),
        })
    }

    fn section(&mut self, title: &str, body: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.text, "\n## {title}\n{body}\n");
    }

    fn write(&self, workspace: &Workspace) -> Result<&str, Error> {
        let failed = |error| Error::Usage(format!("{}: {error}", self.path));
        std::fs::create_dir_all(workspace.path("docs/soak")).map_err(failed)?;
        std::fs::write(workspace.path(&self.path), &self.text).map_err(failed)?;
        Ok(&self.path)
    }
}

/// The processor's name, as far as the system tells it.
pub(crate) fn cpu() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find(|line| line.starts_with("model name"));
    let name = model.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
    name.unwrap_or("unknown processor".into())
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

    #[test]
    fn options_are_numbers_within_reason() {
        let parse = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
            Plan::parse(&options)
        };
        assert_eq!(
            parse(&["--minutes", "5", "--runs", "2"]).ok(),
            Some(Plan {
                parts: vec![Part::Lab, Part::Fuzz, Part::Kill, Part::Overload],
                minutes: 5,
                runs: 2,
                kills: 1000
            })
        );
        let only = parse(&["--only", "fuzz"]).map(|plan| plan.parts);
        assert_eq!(only.ok(), Some(vec![Part::Fuzz]));
        for wrong in [
            &["--minutes"][..],
            &["--runs", "0"],
            &["--runs", "many"],
            &["--kills", "none"],
            &["--hours", "1"],
            &["--only", "everything"],
        ] {
            assert!(matches!(parse(wrong), Err(Error::Usage(_))), "{wrong:?}");
        }
    }
}
