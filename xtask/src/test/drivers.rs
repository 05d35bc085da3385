//! The drivers stand alone, each with its own lockfile, so the workspace's checks pass them by.

use std::path::{Path, PathBuf};

use super::{Outcome, stands_alone};
use crate::command::{House, Stop, on_path, output, run as run_command};

/// Format, lints and tests of every crate under drivers/rust.
pub(super) fn rust(house: &House) -> Result<Outcome, Stop> {
    for folder in house.folders_with("drivers/rust", "Cargo.toml") {
        stands_alone::format(house, &folder)?;
    }
    // The lab builds them for release, so AWS-LC is compiled once for both.
    for folder in house.folders_with("drivers/rust", "Cargo.lock") {
        eprintln!("  in {}", shown(house, &folder));
        stands_alone::lints_and_tests(house, &folder, &["--release"])?;
    }
    Ok(Outcome::Passed)
}

/// gofmt, vet and tests of every module under drivers/go.
pub(super) fn go(house: &House) -> Result<Outcome, Stop> {
    if on_path("go").is_none() {
        return Ok(Outcome::Skipped("go is not installed".into()));
    }
    let unformatted = output(house.command("gofmt").args(["-l", "drivers/go"]))?;
    if !unformatted.trim().is_empty() {
        return Err(Stop::Failed(format!(
            "not formatted; run `gofmt -w` on: {}",
            unformatted.trim().replace('\n', ", ")
        )));
    }
    for folder in house.folders_with("drivers/go", "go.mod") {
        eprintln!("  in {}", shown(house, &folder));
        for arguments in [["vet", "./..."], ["test", "./..."]] {
            run_command(house.command("go").args(arguments).current_dir(&folder))?;
        }
    }
    Ok(Outcome::Passed)
}

/// Syntax of every script under drivers/node.
pub(super) fn node(house: &House) -> Result<Outcome, Stop> {
    if on_path("node").is_none() {
        return Ok(Outcome::Skipped("node is not installed".into()));
    }
    for script in scripts(&house.path("drivers/node")) {
        let script = shown(house, &script);
        run_command(house.command("node").args(["--check", &script]))?;
    }
    Ok(Outcome::Passed)
}

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() && !path.ends_with("node_modules") {
            found.extend(scripts(&path));
        } else if path
            .extension()
            .is_some_and(|ending| ending == "mjs" || ending == "js" || ending == "cjs")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn shown(house: &House, path: &Path) -> String {
    path.strip_prefix(house.root())
        .unwrap_or(path)
        .display()
        .to_string()
}
