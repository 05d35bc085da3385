//! The tests of the workspace: each program runs as soon as cargo has built it, beside the programs that are still built.
//!
//! `cargo test` builds everything first, and runs one program after the other: a core waits for the last test of each.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::areas::Area;
use super::process;
use super::schedule::HAS_BUILT;
use crate::aws_lc;
use crate::command::{BUILT, Error, Workspace, on_path, shown};
use crate::counted::{self, count, news, skipped};
use crate::tally::{Format, Reader, Tally};

/// What the build prints of every file that it made; the rest of each message is not used.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
    /// Where a build script has written.
    out_dir: Option<PathBuf>,
    #[serde(default)]
    package_id: String,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// A test program.
#[derive(Debug)]
struct Program {
    executable: PathBuf,
    /// The folder of its crate, in which it runs.
    folder: PathBuf,
    /// The name of the target: that of the library, or `it`.
    name: String,
    /// Whether it starts a binary of its crate, which cargo may build after it.
    needs_binary: bool,
}

/// The programs that wait, and what goes on.
#[derive(Default)]
struct Queue {
    waiting: Vec<Program>,
    is_built: bool,
    failed: Vec<String>,
}

/// Builds everything and runs all test programs, those of the library first.
pub(super) fn run(workspace: &Workspace, areas: &[Area]) -> Result<(), Error> {
    let queue = Mutex::new(Queue::default());
    let changed = Condvar::new();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let built = thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| run_waiting(workspace, areas, &queue, &changed));
        }
        let built = build_and_tell(workspace, |program| {
            if is_chosen(areas, &program) {
                lock(&queue).waiting.push(program);
                changed.notify_all();
            }
        });
        if built.is_err() {
            lock(&queue).waiting.clear();
        }
        lock(&queue).is_built = true;
        changed.notify_all();
        built
    });
    built?;
    let failed = queue.into_inner().unwrap_or_default().failed;
    let examples = examples(workspace);
    if failed.is_empty() {
        return examples;
    }
    Err(Error::Failed(format!(
        "tests failed: {}",
        failed.join(", ")
    )))
}

/// Builds everything, and runs nothing.
pub(super) fn build(workspace: &Workspace) -> Result<(), Error> {
    build_and_tell(workspace, drop)
}

/// Builds everything, hands over each test program when it is there, and writes their list.
fn build_and_tell(workspace: &Workspace, mut tell: impl FnMut(Program)) -> Result<(), Error> {
    let mut build = workspace.cargo_build();
    build.arg("--message-format=json-render-diagnostics");
    let line = shown(&build);
    eprintln!("  $ {line}");
    let cannot = |error| Error::Usage(format!("`{line}` did not start: {error}"));
    let mut cargo = build.stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let mut list = String::new();
    let mut aws_lc = (None, None);
    for message in cargo.stdout.take().into_iter().flat_map(messages) {
        if message.package_id.contains(aws_lc::PACKAGE) {
            let sources = message.manifest_path.parent().map(Path::to_owned);
            aws_lc = (
                message.out_dir.or(aws_lc.0),
                sources.filter(|_| message.target.is_some()).or(aws_lc.1),
            );
            continue;
        }
        let Some(program) = program(message, workspace.root()) else {
            continue;
        };
        let Program {
            executable,
            folder,
            name,
            ..
        } = &program;
        let (executable, folder) = (executable.display(), folder.display());
        list.push_str(&format!("{folder}\t{name}\t{executable}\n"));
        tell(program);
    }
    let (status, cpu) = process::wait(&mut cargo).map_err(cannot)?;
    if !status.success() {
        return Err(Error::Failed(format!("`{line}` ended with {status}")));
    }
    eprintln!("  the build took {:.0} s of CPU time", cpu.as_secs_f64());
    if let (Some(out), Some(sources)) = aws_lc
        && let Err(error) = aws_lc::lay_out(workspace, &out, &sources)
    {
        eprintln!("  other builds compile AWS-LC again: {error}");
    }
    let file = list_file(workspace)?;
    fs::write(&file, list)
        .map_err(|error| Error::Failed(format!("{}: {error}", file.display())))?;
    news(HAS_BUILT);
    Ok(())
}

