//! The length of source files, and names that say nothing.

use crate::command::{Error, Workspace, output};

/// Lines that are neither blank nor a line comment. Aim for 400.
pub(super) const MAX_LINES_OF_CODE: usize = 600;

/// The stored runs of the lab. Each has one file; a page is rendered from it.
const RUNS: &str = "docs/runs/";

/// Code that a generator wrote from `proto/` or that others wrote: nobody edits it here.
const GENERATED: [&str; 3] = ["/src/generated/", "/jwt/services/", "vectors/"];

const ENDINGS: [&str; 9] = [
    ".rs",
    ".go",
    ".js",
    ".mjs",
    ".ts",
    ".py",
    ".java",
    ".proto",
    "Cargo.toml",
];

/// Words of a file name that do not say what is inside.
const VAGUE: [&str; 8] = [
    "common", "helper", "helpers", "manager", "managers", "misc", "util", "utils",
];

/// The sources and manifests that git knows, each with its text.
pub(super) fn sources(workspace: &Workspace) -> Result<Vec<(String, String)>, Error> {
    let listed = output(workspace.command("git").args(["ls-files", "-z"]))?;
    let paths = listed
        .split('\0')
        .filter(|path| ENDINGS.iter().any(|ending| path.ends_with(ending)) && !is_generated(path));
    // A file that was deleted is not committed yet.
    let read = |path: &str| {
        let text = std::fs::read_to_string(workspace.path(path)).ok()?;
        Some((path.to_owned(), text))
    };
    Ok(paths.filter_map(read).collect())
}

/// What the folder of stored runs has besides their results and the page that lists them.
pub(super) fn stored_runs(workspace: &Workspace) -> Result<Vec<String>, Error> {
    let listed = output(workspace.command("git").args(["ls-files", "-z", RUNS]))?;
    let paths = listed.split('\0').filter(|path| !path.is_empty());
    // A file that was deleted is not committed yet.
    let there = paths.filter(|path| workspace.path(path).is_file());
    Ok(there.filter_map(not_a_result).collect())
}

fn not_a_result(path: &str) -> Option<String> {
    let inside = path.strip_prefix(RUNS)?;
    let is_result = inside
        .split_once('/')
        .is_some_and(|(_, file)| file == "results.json.gz");
    (!is_result && inside != "README.md").then(|| {
        format!("{path}: a stored run is one results.json.gz; `cargo xtask pages` renders its page")
    })
}

/// What is wrong in the sources.
pub(super) fn check(workspace: &Workspace, sources: &[(String, String)]) -> Vec<String> {
    let mut broken = Vec::new();
    for (path, text) in sources {
        broken.extend(too_long(path, text));
        if path.ends_with(".rs") || path.ends_with("Cargo.toml") {
            let text_of = |path: &str| std::fs::read_to_string(workspace.path(path)).ok();
            broken.extend(super::sources::check(path, text, text_of));
        }
        broken.extend(vague_name(path));
    }
    broken
}

fn too_long(path: &str, text: &str) -> Option<String> {
    let lines = lines_of_code(text);
    (lines > MAX_LINES_OF_CODE).then(|| {
        format!("{path}: {lines} lines of code, at most {MAX_LINES_OF_CODE}: split it by concept")
    })
}

fn is_generated(path: &str) -> bool {
    GENERATED.iter().any(|folder| path.contains(folder))
}

fn lines_of_code(text: &str) -> usize {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#'))
        .count()
}

fn vague_name(path: &str) -> Option<String> {
    let vague = |name: &str| {
        let stem = name.split('.').next().unwrap_or(name);
        let mut words = stem.split(['_', '-']);
        words.find(|word| VAGUE.contains(word)).map(str::to_owned)
    };
    path.split('/')
        .find_map(vague)
        .map(|word| format!("{path}: `{word}` does not say what is inside: name the concept"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_over_the_limit_fails_and_comments_do_not_count() {
        let code = "let a = 1;\n".repeat(MAX_LINES_OF_CODE);
        let comments = "// why\n\n/// what\n".repeat(MAX_LINES_OF_CODE);
        assert_eq!(too_long("a.rs", &format!("{code}{comments}")), None);
        let longer = format!("{code}let b = 2;\n");
        assert!(
            too_long("a.rs", &longer)
                .is_some_and(|why| why.starts_with("a.rs: 601 lines of code, at most 600"))
        );
        assert!(is_generated("crates/a/src/generated/b.rs"));
        assert!(!is_generated("crates/a/src/b.rs"));
    }

    #[test]
    fn stored_page_fails() {
        let run = "docs/runs/2026-11-30-full";
        assert!(not_a_result(&format!("{run}/report.html")).is_some());
        assert!(not_a_result(&format!("{run}/report.md")).is_some());
        assert!(not_a_result(&format!("{run}/results.json")).is_some());
        assert_eq!(not_a_result(&format!("{run}/results.json.gz")), None);
        assert_eq!(not_a_result("docs/runs/README.md"), None);
        assert_eq!(not_a_result("docs/method.html"), None);
    }

    #[test]
    fn vague_name_fails_in_a_file_and_in_a_folder() {
        assert!(vague_name("crates/a/src/json_utils.rs").is_some());
        assert!(vague_name("crates/common/src/lib.rs").is_some());
        assert_eq!(vague_name("crates/a/src/utility_rate.rs"), None);
    }
}
