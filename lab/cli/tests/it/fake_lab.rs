//! Runs the real binary with fake drivers in a temporary folder.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// Removes what the test machine did to the run and beside it: every second round takes 7 µs, the others 7.01 µs.
fn undisturb(result: &mut Value) {
    result["environment"]["taint"] = serde_json::json!({
        "tainted": false, "reasons": [], "steal": 0.0, "load": 0.0, "unwatched": [],
    });
    // The reader rejects a recommendation that contradicts the rounds.
    result["recommendation"] = Value::Null;
    let steady = |rounds: &mut Value| {
        let rounds = rounds.as_array_mut().unwrap().iter_mut();
        for (index, round) in rounds.enumerate() {
            *round = [7000.0, 7010.0][index % 2].into();
        }
    };
    for row in result["rows"].as_array_mut().unwrap() {
        let timing = &mut row["ns_per_op"];
        steady(&mut timing["rounds"]);
        timing["median"] = 7005.0.into();
        timing["interval"] = serde_json::json!([7000.0, 7010.0]);
        timing["unsettled"] = false.into();
    }
    for pair in result["noise_floor"]["pairs"].as_array_mut().unwrap() {
        let sides = pair["rounds"].as_array_mut().unwrap();
        sides.iter_mut().for_each(steady);
    }
}

/// The Python interpreter itself: what is on the PATH may be a script that looks for it each time.
fn interpreter() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let asked = ["-c", "import sys; print(sys.executable)"];
        let output = Command::new("python3").args(asked).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

pub(crate) struct Lab(pub(crate) tempfile::TempDir);

impl Lab {
    /// Creates two fake drivers: `correct`, and `other` with this misdeed. An empty misdeed makes it correct.
    pub(crate) fn new(misdeed: &str) -> Self {
        let lab = Self(tempfile::tempdir().unwrap());
        lab.add("correct", "");
        lab.add("other", misdeed);
        lab
    }

    /// Creates two correct drivers, and the files of a short run of both. Every such lab has the same run.
    /// The run counts as undisturbed, see [`Self::undisturb`].
    pub(crate) fn with_result() -> Self {
        static FILES: OnceLock<[(&str, Vec<u8>); 2]> = OnceLock::new();
        let files = FILES.get_or_init(|| {
            let lab = Self::new("");
            let output = lab.run(&SHORT);
            assert!(output.status.success(), "{}", text(&output.stderr));
            lab.undisturb();
            let page = lab.run(&["report", "jeton-lab/results.json", "--html"]);
            fs::write(lab.path("jeton-lab/report.html"), &page.stdout).unwrap();
            ["jeton-lab/results.json", "jeton-lab/report.html"]
                .map(|name| (name, fs::read(lab.path(name)).unwrap()))
        });
        let lab = Self::new("");
        fs::create_dir(lab.path("jeton-lab")).unwrap();
        for (name, content) in files {
            fs::write(lab.path(name), content).unwrap();
        }
        lab
    }

    /// Writes the result again as an undisturbed run with steady rounds, so that no test depends on what
    /// else the machine does.
    pub(crate) fn undisturb(&self) {
        let mut result = self.result();
        undisturb(&mut result);
        let file = "jeton-lab/results.json";
        fs::write(self.path(file), result.to_string()).unwrap();
        // What follows from the rounds is written again.
        let rewritten = self.run(&["check", file, "--rewrite"]);
        assert!(rewritten.status.success(), "{}", text(&rewritten.stderr));
        fs::write(self.path(file), &rewritten.stdout).unwrap();
    }

    pub(crate) fn add(&self, name: &str, misdeed: &str) {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../harness/tests/fake/driver.py"
        );
        let folder = self.path("drivers/fake").join(name);
        fs::create_dir_all(&folder).unwrap();
        let manifest = format!(
            r#"protocol = 1
library = "{name}"
language = "fake"
version = "1.0.0"
needs = ["python3"]
run = ["{}", "{script}", "{name}", "{misdeed}"]

[[offers]]
format = "jwt"
algs = ["HS256"]
contracts = ["sign", "verify"]
key_handling = ["prepared"]
"#,
            interpreter()
        );
        fs::write(folder.join("driver.toml"), manifest).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jeton-lab"));
        command
            .args(arguments)
            .env("JETON_DRIVERS", self.path("drivers"))
            .env("CARGO_TARGET_DIR", self.path("cache"))
            .env("FAKE_CHILDREN", self.path("children"))
            .env_remove("COLUMNS")
            .current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn result(&self) -> Value {
        let text = fs::read(self.path("jeton-lab/results.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

/// Output as text.
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Checks for exit code 2, one line on standard error with `reason`, and no standard output.
#[track_caller]
pub(crate) fn assert_refused(output: &Output, reason: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.contains(reason), "{said}");
}

/// A short run.
pub(crate) const SHORT: [&str; 4] = ["run", "libraries", "--quick", "--rounds=2"];
