//! Every crate root forbids `unsafe`, by the workspace's lints or in its own words.

use super::Violation;
use super::metadata::Metadata;
use super::source::ALLOWED_UNSAFE;
use super::tree::File;

const FORBID: &str = "#![forbid(unsafe_code)]";

/// The workspace's crates take the workspace's lints; a driver, a server or an example, which stand
/// alone, say `#![forbid(unsafe_code)]` in its root.
pub(super) fn check(metadata: &Metadata, files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    if let Some(root) = files.iter().find(|file| file.path == "Cargo.toml")
        && !section_has(
            &root.text,
            "[workspace.lints.rust]",
            "unsafe_code",
            "\"forbid\"",
        )
    {
        violations.push(Violation::new(
            "Cargo.toml",
            1,
            "say `unsafe_code = \"forbid\"` under [workspace.lints.rust]",
        ));
    }
    for package in metadata.members() {
        let manifest = metadata.manifest(package);
        if !manifest.starts_with(ALLOWED_UNSAFE) {
            violations.extend(check_crate(&manifest, &metadata.roots(package), files));
        }
    }
    for driver in files.iter().filter(|file| separate_crate(&file.path)) {
        let roots: Vec<String> = ["src/main.rs", "src/lib.rs"]
            .map(|root| driver.path.replace("Cargo.toml", root))
            .into_iter()
            .filter(|root| files.iter().any(|file| file.path == *root))
            .collect();
        violations.extend(check_crate(&driver.path, &roots, files));
    }
    violations
}

fn check_crate(manifest: &str, roots: &[String], files: &[File]) -> Vec<Violation> {
    let text = |path: &str| {
        files
            .iter()
            .find(|file| file.path == path)
            .map_or("", |file| file.text.as_str())
    };
    let manifest_text = text(manifest);
    if section_has(manifest_text, "[lints]", "workspace", "true")
        || section_has(manifest_text, "[lints.rust]", "unsafe_code", "\"forbid\"")
    {
        return Vec::new();
    }
    roots
        .iter()
        .filter(|root| !text(root).lines().any(|line| line.trim() == FORBID))
        .map(|root| {
            Violation::new(
                root,
                1,
                format!("add `{FORBID}`, or `[lints] workspace = true` to {manifest}"),
            )
        })
        .collect()
}

/// Whether it is the manifest of a Rust driver, a server or an example.
fn separate_crate(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        ["drivers" | "servers", "rust", _, "Cargo.toml"] | ["examples", _, "Cargo.toml"]
    )
}

/// Whether the manifest's `section` sets `key` to exactly `value`.
fn section_has(manifest: &str, section: &str, key: &str, value: &str) -> bool {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != section)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .any(|(name, set)| name.trim() == key && set.trim() == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.into(),
            text: text.into(),
        }
    }

    #[test]
    fn workspace_lints_pass() {
        let files = [file(
            "c/Cargo.toml",
            "[package]\n\n[lints]\nworkspace = true\n",
        )];
        assert_eq!(
            check_crate("c/Cargo.toml", &["c/src/lib.rs".into()], &files),
            []
        );
    }

    #[test]
    fn root_with_forbid_attribute_passes() {
        let files = [
            file("c/Cargo.toml", "[package]\n"),
            file("c/src/lib.rs", "//! Docs.\n#![forbid(unsafe_code)]\n"),
        ];
        assert_eq!(
            check_crate("c/Cargo.toml", &["c/src/lib.rs".into()], &files),
            []
        );
    }

    #[test]
    fn root_without_forbid_fails() {
        let files = [
            file("c/Cargo.toml", "[package]\nworkspace = true\n"),
            file("c/src/lib.rs", "// #![forbid(unsafe_code)] one day\n"),
        ];
        let found = check_crate("c/Cargo.toml", &["c/src/lib.rs".into()], &files);
        assert_eq!(found.len(), 1);
        assert!(
            found
                .iter()
                .all(|v| v.to_string().starts_with("c/src/lib.rs:1: add `#![forbid"))
        );
    }

    #[test]
    fn drivers_servers_and_examples_stand_alone() {
        assert!(separate_crate("drivers/rust/jeton/Cargo.toml"));
        assert!(separate_crate("servers/rust/tonic/Cargo.toml"));
        assert!(separate_crate("examples/pkcs11/Cargo.toml"));
        assert!(!separate_crate("drivers/rust/harness/src/Cargo.toml"));
        assert!(!separate_crate("crates/rust/jeton/Cargo.toml"));
    }
}