/// The test programs of the last build: the folder of the crate, the name of the program, its path.
fn list_file(workspace: &Workspace) -> Result<PathBuf, Error> {
    let folder = workspace.target().join("test-output");
    fs::create_dir_all(&folder)
        .map_err(|error| Error::Failed(format!("{}: {error}", folder.display())))?;
    Ok(folder.join("programs.txt"))
}

/// Returns the command that runs a test program, of a crate's folder and by the name of its target. It asks cargo only if
/// no step has built yet: cargo would wait for another step that compiles.
pub(super) fn command(workspace: &Workspace, folder: &str, name: &str) -> Result<Command, Error> {
    if std::env::var_os(BUILT).is_none() {
        build(workspace)?;
    }
    let list = list_file(workspace)?;
    let text = fs::read_to_string(&list).unwrap_or_default();
    let crate_folder = workspace.path(folder);
    let is_it = |line: &&str| {
        let mut fields = line.split('\t');
        fields.next().map(Path::new) == Some(&crate_folder) && fields.next() == Some(name)
    };
    let executable = text
        .lines()
        .find(is_it)
        .and_then(|line| line.rsplit('\t').next());
    let executable = executable.ok_or_else(|| {
        Error::Failed(format!(
            "{folder} has no test program `{name}` in {}",
            list.display()
        ))
    })?;
    let mut command = Command::new(executable);
    command
        .current_dir(&crate_folder)
        .env("CARGO_MANIFEST_DIR", &crate_folder);
    Ok(command)
}

/// Long tests of which [`run`] takes a sample: some cases of `tests`, unless [`WHOLE`] is set, and none of `left_out`.
const SAMPLED: [Sampled; 7] = [
    Sampled {
        folder: "crates/jeton",
        program: "it",
        tests: &[],
        left_out: &["readme::"],
        what: "the library: not the example of README.md in a new crate, for which its dependencies are compiled again",
    },
    Sampled {
        folder: COMMAND,
        program: "it",
        tests: &["doctor::agrees::", "untrusted::input::"],
        left_out: &["files::bad::binary_file", "files::bad::folder_instead"],
        what: "doctor against verify: one of 11 calls; hostile tokens and keys: one of 10; not: two of the wrong files \
               for each argument",
    },
    Sampled {
        folder: LAB,
        program: "it",
        tests: &["untrusted::hostile_results"],
        left_out: &[
            "outputs::",
            "results::",
            "runtimes::",
            "gate::",
            "files::binary_file",
            "files::folder_instead",
        ],
        what: "the lab's command: hostile results: one of 10; not: what a run does with files that are there, and two of \
               the wrong files for each argument",
    },
    Sampled {
        folder: LAB,
        program: "load",
        tests: &[],
        left_out: &[
            "servers::servers_open_loop",
            "servers::servers_full_rates",
            "servers::servers_beyond_calls",
            "servers::servers_with_own_keys",
            "servers::servers_budget",
        ],
        what: "servers under load: the usual run and the faulty servers",
    },
    Sampled {
        folder: "crates/jeton-issuer",
        program: "jeton_issuer",
        tests: &["in_every_interleaving", "random_history_accepts"],
        left_out: &[],
        what: "searches over revocation and rotation: 2 of 8, and 48 of 256 random histories",
    },
    Sampled {
        folder: "lab/harness",
        program: "it",
        tests: &[],
        left_out: &[
            "cheats::",
            "misdeeds::aa_pairs",
            "misdeeds::driver_that_supports_leads",
        ],
        what: "drivers that misbehave, and not those that cheat",
    },
    Sampled {
        folder: "lab/report",
        program: "it",
        tests: &[],
        left_out: &[
            "attack::fuzz_findings",
            "attack_endpoint::endpoint_correct",
            "multi_run::decided::",
            "multi_run::check_members::",
        ],
        what: "reports: all but the two longest attacks, and decisions over many runs",
    },
];

#[derive(Clone, Copy)]
struct Sampled {
    /// The crate, and the name of its program.
    folder: &'static str,
    program: &'static str,
    /// Parts of the names of the tests that take a sample of their cases.
    tests: &'static [&'static str],
    /// Parts of the names of the tests that are not run.
    left_out: &'static [&'static str],
    what: &'static str,
}

