//! Fuzzing: `cargo xtask test` runs each target for seconds, `cargo xtask soak` for minutes.
//!
//! libFuzzer comes as a crate, and coverage as compiler flags that the pinned stable toolchain
//! takes: the targets are built with plain cargo, and nothing has to be installed. The sanitizers
//! are left out; they need nightly, and the library has no unsafe code.

mod figures;

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub use figures::Figures;

use crate::aws_lc;
use crate::command::{Error, Workspace, output, run as run_command};

/// What cargo-fuzz gives the compiler when it is asked for no sanitizer: a counter for each edge,
/// the compared values, and code that keeps its branches.
const FLAGS: &[&str] = &[
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];

/// Most memory that a target may ever hold, MB. Each call's own bound is asserted in the targets.
const MEMORY_MB: u32 = 1024;

/// Longest that one input may take. The dearest accurate one asks for a million rounds of PBKDF2. A machine that stalls
/// makes any input take longer, so an input counts only if it takes longer again.
const INPUT_SECONDS: u32 = 30;

/// How often a target runs, if inputs take longer only once.
const RUNS_MAX: usize = 3;

/// Longest that a fuzzer may take to write its seeds and to run each once. It listens to no signal
/// before, and has not fuzzed.
const BEGINNING: Duration = Duration::from_secs(180);

/// What libFuzzer says when it has run the seeds.
const BEGUN: &str = "INITED";

/// How long a fuzzer may take to stop when it is told to.
const FAREWELL: Duration = Duration::from_secs(60);

/// The longest step between two looks at the clock that counts as running: a machine or a process
/// that was stopped meanwhile has not fuzzed.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// The target of the C interface.
const INTERFACE: &str = "ffi";

/// Which targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The library's.
    Library,
    /// Those of the service too: hundreds of crates more to build.
    Everything,
    /// The C interface alone.
    Interface,
}

impl Scope {
    /// Every file in one of these folders is a target.
    fn folders(self) -> &'static [&'static str] {
        match self {
            Self::Library | Self::Interface => &["fuzz/fuzz_targets"],
            Self::Everything => &["fuzz/fuzz_targets", "fuzz/service_targets"],
        }
    }

    /// What the service's targets want to be built.
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::Library | Self::Interface => &[],
            Self::Everything => &["--features", "service"],
        }
    }
}

/// How far the targets are optimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimised {
    /// For runs of seconds, which take less time than a full build.
    Little,
    /// For runs of minutes.
    Fully,
}

impl Optimised {
    /// What cargo is told beside the manifest.
    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Little => &[
                ("CARGO_PROFILE_DEV_OPT_LEVEL", "1"),
                ("CARGO_PROFILE_DEV_DEBUG", "0"),
                ("CARGO_INCREMENTAL", "0"),
            ],
            Self::Fully => &[],
        }
    }

    /// The profile, its folder, and where cargo builds. A run of seconds uses what tests have built of procedural macros
    /// and build scripts.
    fn profile(self, workspace: &Workspace) -> (&'static str, &'static str, PathBuf) {
        match self {
            Self::Little => ("dev", "debug", workspace.target()),
            Self::Fully => ("release", "release", home(workspace)),
        }
    }
}

/// The fuzz targets, built.
pub struct Targets {
    /// The binaries: copies, so that building again does not touch a long run.
    binaries: Vec<PathBuf>,
    /// Where corpora, findings and logs go.
    home: PathBuf,
}

impl Targets {
    /// Builds every target of the scope.
    ///
    /// # Errors
    /// If cargo cannot build them.
    pub fn build(workspace: &Workspace, scope: Scope, optimised: Optimised) -> Result<Self, Error> {
        let names = names(workspace, scope)?;
        let home = home(workspace);
        let host = host(workspace)?;
        let (profile, profile_folder, target) = optimised.profile(workspace);
        let mut build = workspace.cargo(&["build", "--profile", profile, "--locked", "--bins"]);
        build
            .args(scope.features())
            .args(["--manifest-path", "fuzz/Cargo.toml", "--target", &host])
            .arg("--target-dir")
            .arg(&target)
            .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
            .envs(optimised.settings().iter().copied())
            .envs(aws_lc::compiled(workspace));
        run_command(&mut build)?;
        let folder = home.join("running");
        fs::create_dir_all(&folder).map_err(|error| cannot(&folder, &error))?;
        let copy = |name: &String| {
            let built = target.join(&host).join(profile_folder).join(name);
            let binary = folder.join(name);
            // The old copy may be running; its file can be replaced, not written to.
            let _ = fs::remove_file(&binary);
            match fs::copy(&built, &binary) {
                Ok(_) => Ok(binary),
                Err(error) => Err(cannot(&built, &error)),
            }
        };
        let binaries = names.iter().map(copy).collect::<Result<_, _>>()?;
        Ok(Self { binaries, home })
    }

