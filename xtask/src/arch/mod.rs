//! `cargo xtask arch`: keeps ARCHITECTURE.md true.
//!
//! It reads `cargo metadata` and the sources as tokens. Each failure names its place and says
//! what to do about it.

mod arrows;
mod metadata;
mod roots;
mod source;
mod tree;

use std::fmt;

use crate::command::{Error, Workspace};
use metadata::Metadata;

/// One broken rule at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    /// From the checkout's root, with `/`.
    file: String,
    /// From 1.
    line: usize,
    /// What is wrong and what to do.
    what: String,
}

impl Violation {
    fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// Checks everything and prints every violation, not the first alone.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let metadata = Metadata::read(workspace)?;
    let files = tree::read(workspace.root())?;
    let map = std::fs::read_to_string(workspace.path("ARCHITECTURE.md"))
        .map_err(|error| Error::Usage(format!("ARCHITECTURE.md: {error}")))?;

    let mut violations = arrows::check(&metadata, &files);
    violations.extend(arrows::check_map(&metadata, &map));
    violations.extend(roots::check(&metadata, &files));
    for file in &files {
        violations.extend(tree::check_name(&file.path));
        if file.path.ends_with(".rs") {
            violations.extend(source::check(&file.path, &file.text));
        }
    }
    violations.sort();
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => {
            eprintln!(
                "arch: {} crates and {} source files keep to the map",
                metadata.members().count(),
                files.len()
            );
            Ok(())
        }
        1 => Err(Error::Failed("arch: one rule is broken, see above".into())),
        many => Err(Error::Failed(format!(
            "arch: {many} rules are broken, see above"
        ))),
    }
}
