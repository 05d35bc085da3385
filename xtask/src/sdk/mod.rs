//! `cargo xtask sdk`: builds and tests the libraries for other languages.

pub(crate) mod c;
mod libraries;
pub(crate) mod package;
mod second;

use crate::command::{Error, Workspace, run as run_command};

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
        run: |workspace| tests(workspace, "sdk/go", &["go", "test", "./..."]),
    },
    Sdk {
        name: "node",
        manifest: "sdk/node/package.json",
        run: |workspace| tests(workspace, "sdk/node", &["npm", "test"]),
    },
    Sdk {
        name: "python",
        manifest: "sdk/python/pyproject.toml",
        run: |workspace| tests(workspace, "sdk/python", &["python3", "-m", "pytest"]),
    },
    Sdk {
        name: "java",
        manifest: "sdk/java/pom.xml",
        run: |workspace| tests(workspace, "sdk/java", &["mvn", "--quiet", "test"]),
    },
];

/// What is written from Rust sources, and the test that writes it.
const WRITTEN: [(&str, &str); 3] = [
    ("cases", "file_is_what_the_generator_writes"),
    ("codes", "files_of_other_languages_match_the_table"),
    ("header", "header_is_what_the_source_says"),
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
    let sdk = SDKS.iter().find(|sdk| sdk.name == name).ok_or_else(|| {
        let names = SDKS.iter().map(|sdk| sdk.name);
        let names: Vec<_> = names.chain(WRITTEN.iter().map(|(name, _)| *name)).collect();
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
    let mut cargo = workspace.cargo(&["test", "--locked", "-p", "jeton-ffi", "--test", "it", test]);
    run_command(cargo.env("JETON_WRITE", "1"))
}

/// Runs the tests of a library. They find the C library in this folder.
fn tests(workspace: &Workspace, folder: &str, command: &[&str]) -> Result<(), Error> {
    let library = libraries::static_library(workspace, libraries::Build::TESTS)?;
    let mut tests = workspace.command(command[0]);
    tests
        .args(&command[1..])
        .current_dir(workspace.path(folder));
    run_command(tests.env("JETON_LIBRARY", library))
}
