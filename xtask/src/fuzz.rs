//! Fuzzing: `cargo xtask test` runs each target for seconds, `cargo xtask soak` for minutes.
//!
//! libFuzzer comes as a crate, and coverage as compiler flags that the pinned stable toolchain
//! takes: the targets are built with plain cargo, and nothing has to be installed. The sanitizers
//! are left out; they need nightly, and the library has no unsafe code.

mod figures;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub(crate) use figures::Figures;

use crate::command::{House, Stop, output, run as run_command};

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

/// Longest that one input may take. The dearest honest one asks for a million rounds of PBKDF2.
const INPUT_SECONDS: u32 = 15;

/// How long a fuzzer may take to stop when it is told to.
const FAREWELL: Duration = Duration::from_secs(30);

/// The longest step between two looks at the clock that counts as running: a machine or a process
/// that was stopped meanwhile has not fuzzed.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// The fuzz targets, built.
pub(crate) struct Targets {
    /// The binaries: copies, so that building again does not touch a long run.
    binaries: Vec<PathBuf>,
    /// Where corpora, findings and logs go.
    home: PathBuf,
}

impl Targets {
    /// Builds every target.
    pub(crate) fn build(house: &House) -> Result<Self, Stop> {
        let names = names(house)?;
        let home = house.target().join("fuzz");
        let host = host(house)?;
        let mut build = house.cargo(&["build", "--release", "--locked", "--bins"]);
        build
            .args(["--manifest-path", "fuzz/Cargo.toml", "--target", &host])
            .arg("--target-dir")
            .arg(&home)
            .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
        run_command(&mut build)?;
        let folder = home.join("running");
        fs::create_dir_all(&folder).map_err(|error| cannot(&folder, &error))?;
        let copy = |name: &String| {
            let built = home.join(&host).join("release").join(name);
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

    /// How many targets there are.
    pub(crate) fn len(&self) -> usize {
        self.binaries.len()
    }

    /// Runs one target after the other, each for that long, and hands each one's figures to `see`.
    /// A finding ends its target, not the others.
    pub(crate) fn run(
        &self,
        house: &House,
        each: Duration,
        mut see: impl FnMut(&Figures),
    ) -> Result<Vec<Figures>, Stop> {
        let mut all = Vec::new();
        for binary in &self.binaries {
            let figures = self.run_one(house, binary, each)?;
            see(&figures);
            all.push(figures);
        }
        Ok(all)
    }

    fn run_one(&self, house: &House, binary: &Path, each: Duration) -> Result<Figures, Stop> {
        let name = file_name(binary);
        let corpus = self.home.join("corpus").join(&name);
        let findings = self.home.join("findings");
        for folder in [&corpus, &findings] {
            fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
        }
        let log = self.home.join(format!("{name}.log"));
        let file = File::create(&log).map_err(|error| cannot(&log, &error))?;
        let mut fuzzer = house.command(binary);
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
            .map_err(|error| Stop::Misused(format!("{name} did not start: {error}")))?;
        let (status, ran) = run_for(house, &mut child, each)?;
        let talk = fs::read(&log).map_err(|error| cannot(&log, &error))?;
        let talk = String::from_utf8_lossy(&talk);
        let mut figures = Figures::read(&name, &talk, ran);
        if !status.success() {
            figures.fail(status, &talk, &log.to_string_lossy());
        }
        Ok(figures)
    }
}

/// Lets the fuzzer run for so long, then asks it to stop.
fn run_for(
    house: &House,
    child: &mut Child,
    each: Duration,
) -> Result<(ExitStatus, Duration), Stop> {
    let failed = |error| Stop::Failed(format!("a fuzzer cannot be waited for: {error}"));
    let mut ran = Duration::ZERO;
    let mut told = false;
    let mut last = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok((status, ran.min(each)));
        }
        std::thread::sleep(Duration::from_millis(100));
        ran += last.elapsed().min(LONGEST_STEP);
        last = Instant::now();
        if ran >= each && !told {
            // It prints its figures and ends with 0.
            let script = format!("kill -USR1 {}", child.id());
            run_quietly(house, &script)?;
            told = true;
        }
        if ran >= each + FAREWELL {
            child.kill().map_err(failed)?;
        }
    }
}

fn run_quietly(house: &House, script: &str) -> Result<(), Stop> {
    house
        .command("sh")
        .args(["-c", script])
        .status()
        .map(drop)
        .map_err(|error| Stop::Misused(format!("sh did not start: {error}")))
}

/// The version of libFuzzer's crate that the lockfile names.
pub(crate) fn engine_version(house: &House) -> String {
    let lock = fs::read_to_string(house.path("fuzz/Cargo.lock")).unwrap_or_default();
    let entry = lock.split_once("name = \"libfuzzer-sys\"\nversion = \"");
    let version = entry.and_then(|(_, rest)| Some(rest.split_once('"')?.0));
    version.unwrap_or("of an unknown version").to_owned()
}

/// Every file in `fuzz/fuzz_targets` is a target.
fn names(house: &House) -> Result<Vec<String>, Stop> {
    let folder = house.path("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder).map_err(|error| cannot(&folder, &error))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// The machine's own target triple. With a target named, build scripts are built without the flags.
fn host(house: &House) -> Result<String, Stop> {
    let about = output(house.command("rustc").arg("-vV"))?;
    about
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| Stop::Misused("`rustc -vV` names no host".into()))
}

fn cannot(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Misused(format!("{}: {error}", path.display()))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
