//! jeton's chores, as `cargo xtask CHORE`. `cargo xtask --help` explains them.
//!
//! Exit codes: 0 done, 1 a check failed, 2 the call was wrong or the machine lacks something.

mod agreement;
mod arch;
mod audit;
mod command;
mod fuzz;
mod instructions;
mod interval;
mod loaders;
mod mutants;
mod pairs;
mod service_cost;
mod setup;
mod soak;
mod test;

use std::process::ExitCode;

use command::{House, Stop};

const HELP: &str = "\
jeton's chores

  cargo xtask setup     installs what the tests need and this machine lacks; says each step and why
  cargo xtask test      sets up, then runs every check in order; stops at the first that fails
  cargo xtask arch      checks the map: which crate may use which, and the rules for sources
  cargo xtask instructions
                        counts instructions under callgrind and holds them against their bounds
  cargo xtask mutants   takes one check at a time out of a copy of the library and looks which test
                        turns red; about half an hour
  cargo xtask audit     asks the advisory database about the dependencies; needs the network
  cargo xtask agreement measures the same libraries by the lab and by go test -bench, criterion and
                        JMH, and writes docs/reference/cross-check.md; about ten minutes, on a quiet machine
  cargo xtask service-cost
                        loads jeton's server and the Go server of the gRPC report in turns, and writes
                        docs/reference/service-cost.md; about three minutes, on a quiet machine
  cargo xtask loaders   loads the same two servers by h2load and by jeton lab load, and writes
                        docs/reference/load-generator-check.md; about nine minutes, on a quiet machine
  cargo xtask soak      runs the long checks and writes a log to docs/soak/

Options of setup:
  --runtimes            brings the runtimes that published figures come from, and nothing else: Node 26
                        into target/tools, Go 1.27 into Go's module cache; looks for JDK 25 and CPython 3.14

Options of test:
  --only STEP           runs this step alone, without setup (may be repeated)
  --skip STEP           leaves this step out (may be repeated)

Options of mutants:
  --only NAME           tries this mutant alone (may be repeated)
  --with attack         builds the lab's driver of each and looks which row of lab attack turns red

Options of agreement:
  --only TOOL           go, criterion or jmh alone (may be repeated)
  --pairs N             so many runs of each (default 10)

Options of service-cost and loaders:
  --pairs N             so many loads of each (default 10)

Options of soak:
  --only PART           lab, fuzz, kill, overload or attack alone; attack (all libraries against each
                        other) is done if it is asked for
  --minutes N           for the lab: starts no new run after N minutes; for fuzzing: N minutes over
                        all targets together (default 30); for attack: N minutes
  --runs N              at most N runs of the lab (default 10)
  --kills N             kills an issuer N times amid revocations (default 1000)

Examples:
  cargo xtask setup --runtimes            then: jeton lab run --runtimes newest
  cargo xtask test                        what the build machine runs
  cargo xtask test --only clippy          repeat one step after mending it
  cargo xtask test --skip lab --skip browser
  cargo xtask soak --only lab --minutes 60 --runs 40
  cargo xtask soak --only fuzz --minutes 60
  cargo xtask soak --only kill
  cargo xtask soak --only overload
  cargo xtask soak --only attack --minutes 10
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let house = House::here();
    let outcome = match arguments.split_first() {
        Some((chore, rest)) => run(&house, chore, rest),
        None => {
            print_help();
            Ok(())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("xtask: {stop}");
            stop.exit_code()
        }
    }
}

fn run(house: &House, chore: &str, options: &[String]) -> Result<(), Stop> {
    if options.iter().any(|option| is_help(option)) {
        print_help();
        return Ok(());
    }
    match chore {
        "setup" => setup::run_with(house, options),
        "test" => test::run(house, &test::Choice::parse(options)?),
        "arch" => no_options(chore, options).and_then(|()| arch::run(house)),
        "instructions" => no_options(chore, options).and_then(|()| instructions::run(house)),
        "agreement" => agreement::run(house, &agreement::Plan::parse(options)?),
        "service-cost" => service_cost::run(house, &pairs::Plan::parse(chore, options)?),
        "loaders" => loaders::run(house, &pairs::Plan::parse(chore, options)?),
        "mutants" => mutants::run(house, &mutants::Choice::parse(options)?),
        "audit" => no_options(chore, options).and_then(|()| audit::run(house)),
        "soak" => soak::run(house, &soak::Plan::parse(options)?),
        other if is_help(other) => {
            print_help();
            Ok(())
        }
        other => Err(Stop::Misused(format!(
            "there is no chore `{other}`; `cargo xtask --help` lists them"
        ))),
    }
}

fn no_options(chore: &str, options: &[String]) -> Result<(), Stop> {
    match options.first() {
        None => Ok(()),
        Some(option) => Err(Stop::Misused(format!(
            "`{chore}` takes no options, but got `{option}`"
        ))),
    }
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "help" | "--help" | "-h")
}

fn print_help() {
    print!("{HELP}\nSteps of test, in order:\n{}", test::steps_help());
}
