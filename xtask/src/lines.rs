//! `cargo xtask lines`: how many files and lines each folder has.

use std::collections::BTreeMap;

use crate::command::{Error, Workspace, output};

/// Folders whose subfolders are counted one by one.
const GROUPS: [&str; 6] = ["crates", "drivers", "examples", "lab", "sdk", "servers"];

/// Counted: the languages that the project is written in.
const ENDINGS: [&str; 9] = [
    ".rs", ".go", ".js", ".mjs", ".ts", ".java", ".py", ".proto", ".md",
];

#[derive(Default)]
struct Count {
    files: usize,
    lines: usize,
    /// Lines below `tests/`, `test/` or `benches/`.
    tests: usize,
}

/// Prints one row for each folder, and their sum.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let listed = output(workspace.command("git").args(["ls-files", "-z"]))?;
    let mut folders: BTreeMap<String, Count> = BTreeMap::new();
    for path in listed.split('\0') {
        if !ENDINGS.iter().any(|ending| path.ends_with(ending)) {
            continue;
        }
        // A file that was deleted is not committed yet.
        let Ok(text) = std::fs::read_to_string(workspace.path(path)) else {
            continue;
        };
        let count = folders.entry(folder(path)).or_default();
        let lines = text.lines().count();
        count.files += 1;
        count.lines += lines;
        if is_test(path) {
            count.tests += lines;
        }
    }
    println!("{:<28}{:>7}{:>9}{:>9}", "folder", "files", "lines", "tests");
    let mut sum = Count::default();
    for (folder, count) in &folders {
        row(folder, count);
        sum.files += count.files;
        sum.lines += count.lines;
        sum.tests += count.tests;
    }
    row("all", &sum);
    Ok(())
}

fn row(folder: &str, count: &Count) {
    println!(
        "{folder:<28}{:>7}{:>9}{:>9}",
        count.files, count.lines, count.tests
    );
}

/// The row that `path` belongs to: `crates/jeton`, `docs`, or `.` for files in the root.
fn folder(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [_] => ".".to_owned(),
        [group, name, _, ..] if GROUPS.contains(group) => format!("{group}/{name}"),
        [first, ..] => (*first).to_owned(),
        [] => ".".to_owned(),
    }
}

fn is_test(path: &str) -> bool {
    path.split('/')
        .rev()
        .skip(1)
        .any(|part| matches!(part, "tests" | "benches" | "test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_of_a_group_is_counted_by_itself() {
        assert_eq!(folder("crates/jeton/src/lib.rs"), "crates/jeton");
        assert_eq!(folder("docs/runs/README.md"), "docs");
        assert_eq!(folder("studies/src/main.rs"), "studies");
        assert_eq!(folder("README.md"), ".");
        assert_eq!(folder("drivers/PROTOCOL.md"), "drivers");
    }

    #[test]
    fn file_below_tests_counts_as_a_test() {
        assert!(is_test("crates/jeton/tests/a/b.rs"));
        assert!(!is_test("crates/jeton/src/tests.rs"));
    }
}
