//! `cargo xtask mutants`: checks that the attack tests notice a missing check.
//!
//! One check at a time is removed from a copy of the library. A test must fail.
//! A mutant that survives is a check without a test.

mod attacked;
mod table;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::command::{Error, Workspace};
use table::{MUTANTS, Mutant};

/// How long a test may run. A test that runs longer counts as failed.
const TEST_TIME: Duration = Duration::from_secs(120);

/// Which mutants to try, and what must notice them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    only: Vec<String>,
    by: NoticedBy,
}

/// What must notice a mutant.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum NoticedBy {
    /// The library's tests.
    #[default]
    Tests,
    /// The rows of `lab attack`.
    Attacks,
}

impl Choice {
    /// Reads `--only NAME`, which may be repeated, and `--with attack`.
    pub(crate) fn parse(options: &[String]) -> Result<Self, Error> {
        let mut only = Vec::new();
        let mut by = NoticedBy::Tests;
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let value = options.next();
            if option == "--with" && value.is_some_and(|v| v == "attack") {
                by = NoticedBy::Attacks;
                continue;
            }
            let name = value.filter(|_| option == "--only");
            let name = name.ok_or_else(|| {
                Error::Usage(format!(
                    "unknown option `{option}`; `mutants` has --only NAME and --with attack"
                ))
            })?;
            if !MUTANTS.iter().any(|mutant| mutant.name == name) {
                return Err(Error::Usage(format!("unknown mutant `{name}`")));
            }
            only.push(name.clone());
        }
        Ok(Self { only, by })
    }

    fn has(&self, mutant: &Mutant) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == mutant.name)
    }
}

/// What happened to a mutant.
enum Fate {
    /// The first test that failed.
    Killed(String),
    Survived,
    /// Not tried: it does not compile, or its text is not in the file.
    Stale(String),
}

/// Tries each mutant and prints the test that noticed it.
pub(crate) fn run(workspace: &Workspace, choice: &Choice) -> Result<(), Error> {
    if choice.by == NoticedBy::Attacks {
        return attacked::run(workspace, choice);
    }
    let copy = LibraryCopy::make(workspace)?;
    eprintln!("== mutants: the tests on the library as it is");
    let mut tests: Vec<&str> = MUTANTS.iter().map(|mutant| mutant.test).collect();
    tests.sort_unstable();
    tests.dedup();
    for test in tests {
        if let Fate::Killed(why) | Fate::Stale(why) = copy.try_test(workspace, test)? {
            return Err(Error::Failed(format!(
                "{test} fails without a mutant: {why}"
            )));
        }
    }
    let mut wrong = Vec::new();
    let chosen: Vec<&Mutant> = MUTANTS.iter().filter(|mutant| choice.has(mutant)).collect();
    for (index, mutant) in chosen.iter().enumerate() {
        let started = Instant::now();
        let fate = copy.try_mutant(workspace, mutant)?;
        let seconds = started.elapsed().as_secs();
        let result = match &fate {
            Fate::Killed(by) => format!("noticed by {by}"),
            Fate::Survived => format!("SURVIVED {}", mutant.test),
            Fate::Stale(why) => format!("STALE: {why}"),
        };
        eprintln!(
            "  {}/{} {:<26}{result} ({seconds} s)",
            index + 1,
            chosen.len(),
            mutant.name
        );
        if !matches!(fate, Fate::Killed(_)) {
            wrong.push(mutant.name);
        }
    }
    if wrong.is_empty() {
        eprintln!("== mutants: {} of {0} noticed", chosen.len());
        return Ok(());
    }
    Err(Error::Failed(format!(
        "mutants that no test noticed, or that do not apply: {}",
        wrong.join(", ")
    )))
}

/// A copy of what the library's tests need. The checkout is not changed.
struct LibraryCopy {
    root: PathBuf,
}

impl LibraryCopy {
    fn make(workspace: &Workspace) -> Result<Self, Error> {
        let root = workspace.target().join("mutants");
        fs::create_dir_all(&root).map_err(|error| cannot(&root, &error))?;
        let copy = Self { root };
        for part in [
            "Cargo.toml",
            "Cargo.lock",
            "rust-toolchain.toml",
            "README.md",
            "crates",
            "docs",
            "examples",
            "lab",
            "studies",
            "vectors",
            "xtask",
        ] {
            let from = workspace.path(part);
            if from.exists() {
                copy_over(&from, &copy.root.join(part))?;
            }
        }
        Ok(copy)
    }

