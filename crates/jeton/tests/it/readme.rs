//! The README's example is pasted into the `main.rs` of a new crate, which is then built and run.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../../README.md");

#[test]
fn readme_example_as_main_rs_builds_and_runs() {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let library = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = temporary.join("readme-example");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.rs"), example()).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest(library)).unwrap();
    // The workspace's versions are here already, so the build needs no network.
    fs::copy(library.join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();

    // The workspace's target folder and profile, so AWS-LC is not compiled again.
    let output = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", temporary.parent().unwrap())
        .output()
        .unwrap();

    let diagnostics = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{diagnostics}");
    let results = String::from_utf8_lossy(&output.stdout);
    assert_eq!(results, "Some(\"alice\") of acme\n", "{diagnostics}");
}

/// The first Rust block, unchanged.
fn example() -> &'static str {
    let (_, from_block) = README.split_once("```rust\n").unwrap();
    let (block, _) = from_block.split_once("```").unwrap();
    block
}

fn manifest(library: &Path) -> String {
    let workspace = fs::read_to_string(library.join("../../Cargo.toml")).unwrap();
    let (_, settings) = workspace.split_once("\n[profile.dev]").unwrap();
    format!(
        "[package]\nname = \"readme-example\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\njeton = {{ path = {:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\n\
         [workspace]\n\n[profile.dev]{settings}\n# It verifies one token.\njeton.opt-level = 0\n",
        library.to_str().unwrap()
    )
}
