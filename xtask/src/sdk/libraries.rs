//! Builds the C library: a static one whose other symbols are hidden, and a shared one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Error, PROFILE, Workspace, output, run as run_command};

/// How the libraries are built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// With everything else that tests use, and with the functions that make them panic.
    Tests,
    /// As users get them.
    Dist,
}

impl Build {
    /// What the environment asks of the libraries for the lab: what users get, or what checks of the drivers share with
    /// tests.
    pub(super) fn of_environment() -> Self {
        match std::env::var(PROFILE) {
            Ok(profile) if profile == "dev" => Self::Tests,
            _ => Self::Dist,
        }
    }

    /// Builds the crate's library as this kind, for users with these flags of the compiler, and returns its path.
    pub(super) fn library(
        self,
        workspace: &Workspace,
        package: &str,
        (kind, file): (&str, &str),
        flags: &[&str],
    ) -> Result<PathBuf, Error> {
        let folder = match self {
            Self::Tests => {
                workspace.build()?;
                "debug"
            }
            Self::Dist => {
                let mut cargo = workspace.cargo(&["rustc", "--locked", "-p", package, "--lib"]);
                cargo.args(["--crate-type", kind, "--profile", "dist", "--"]);
                run_command(cargo.args(flags))?;
                "dist"
            }
        };
        Ok(workspace.target().join(folder).join(file))
    }
}

