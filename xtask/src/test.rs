//! `cargo xtask test`: runs the checks, those that show behaviour first. `--rest` runs the others.

mod areas;
mod attack;
mod browser_attack;
mod choice;
mod drivers;
mod etcd;
mod examples;
mod features;
mod fuzzing;
mod grpcurl;
mod helm;
mod lab;
mod lints;
mod oauth_clients;
mod process;
mod programs;
mod proxies;
mod published;
mod schedule;
mod scripts;
mod separate_crate;
mod space;
mod step;
mod steps;
mod verifiers;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) use choice::Choice;

use crate::aws_lc;
use crate::command::{CHECKED_DRIVERS, CLIPPY_OF_DRIVERS, Error, Workspace};
use crate::counted::{self, skipped};
use crate::setup;
use crate::tally::{Format, Tally};
use schedule::{Finished, Plan};
use step::{Context, Outcome, Part, Step};
use steps::STEPS;

/// Runs the chosen steps, and prints how each came out and how many tests passed.
pub(crate) fn run(workspace: Workspace, choice: &Choice) -> Result<(), Error> {
    let workspace = workspace.only(choice.packages());
    if let Some(name) = &choice.step {
        return run_one(&workspace, choice, name);
    }
    let started = Instant::now();
    if choice.needs_setup() {
        space::check(&workspace, choice.part())?;
        eprintln!("== setup");
        setup::run(&workspace, choice.extent())?;
    }
    let plan = Plan {
        steps: choice.steps(),
        arguments: choice.for_steps(),
        keep_going: choice.keep_going,
        workspace: &workspace,
    };
    let results = plan.run()?;
    let not_run: Vec<&str> = plan
        .steps
        .iter()
        .map(|step| step.name)
        .filter(|name| results.iter().all(|result| result.name != *name))
        .collect();
    eprint!(
        "\n{}",
        summary(
            &results,
            &not_run,
            started.elapsed(),
            process::cpu_of_ended()
        )
    );
    if choice.needs_setup() && choice.part() == Part::First {
        eprintln!(
            "`cargo xtask test --rest` runs the other steps, among them all tests whole that are sampled here."
        );
    }
    let outcome = verdict(&results, choice.no_skips);
    if let Err(Error::Failed(why)) = &outcome {
        eprintln!("{why}");
    }
    let mut sum = Tally::default();
    for result in &results {
        sum += result.tally;
    }
    println!("{sum}");
    match outcome {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::Failed("see above".into())),
    }
}

/// Runs a step in this process.
fn run_one(workspace: &Workspace, choice: &Choice, name: &str) -> Result<(), Error> {
    let step = STEPS.iter().find(|step| step.name == name);
    let step: &Step = step.ok_or_else(|| Error::Usage(format!("unknown step `{name}`")))?;
    let context = Context {
        workspace,
        areas: &choice.areas,
    };
    if let Outcome::Skipped(why) = (step.run)(&context)? {
        skipped(&why);
    }
    Ok(())
}

/// A table of the steps, and what did not run.
fn summary(results: &[Finished], not_run: &[&str], wall: Duration, cpu: Duration) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{:<16}{:>8}{:>10}  tests", "step", "seconds", "CPU");
    let row = |text: &mut String, name: &str, wall: Duration, cpu: Duration, tests: &str| {
        let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
        let _ = writeln!(text, "{name:<16}{wall:>8.0}{cpu:>10.0}  {tests}");
    };
    for result in results {
        let failed = if result.has_passed { "" } else { "FAILED: " };
        let tests = format!("{failed}{}", result.tally);
        row(&mut text, result.name, result.wall, result.cpu, &tests);
    }
    let cores = cpu.as_secs_f64() / wall.as_secs_f64().max(0.001);
    row(
        &mut text,
        "all, with setup",
        wall,
        cpu,
        &format!("{cores:.2} cores busy"),
    );
    for result in results {
        for what in &result.left_out {
            let _ = writeln!(text, "sampled, whole with --rest: {what}");
        }
        for why in &result.skipped {
            let _ = writeln!(text, "skipped: {}: {why}", result.name);
        }
    }
    if !not_run.is_empty() {
        let _ = writeln!(
            text,
            "not run, because a step failed: {}",
            not_run.join(", ")
        );
    }
    text
}

