//! What a release has beside its programs: the packages of the libraries, checksums of all, and a statement of what they
//! were built from.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::built::{self, PROVENANCE};
use super::files::{self, Tree};
use super::target::Target;
use super::{RELEASE, SDKS, failed, files_in, write_checksums};
use crate::command::{Error, Workspace, output};

/// Completes `dist/release/` with what is in `dist/`.
pub(super) fn run(workspace: &Workspace, _: &[&'static Target]) -> Result<(), Error> {
    let tree = Tree::of_commit(workspace)?;
    let release = workspace.path(RELEASE);
    let commit = built::only_commit(workspace)?;
    built::check_release(workspace, &commit)?;
    built::remove(workspace, "release")?;
    for kind in SDKS {
        let folder = built::sdk(workspace, kind);
        if folder.is_dir() {
            tree.archive(&folder, &release.join(format!("jeton-{kind}.tar.gz")))?;
        }
    }
    let script = release.join("install.sh");
    files::install(&workspace.path("deploy/install.sh"), &script, 0o755)?;
    write_checksums(workspace, &release, &files_in(&release)?)?;
    let statement = provenance(workspace, &release, &commit)?;
    files::write(&release.join(PROVENANCE), &format!("{statement:#}\n"))?;
    eprintln!("== {}", release.display());
    Ok(())
}

/// SLSA provenance in an in-toto statement. It has no times and no names of machines, so that two builders write the same
/// one. The forge's own attestation, which is signed, adds them.
fn provenance(workspace: &Workspace, release: &Path, commit: &str) -> Result<Value, Error> {
    let list = release.join("SHA256SUMS");
    let sums = fs::read_to_string(&list).map_err(|error| failed(&list, &error))?;
    let compiler = output(workspace.command("rustc").arg("--version"))?;
    let lock = output(workspace.command("sha256sum").arg("Cargo.lock"))?;
    let repository = "https://github.com/jeton/jeton";
    Ok(json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects(&sums),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": format!("{repository}/blob/main/docs/releasing.md"),
                "externalParameters": {"command": "cargo xtask package --target all"},
                "internalParameters": {"compiler": compiler.trim()},
                "resolvedDependencies": [
                    {"uri": format!("git+{repository}"), "digest": {"gitCommit": commit}},
                    {"uri": "Cargo.lock", "digest": {"sha256": lock.split(' ').next()}},
                ],
            },
            "runDetails": {"builder": {"id": format!("{repository}/xtask")}},
        },
    }))
}

/// The files in the lines `SUM  FILE` of sha256sum.
fn subjects(sums: &str) -> Vec<Value> {
    let lines = sums.lines().filter_map(|line| line.split_once("  "));
    lines
        .map(|(sum, name)| json!({"name": name, "digest": {"sha256": sum}}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_of_a_statement_are_the_files_with_checksums() {
        let found = subjects("aa  jeton_0.1.0_amd64.deb\nbb  install.sh\n");
        let expected = json!([
            {"name": "jeton_0.1.0_amd64.deb", "digest": {"sha256": "aa"}},
            {"name": "install.sh", "digest": {"sha256": "bb"}},
        ]);
        assert_eq!(Value::from(found), expected);
    }
}
