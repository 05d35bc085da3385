//! The native libraries for a platform, and what they may need there.

use std::path::{Path, PathBuf};

use super::super::libraries::{self, Build};
use super::target::{Target, Toolchain};
use crate::command::{Error, on_path, output, run as run_command};

/// The newest version of glibc whose functions a library may use.
const GLIBC: (u32, u32) = (2, 28);

/// The libraries of the system that it may need: those of glibc, and that of musl.
const GLIBC_LIBRARIES: [&str; 7] = [
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
    "ld-linux-",
];
const MUSL_LIBRARIES: [&str; 1] = ["libc.so"];

/// Builds a crate's shared library, without symbols that only debuggers need.
pub(super) fn shared(
    toolchain: &Toolchain<'_>,
    target: &Target,
    package: &str,
) -> Result<PathBuf, Error> {
    let file = target.shared(&package.replace('-', "_"));
    let flags = ["-C", "strip=symbols"];
    let library = build(toolchain, target, package, ("cdylib", &file), &flags)?;
    check(toolchain, target, &library)?;
    Ok(library)
}

/// Builds the C library as an archive. Its other symbols are hidden.
pub(super) fn archive(toolchain: &Toolchain<'_>, target: &Target) -> Result<PathBuf, Error> {
    let kind = ("staticlib", "libjeton_ffi.a");
    let built = build(toolchain, target, "jeton-ffi", kind, &[])?;
    let library = built.with_file_name("hidden").join("libjeton.a");
    let workspace = toolchain.workspace;
    if on_path(&target.binutil("ld")).is_none() {
        return Err(Error::Usage(format!(
            "{} not found: install the binutils for {}",
            target.binutil("ld"),
            target.triple
        )));
    }
    libraries::hide_symbols(workspace, &built, &library, Build::Dist, |name| {
        target.binutil(name)
    })?;
    toolchain.check_folders(&library)?;
    Ok(library)
}

/// Builds one kind of library of the crate, and returns the path of the file.
fn build(
    toolchain: &Toolchain<'_>,
    target: &Target,
    package: &str,
    (kind, file): (&str, &str),
    flags: &[&str],
) -> Result<PathBuf, Error> {
    let mut cargo = toolchain.workspace.cargo(&["rustc", "--locked", "--lib"]);
    cargo.args(["-p", package, "--crate-type", kind, "--profile", "dist"]);
    cargo.args(["--target", target.triple]);
    toolchain.apply(&mut cargo, target, rust_flags(target));
    run_command(cargo.arg("--").args(flags))?;
    let folder = toolchain.target().join(target.triple);
    Ok(folder.join("dist").join(file))
}

/// The flags of the compiler for libraries. A shared library cannot contain the C library; archives have the same flag, so
/// that dependencies are compiled once.
pub(super) fn rust_flags(target: &Target) -> &'static [&'static str] {
    if target.is_musl() {
        // As maturin writes it, which else adds it.
        &["-C", "target-feature=-crt-static"]
    } else {
        &[]
    }
}

/// Fails if the library needs more than the platform has, or contains a folder of the builder.
pub(super) fn check(
    toolchain: &Toolchain<'_>,
    target: &Target,
    library: &Path,
) -> Result<(), Error> {
    toolchain.check_folders(library)?;
    if !target.triple.contains("linux") {
        return Ok(());
    }
    let mut readelf = toolchain.workspace.command("readelf");
    let text = output(
        readelf
            .args(["--dynamic", "--version-info", "--wide"])
            .arg(library),
    )?;
    let problems = problems(target, &text);
    if problems.is_empty() {
        Ok(())
    } else {
        let name = library.display();
        Err(Error::Failed(format!("{name}: {}", problems.join("; "))))
    }
}

/// What the platform does not have, in the output of readelf.
fn problems(target: &Target, text: &str) -> Vec<String> {
    let allowed: &[&str] = if target.is_musl() {
        &MUSL_LIBRARIES
    } else {
        &GLIBC_LIBRARIES
    };
    let needed = text.lines().filter(|line| line.contains("(NEEDED)"));
    let needed = needed.filter_map(|line| Some(line.split_once('[')?.1.trim_end_matches(']')));
    // The dynamic linker has the architecture in its name.
    let is_it = |name: &str, allowed: &str| {
        name == allowed || allowed.ends_with('-') && name.starts_with(allowed)
    };
    let foreign = needed.filter(|name| !allowed.iter().any(|allowed| is_it(name, allowed)));
    let mut problems: Vec<_> = foreign.map(|name| format!("needs {name}")).collect();
    let newer = versions(text).filter(|version| target.is_musl() || *version > GLIBC);
    if let Some((major, minor)) = newer.max() {
        problems.push(format!("needs glibc {major}.{minor}"));
    }
    problems
}

/// The versions of glibc: `GLIBC_2.28`.
fn versions(text: &str) -> impl Iterator<Item = (u32, u32)> {
    text.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|letter: char| letter != '.' && !letter.is_ascii_digit());
        let mut numbers = rest[..end.unwrap_or(rest.len())].split('.');
        let mut next = || numbers.next()?.parse().ok();
        Some((next()?, next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::super::target::TARGETS;
    use super::*;

    const GNU: &Target = &TARGETS[0];
    const MUSL: &Target = &TARGETS[2];

    #[test]
    fn library_that_needs_a_newer_glibc_is_refused() {
        let table = |version: &str| {
            format!(
                " 0x01 (NEEDED)  Shared library: [libc.so.6]\n  0x0020: Name: {version}  Flags: none\n"
            )
        };
        assert_eq!(problems(GNU, &table("GLIBC_2.28")), [""; 0]);
        assert_eq!(problems(GNU, &table("GLIBC_2.2.5")), [""; 0]);
        assert_eq!(problems(GNU, &table("GLIBC_2.29")), ["needs glibc 2.29"]);
        let found = problems(MUSL, &table("GLIBC_2.17"));
        assert_eq!(found, ["needs libc.so.6", "needs glibc 2.17"]);
    }

    #[test]
    fn library_that_needs_another_library_is_refused() {
        let needs = " 0x01 (NEEDED)  Shared library: [libgcc_s.so.1]\n";
        assert_eq!(problems(GNU, needs), ["needs libgcc_s.so.1"]);
        let own = " 0x01 (NEEDED)  Shared library: [libc.so]\n";
        assert_eq!(problems(MUSL, own), [""; 0]);
    }
}