impl Sampled {
    fn is(self, program: &Program) -> bool {
        program.name == self.program && program.folder.ends_with(self.folder)
    }
}

/// The environment variable with which they take all cases. jeton-testkit reads it.
const WHOLE: &str = "JETON_TEST_WHOLE";

/// Runs the sampled tests with all cases.
pub(super) fn whole(workspace: &Workspace) -> Result<(), Error> {
    for sampled in SAMPLED {
        let mut test = command(workspace, sampled.folder, sampled.program)?;
        test.args(sampled.tests).args(sampled.left_out);
        test.env(WHOLE, "1");
        counted::run(sampled.folder, Format::Libtest, &mut test)?;
    }
    Ok(())
}

/// The examples in the documentation of the libraries.
fn examples(workspace: &Workspace) -> Result<(), Error> {
    let mut test = workspace.cargo_workspace("test");
    counted::run(
        "examples in documentation",
        Format::Libtest,
        test.arg("--doc"),
    )
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What cargo says while it builds.
fn messages(output: ChildStdout) -> impl Iterator<Item = Message> {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_str(&line).ok())
}

/// The test program, if the message is of one.
fn program(message: Message, root: &Path) -> Option<Program> {
    let is_test = message.reason == "compiler-artifact" && message.profile?.test;
    let folder = message.manifest_path.parent()?.to_owned();
    let target = message.target?;
    // A bench is only built: what it measures is not a test.
    let is = |wanted: &str| target.kind.iter().any(|kind| kind == wanted);
    let is_bench = is("bench");
    let needs_binary = is("test") && folder.join("src/main.rs").exists();
    let is_own = is_test && !is_bench && folder.starts_with(root);
    Some(Program {
        executable: message.executable.filter(|_| is_own)?,
        folder,
        name: target.name,
        needs_binary,
    })
}

