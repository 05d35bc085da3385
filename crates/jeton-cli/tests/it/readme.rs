//! The commands of the README and of the command-line guide run as they are written.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn readme_commands_run() {
    run_commands("../../README.md", 4);
}

#[test]
fn command_line_guide_commands_run() {
    run_commands("../../docs/guide/command-line-user.md", 9);
}

/// Runs the lines that begin with `jeton key` and `jeton jwt`, in their order, without those that need a network.
fn run_commands(page: &str, count: usize) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(page).unwrap();
    let is_command = |line: &&str| {
        (line.starts_with("jeton key ") || line.starts_with("jeton jwt "))
            && !line.contains(" --discover ")
    };
    let commands: Vec<&str> = text.lines().map(str::trim).filter(is_command).collect();
    assert_eq!(commands.len(), count, "{commands:?}");

    let binaries = Path::new(env!("CARGO_BIN_EXE_jeton")).parent().unwrap();
    let path = env::var_os("PATH").unwrap();
    let path = env::join_paths(
        [binaries.to_path_buf()]
            .into_iter()
            .chain(env::split_paths(&path)),
    )
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-e", "-c", &commands.join("\n")])
        .env("PATH", path)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let diagnostics = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{diagnostics}");
    let results = String::from_utf8_lossy(&output.stdout);
    assert!(results.contains("https://id.example"), "{results}");
}
