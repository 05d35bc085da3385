//! Development tasks of jeton, as `cargo xtask TASK`. `cargo xtask --help` explains them.
//!
//! Exit codes: 0 done, 1 a check failed, 2 the call was wrong or a tool is missing.

mod arch;
mod audit;
mod counted;
mod instructions;
mod lines;
mod mutants;
mod pages;
mod sdk;
mod setup;
mod studies;
mod tally;
mod test;
mod words;

use std::process::ExitCode;

use command::{Error, Workspace};
use xtask::{STUDIES, aws_lc, command, etcd, fuzz};

const HELP: &str = "\
Development tasks of jeton

  cargo xtask setup     Install what the tests need and this machine lacks; print each step and its reason
  cargo xtask test      Run setup, then the checks, those that show behaviour first; print the time of each and how
                        many tests passed
  cargo xtask test --rest
                        The other checks: feature sets, fuzzing, all drivers, interoperability, attacks, chaos, browsers
  cargo xtask arch      Check the crate map: which crate may use which, and the rules for sources
  cargo xtask words     Check the wording: rejected words in all files, and the length of sentences
  cargo xtask lines     Print the number of files and lines of each folder
  cargo xtask instructions
                        Count instructions under callgrind and compare them with their bounds
  cargo xtask mutants   Remove one check at a time from a copy of the library and see which test fails;
                        about half an hour
  cargo xtask sdk [NAME]
                        Build and test the library for one language (c, go, node, python, java) or for all;
                        algorithms, cases, codes, header or settings write what is written
                        from Rust sources
  cargo xtask package [NAME]
                        Build what users get into dist/, with checksums and an SBOM: c, go, java, node, python,
                        service, lab, release (checksums of all), or all (repeatable)
  cargo xtask pages     Render the stored runs of docs/runs into target/pages
  cargo xtask audit     Look up the dependencies in the advisory database; needs the network

Studies, which are built from studies/ when one of them is called:
  cargo xtask agreement Measure the same libraries with the lab and with go test -bench, criterion and
                        JMH, and write docs/reference/cross-check.md; about ten minutes, on a quiet machine
  cargo xtask service-cost
                        Load jeton's server and the Go server of the gRPC report, interleaved, and write
                        docs/reference/service-cost.md; about three minutes, on a quiet machine
  cargo xtask service-instructions [PROGRAM [PROGRAM]]
                        Count the instructions of `jeton serve` for Issue and Verify under callgrind. Of two programs
                        the second may take at most 3 % more; without one, the server is built. About a minute each
  cargo xtask token-endpoint-cost
                        Load jeton's server over HTTP and gRPC, interleaved, and write
                        docs/reference/token-endpoint-cost.md; about two minutes, on a quiet machine
  cargo xtask cluster-cost
                        Load three servers on one etcd, and write docs/reference/cluster-cost.md with what
                        larger clusters carry on paper; about five minutes
  cargo xtask loaders   Load the same two servers with h2load and with jeton-lab load, and write
                        docs/reference/load-generator-check.md; about nine minutes, on a quiet machine
  cargo xtask soak      Run the long checks and write a log to docs/soak/

Options of setup:
  --runtimes            Install only the runtimes that published figures need: Node 26 into target/tools,
                        Go 1.27 into Go's module cache; look for JDK 25 and CPython 3.14

Options of test:
  --for PART            Run what a change there needs: library, cli, service, sdk or lab (repeatable)
  --only STEP           Run only this step, without setup (repeatable)
  --skip STEP           Skip this step (repeatable)
  --keep-going          Start the other steps, too, after one has failed
  --no-skips            Fail if a step cannot run because a tool is missing

Options of package:
  --target TARGET       Build for this target of Rust, or for all that can be built here (repeatable); without it,
                        for this machine
  --check               Install what is in dist/ in Debians without Rust and without a network, run the programs
                        of the READMEs, and write a log to docs/soak/; as root, with mmdebstrap and qemu-user-static
  --sizes               Compare the sizes of what is in dist/ with other libraries, and write
                        docs/reference/package-sizes.md; needs the network
  --twice               Build here and in a clone of the commit, and compare every file

