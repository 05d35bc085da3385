//! `cargo xtask arch`: compares ARCHITECTURE.md with what Cargo says, and checks the size of files.
//!
//! Cargo, clippy and cargo-deny enforce the other rules: see "Dependency rules" in ARCHITECTURE.md.

mod files;
mod graph;
mod imports;
mod library;
mod modules;
mod sources;

pub(crate) use graph::PUBLISHED;

use crate::command::{Error, Workspace, output};

const PAGE: &str = "ARCHITECTURE.md";

/// Prints every broken rule, not only the first.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let page = std::fs::read_to_string(workspace.path(PAGE))
        .map_err(|error| Error::Usage(format!("{PAGE}: {error}")))?;
    // With every feature on: an optional dependency is an arrow too.
    let mut cargo = workspace.cargo(&["metadata", "--format-version", "1", "--all-features"]);
    cargo.arg("--no-deps");
    let metadata = graph::Metadata::parse(&output(&mut cargo)?)?;

    let mut broken = graph::check(&metadata, &page);
    broken.extend(library::check(workspace)?);
    broken.extend(files::stored_runs(workspace)?);
    let sources = files::sources(workspace)?;
    broken.extend(files::check(workspace, &sources));
    broken.extend(modules::check(&sources));
    for rule in &broken {
        println!("{rule}");
    }
    match broken.len() {
        0 => {
            eprintln!(
                "arch: {} crates are as {PAGE} draws them; {} files are within {} lines of code; modules import one way",
                metadata.packages.len(),
                sources.len(),
                files::MAX_LINES_OF_CODE
            );
            Ok(())
        }
        count => Err(Error::Failed(format!(
            "arch: {count} broken rules, see above"
        ))),
    }
}
