//! `cargo xtask sdk`: builds and tests the libraries for other languages.

pub(crate) mod c;
pub(crate) mod go;
pub(crate) mod java;
mod libraries;
pub(crate) mod node;
pub(crate) mod package;
pub(crate) mod python;
mod second;

use crate::command::{Error, LIBRARY_PROFILE, Workspace, run as run_command};

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

/// What is written from Rust sources, and the test that writes it.
const WRITTEN: [(&str, &str); 3] = [
    ("cases", "file_is_what_the_generator_writes"),
    ("codes", "files_of_other_languages_match_the_table"),
    ("header", "header_is_what_the_source_says"),
];

/// Builds the native library of the Go module, without tests.
const GO_LIBRARY: &str = "go-library";

/// Builds the package for Node, without tests.
const NODE_LIBRARY: &str = "node-library";

/// Builds the jar for Java, without tests.
const JAVA_LIBRARY: &str = "java-library";

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
    if name == GO_LIBRARY {
        return go::library(workspace, profile());
    }
    if name == NODE_LIBRARY {
        return node::library(workspace, profile());
    }
    if name == JAVA_LIBRARY {
        return java::library(workspace, profile());
    }
    let sdk = SDKS.iter().find(|sdk| sdk.name == name).ok_or_else(|| {
        let names = SDKS.iter().map(|sdk| sdk.name);
        let names = names.chain(WRITTEN.iter().map(|(name, _)| *name));
        let names: Vec<_> = names
            .chain([GO_LIBRARY, NODE_LIBRARY, JAVA_LIBRARY])
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

/// Whether the library for a language is in this tree.
pub(crate) fn is_there(workspace: &Workspace, name: &str) -> bool {
    let sdk = SDKS.iter().find(|sdk| sdk.name == name);
    sdk.is_some_and(|sdk| workspace.path(sdk.manifest).exists())
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

/// The profile of a library for the lab: what users get, unless checks of a driver ask for a faster build.
fn profile() -> &'static str {
    match std::env::var(LIBRARY_PROFILE) {
        Ok(profile) if profile == "dev" => "dev",
        _ => "dist",
    }
}

fn write(workspace: &Workspace, test: &str) -> Result<(), Error> {
    let mut cargo = workspace.cargo_workspace("test");
    cargo.args(["--test", "ffi", test]);
    run_command(cargo.env("JETON_WRITE", "1"))
}