/// Where the finished libraries go.
pub(super) fn folder(workspace: &Workspace) -> Result<PathBuf, Error> {
    let folder = workspace.target().join("ffi");
    fs::create_dir_all(&folder)
        .map_err(|error| Error::Failed(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}

/// Builds the static library.
pub(super) fn static_library(workspace: &Workspace, how: Build) -> Result<PathBuf, Error> {
    let built = how.library(workspace, "jeton-ffi", ("staticlib", "libjeton_ffi.a"), &[])?;
    let library = folder(workspace)?.join(match how {
        Build::Tests => "tests/libjeton.a",
        Build::Dist => "libjeton.a",
    });
    if how == Build::Dist || !is_newer(&library, &built) {
        hide_symbols(workspace, &built, &library, how, str::to_owned)?;
    }
    Ok(library)
}

/// Makes a static library whose symbols that are not the interface are local, so that it can be linked beside another
/// library in Rust, or beside another AWS-LC. `binutil` returns the name of a program for the library's platform.
pub(super) fn hide_symbols(
    workspace: &Workspace,
    built: &Path,
    library: &Path,
    how: Build,
    binutil: impl Fn(&str) -> String,
) -> Result<(), Error> {
    let folder = library.parent().unwrap_or(workspace.root());
    fs::create_dir_all(folder)
        .map_err(|error| Error::Failed(format!("{}: {error}", folder.display())))?;
    let (whole, local) = (folder.join("whole.o"), folder.join("jeton.o"));
    let names = folder.join("exports");
    let exports = exports(workspace, how)?;
    let list: String = exports.iter().map(|name| format!("{name}\n")).collect();
    fs::write(&names, list).map_err(|error| Error::Failed(error.to_string()))?;

    let mut link = workspace.command(binutil("ld"));
    // Without groups, as the linker keeps one of those with the same name, and their symbols become local. Sections that
    // are not used stay: GNU ld would else make the weak symbols of the system local.
    link.args(["-r", "--force-group-allocation"]);
    for name in &exports {
        link.args(["-u", name]);
    }
    run_command(link.arg(built).arg("-o").arg(&whole))?;
    let mut localise = workspace.command(binutil("objcopy"));
    localise.arg(format!("--keep-global-symbols={}", names.display()));
    // The standard library carries bitcode, which plugins of an older LLVM cannot read.
    localise.args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    if how == Build::Dist {
        localise.arg("--strip-unneeded");
    }
    run_command(localise.arg(&whole).arg(&local))?;
    let _ = fs::remove_file(library);
    // D: the archive is the same for the same object.
    let mut archive = workspace.command(binutil("ar"));
    run_command(archive.arg("rcsD").arg(library).arg(&local))?;
    check_exports("libjeton.a", &symbols(workspace, &local, "-sW")?, &exports)?;
    for file in [whole, local, names] {
        let _ = fs::remove_file(file);
    }
    Ok(())
}

fn is_newer(file: &Path, other: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    matches!((changed(file), changed(other)), (Ok(file), Ok(other)) if file > other)
}

/// Builds the shared library for tests.
pub(super) fn shared_library(workspace: &Workspace) -> Result<PathBuf, Error> {
    let (kind, how) = (("cdylib", "libjeton_ffi.so"), Build::Tests);
    let built = how.library(workspace, "jeton-ffi", kind, &[])?;
    let library = folder(workspace)?.join("libjeton.so");
    let mut strip = workspace.command("objcopy");
    run_command(strip.arg("--strip-unneeded").arg(&built).arg(&library))?;
    check_shared(workspace, &library, how)?;
    Ok(library)
}

/// Fails if the library does not export exactly the functions of the header.
pub(super) fn check_shared(workspace: &Workspace, library: &Path, how: Build) -> Result<(), Error> {
    let found = symbols(workspace, library, "--dyn-syms")?;
    check_exports("libjeton.so", &found, &exports(workspace, how)?)
}

/// The functions of the header.
fn exports(workspace: &Workspace, how: Build) -> Result<BTreeSet<String>, Error> {
    let header = workspace.path("crates/jeton-ffi/include/jeton.h");
    let text = fs::read_to_string(&header)
        .map_err(|error| Error::Failed(format!("{}: {error}", header.display())))?;
    let mut functions = functions_of(&text);
    if how == Build::Dist {
        functions.retain(|name| !name.starts_with("jeton_test_"));
    }
    Ok(functions)
}

/// The names that are declared at the start of a line.
fn functions_of(header: &str) -> BTreeSet<String> {
    let declared = header
        .lines()
        .filter(|line| line.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    let name = |line: &str| {
        let start = line.find("jeton_")?;
        let end = start + line[start..].find('(')?;
        Some(line[start..end].to_owned())
    };
    declared.filter_map(name).collect()
}

/// The symbols that others can link to.
fn symbols(workspace: &Workspace, file: &Path, table: &str) -> Result<BTreeSet<String>, Error> {
    let mut readelf = workspace.command("readelf");
    let text = output(readelf.args([table, "--wide"]).arg(file))?;
    Ok(defined(&text))
}

/// The columns of readelf: number, value, size, type, binding, visibility, section, name.
fn defined(table: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in table.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        if let [_, _, _, _, "GLOBAL" | "WEAK", _, section, name, ..] = columns[..]
            && section != "UND"
        {
            names.insert(name.to_owned());
        }
    }
    names
}

fn check_exports(
    library: &str,
    found: &BTreeSet<String>,
    expected: &BTreeSet<String>,
) -> Result<(), Error> {
    let missing: Vec<_> = expected.difference(found).collect();
    let foreign: Vec<_> = found.difference(expected).take(10).collect();
    if missing.is_empty() && foreign.is_empty() {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "{library}: not exported: {missing:?}; exported, but not in the header: {foreign:?}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_header_are_found() {
        let header = "// jeton_old(\nuint32_t jeton_a(void);\nconst char *jeton_b(int c);\n  jeton_inside(\n";
        let found: Vec<_> = functions_of(header).into_iter().collect();
        assert_eq!(found, ["jeton_a", "jeton_b"]);
    }

    #[test]
    fn foreign_symbol_fails() {
        let table = "\
            1: 0000 10 FUNC GLOBAL DEFAULT 12 jeton_a\n\
            2: 0000 10 FUNC LOCAL  DEFAULT 12 hidden\n\
            3: 0000  0 NOTYPE GLOBAL DEFAULT UND malloc\n\
            4: 0000 10 FUNC WEAK DEFAULT 12 rust_eh_personality\n";
        let found = defined(table);
        let expected = BTreeSet::from(["jeton_a".to_owned()]);
        assert!(check_exports("l", &found, &expected).is_err());
        let hidden = table.replace("WEAK", "LOCAL");
        assert!(check_exports("l", &defined(&hidden), &expected).is_ok());
        assert!(check_exports("l", &BTreeSet::new(), &expected).is_err());
    }
}
