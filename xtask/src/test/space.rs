//! The disk space that the tests need. A full disk fails steps one by one, each with an error that names another cause.

use std::fs;
use std::path::Path;

use super::step::Part;
use crate::command::{Error, Workspace};

const GB: u64 = 1_000_000_000;

/// The size of `target` after the tests ran in a clean checkout, rounded up.
const fn needed(part: Part) -> u64 {
    match part {
        Part::First => 8 * GB,
        Part::Rest => 12 * GB,
    }
}

/// Checks that the disk has room for what the tests write to `target`.
pub(super) fn check(workspace: &Workspace, part: Part) -> Result<(), Error> {
    let target = workspace.target();
    let cannot = |error: std::io::Error| Error::Usage(format!("{}: {error}", target.display()));
    fs::create_dir_all(&target).map_err(cannot)?;
    let disk = rustix::fs::statvfs(&target).map_err(|error| cannot(error.into()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    enough(free, size(&target), needed(part)).map_err(Error::Failed)
}

/// What exists in `target` is not written again.
fn enough(free: u64, existing: u64, needed: u64) -> Result<(), String> {
    let missing = needed.saturating_sub(existing);
    if free >= missing {
        return Ok(());
    }
    let gb = |bytes: u64| bytes.div_ceil(GB);
    Err(format!(
        "the disk has {} GB free: the tests need {} GB more below target; \
         target/debug/incremental can be deleted, or set CARGO_TARGET_DIR to another disk",
        free / GB,
        gb(missing)
    ))
}

/// The size of the files in a folder. Files that disappear meanwhile count as 0.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_named_with_both_sizes() {
        assert_eq!(enough(12 * GB, 0, 12 * GB), Ok(()));
        assert_eq!(enough(GB, 11 * GB, 12 * GB), Ok(()));
        let why = enough(5 * GB + 1, 2 * GB, 12 * GB)
            .err()
            .unwrap_or_default();
        assert!(
            why.contains("has 5 GB free") && why.contains("need 10 GB more"),
            "{why}"
        );
    }
}
