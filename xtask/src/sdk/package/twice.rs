//! Builds packages in two folders and compares the results byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::target::Target;
use super::{FOLDER, Kind, build, failed, files_in};
use crate::command::{Error, Workspace, output, run as run_command};

/// The folders of the two clones. Their names have different lengths, because a path can shift what follows it.
const FOLDERS: [&str; 2] = ["one", "a-folder-with-another-name"];

/// Clones the current commit twice, builds the packages in both, and compares every file.
pub(super) fn run(
    workspace: &Workspace,
    kinds: &[&Kind],
    targets: &[&'static Target],
) -> Result<(), Error> {
    let commit = output(workspace.command("git").args(["rev-parse", "HEAD"]))?;
    let commit = commit.trim();
    let parent = workspace.target().join("twice");
    let mut checksums = Vec::new();
    for name in FOLDERS {
        let folder = parent.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&parent).map_err(|error| failed(&parent, &error))?;
        let mut clone = workspace.command("git");
        clone.args(["clone", "--quiet", "--no-checkout"]);
        run_command(clone.arg(workspace.root()).arg(&folder))?;
        let clone = Workspace::at(folder);
        run_command(
            clone
                .command("git")
                .args(["checkout", "--quiet", "--detach", commit]),
        )?;
        let started = Instant::now();
        build(&clone, kinds, targets)?;
        let minutes = started.elapsed().as_secs_f64() / 60.0;
        eprintln!("== {name}: built in {minutes:.1} minutes");
        checksums.push(checksums_in(&clone, &clone.path(FOLDER))?);
        // Only the results are needed, and two builds take gigabytes.
        let _ = fs::remove_dir_all(clone.target());
    }
    println!("commit {commit}, two clones");
    for (file, sum) in &checksums[0] {
        println!("{sum}  {file}");
    }
    let different = different(&checksums[0], &checksums[1]);
    if different.is_empty() {
        println!("{} files, identical in both clones", checksums[0].len());
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "the two builds differ in: {}",
            different.join(", ")
        )))
    }
}

/// The files of the folder, with their SHA-256.
fn checksums_in(clone: &Workspace, folder: &Path) -> Result<BTreeMap<String, String>, Error> {
    let files = files_in(folder)?;
    let files = files
        .iter()
        .filter_map(|file| file.strip_prefix(folder).ok());
    let mut sums = clone.command("sha256sum");
    Ok(parse(&output(sums.current_dir(folder).args(files))?))
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
