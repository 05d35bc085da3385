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
use super::{Kind, built, failed};
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
    "diffutils",
    "dpkg",
    "gzip",
    "libatomic1",
    "libc-bin",
    "libstdc++6",
    "musl",
    "openjdk-17-jre-headless",
    "passwd",
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
    ("service", "Debian package", service::debian),
    ("service", "container image", service::image),
    ("lab", "line of the README", service::lab),
    ("c", "damaged file and SHA256SUMS", bad_input::checksums),
    ("go", "unsupported platform", bad_input::go_platform),
    ("go", "damaged module", bad_input::go_damaged),
    ("java", "unsupported platform", bad_input::java_platform),
    ("java", "older glibc", bad_input::java_glibc),
    ("java", "folder without programs", bad_input::java_noexec),
    ("java", "no write permission", bad_input::java_read_only),
    ("node", "unsupported platform", bad_input::node_platform),
    ("node", "older glibc", bad_input::node_glibc),
    ("node", "damaged file", bad_input::node_damaged),
    ("node", "folder without programs", bad_input::node_noexec),
    ("node", "no write permission", bad_input::node_read_only),
    (
        "python",
        "wheel of another platform",
        bad_input::python_platform,
    ),
    ("python", "older glibc", bad_input::python_glibc),
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
        built::sdk(self.workspace, kind)
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
    let targets = with_checks(kinds, targets)?;
    built::require(workspace, kinds, &targets)?;
    let context = Context { workspace };
    let mut log = String::new();
    let (mut passed, mut failures) = (0, 0);
    for target in &targets {
        for suite in SUITES {
            let compilers = if target.is_native() { COMPILERS } else { &[] };
            let packages = [compilers, RUNTIMES].concat();
            let root = Root::create(workspace, suite, target, &packages)?;
            for (kind, what, check) in CHECKS {
                if kinds.iter().all(|chosen| chosen.name != *kind) {
                    continue;
                }
                let outcome = match check(&context, &root) {
                    Ok(()) => {
                        passed += 1;
                        "passed".to_owned()
                    }
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
    if failures > 0 {
        Err(Error::Failed(format!("{failures} checks failed")))
    } else if passed == 0 {
        Err(Error::Failed("no check could be run".into()))
    } else {
        Ok(())
    }
}

/// Returns the platforms that have a Debian. It fails if nothing of the kinds is checked there.
fn with_checks(
    kinds: &[&Kind],
    targets: &[&'static Target],
) -> Result<Vec<&'static Target>, Error> {
    let targets: Vec<_> = targets
        .iter()
        .copied()
        .filter(|target| !target.is_musl())
        .collect();
    if targets.is_empty() {
        return Err(Error::Usage(
            "no Debian has musl as its C library; the checks for glibc try its libraries, too"
                .into(),
        ));
    }
    let is_checked = |kind: &&Kind| CHECKS.iter().any(|(name, ..)| *name == kind.name);
    if !kinds.iter().any(is_checked) {
        let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
        return Err(Error::Usage(format!(
            "no check is about {}",
            names.join(", ")
        )));
    }
    Ok(targets)
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

#[cfg(test)]
mod tests {
    use super::super::KINDS;
    use super::super::target::TARGETS;
    use super::*;

    #[test]
    fn checks_of_nothing_are_refused() {
        const MUSL: &Target = &TARGETS[2];
        let named =
            |name: &str| -> Vec<&Kind> { KINDS.iter().filter(|kind| kind.name == name).collect() };
        let said = |kind: &str, target| {
            let checked = with_checks(&named(kind), &[target]);
            checked
                .map(|targets| targets.len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(said("go", &TARGETS[0]), Ok(1));
        assert_eq!(
            said("release", &TARGETS[0]),
            Err("no check is about release".into())
        );
        assert!(said("go", MUSL).is_err_and(|why| why.starts_with("no Debian has musl")));
    }

    #[test]
    fn packages_that_were_not_built_are_not_checked() {
        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        let workspace = Workspace::at(folder.path().to_owned());
        let kinds: Vec<&Kind> = KINDS.iter().collect();
        let refused = run(&workspace, &kinds, &[&TARGETS[0]]).map_err(|error| error.to_string());
        assert!(
            refused.is_err_and(|why| why.contains("is missing; first run `cargo xtask package c`"))
        );
    }
}
