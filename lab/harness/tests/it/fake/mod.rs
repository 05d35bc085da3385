//! Fake drivers: each is a manifest for one Python script, told how to misbehave.

#![allow(clippy::unwrap_used, dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Cache, find};
use jeton_lab_harness::runner::{self, Event, Options, Pace};
use jeton_lab_harness::suite::{Choice, Extent, Suite, plan};
use jeton_lab_model::result::{Row, RunResult};

/// One lab at a time: two would disturb each other's timings.
static MACHINE: Mutex<()> = Mutex::new(());

/// The interpreter itself: what is on the PATH may be a script that looks for it each time.
fn interpreter() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        let asked = ["-c", "import sys; print(sys.executable)"];
        let output = Command::new("python3").args(asked).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    });
    &PATH
}

/// Fake drivers in a temporary folder.
pub(crate) struct Fakes(tempfile::TempDir);

impl Fakes {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Adds a driver that signs and verifies HS256, with `misdeed` unless it is empty.
    pub(crate) fn with(self, name: &str, misdeed: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/fake/driver.py");
        let run = format!(
            r#"needs = ["python3"]
run = ["{}", "{}", "{name}", "{misdeed}"]"#,
            interpreter(),
            script.display()
        );
        self.with_manifest(name, &run)
    }

    /// Adds such a driver with an environment variable that names a file of its own. Returns the file too.
    pub(crate) fn with_file(self, name: &str, misdeed: &str, variable: &str) -> (Self, PathBuf) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/fake/driver.py");
        let file = self.0.path().join(name);
        let run = format!(
            r#"needs = ["env", "python3"]
run = ["env", "{variable}={}", "{}", "{}", "{name}", "{misdeed}"]"#,
            file.display(),
            interpreter(),
            script.display()
        );
        (self.with_manifest(name, &run), file)
    }

    /// Adds a driver with its own build and run commands.
    pub(crate) fn with_manifest(self, name: &str, way: &str) -> Self {
        let folder = self.folder().join("fake").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let manifest = format!(
            r#"protocol = 1
library = "{name}"
language = "fake"
version = "1.0.0"
{way}

[[offers]]
format = "jwt"
algs = ["HS256"]
contracts = ["sign", "verify", "round-trip"]
key_handling = ["prepared"]
"#
        );
        std::fs::write(folder.join("driver.toml"), manifest).unwrap();
        self
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.0.path().join("drivers")
    }

    pub(crate) fn cache(&self) -> Cache {
        Cache::at(&self.0.path().join("cache"))
    }

    /// Returns the choice of a quick run of all drivers.
    pub(crate) fn choice(&self) -> Choice {
        Choice::of(&[Suite::Libraries], Extent::Glance)
    }

    /// Runs all drivers briefly.
    pub(crate) fn run(&self) -> RunResult {
        self.run_until(&Stop::default(), |_| {})
    }

    pub(crate) fn run_until(&self, stop: &Stop, tell: impl FnMut(Event<'_>)) -> RunResult {
        self.run_of(&self.choice(), stop, tell)
    }

    /// Runs all drivers briefly, with batches of this duration.
    pub(crate) fn run_in_batches_of(&self, batch: Duration) -> RunResult {
        self.run_at(&self.choice(), batch, &Stop::default(), |_| {})
    }

    /// Runs the choice briefly.
    pub(crate) fn run_of(
        &self,
        choice: &Choice,
        stop: &Stop,
        tell: impl FnMut(Event<'_>),
    ) -> RunResult {
        self.run_at(choice, Duration::from_millis(2), stop, tell)
    }

    fn run_at(
        &self,
        choice: &Choice,
        batch: Duration,
        stop: &Stop,
        mut tell: impl FnMut(Event<'_>),
    ) -> RunResult {
        let drivers = find(&self.folder()).unwrap();
        let plan = plan(&drivers, choice, &[]).unwrap();
        let pace = Pace {
            batches: 3,
            batch,
            collected_batch: Duration::from_millis(5),
            longest_batch: Duration::from_millis(25),
            managed_batch: Duration::from_millis(5),
            managed_least: Duration::ZERO,
            warm_batch: Duration::from_millis(1),
            warm_limit: Duration::from_millis(100),
            rounds: 3,
            restarts: 0,
            aa_pairs: 2,
        };
        let options = Options {
            pace,
            budget: None,
            seed: 7,
            command: "jeton-lab run".into(),
            cache: self.cache(),
            own_claims: None,
        };
        let _alone = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        runner::run(&plan, &drivers, &options, stop, &mut tell)
    }
}

/// Returns the row of a fake driver.
pub(crate) fn row<'a>(result: &'a RunResult, name: &str, operation: &str) -> &'a Row {
    let mut rows = result.rows.measured.iter();
    rows.find(|r| r.subject.library == name && r.operation == operation)
        .unwrap()
}
