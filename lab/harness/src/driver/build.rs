//! Builds drivers on demand, and detects stale ones.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::Driver;
use super::recipe::Recipe;
use crate::Stop;
use crate::protocol::Spawn;
use crate::workspace::workspace;

/// The time limit of one build command: a first build downloads and compiles everything.
const BUILD_LIMIT: Duration = Duration::from_secs(20 * 60);

/// Folders that a build creates; they are not sources.
const NO_SOURCES: [&str; 4] = ["node_modules", "target", "__pycache__", ".git"];

/// Native libraries that a build puts beside the sources of their wrapper.
const NATIVE: [&str; 5] = ["a", "dll", "dylib", "node", "so"];

/// The cache of built drivers.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    cargo_target: PathBuf,
}

/// A driver that can be started.
#[derive(Debug, Clone)]
pub struct Built {
    /// How to start it.
    pub spawn: Spawn,
    /// The SHA-256 of its sources, lockfile and compiler settings.
    pub hash: String,
}

/// A driver and how to start it, or the reason why it is unavailable.
pub type Answer<'d> = (&'d Driver, Result<Built, String>);

/// The reason why a driver cannot be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unbuilt {
    /// The reason for its rows.
    Unavailable(String),
    /// The run was asked to stop.
    Stopped,
}

impl Default for Cache {
    /// Returns the cache `jeton-drivers` in Cargo's target folder.
    fn default() -> Self {
        Self::named("jeton-drivers")
    }
}

