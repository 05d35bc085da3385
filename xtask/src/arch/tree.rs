//! The sources as files: where they are and how they may be called.

use std::path::Path;

use super::Violation;
use crate::command::Error;

/// A file that a rule looks at.
pub(super) struct File {
    /// From the checkout's root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// Folders of the checkout that hold sources.
const SOURCES: &[&str] = &[
    "crates", "drivers", "examples", "fuzz", "servers", "tools", "xtask",
];

/// Not ours, or made by a build.
const NOT_SOURCES: &[&str] = &["target", "node_modules", "vendor", "__pycache__"];

/// What counts as source, by the end of the name.
const ENDINGS: &[&str] = &[
    ".rs",
    ".go",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".py",
    ".java",
    "Cargo.toml",
];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &[
    "common", "helper", "helpers", "manager", "managers", "misc", "util", "utils",
];

/// All source files, and the root manifest, sorted by path.
pub(super) fn read(root: &Path) -> Result<Vec<File>, Error> {
    let mut files = vec![read_file(root, "Cargo.toml")?];
    for folder in SOURCES {
        if root.join(folder).is_dir() {
            read_folder(root, folder, &mut files)?;
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// A file or folder name must say what is inside.
pub(super) fn check_name(path: &str) -> Option<Violation> {
    let empty = path.split('/').find_map(empty_word)?;
    Some(Violation::new(
        path,
        1,
        format!("`{empty}` names nothing: call it after the one concept inside"),
    ))
}

/// The word in `name`, a file's, a folder's or a module's, that is on the list, if any.
pub(super) fn empty_word(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or(name);
    stem.split(['_', '-']).find_map(|word| {
        EMPTY_NAMES
            .iter()
            .copied()
            .find(|empty| word.eq_ignore_ascii_case(empty))
    })
}

fn read_folder(root: &Path, folder: &str, files: &mut Vec<File>) -> Result<(), Error> {
    let entries = std::fs::read_dir(root.join(folder))
        .map_err(|error| Error::Usage(format!("{folder}: {error}")))?;
    for entry in entries {
        let entry = entry.map_err(|error| Error::Usage(format!("{folder}: {error}")))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        let kind = entry
            .file_type()
            .map_err(|error| Error::Usage(format!("{path}: {error}")))?;
        if kind.is_dir() && !NOT_SOURCES.contains(&name.as_str()) && !name.starts_with('.') {
            read_folder(root, &path, files)?;
        } else if kind.is_file() && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            files.push(read_file(root, &path)?);
        }
    }
    Ok(())
}

fn read_file(root: &Path, path: &str) -> Result<File, Error> {
    match std::fs::read_to_string(root.join(path)) {
        Ok(text) => Ok(File {
            path: path.to_owned(),
            text,
        }),
        Err(error) => Err(Error::Usage(format!("{path}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn vague_name_fails_anywhere_in_a_path() {
        for path in [
            "crates/jeton/src/util.rs",
            "crates/jeton/tests/common/mod.rs",
            "drivers/go/harness/helpers.go",
            "crates/jeton-lab/src/key_manager.rs",
        ] {
            assert!(check_name(path).is_some(), "{path}");
        }
    }

    #[test]
    fn vague_word_inside_a_name_passes() {
        for path in ["crates/jeton/src/utility.rs", "crates/jeton/src/commons.rs"] {
            assert_eq!(check_name(path), None, "{path}");
        }
    }

    #[test]
    fn builds_and_packages_are_not_read() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("Cargo.toml"), "[workspace]").unwrap();
        for file in [
            "crates/a/src/lib.rs",
            "crates/a/target/x.rs",
            "drivers/node/node_modules/y.js",
        ] {
            let file = root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let paths: Vec<String> = read(root.path())
            .map_err(|stop| stop.to_string())
            .unwrap()
            .into_iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(paths, ["Cargo.toml", "crates/a/src/lib.rs"]);
    }
}
