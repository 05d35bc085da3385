//! Builds packages in the checkout and in a clone, and compares the results byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use super::target::Target;
use super::{FOLDER, Kind, build, built, failed};
use crate::command::{Error, Workspace, output, run as run_command};

/// The folder of the clone. Its path is longer than that of the checkout, because a path can shift what follows it.
const CLONE: &str = "twice/a-clone-with-another-name";

/// Builds the packages in the checkout and in a clone of its commit, and compares every file.
pub(super) fn run(
    workspace: &Workspace,
    kinds: &[&Kind],
    targets: &[&'static Target],
) -> Result<(), Error> {
    let commit = built::only_commit(workspace)?;
    let folder = workspace.target().join(CLONE);
    let parent = folder.parent().unwrap_or(&folder);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
    let mut clone = workspace.command("git");
    clone.args(["clone", "--quiet", "--no-checkout"]);
    run_command(clone.arg(workspace.root()).arg(&folder))?;
    let clone = Workspace::at(folder);
    let checkout = ["checkout", "--quiet", "--detach", commit.as_str()];
    run_command(clone.command("git").args(checkout))?;
    let mut checksums = Vec::new();
    for (name, workspace) in [("checkout", workspace), ("clone", &clone)] {
        let started = Instant::now();
        build(workspace, kinds, targets)?;
        let minutes = started.elapsed().as_secs_f64() / 60.0;
        eprintln!("== {name}: built in {minutes:.1} minutes");
        checksums.push(checksums_of(workspace, kinds)?);
    }
    // Only the results are needed, and a build takes gigabytes.
    let _ = fs::remove_dir_all(clone.target());
    println!("commit {commit}, checkout and clone");
    for (file, sum) in &checksums[0] {
        println!("{sum}  {file}");
    }
    let different = different(&checksums[0], &checksums[1]);
    if different.is_empty() {
        println!("{} files, identical in both", checksums[0].len());
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "the two builds differ in: {}",
            different.join(", ")
        )))
    }
}

/// The files of these kinds, with their SHA-256.
fn checksums_of(clone: &Workspace, kinds: &[&Kind]) -> Result<BTreeMap<String, String>, Error> {
    let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
    let mut sums = clone.command("sha256sum");
    sums.current_dir(clone.path(FOLDER));
    Ok(parse(&output(sums.args(built::found(clone, &names)?))?))
}

/// The lines `SUM  FILE` of sha256sum.
fn parse(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    lines
        .map(|(sum, file)| (file.to_owned(), sum.to_owned()))
        .collect()
}

/// The files that only one build has, or that differ.
fn different(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let names = one.keys().chain(other.keys());
    let mut names: Vec<&String> = names
        .filter(|name| one.get(*name) != other.get(*name))
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_that_differs_or_is_missing_is_named() {
        let one = parse("aa  jeton\nbb  sbom.cdx.json\ncc  README\n");
        let other = parse("aa  jeton\nb0  sbom.cdx.json\ndd  other\n");
        assert_eq!(different(&one, &one), Vec::<String>::new());
        assert_eq!(
            different(&one, &other),
            ["README", "other", "sbom.cdx.json"]
        );
    }
}