    fn try_mutant(&self, workspace: &Workspace, mutant: &Mutant) -> Result<Fate, Error> {
        let path = self.root.join("crates/jeton/src").join(mutant.file);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(Fate::Stale("its file is not there".into()));
        };
        let places = text.matches(mutant.find).count();
        if places != 1 {
            return Ok(Fate::Stale(format!("its place is there {places} times")));
        }
        let write = |text: &str| fs::write(&path, text).map_err(|error| cannot(&path, &error));
        write(&text.replacen(mutant.find, mutant.put, 1))?;
        let fate = self.try_test(workspace, mutant.test);
        write(&text)?;
        fate
    }

    /// Builds a test program and runs the tests of one module, `program::module`, or all.
    fn try_test(&self, workspace: &Workspace, test: &str) -> Result<Fate, Error> {
        let (name, module) = test.split_once("::").unwrap_or((test, ""));
        let filter = (!module.is_empty()).then(|| format!("{module}::"));
        let Some(program) = self.build(workspace, name)? else {
            return Ok(Fate::Stale(format!("{test} does not compile")));
        };
        let log = self.root.join("test.log");
        let file = fs::File::create(&log).map_err(|error| cannot(&log, &error))?;
        let failed = |error| Error::Failed(format!("{test} cannot be run: {error}"));
        let mut child = workspace
            .command(program)
            .args(filter)
            .current_dir(self.root.join("crates/jeton"))
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let started = Instant::now();
        loop {
            match child.try_wait().map_err(failed)? {
                Some(status) if status.success() => return Ok(Fate::Survived),
                Some(_) => return Ok(Fate::Killed(first_red(&log, test))),
                None if started.elapsed() > TEST_TIME => {
                    child.kill().map_err(failed)?;
                    child.wait().map_err(failed)?;
                    return Ok(Fate::Killed(format!("{test}, which did not end")));
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// The test's program, or `None` if it does not compile.
    fn build(&self, workspace: &Workspace, test: &str) -> Result<Option<PathBuf>, Error> {
        let mut cargo = workspace.cargo(&["test", "--no-run", "--quiet", "-p", "jeton"]);
        match test {
            "lib" => cargo.arg("--lib"),
            name => cargo.args(["--test", name]),
        };
        let output = cargo
            .args(["--message-format", "json", "--target-dir"])
            .arg(self.root.join("target"))
            .current_dir(&self.root)
            .output()
            .map_err(|error| Error::Usage(format!("cargo did not start: {error}")))?;
        if !output.status.success() {
            return Ok(None);
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let program = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|message| message["profile"]["test"] == true)
            .find_map(|message| message["executable"].as_str().map(PathBuf::from));
        Ok(program)
    }
}

/// The first test that failed, by libtest's or libtest-mimic's account.
fn first_red(log: &Path, test: &str) -> String {
    let talk = fs::read_to_string(log).unwrap_or_default();
    let name = talk.lines().find_map(|line| {
        let line = line.strip_prefix("---- ")?;
        Some(line.trim_end_matches(" ----").trim_end_matches(" stdout"))
    });
    format!("{test}: {}", name.unwrap_or("it ended early"))
}

/// Copies what has changed, and removes what is gone. A file that has not changed keeps its time, so that nothing
/// is built again.
fn copy_over(from: &Path, to: &Path) -> Result<(), Error> {
    if from.is_dir() {
        fs::create_dir_all(to).map_err(|error| cannot(to, &error))?;
        for name in sources(to)? {
            let (source, copied) = (from.join(&name), to.join(&name));
            if !source.exists() {
                let removed = if copied.is_dir() {
                    fs::remove_dir_all(&copied)
                } else {
                    fs::remove_file(&copied)
                };
                removed.map_err(|error| cannot(&copied, &error))?;
            }
        }
        for name in sources(from)? {
            copy_over(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    let new = fs::read(from).map_err(|error| cannot(from, &error))?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    fs::write(to, new).map_err(|error| cannot(to, &error))
}

/// The names in a folder, without what is built or fetched there.
fn sources(folder: &Path) -> Result<Vec<OsString>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| cannot(folder, &error))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    Ok(names
        .filter(|name| name != "node_modules" && name != "target")
        .collect())
}

fn cannot(path: &Path, error: &std::io::Error) -> Error {
    Error::Usage(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutant_has_its_place() {
        let workspace = Workspace::here();
        for mutant in MUTANTS {
            let path = workspace.path("crates/jeton/src").join(mutant.file);
            let text = fs::read_to_string(&path).unwrap_or_default();
            let places = text.matches(mutant.find).count();
            assert_eq!(places, 1, "{} in {}", mutant.name, mutant.file);
            assert_ne!(mutant.find, mutant.put, "{}", mutant.name);
        }
    }

    #[test]
    fn copy_has_what_the_source_has_and_no_more() {
        let folder = Workspace::here().target().join("mutants-copy");
        let (from, to) = (folder.join("from"), folder.join("to"));
        for path in [from.join("a"), to.join("gone"), to.join("target")] {
            fs::create_dir_all(&path).expect("it can be created");
            fs::write(path.join("file"), "text").expect("it can be written");
        }
        copy_over(&from, &to).expect("it can be copied");
        assert_eq!(fs::read(to.join("a/file")).ok(), Some(b"text".to_vec()));
        assert!(!to.join("gone").exists());
        assert!(to.join("target/file").exists(), "it is built, not copied");
        fs::remove_dir_all(folder).expect("it can be removed");
    }

    #[test]
    fn every_mutant_names_tests_that_exist() {
        let tests = Workspace::here().path("crates/jeton/tests");
        for mutant in MUTANTS.iter().filter(|mutant| mutant.test != "lib") {
            let module = tests.join(mutant.test.replace("::", "/"));
            let is_there = module.with_extension("rs").exists() || module.join("mod.rs").exists();
            assert!(is_there, "{}: {}", mutant.name, mutant.test);
        }
    }

    #[test]
    fn names_are_unique_and_options_are_checked() {
        for (index, mutant) in MUTANTS.iter().enumerate() {
            let again = MUTANTS[..index]
                .iter()
                .any(|other| other.name == mutant.name);
            assert!(!again, "{}", mutant.name);
        }
        let parse = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
            Choice::parse(&options)
        };
        assert!(parse(&["--only", "issuer"]).is_ok_and(|choice| choice.only == ["issuer"]));
        for wrong in [&["--only"][..], &["--only", "no"], &["--all", "x"]] {
            assert!(matches!(parse(wrong), Err(Error::Usage(_))), "{wrong:?}");
        }
    }
}
