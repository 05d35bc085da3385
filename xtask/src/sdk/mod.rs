//! `cargo xtask sdk`: builds and tests the libraries for other languages.

pub(crate) mod c;
pub(crate) mod go;
pub(crate) mod java;
mod libraries;
pub(crate) mod node;
pub(crate) mod package;
pub(crate) mod python;
mod readme;
mod second;

use std::path::PathBuf;

use crate::command::{Error, Workspace, run as run_command};
use libraries::Build;

/// A library for one language.
struct Sdk {
    name: &'static str,
    /// The file that shows that it is there.
    manifest: &'static str,
    run: fn(&Workspace) -> Result<(), Error>,
}

const SDKS: [Sdk; 5] = [
    Sdk {
        name: "c",
        manifest: "crates/jeton-ffi/Cargo.toml",
        run: c::run,
    },
    Sdk {
        name: "go",
        manifest: "sdk/go/go.mod",
        run: go::run,
    },
    Sdk {
        name: "node",
        manifest: "sdk/node/package.json",
        run: node::run,
    },
    Sdk {
        name: "python",
        manifest: "sdk/python/pyproject.toml",
        run: python::run,
    },
    Sdk {
        name: "java",
        manifest: "sdk/java/pom.xml",
        run: java::run,
    },
];

/// What is written from Rust sources, and the tests that write it.
const WRITTEN: [(&str, &str); 5] = [
    ("algorithms", "algorithms::"),
    ("cases", "file_is_what_the_generator_writes"),
    ("codes", "files_of_other_languages_match_the_table"),
    ("header", "header_is_what_the_source_says"),
    ("settings", "options_of_other_languages_match_the_table"),
];

/// What builds the library for a language.
type BuildLibrary = fn(&Workspace, Build) -> Result<(), Error>;

/// What the lab's drivers use.
const LIBRARIES: [(&str, BuildLibrary); 4] = [
    ("go-library", go::library),
    ("node-library", node::library),
    ("java-library", java::library),
    ("python-library", python::library),
];

/// Builds and tests one library or all that are there, or writes what is written from Rust sources.
pub(crate) fn run(workspace: &Workspace, options: &[String]) -> Result<(), Error> {
    let [name] = options else {
        if !options.is_empty() {
            return Err(Error::Usage("`sdk` takes one name".into()));
        }
        return all(workspace);
    };
    if let Some((_, test)) = WRITTEN.iter().find(|(written, _)| written == name) {
        return write(workspace, test);
    }
    if let Some((_, build)) = LIBRARIES.iter().find(|(library, _)| library == name) {
        return build(workspace, Build::of_environment());
    }
    let sdk = SDKS.iter().find(|sdk| sdk.name == name).ok_or_else(|| {
        let names = SDKS.iter().map(|sdk| sdk.name);
        let names = names.chain(WRITTEN.iter().map(|(name, _)| *name));
        let names: Vec<_> = names
            .chain(LIBRARIES.iter().map(|(name, _)| *name))
            .collect();
        Error::Usage(format!(
            "unknown name `{name}`; expected one of: {}",
            names.join(", ")
        ))
    })?;
    if !workspace.path(sdk.manifest).exists() {
        return Err(Error::Usage(format!("{}: not found", sdk.manifest)));
    }
    (sdk.run)(workspace)
}

/// The program that the tests of fetchers ask for keys, and the variable with its path.
const KEY_SERVER: &str = "JETON_KEY_SERVER";

/// Builds the key server of jeton-testkit, and returns its path.
fn key_server(workspace: &Workspace) -> Result<PathBuf, Error> {
    workspace.build()?;
    let program = workspace.target().join("debug/key-server");
    // A build of chosen packages leaves it out.
    if !program.exists() {
        let mut cargo = workspace.cargo(&["build", "--locked", "--quiet"]);
        cargo.args(["--package", "jeton-testkit", "--features", "key-server"]);
        run_command(&mut cargo)?;
    }
    Ok(program)
}

fn all(workspace: &Workspace) -> Result<(), Error> {
    for sdk in &SDKS {
        if !workspace.path(sdk.manifest).exists() {
            eprintln!("== {}: skipped: {} not found", sdk.name, sdk.manifest);
            continue;
        }
        eprintln!("== {}", sdk.name);
        (sdk.run)(workspace)?;
    }
    Ok(())
}

fn write(workspace: &Workspace, test: &str) -> Result<(), Error> {
    let mut cargo = workspace.cargo_workspace("test");
    cargo.args(["--test", "ffi", test]);
    run_command(cargo.env("JETON_WRITE", "1"))
}