impl Cache {
    /// Returns a cache in Cargo's target folder.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let cargo_target = std::env::var_os("CARGO_TARGET_DIR")
            .map(PathBuf::from)
            .filter(|t| t.is_absolute())
            .unwrap_or_else(|| workspace().join("target"));
        Self {
            root: cargo_target.join(name),
            cargo_target,
        }
    }

    /// Creates a cache in `root`.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.join("jeton-drivers"),
            cargo_target: root.to_owned(),
        }
    }

    /// Reports whether the driver must be built before it can start.
    #[must_use]
    pub fn stale(&self, recipe: Recipe<'_>) -> bool {
        let out = self.out(recipe);
        !recipe.build.is_empty() && hash(recipe).is_none_or(|h| !self.fresh(recipe, &out, &h))
    }

    /// Returns the driver, and builds it if it is stale.
    ///
    /// # Errors
    /// [`Unbuilt`].
    pub fn build(&self, recipe: Recipe<'_>, stop: &Stop) -> Result<Built, Unbuilt> {
        if let Some(unmet) = recipe.unmet() {
            return Err(Unbuilt::Unavailable(unmet));
        }
        let unreadable = || Unbuilt::Unavailable("cannot read its sources".into());
        let hash = hash(recipe).ok_or_else(unreadable)?;
        let settings = compiler_settings(std::env::vars_os());
        let out = self.out(recipe);
        let built = Built {
            spawn: Spawn {
                command: self.expand(recipe.run, recipe),
                folder: recipe.folder.to_owned(),
                environment: recipe.environment(),
            },
            hash: recorded_hash(recipe, &settings).ok_or_else(unreadable)?,
        };
        // Without build commands there is nothing to record: an archive can be read-only.
        if recipe.build.is_empty() || self.fresh(recipe, &out, &hash) {
            return Ok(built);
        }
        let unwritable = |e: std::io::Error| {
            Unbuilt::Unavailable(format!("cannot write {}: {e}", out.display()))
        };
        fs::create_dir_all(&out).map_err(unwritable)?;
        let stamp_path = out.join("stamp");
        let _ = fs::remove_file(&stamp_path);
        let log_path = out.join("build.log");
        let mut log = File::create(&log_path).map_err(unwritable)?;
        for command in recipe.build {
            let command = self.expand(command, recipe);
            self.run(&command, recipe, &mut log, stop)
                .map_err(|failed| match failed {
                    Failed::Stopped => Unbuilt::Stopped,
                    Failed::NotStarted(why) => Unbuilt::Unavailable(why),
                    Failed::Badly(how) => Unbuilt::Unavailable(format!(
                        "build failed ({how}): {} (full log: {})",
                        informative_line(&log_path),
                        log_path.display()
                    )),
                })?;
        }
        fs::write(&stamp_path, stamp(recipe, &hash)).map_err(unwritable)?;
        Ok(built)
    }

    /// Returns each driver, built if it was stale, or the reason why it is unavailable. Before a build,
    /// `tell` receives the driver, its number among the stale ones, and their total.
    ///
    /// # Errors
    /// Only [`Unbuilt::Stopped`]; unavailable drivers are part of the result.
    pub fn build_each<'d>(
        &self,
        drivers: &[&'d Driver],
        stop: &Stop,
        mut tell: impl FnMut(&Driver, usize, usize),
    ) -> Result<Vec<Answer<'d>>, Unbuilt> {
        let stale: Vec<bool> = drivers.iter().map(|d| self.stale(d.recipe())).collect();
        let of = stale.iter().filter(|s| **s).count();
        let mut number = 0;
        let mut built = Vec::new();
        for (driver, stale) in drivers.iter().zip(stale) {
            if stale {
                number += 1;
                tell(driver, number, of);
            }
            let ready = match self.build(driver.recipe(), stop) {
                Ok(ready) => Ok(ready),
                Err(Unbuilt::Unavailable(reason)) => Err(reason),
                Err(Unbuilt::Stopped) => return Err(Unbuilt::Stopped),
            };
            built.push((*driver, ready));
        }
        Ok(built)
    }

    fn out(&self, recipe: Recipe<'_>) -> PathBuf {
        let mut name = recipe.id.replace('/', "-");
        // Compiled code of one runtime is useless for another, so each runtime has its own folder.
        if let Some(runtime) = recipe.runtime.filter(|r| r.folder.is_some()) {
            name.push_str(&format!("@{}", runtime.version));
        }
        self.root.join(name)
    }

    fn fresh(&self, recipe: Recipe<'_>, out: &Path, hash: &str) -> bool {
        let program = self.expand(recipe.run, recipe).into_iter().next();
        let gone = |p: OsString| {
            let p = PathBuf::from(p);
            p.is_absolute() && !p.exists()
        };
        let stamped = fs::read_to_string(out.join("stamp")).is_ok_and(|s| s == stamp(recipe, hash));
        stamped && !program.is_none_or(gone)
    }

    /// Returns a command with `{out}` and `{target}` replaced by folders.
    #[must_use]
    pub fn expand(&self, command: &[String], recipe: Recipe<'_>) -> Vec<OsString> {
        let out = self.out(recipe);
        let (out, target) = (out.to_string_lossy(), self.cargo_target.to_string_lossy());
        let is_checked = std::env::var_os(PROFILE).is_some_and(|profile| profile == "dev");
        in_profile(command, is_checked)
            .map(|part| {
                part.replace("{out}", &out)
                    .replace("{target}", &target)
                    .into()
            })
            .collect()
    }

    fn run(
        &self,
        command: &[OsString],
        recipe: Recipe<'_>,
        log: &mut File,
        stop: &Stop,
    ) -> Result<(), Failed> {
        let Some((program, arguments)) = command.split_first() else {
            return Ok(());
        };
        let io = |e: std::io::Error| {
            Failed::NotStarted(format!("cannot start {}: {e}", program.display()))
        };
        let _ = writeln!(log, "$ {}", shown(command));
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(recipe.folder)
            .env("CARGO_TARGET_DIR", &self.cargo_target)
            .envs(recipe.environment())
            .envs(wrapper_of_rustc(command))
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(io)?)
            .stderr(log.try_clone().map_err(io)?)
            .process_group(0)
            .spawn()
            .map_err(io)?;
        let deadline = Instant::now() + BUILD_LIMIT;
        let failed = loop {
            match child.try_wait().map_err(io)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(Failed::Badly(status.to_string())),
                None if stop.requested() => break Failed::Stopped,
                None if Instant::now() > deadline => {
                    let minutes = BUILD_LIMIT.as_secs() / 60;
                    break Failed::Badly(format!("stopped after {minutes} minutes"));
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        #[allow(clippy::cast_possible_wrap, reason = "process ids are positive i32")]
        if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = child.wait();
        Err(failed)
    }
}

enum Failed {
    Stopped,
    NotStarted(String),
    Badly(String),
}

/// The record of a build: sources, location, runtime, Rust toolchain and compiler settings. Parts of a build are next to the sources
/// (`node_modules`) or contain their path, so a copied cache is stale. Code compiled by an older Go is
/// stale for a newer one, and a driver of the checks, which is optimised less, is stale for a run.
fn stamp(recipe: Recipe<'_>, hash: &str) -> String {
    let by = recipe.runtime.map_or_else(String::new, |runtime| {
        format!(" by {} {}", runtime.language, runtime.version)
    });
    let with = compiler_settings(std::env::vars_os());
    let pinned = rust_toolchain(recipe).map_or_else(String::new, |pin| format!(" pinned {pin}"));
    format!("{hash} in {}{by}{pinned}{with}", recipe.folder.display())
}