    /// Returns the number of targets.
    #[must_use]
    pub fn count(&self) -> usize {
        self.binaries.len()
    }

    /// Runs the targets, `at_once` of them at a time, each for that long, and hands each one's figures to `see`.
    /// A finding ends its target, not the others.
    ///
    /// # Errors
    /// If a target does not start, or its log cannot be read.
    pub fn run(
        &self,
        workspace: &Workspace,
        each: Duration,
        at_once: NonZeroUsize,
        mut see: impl FnMut(&Figures),
    ) -> Result<Vec<Figures>, Error> {
        let mut all = Vec::new();
        for binaries in self.binaries.chunks(at_once.get()) {
            let ended = thread::scope(|scope| {
                let started: Vec<_> = (binaries.iter())
                    .map(|binary| scope.spawn(|| self.run_one(workspace, binary, each)))
                    .collect();
                let ended = started.into_iter().map(thread::ScopedJoinHandle::join);
                ended.collect::<Vec<_>>()
            });
            for figures in ended {
                let figures = figures.unwrap_or_else(|panic| resume_unwind(panic))?;
                see(&figures);
                all.push(figures);
            }
        }
        Ok(all)
    }

    fn run_one(
        &self,
        workspace: &Workspace,
        binary: &Path,
        each: Duration,
    ) -> Result<Figures, Error> {
        for _ in 1..RUNS_MAX {
            let (figures, slow) = self.run_once(workspace, binary, each)?;
            match slow {
                Some(input) if !is_slow(workspace, binary, &input)? => {
                    eprintln!("  {}: {input} took too long only once", figures.target);
                    let _ = fs::remove_file(&input);
                }
                _ => return Ok(figures),
            }
        }
        let (figures, _) = self.run_once(workspace, binary, each)?;
        Ok(figures)
    }

    /// Runs a target. Returns the input that took too long, too, if there is one.
    fn run_once(
        &self,
        workspace: &Workspace,
        binary: &Path,
        each: Duration,
    ) -> Result<(Figures, Option<String>), Error> {
        let name = file_name(binary);
        let corpus = self.home.join("corpus").join(&name);
        let findings = self.home.join("findings");
        for folder in [&corpus, &findings] {
            fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
        }
        let log = self.home.join(format!("{name}.log"));
        let file = File::create(&log).map_err(|error| cannot(&log, &error))?;
        let mut fuzzer = workspace.command(binary);
        fuzzer
            .arg(&corpus)
            .arg(format!("-rss_limit_mb={MEMORY_MB}"))
            .arg(format!("-timeout={INPUT_SECONDS}"))
            .arg(format!(
                "-artifact_prefix={}/{name}-",
                findings.to_string_lossy()
            ))
            .args(["-dict=fuzz/jose.dict", "-print_final_stats=1"])
            // Of two inputs that show as much, the faster one is worth more.
            .arg("-entropic_scale_per_exec_time=1")
            .env("JETON_FUZZ_SEEDS", &corpus)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file);
        let mut child = fuzzer
            .spawn()
            .map_err(|error| Error::Usage(format!("{name} did not start: {error}")))?;
        let begun = || fs::read_to_string(&log).is_ok_and(|talk| talk.contains(BEGUN));
        let (status, ran) = run_for(workspace, &mut child, begun, each)?;
        let talk = fs::read(&log).map_err(|error| cannot(&log, &error))?;
        let talk = String::from_utf8_lossy(&talk);
        let mut figures = Figures::read(&name, &talk, ran);
        let mut slow = None;
        if !status.success() {
            figures.fail(status, &talk, &log.to_string_lossy());
            slow = figures::slow_input(&talk).map(str::to_owned);
        }
        Ok((figures, slow))
    }
}

/// Whether an input alone takes too long.
fn is_slow(workspace: &Workspace, binary: &Path, input: &str) -> Result<bool, Error> {
    let mut again = workspace.command(binary);
    again
        .arg("-runs=1")
        .arg(format!("-timeout={INPUT_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MB}"))
        .arg(input)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = again
        .status()
        .map_err(|error| Error::Usage(format!("{} did not start: {error}", file_name(binary))))?;
    Ok(!status.success())
}