fn verdict(results: &[Finished], no_skips: bool) -> Result<(), Error> {
    let names = |is_bad: fn(&Finished) -> bool| {
        let bad = results.iter().filter(|result| is_bad(result));
        bad.map(|result| result.name).collect::<Vec<_>>()
    };
    let failed = names(|result| !result.has_passed);
    if !failed.is_empty() {
        let repeat: String = failed
            .iter()
            .map(|name| format!(" --only {name}"))
            .collect();
        return Err(Error::Failed(format!(
            "failed: {}; repeat with: cargo xtask test{repeat}",
            failed.join(", ")
        )));
    }
    let skipped = names(|result| !result.skipped.is_empty());
    if no_skips && !skipped.is_empty() {
        return Err(Error::Failed(format!(
            "skipped, which --no-skips forbids: {}",
            skipped.join(", ")
        )));
    }
    Ok(())
}

/// The lines of the help text that list the steps.
pub(crate) fn steps_help() -> String {
    let mut text = String::new();
    for (title, part) in [
        ("cargo xtask test", Part::First),
        ("cargo xtask test --rest", Part::Rest),
    ] {
        let _ = writeln!(text, "\nSteps of {title}:");
        for step in STEPS.iter().filter(|step| step.part == part) {
            let _ = writeln!(text, "  {:<16}{}", step.name, step.what);
        }
    }
    text
}

/// Runs the tests of one file of the workspace, among them those that need a tool, with these variables. Of what the
/// workspace has built, so that nothing is compiled again: one package alone has other features.
fn tests_in(workspace: &Workspace, file: &str, variables: &[(&str, &Path)]) -> Result<(), Error> {
    // No test would run, and none would fail.
    if !workspace.path(file).exists() {
        return Err(Error::Usage(format!("{file}: not found")));
    }
    let (folder, program, module) = program_and_module(file);
    let mut test = programs::command(workspace, &folder, &program)?;
    test.args(["--include-ignored", &module]);
    test.envs(variables.iter().copied());
    counted::run(&module, Format::Libtest, &mut test)
}

/// The lab of the tests, to run it as a user would: what the tests have compiled is not compiled again. A release
/// build differs in its speed alone. The drivers that it builds are not optimised either: these are checks.
fn tested_lab(workspace: &Workspace) -> Result<Command, Error> {
    let mut lab = workspace.command(workspace.tested_lab()?);
    lab.envs(CHECKED_DRIVERS).envs(CLIPPY_OF_DRIVERS);
    lab.envs(aws_lc::compiled(workspace));
    Ok(lab)
}

/// `crates/c/tests/it/serve/grpcurl.rs` is the module `serve::grpcurl::` of the test program `it` in `crates/c`.
fn program_and_module(file: &str) -> (String, String, String) {
    let (folder, inside) = file.split_once("/tests/").unwrap_or_default();
    let (program, module) = inside.split_once('/').unwrap_or_default();
    let module = module.trim_end_matches(".rs").replace('/', "::");
    (folder.to_owned(), program.to_owned(), module + "::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &'static str, has_passed: bool, skipped: &[&str]) -> Finished {
        Finished {
            name,
            wall: Duration::from_secs(10),
            cpu: Duration::from_secs(18),
            tally: Tally::PASSED,
            skipped: skipped.iter().map(|why| (*why).to_owned()).collect(),
            left_out: Vec::new(),
            has_passed,
        }
    }

    #[test]
    fn file_of_tests_gives_program_and_module() {
        let (folder, program, module) = program_and_module("crates/c/tests/it/serve/grpcurl.rs");
        assert_eq!(
            (&*folder, &*program, &*module),
            ("crates/c", "it", "serve::grpcurl::")
        );
        let absent = tests_in(
            &Workspace::here(),
            "crates/c/tests/it/serve/grpcurl.rs",
            &[],
        );
        assert!(matches!(absent, Err(Error::Usage(_))));
    }

    #[test]
    fn failed_step_is_named_with_the_command_to_repeat() {
        let results = [result("test", true, &[]), result("clippy", false, &[])];
        let why = verdict(&results, false).map_err(|stop| stop.to_string());
        assert!(why.is_err_and(|why| why.ends_with("cargo xtask test --only clippy")));
        let text = summary(
            &results,
            &["doc"],
            Duration::from_secs(20),
            Duration::from_secs(36),
        );
        assert!(
            text.contains("clippy                10        18  FAILED: 1 passed"),
            "{text}"
        );
        assert!(
            text.contains("1.80 cores busy") && text.contains("a step failed: doc"),
            "{text}"
        );
    }

    #[test]
    fn skipped_step_fails_only_where_none_may_be_skipped() {
        let results = [result("sdk-go", true, &["go is not installed"])];
        assert!(verdict(&results, false).is_ok());
        assert!(verdict(&results, true).is_err());
        let text = summary(
            &results,
            &[],
            Duration::from_secs(20),
            Duration::from_secs(36),
        );
        assert!(
            text.contains("skipped: sdk-go: go is not installed"),
            "{text}"
        );
    }
}