/// Returns the hash of the `rust-toolchain.toml` that cargo follows in the driver's folder. A driver with its own
/// lockfile has it in no input, and a result records its version as the runtime of Rust alone.
fn rust_toolchain(recipe: Recipe<'_>) -> Option<String> {
    if !recipe.needs.iter().any(|need| need == "cargo") {
        return None;
    }
    let mut folders = recipe.folder.ancestors();
    let pin = folders.find_map(|folder| fs::read(folder.join("rust-toolchain.toml")).ok())?;
    Some(hexadecimal(Sha256::digest(pin)))
}

/// The environment variable with which checks ask for drivers in Cargo's profile `dev`, which builds faster.
const PROFILE: &str = "JETON_PROFILE";

/// The command as the driver's manifest has it, or for the profile `dev`.
fn in_profile(command: &[String], is_checked: bool) -> impl Iterator<Item = String> {
    let is_used = move |part: &&String| !is_checked || *part != "--release";
    command.iter().filter(is_used).map(move |part| {
        if is_checked {
            part.replace("{target}/release/", "{target}/debug/")
        } else {
            part.clone()
        }
    })
}

/// The environment variable with which checks name a wrapper of rustc. It lints drivers in Rust while it compiles them.
const WRAPPER: &str = "JETON_RUSTC_WRAPPER";

/// The setting of cargo for the wrapper, if the command builds a driver in Rust. A library for another language is a
/// part of the workspace, which is compiled without it.
fn wrapper_of_rustc(command: &[OsString]) -> Option<(&'static str, OsString)> {
    let is_rust = command.first().is_some_and(|program| program == "cargo")
        && command.get(1).is_some_and(|task| task == "build");
    let wrapper = is_rust.then(|| std::env::var_os(WRAPPER)).flatten()?;
    Some(("RUSTC_WORKSPACE_WRAPPER", wrapper))
}

/// The environment variables that change what compilers make.
fn compiler_settings(environment: impl Iterator<Item = (OsString, OsString)>) -> String {
    let decides = |name: &str| {
        name.starts_with("CARGO_PROFILE_")
            || name.ends_with("RUSTFLAGS")
            || ["CFLAGS", "GOAMD64", "GOFLAGS", PROFILE].contains(&name)
    };
    let settings: BTreeSet<String> = environment
        .filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| decides(name))?;
            Some(format!(" with {name}={}", value.to_string_lossy()))
        })
        .collect();
    settings.into_iter().collect()
}

/// Returns the hash for the result: of the sources, and of compiler settings if there are any. Two results
/// with different settings have different code, although the sources are the same.
fn recorded_hash(recipe: Recipe<'_>, settings: &str) -> Option<String> {
    let sources = hash(recipe)?;
    if settings.is_empty() {
        return Some(sources);
    }
    Some(hexadecimal(Sha256::digest(format!("{sources}{settings}"))))
}

fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    let bytes = digest.as_ref().iter();
    bytes.map(|b| format!("{b:02x}")).collect()
}

/// Computes SHA-256 over the path and content of every source file, ordered by path.
fn hash(recipe: Recipe<'_>) -> Option<String> {
    let mut hasher = Sha256::new();
    let inputs = recipe.inputs.iter().map(|i| recipe.folder.join(i));
    for root in std::iter::once(recipe.folder.to_owned()).chain(inputs) {
        let mut files = Vec::new();
        sources(&root, &mut files).ok()?;
        files.sort();
        for file in files {
            let content = fs::read(&file).ok()?;
            let name = file.strip_prefix(&root).unwrap_or(&file);
            hasher.update(name.as_os_str().as_encoded_bytes());
            hasher.update([0]);
            hasher.update((content.len() as u64).to_le_bytes());
            hasher.update(content);
        }
    }
    Some(hexadecimal(hasher.finalize()))
}

