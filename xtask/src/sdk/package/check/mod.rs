//! `cargo xtask package --check`: installs the packages from `dist/` in Debians without Rust and without a network, and
//! runs the programs of their READMEs there.

mod bad_input;
mod c;
mod go;
mod java;
mod node;
mod python;
mod root;
mod service;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::target::Target;
use super::{FOLDER, Kind, failed};
use crate::command::{Error, Workspace, output};
use root::Root;

/// The Debians of the checks: the stable one, and the oldest that the mirrors have.
const SUITES: [&str; 2] = ["bookworm", "bullseye"];

/// Debian's packages that a user has before jeton is installed. Another architecture has what runs programs, and this
/// machine compiles them.
const COMPILERS: &[&str] = &["coreutils", "dash", "gcc", "libc6-dev", "musl-tools"];
const RUNTIMES: &[&str] = &[
    "ca-certificates",
    "coreutils",
    "dash",
    "gzip",
    "libatomic1",
    "libstdc++6",
    "musl",
    "openjdk-17-jre-headless",
    "python3",
    "python3-pip",
    "python3-venv",
    "sed",
    "tar",
];

/// One check of a package: the package, what is shown, and what is done.
type Check = (
    &'static str,
    &'static str,
    fn(&Context<'_>, &Root<'_>) -> Result<(), Error>,
);

const CHECKS: &[Check] = &[
    ("c", "static and shared library: all cases", c::cases),
    ("c", "libraries for musl", c::musl),
    ("go", "program of the README", go::readme),
    ("go", "program of the README, musl", go::musl),
    ("java", "program of the README", java::readme),
    ("node", "program of the README", node::readme),
    ("python", "program of the README", python::readme),
    (
        "service",
        "install script, a key and a token",
        service::command,
    ),
    ("service", "`jeton serve` answers", service::serve),
    ("lab", "`jeton-lab run --quick`", service::lab),
    ("c", "damaged file and SHA256SUMS", bad_input::checksums),
    ("go", "unsupported platform", bad_input::go_platform),
    ("java", "unsupported platform", bad_input::java_platform),
    ("java", "folder without programs", bad_input::java_noexec),
    ("node", "unsupported platform", bad_input::node_platform),
    ("node", "damaged file", bad_input::node_damaged),
    (
        "python",
        "wheel of another platform",
        bad_input::python_platform,
    ),
    ("python", "damaged wheel", bad_input::python_damaged),
    (
        "python",
        "folder without programs",
        bad_input::python_noexec,
    ),
    ("python", "no write permission", bad_input::python_read_only),
];

/// What checks have in common.
struct Context<'w> {
    workspace: &'w Workspace,
}

impl Context<'_> {
    /// Returns the folder of a kind of package in `dist`.
    fn dist(&self, kind: &str) -> PathBuf {
        self.workspace.path(FOLDER).join(format!("jeton-{kind}"))
    }

    /// Returns the path of a file in that folder, if it was built.
    fn built(&self, kind: &str, file: &str) -> Result<PathBuf, Error> {
        let path = self.dist(kind).join(file);
        if path.exists() {
            Ok(path)
        } else {
            Err(Error::Usage(format!("{file} is not in dist")))
        }
    }
}

/// Runs the checks of these kinds on these platforms, and writes a log.
pub(super) fn run(
    workspace: &Workspace,
    kinds: &[&Kind],
    targets: &[&'static Target],
) -> Result<(), Error> {
    let context = Context { workspace };
    let mut log = String::new();
    let mut failures = 0;
    let runs_here = |target: &&&'static Target| !target.is_musl();
    for target in targets.iter().filter(runs_here) {
        for suite in SUITES {
            let compilers = if target.is_native() { COMPILERS } else { &[] };
            let packages = [compilers, RUNTIMES].concat();
            let root = Root::create(workspace, suite, target, &packages)?;
            for (kind, what, check) in CHECKS {
                if kinds.iter().all(|chosen| chosen.name != *kind) {
                    continue;
                }
                let outcome = match check(&context, &root) {
                    Ok(()) => "passed".to_owned(),
                    Err(Error::Usage(why)) => format!("not run: {why}"),
                    Err(Error::Failed(why)) => {
                        failures += 1;
                        eprintln!("== {}: {kind}: {what}: {why}", root.name);
                        format!("failed: {}", why.lines().next().unwrap_or_default())
                    }
                };
                let row = format!("| {} | {kind} | {what} | {outcome} |", root.name);
                eprintln!("{row}");
                let _ = writeln!(log, "{row}");
            }
        }
    }
    let names: Vec<_> = targets.iter().map(|target| target.triple).collect();
    // Errors name files by their whole paths.
    let root = format!("{}/", workspace.root().display());
    write_log(workspace, &names.join(", "), &log.replace(&root, ""))?;
    if failures == 0 {
        Ok(())
    } else {
        Err(Error::Failed(format!("{failures} checks failed")))
    }
}

fn write_log(workspace: &Workspace, targets: &str, rows: &str) -> Result<(), Error> {
    let commit = output(
        workspace
            .command("git")
            .args(["rev-parse", "--short=8", "HEAD"]),
    )?;
    let date = output(workspace.command("date").arg("+%Y-%m-%d"))?;
    let (commit, date) = (commit.trim(), date.trim());
    let file = workspace.path(&format!("docs/soak/{date}-{commit}-packages.md"));
    let text = format!(
        "# Packages of {date}, commit {commit}\n\n`cargo xtask package --check` for {targets}.\n\n\
         Each row is one check in a Debian without Rust and without a network. Programs for arm64 run under qemu-user.\n\n\
         | Debian | package | check | outcome |\n|---|---|---|---|\n{rows}"
    );
    fs::write(&file, text).map_err(|error| failed(&file, &error))
}