/// Runs what waits, until everything is built and nothing waits.
fn run_waiting(workspace: &Workspace, areas: &[Area], queue: &Mutex<Queue>, changed: &Condvar) {
    let mut state = lock(queue);
    loop {
        let is_built = state.is_built;
        let ready = (state.waiting.iter().enumerate())
            .filter(|(_, program)| is_built || !program.needs_binary)
            .min_by_key(|(_, program)| Area::of(workspace, &program.folder));
        if let Some((index, _)) = ready {
            let program = state.waiting.remove(index);
            drop(state);
            let outcome = run_one(workspace, areas, &program);
            state = lock(queue);
            if let Err(why) = outcome {
                state.failed.push(why);
            }
        } else if state.is_built {
            return;
        } else {
            state = changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

/// Runs a program, and shows its output if it fails.
fn run_one(workspace: &Workspace, areas: &[Area], program: &Program) -> Result<(), String> {
    let crate_folder = program.folder.strip_prefix(workspace.root());
    let crate_folder = crate_folder.unwrap_or(&program.folder).display();
    let name = format!("{crate_folder} {}", program.name);
    let begun = Instant::now();
    let (tally, cpu, output) =
        execute(workspace, areas, program).map_err(|why| format!("{name} ({why})"))?;
    eprintln!(
        "  {name}: {:.1} s, {:.1} s of CPU time",
        begun.elapsed().as_secs_f64(),
        cpu.as_secs_f64()
    );
    count(&name, tally);
    for sampled in SAMPLED {
        if sampled.is(program) {
            counted::sampled(sampled.what);
        }
    }
    match output {
        None => Ok(()),
        Some(output) => {
            eprintln!("---- output of {name} ----\n{output}---- end of {name} ----");
            let tests: Vec<&str> = failed_tests(&output).collect();
            Err(if tests.is_empty() {
                name
            } else {
                format!("{name} ({})", tests.join(", "))
            })
        }
    }
}

/// The names of the tests that failed, of the output of a program.
fn failed_tests(output: &str) -> impl Iterator<Item = &str> {
    let lines = output.lines();
    lines.filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
}

/// Returns the output, too, of a program that fails.
fn execute(
    workspace: &Workspace,
    areas: &[Area],
    program: &Program,
) -> std::io::Result<(Tally, Duration, Option<String>)> {
    let folder = workspace.target().join("test-output");
    fs::create_dir_all(&folder)?;
    let file_name = program.executable.file_name().unwrap_or_default();
    let log = folder.join(file_name).with_extension("txt");
    let file = File::create(&log)?;
    let mut test = Command::new(&program.executable);
    test.current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .args(arguments(areas, program))
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    // Some tests wait for programs that they started.
    if let Ok(cores) = thread::available_parallelism() {
        test.env("RUST_TEST_THREADS", (cores.get() + 1).to_string());
    }
    let (status, cpu) = process::wait(&mut test.spawn()?)?;
    let output = fs::read(&log)?;
    let output = String::from_utf8_lossy(&output);
    let mut reader = Reader::new(Format::Libtest);
    for line in output.lines() {
        reader.line(line);
    }
    let mut tally = reader.tally();
    // Some programs are one test, and say nothing.
    if !output.contains("test result: ") {
        tally = if status.success() {
            Tally::PASSED
        } else {
            Tally { failed: 1, ..tally }
        };
    }
    let output = if status.success() {
        None
    } else {
        Some(format!("{output}\nended with {status}\n"))
    };
    Ok((tally, cpu, output))
}

/// The crate of the command, whose tests several areas need in part.
const COMMAND: &str = "crates/jeton-cli";

/// The crate of the lab's command.
const LAB: &str = "lab/cli";

/// Its tests that need SoftHSM.
const HSM: [&str; 2] = ["serve::hsm", "operating::every_command_of_the_manual_works"];

/// Whether the areas need its tests: the command is built for every one, as its tests use it.
fn is_chosen(areas: &[Area], program: &Program) -> bool {
    let modules = Area::modules_of_the_command(areas);
    !program.folder.ends_with(COMMAND)
        || modules.is_none_or(|modules| !modules.is_empty() && program.name == "it")
}

/// What the program is told: parts of the command line that belong to the chosen areas, and without tests that this
/// machine cannot run.
fn arguments(areas: &[Area], program: &Program) -> Vec<String> {
    let mut arguments = Vec::new();
    for sampled in SAMPLED.iter().filter(|sampled| sampled.is(program)) {
        let left_out = sampled.left_out.iter();
        arguments.extend(left_out.flat_map(|test| ["--skip".to_owned(), (*test).to_owned()]));
    }
    if program.name != "it" {
        return arguments;
    }
    if program.folder.ends_with(COMMAND) {
        let modules = Area::modules_of_the_command(areas).unwrap_or_default();
        arguments.extend(modules.into_iter().map(str::to_owned));
    }
    if program.folder.ends_with(COMMAND) && on_path("softhsm2-util").is_none() {
        skipped(&format!("{}: SoftHSM is not installed", HSM.join(", ")));
        for test in HSM {
            arguments.extend(["--skip".to_owned(), test.to_owned()]);
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_failed_are_named() {
        let output = "test a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n    a::c\ntest result: FAILED. 1 passed; 1 failed";
        assert_eq!(failed_tests(output).collect::<Vec<_>>(), ["a::c"]);
    }

    fn message(test: bool, executable: &str) -> String {
        format!(
            "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/crates/a/Cargo.toml\",\
             \"target\":{{\"name\":\"it\",\"kind\":[\"test\"]}},\
             \"profile\":{{\"test\":{test}}},\"executable\":{executable}}}"
        )
    }

    #[test]
    fn only_test_programs_of_the_workspace_are_run() {
        let root = Path::new("/w");
        let program = |line: &str, root| program(serde_json::from_str(line).ok()?, root);
        let found = program(&message(true, "\"/w/target/debug/deps/it-1\""), root);
        let found = found.map(|program| (program.folder, program.name));
        assert_eq!(found, Some(("/w/crates/a".into(), "it".into())));
        for other in [
            message(false, "\"/w/target/debug/jeton\""),
            message(true, "null"),
            message(true, "\"/w/target/debug/deps/it-1\"").replace("[\"test\"]", "[\"bench\"]"),
            "{\"reason\":\"build-finished\",\"success\":true}".into(),
            "text".into(),
        ] {
            assert!(program(&other, root).is_none(), "{other}");
        }
        let elsewhere = message(true, "\"/w/target/debug/deps/it-1\"");
        assert!(program(&elsewhere, Path::new("/x")).is_none());
    }
}