fn sources(path: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_file() {
        found.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_native = |ending: &OsStr| NATIVE.iter().any(|n| ending == *n);
        if NO_SOURCES.iter().any(|n| name == *n)
            || Path::new(&name).extension().is_some_and(is_native)
        {
            continue;
        }
        if entry.file_type()?.is_dir() {
            sources(&entry.path(), found)?;
        } else {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Returns the most useful line of a build log: the first error, or the last line.
fn informative_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines = || {
        text.lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with("$ "))
    };
    let error = |l: &&str| l.to_lowercase().contains("error") || l.contains("cannot find");
    let line = lines().find(error).or_else(|| lines().next_back());
    line.unwrap_or("no output").chars().take(160).collect()
}

fn shown(command: &[OsString]) -> String {
    let parts: Vec<_> = command.iter().map(|p| p.to_string_lossy()).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn checked_driver_is_built_in_the_profile_dev() {
        let command = ["cargo", "build", "--release", "{target}/release/a"].map(str::to_owned);
        let checked: Vec<_> = in_profile(&command, true).collect();
        assert_eq!(checked, ["cargo", "build", "{target}/debug/a"]);
        assert!(in_profile(&command, false).eq(command.iter().cloned()));
    }

    #[test]
    fn stamp_has_settings_of_compilers_alone() {
        let environment = [
            ("RUSTFLAGS", "-Ctarget-cpu=native"),
            ("CARGO_PROFILE_RELEASE_LTO", "off"),
            ("PATH", "/bin"),
        ];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(
            compiler_settings(environment.into_iter()),
            " with CARGO_PROFILE_RELEASE_LTO=off with RUSTFLAGS=-Ctarget-cpu=native"
        );
        assert_eq!(compiler_settings(std::iter::empty()), "");
    }

    /// A driver without its own lockfile is built with that of the workspace.
    #[test]
    fn driver_of_the_workspace_has_its_lockfile_and_toolchain() {
        let root = workspace();
        let drivers = super::super::find(&root.join("drivers")).unwrap();
        let mut checked = 0;
        for driver in &drivers {
            let recipe = driver.recipe();
            let has_cargo = recipe.needs.iter().any(|need| need == "cargo");
            // A library of another language may be built from its own sources.
            let is_in_workspace = recipe.id.starts_with("rust/") || recipe.id.ends_with("/jeton");
            let has_lockfile = recipe.folder.join("Cargo.lock").is_file();
            if !has_cargo || !is_in_workspace || has_lockfile {
                continue;
            }
            checked += 1;
            let inputs: Vec<PathBuf> = (recipe.inputs.iter())
                .map(|input| recipe.folder.join(input).canonicalize().unwrap())
                .collect();
            for file in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml"] {
                let file = root.join(file).canonicalize().unwrap();
                assert!(inputs.contains(&file), "{}: {}", recipe.id, file.display());
            }
        }
        assert_eq!(checked, 4);
    }

    fn recipe<'a>(folder: &'a Path, needs: &'a [String]) -> Recipe<'a> {
        Recipe {
            id: "fake/one",
            folder,
            runtime: None,
            needs,
            oldest_runtime: None,
            inputs: &[],
            build: &[],
            run: &[],
        }
    }

    #[test]
    fn recorded_hash_has_settings_of_compilers() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("main.c"), "int main;").unwrap();
        let recipe = recipe(folder.path(), &[]);
        let with = |settings: &str| recorded_hash(recipe, settings).unwrap();
        // Results without settings keep their hashes.
        assert_eq!(Some(with("")), hash(recipe));
        assert_ne!(with(""), with(" with RUSTFLAGS=-Copt-level=1"));
        assert_ne!(with(" with GOAMD64=v1"), with(" with GOAMD64=v3"));
        assert_eq!(with(" with GOAMD64=v3").len(), 64);
    }

    #[test]
    fn stamp_has_the_toolchain_of_cargo() {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path().join("drivers/one");
        fs::create_dir_all(&driver).unwrap();
        let (cargo, other) = (["cargo".to_owned()], ["python3".to_owned()]);
        let stamps = || [&cargo, &other].map(|needs| stamp(recipe(&driver, needs), "41d7"));
        let pin = |channel: &str| {
            let text = format!("[toolchain]\nchannel = \"{channel}\"\n");
            fs::write(folder.path().join("rust-toolchain.toml"), text).unwrap();
            stamps()
        };
        let (before, after) = (pin("1.94.0"), pin("1.95.0"));
        assert_ne!(before[0], after[0], "what the old one built is stale");
        assert_eq!(before[1], after[1], "it is not built by Rust");
    }
}