Options of mutants:
  --only NAME           Try only this mutant (repeatable)
  --with attack         Build the lab's driver of each mutant and see which row of lab attack fails

Options of agreement:
  --only TOOL           Only go, criterion or jmh (repeatable)
  --pairs N             Number of runs of each tool (default 10)

Options of service-cost, token-endpoint-cost, cluster-cost and loaders:
  --pairs N             Number of loads of each kind (default 10)

Options of soak:
  --only PART           Only lab, fuzz, ffi, kill, overload, records, attack, readers or chaos; ffi (the C
                        interface alone), records (up to ten million in a store), attack (all libraries
                        against each other), readers (keys that were changed) and chaos (faults of an etcd
                        and its servers) run only if they are named
  --minutes N           Time limit in minutes: for lab, no new run starts after it; for fuzz, ffi and readers,
                        over all targets or formats together (default 30); for attack and chaos, the whole
  --runs N              Most runs of the lab (default 10)
  --kills N             How often an issuer is killed during revocations (default 1000)

Examples:
  cargo xtask setup --runtimes            then: jeton-lab run --runtimes newest
  cargo xtask test                        before a commit
  cargo xtask test --rest                 then, what continuous integration also runs
  cargo xtask test --for library          after a change of the library
  cargo xtask test --only clippy          repeat one step after a fix
  cargo xtask soak --only lab --minutes 60 --runs 40
  cargo xtask soak --only fuzz --minutes 60
  cargo xtask soak --only ffi --minutes 60
  cargo xtask soak --only kill
  cargo xtask soak --only overload
  cargo xtask soak --only records
  cargo xtask soak --only attack --minutes 10
  cargo xtask soak --only readers --minutes 60
  cargo xtask soak --only chaos --minutes 30
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let workspace = Workspace::here();
    let outcome = match arguments.split_first() {
        Some((task, rest)) => run(&workspace, task, rest),
        None => {
            print_help();
            Ok(ExitCode::SUCCESS)
        }
    };
    match outcome {
        Ok(code) => code,
        Err(stop) => {
            eprintln!("xtask: {stop}");
            stop.exit_code()
        }
    }
}

fn run(workspace: &Workspace, task: &str, options: &[String]) -> Result<ExitCode, Error> {
    if options.iter().any(|option| is_help(option)) {
        print_help();
        return Ok(ExitCode::SUCCESS);
    }
    if STUDIES.contains(&task) {
        return studies::run(workspace, task, options);
    }
    let outcome = match task {
        "setup" => setup::run_with(workspace, options),
        "test" => test::run(Workspace::here(), &test::Choice::parse(options)?),
        "arch" => no_options(task, options).and_then(|()| arch::run(workspace)),
        "words" => no_options(task, options).and_then(|()| words::run(workspace)),
        "lines" => no_options(task, options).and_then(|()| lines::run(workspace)),
        "instructions" => no_options(task, options).and_then(|()| instructions::run(workspace)),
        "mutants" => mutants::run(workspace, &mutants::Choice::parse(options)?),
        "sdk" => sdk::run(workspace, options),
        "package" => sdk::package::run(workspace, options),
        "pages" => no_options(task, options).and_then(|()| pages::run(workspace)),
        "audit" => no_options(task, options).and_then(|()| audit::run(workspace)),
        other if is_help(other) => {
            print_help();
            Ok(())
        }
        other => Err(Error::Usage(format!(
            "unknown task `{other}`; `cargo xtask --help` lists the tasks"
        ))),
    };
    outcome.map(|()| ExitCode::SUCCESS)
}

fn no_options(task: &str, options: &[String]) -> Result<(), Error> {
    match options.first() {
        None => Ok(()),
        Some(option) => Err(Error::Usage(format!(
            "`{task}` takes no options, got `{option}`"
        ))),
    }
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "help" | "--help" | "-h")
}

fn print_help() {
    print!("{HELP}{}", test::steps_help());
}
