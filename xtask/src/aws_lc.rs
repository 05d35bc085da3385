//! AWS-LC, compiled once: what the tests' build has made is laid out as an installation, which the other builds of the
//! same tests link. Its build script takes one, as its README says.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::command::{BUILT, Workspace};

/// The name of the crate with the C library.
pub const PACKAGE: &str = "aws-lc-sys";

/// Where the installation is, and what declares its functions in Rust.
const SETTINGS: [(&str, &str); 2] = [
    ("AWS_LC_SYS_SYSTEM_DIR", ""),
    ("AWS_LC_SYS_SYSTEM_BINDINGS", BINDINGS),
];

/// In the folder of the installation. Not `libcrypto.a`, which programs with OpenSSL would link.
const LIBRARY: &str = "lib/libcrypto-awslc.a";
const BINDINGS: &str = "bindings.rs";

/// Lays out what the crate's build script has left in `out`. `sources` is the folder of the crate.
///
/// # Errors
/// If the folder of the target cannot be written, or the crate looks different from what is expected here.
pub fn lay_out(workspace: &Workspace, out: &Path, sources: &Path) -> io::Result<()> {
    let home = home(workspace);
    match fs::remove_dir_all(&home) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(home.join("lib"))?,
    }
    let is_library = |path: &PathBuf| path.extension().is_some_and(|end| end == "a");
    let files = fs::read_dir(out)?.filter_map(|entry| Some(entry.ok()?.path()));
    let library = files.filter(is_library).find(|path| is_crypto(path));
    let library = library.ok_or(io::ErrorKind::NotFound)?;
    symlink(library, home.join(LIBRARY))?;
    symlink(out.join("include"), home.join("include"))?;
    let bindings = format!("src/{}_{SYSTEM}_crypto.rs", std::env::consts::ARCH);
    let text = fs::read_to_string(sources.join(bindings))?;
    fs::write(home.join(BINDINGS), without_attributes(&text))
}

/// The file is included where attributes of a module are not allowed.
fn without_attributes(text: &str) -> String {
    let Some((before, after)) = text.split_once("#![") else {
        return text.to_owned();
    };
    let rest = after.split_once(")]").map_or(after, |(_, rest)| rest);
    format!("{before}{rest}")
}

/// What the crate calls the systems for which it brings bindings.
const SYSTEM: &str = if cfg!(target_os = "macos") {
    "apple_darwin"
} else {
    "unknown_linux_gnu"
};

fn is_crypto(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    name.ends_with("crypto")
}

/// Returns the settings with which a build links it. Outside `cargo xtask test`, or if it was not laid out, the list is
/// empty and the build compiles AWS-LC itself.
#[must_use]
pub fn compiled(workspace: &Workspace) -> Vec<(&'static str, PathBuf)> {
    let home = home(workspace);
    if std::env::var_os(BUILT).is_none() || !home.join(BINDINGS).is_file() {
        return Vec::new();
    }
    SETTINGS.map(|(name, path)| (name, home.join(path))).into()
}

fn home(workspace: &Workspace) -> PathBuf {
    workspace.target().join("aws-lc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_the_module_are_left_out() {
        let text = "// Licence\n#![allow(\n    dead_code,\n)]\n\n#[repr(C)]\nstruct A;\n";
        let expected = "// Licence\n\n\n#[repr(C)]\nstruct A;\n";
        assert_eq!(without_attributes(text), expected);
        assert_eq!(without_attributes("struct A;\n"), "struct A;\n");
    }
}