/// Lets the fuzzer run for so long from when it has begun, then asks it to stop.
fn run_for(
    workspace: &Workspace,
    child: &mut Child,
    begun: impl Fn() -> bool,
    each: Duration,
) -> Result<(ExitStatus, Duration), Error> {
    let kill = |child: &mut Child| child.kill().map_err(cannot_wait);
    let never = || false;
    if let (Some(status), _) = watch(child, BEGINNING, &begun)? {
        return Ok((status, Duration::ZERO));
    }
    if !begun() {
        kill(child)?;
    }
    if let (Some(status), ran) = watch(child, each, never)? {
        return Ok((status, ran));
    }
    // It prints its figures and ends with 0.
    run_quietly(workspace, &format!("kill -USR1 {}", child.id()))?;
    if let (Some(status), _) = watch(child, FAREWELL, never)? {
        return Ok((status, each));
    }
    kill(child)?;
    let status = child.wait().map_err(cannot_wait)?;
    Ok((status, each))
}

/// Waits until the fuzzer ends, or has shown enough, or so much time has passed in which it could
/// run: with its status if it ended, and that time.
fn watch(
    child: &mut Child,
    longest: Duration,
    enough: impl Fn() -> bool,
) -> Result<(Option<ExitStatus>, Duration), Error> {
    let mut passed = Duration::ZERO;
    let mut last = Instant::now();
    while passed < longest && !enough() {
        if let Some(status) = child.try_wait().map_err(cannot_wait)? {
            return Ok((Some(status), passed));
        }
        thread::sleep(Duration::from_millis(100));
        passed += last.elapsed().min(LONGEST_STEP);
        last = Instant::now();
    }
    Ok((None, passed))
}

fn cannot_wait(error: std::io::Error) -> Error {
    Error::Failed(format!("a fuzzer cannot be waited for: {error}"))
}

fn run_quietly(workspace: &Workspace, script: &str) -> Result<(), Error> {
    workspace
        .command("sh")
        .args(["-c", script])
        .status()
        .map(drop)
        .map_err(|error| Error::Usage(format!("sh did not start: {error}")))
}

/// Returns the version of libFuzzer's crate that the lockfile names.
#[must_use]
pub fn engine_version(workspace: &Workspace) -> String {
    let lock = fs::read_to_string(workspace.path("fuzz/Cargo.lock")).unwrap_or_default();
    let entry = lock.split_once("name = \"libfuzzer-sys\"\nversion = \"");
    let version = entry.and_then(|(_, rest)| Some(rest.split_once('"')?.0));
    version.unwrap_or("of an unknown version").to_owned()
}

/// The scope's targets, by their names.
fn names(workspace: &Workspace, scope: Scope) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for folder in scope.folders() {
        let folder = workspace.path(folder);
        let entries = fs::read_dir(&folder).map_err(|error| cannot(&folder, &error))?;
        names.extend(
            entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
                .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())),
        );
    }
    if scope == Scope::Interface {
        names.retain(|name| name == INTERFACE);
    }
    names.sort();
    Ok(names)
}

/// Where corpora, findings, logs and full builds are.
fn home(workspace: &Workspace) -> PathBuf {
    workspace.target().join("fuzz")
}

/// The machine's own target triple. With a target named, build scripts are built without the flags.
fn host(workspace: &Workspace) -> Result<String, Error> {
    let about = output(workspace.command("rustc").arg("-vV"))?;
    about
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Error::Usage("`rustc -vV` names no host".into()))
}

fn cannot(path: &Path, error: &std::io::Error) -> Error {
    Error::Usage(format!("{}: {error}", path.display()))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// On a machine that is busy, a target needs seconds for its seeds, and the signal that asks it
    /// to stop would end it as a crash.
    #[test]
    fn time_begins_when_the_seeds_have_run() {
        let workspace = Workspace::here();
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let script = format!(
            "sleep 0.5; trap 'exit 0' USR1; echo '#1 INITED cov: 1' >{}; while :; do sleep 0.05; done",
            log.display()
        );
        let mut child = workspace
            .command("sh")
            .args(["-c", &script])
            .spawn()
            .unwrap();
        let begun = || fs::read_to_string(&log).is_ok_and(|talk| talk.contains(BEGUN));
        let each = Duration::from_millis(200);
        let (status, ran) = run_for(&workspace, &mut child, begun, each).unwrap();
        assert!(status.success(), "{status}");
        assert_eq!(ran, each);
    }
}
