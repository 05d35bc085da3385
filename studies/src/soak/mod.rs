//! `cargo xtask soak`: checks that take too long for every change.
//!
//! The simulation of the lab's statistics, with its figures; the lab's own correctness: how often a
//! subject against itself comes out *equivalent* on this machine; every fuzz target for its share of
//! the time; an issuer that is killed during revocations; a server with twice the load
//! that it can carry; and, if they are asked for, all libraries against each other, and the readers of keys
//! against those of other libraries, and servers on an etcd whose network, members and clocks fail. The log in docs/soak/ says what was seen, with the command that repeats it.

mod attack;
mod chaos;
mod lab;
mod log;
mod readers;

use std::num::NonZeroUsize;
use std::process::Command;
use std::time::Duration;

use xtask::command::{Error, Workspace, output};
use xtask::etcd;
use xtask::fuzz::{self, Figures, Optimised, Scope, Targets};

use log::Log;

const OUT: &str = "target/lab-soak";

/// How long a server is overloaded, in seconds.
const OVERLOAD_SECONDS: u32 = 60;

/// The numbers of records that nodes are measured with.
const RECORDS: &str = "10000,100000,1000000,10000000";

/// What is soaked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Lab,
    Fuzz,
    /// The C interface alone, for longer than its share of the time of all targets.
    Ffi,
    Kill,
    Overload,
    /// Needs an hour, and so is done when it is asked for by name.
    Records,
    /// Needs every driver, and so is done when it is asked for by name.
    Attack,
    /// Needs OpenSSL, Go and Node, and so is done when it is asked for by name.
    Readers,
    /// Needs Go, root and nft, and so is done when it is asked for by name.
    Chaos,
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
                    Some("ffi") => vec![Part::Ffi],
                    Some("kill") => vec![Part::Kill],
                    Some("overload") => vec![Part::Overload],
                    Some("records") => vec![Part::Records],
                    Some("attack") => vec![Part::Attack],
                    Some("readers") => vec![Part::Readers],
                    Some("chaos") => vec![Part::Chaos],
                    _ => {
                        let parts = "--only needs a value: lab, fuzz, ffi, kill, overload, records, attack, readers or chaos";
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
            Part::Lab => lab::run(workspace, plan, &mut log),
            Part::Fuzz => fuzz_targets(workspace, Scope::Everything, plan, &mut log),
            Part::Ffi => fuzz_targets(workspace, Scope::Interface, plan, &mut log),
            Part::Kill => kills(workspace, plan, &mut log),
            Part::Overload => overload(workspace, &mut log),
            Part::Records => records(workspace, &mut log),
            Part::Attack => attack::run(workspace, plan, &mut log),
            Part::Readers => readers::run(workspace, plan, &mut log),
            Part::Chaos => chaos::run(workspace, plan, &mut log),
        })
        .collect();
    let path = log.write(workspace)?;
    eprintln!("== soak: log in {path}");
    outcomes.into_iter().collect()
}

fn fuzz_targets(
    workspace: &Workspace,
    scope: Scope,
    plan: &Plan,
    log: &mut Log,
) -> Result<(), Error> {
    let targets = Targets::build(workspace, scope, Optimised::Fully)?;
    let each = Duration::from_secs(plan.minutes * 60) / targets.count() as u32;
    eprintln!(
        "== soak: {} fuzz targets, {} s each",
        targets.count(),
        each.as_secs()
    );
    let at_once = NonZeroUsize::MIN;
    let all = targets.run(workspace, each, at_once, |figures| eprintln!("  {figures}"))?;
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
    test.args(["--test", "load", "--", "--nocapture", "overload::"])
        .env("JETON_OVERLOAD_SECONDS", OVERLOAD_SECONDS.to_string());
    logged(
        &mut test,
        "Overload: twice the load that the server can serve",
        log,
    )
}

fn records(workspace: &Workspace, log: &mut Log) -> Result<(), Error> {
    eprintln!("== soak: nodes with {RECORDS} records, in a data folder and in an etcd");
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", "records"])
        .env("JETON_RECORDS", RECORDS);
    logged(&mut test, "Many records in a data folder", log)?;
    if let Some(missing) = etcd::missing() {
        let body = format!("Not run: {missing} is not installed.");
        log.section("Many records in an etcd", &body);
        return Ok(());
    }
    let mut test = etcd::test(workspace, &etcd::build(workspace)?, "records");
    test.envs([("JETON_RECORDS_STORE", "etcd"), ("JETON_RECORDS", RECORDS)]);
    logged(&mut test, "Many records in an etcd", log)
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

#[cfg(test)]
mod tests {
    use super::*;

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
