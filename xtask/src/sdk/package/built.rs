//! What is in `dist/`: the files of each kind of package, and the commit that each kind was built from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::target::Target;
use super::{FOLDER, KINDS, Kind, RELEASE, SDKS, failed, files_in, java, python};
use crate::command::{Error, Workspace, output};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The statement of what a release was built from.
pub(super) const PROVENANCE: &str = "provenance.intoto.json";

/// The commit of each kind, one line for each.
const COMMITS: &str = "dist/commits";

/// Returns the path of an SDK's folder in `dist/`.
pub(super) fn sdk(workspace: &Workspace, kind: &str) -> PathBuf {
    workspace.path(FOLDER).join(format!("jeton-{kind}"))
}

/// Returns the files that a user of the platform needs of a kind. They may be missing.
pub(super) fn files(workspace: &Workspace, kind: &str, target: &Target) -> Vec<PathBuf> {
    let folder = sdk(workspace, kind);
    let release = |name: String| workspace.path(RELEASE).join(name);
    let platform = target.platform();
    match kind {
        "c" => vec![folder.join(format!("jeton-c-{}.tar.gz", target.triple))],
        "go" => {
            let path = super::super::go::PATH;
            let native = format!("/lib/{}", target.go.unwrap_or_default());
            let module =
                |inner: &str| folder.join(format!("proxy/{path}{inner}/@v/v{VERSION}.zip"));
            vec![module(""), module(&native)]
        }
        "java" => vec![java::jar(&folder)],
        "node" => vec![
            folder.join(format!("jeton-{VERSION}.tgz")),
            folder.join(format!("jeton-{}-{VERSION}.tgz", target.npm)),
        ],
        "python" => vec![
            python::wheel(&folder, target)
                .unwrap_or_else(|_| folder.join(format!("pyjeton-{VERSION}-*-{platform}.whl"))),
        ],
        // One static program is for both C libraries.
        _ if target.is_musl() => Vec::new(),
        "service" => vec![
            release(format!("jeton-{VERSION}-{platform}.tar.gz")),
            release(format!("jeton_{VERSION}_{}.deb", target.debian())),
            release(format!("jeton-{VERSION}.oci.tar")),
        ],
        "lab" => vec![release(format!("jeton-lab-{VERSION}-{platform}.tar.gz"))],
        _ => ["install.sh", "SHA256SUMS", PROVENANCE]
            .map(|name| release(name.to_owned()))
            .into(),
    }
}

/// Returns the files that show that a kind was built for the platform. One jar is for all platforms, and the modules for Go
/// of other platforms are in `dist/` without a library; each platform that was built has a list of crates.
pub(super) fn proofs(workspace: &Workspace, kind: &str, target: &Target) -> Vec<PathBuf> {
    let mut files = files(workspace, kind, target);
    if ["go", "java"].contains(&kind) {
        files.push(sdk(workspace, kind).join(format!("sbom-{}.cdx.json", target.triple)));
    }
    files
}

/// Fails if a package of these kinds was not built for one of the platforms.
pub(super) fn require(
    workspace: &Workspace,
    kinds: &[&Kind],
    targets: &[&'static Target],
) -> Result<(), Error> {
    for kind in kinds {
        for target in targets {
            let files = proofs(workspace, kind.name, target);
            if let Some(missing) = files.iter().find(|file| !file.is_file()) {
                let missing = missing.strip_prefix(workspace.root()).unwrap_or(missing);
                return Err(Error::Usage(format!(
                    "{} is missing; first run `cargo xtask package {}` with the same targets",
                    missing.display(),
                    kind.name
                )));
            }
        }
    }
    Ok(())
}

/// Returns the kind that a file of `dist/` belongs to. The path starts in `dist/`.
pub(super) fn kind_of(file: &Path) -> Option<&'static str> {
    let mut parts = file.iter().filter_map(|part| part.to_str());
    let (folder, name) = (parts.next()?, parts.next()?);
    let sdk = |name: &str| {
        let name = name.strip_prefix("jeton-")?;
        SDKS.into_iter().find(|sdk| *sdk == name)
    };
    if folder != "release" {
        return sdk(folder);
    }
    let is_whole = ["install.sh", "SHA256SUMS", PROVENANCE].contains(&name);
    if is_whole || sdk(name.strip_suffix(".tar.gz").unwrap_or_default()).is_some() {
        return Some("release");
    }
    let name = name.strip_prefix("jeton")?;
    if let Some(rest) = name.strip_prefix("-lab-") {
        return (rest.starts_with(VERSION) && rest.ends_with(".tar.gz")).then_some("lab");
    }
    let endings = [".tar.gz", ".oci.tar", ".deb"];
    let is_service =
        name.get(1..)?.starts_with(VERSION) && endings.iter().any(|ending| name.ends_with(ending));
    is_service.then_some("service")
}

/// Returns the files of `dist/` that belong to one of the kinds, or to none if no kind is given. The paths start in
/// `dist/`.
pub(super) fn found(workspace: &Workspace, kinds: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let dist = workspace.path(FOLDER);
    let files = files_in(&dist)?;
    let inner = files
        .iter()
        .filter_map(|file| file.strip_prefix(&dist).ok());
    let is_wanted = |file: &&Path| match kind_of(file) {
        Some(kind) => kinds.contains(&kind),
        None => kinds.is_empty() && file.starts_with("release"),
    };
    Ok(inner.filter(is_wanted).map(Path::to_owned).collect())
}

/// Removes what an earlier build left in `dist/release/` of this kind: it would get a checksum there.
pub(super) fn remove(workspace: &Workspace, kind: &str) -> Result<(), Error> {
    for file in found(workspace, &[kind])? {
        let file = workspace.path(FOLDER).join(file);
        fs::remove_file(&file).map_err(|error| failed(&file, &error))?;
    }
    Ok(())
}

/// What stands for the commit of packages that were built from changes.
const UNKNOWN: &str = "unknown";

/// Returns the commit of the checkout, if it has no other changes.
pub(super) fn commit(workspace: &Workspace) -> Result<Option<String>, Error> {
    let commit = output(workspace.command("git").args(["rev-parse", "HEAD"]))?;
    let status = ["status", "--porcelain", "--untracked-files=no"];
    let changes = output(workspace.command("git").args(status))?;
    Ok(changes.is_empty().then(|| commit.trim().to_owned()))
}

/// Returns the commit of the checkout. It fails if the checkout has other changes.
pub(super) fn only_commit(workspace: &Workspace) -> Result<String, Error> {
    commit(workspace)?.ok_or_else(|| {
        Error::Usage(
            "the checkout has changes; commit them, because a release names its commit".into(),
        )
    })
}

/// Notes that a kind was built from this commit, or that nobody knows from what.
pub(super) fn note(workspace: &Workspace, kind: &str, commit: Option<&str>) -> Result<(), Error> {
    let mut commits = commits(workspace);
    commits.insert(kind.to_owned(), commit.unwrap_or(UNKNOWN).to_owned());
    let lines = commits
        .iter()
        .map(|(kind, commit)| format!("{kind} {commit}\n"));
    let file = workspace.path(COMMITS);
    fs::write(&file, lines.collect::<String>()).map_err(|error| failed(&file, &error))
}

fn commits(workspace: &Workspace) -> BTreeMap<String, String> {
    let text = fs::read_to_string(workspace.path(COMMITS)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(kind, commit)| (kind.to_owned(), commit.to_owned()))
        .collect()
}

/// Fails unless everything in `dist/` is of this commit, and nothing else is in `dist/release/`: all of it gets a checksum
/// and a statement that it was built from the commit.
pub(super) fn check_release(workspace: &Workspace, commit: &str) -> Result<(), Error> {
    let strange = found(workspace, &[])?;
    if !strange.is_empty() {
        let names: Vec<_> = strange
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        return Err(Error::Failed(format!(
            "in {FOLDER}/, not part of this release: {}; remove them",
            names.join(", ")
        )));
    }
    let commits = commits(workspace);
    for kind in KINDS.iter().filter(|kind| kind.name != "release") {
        let built = commits.get(kind.name).map_or(UNKNOWN, String::as_str);
        if built != commit && !found(workspace, &[kind.name])?.is_empty() {
            return Err(Error::Failed(format!(
                "the packages of {} are of commit {built}, the checkout has {commit}; build them again with \
                 `cargo xtask package {}`",
                kind.name, kind.name
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::target::TARGETS;
    use super::*;

    fn kind(file: &str) -> Option<&'static str> {
        kind_of(Path::new(file))
    }

    /// A checkout with files in `dist/`.
    fn with(files: &[&str]) -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        for file in files {
            let file = folder.path().join("dist").join(file);
            fs::create_dir_all(file.parent().unwrap_or(&file))
                .and_then(|()| fs::write(&file, "text"))
                .expect("the temporary folder is writable");
        }
        let workspace = Workspace::at(folder.path().to_owned());
        (folder, workspace)
    }

    #[test]
    fn every_file_of_a_package_has_its_kind() {
        let (_folder, workspace) = with(&[]);
        let dist = workspace.path(FOLDER);
        for of in KINDS {
            for target in TARGETS.iter().filter(|target| target.wheel.is_some()) {
                for file in files(&workspace, of.name, target) {
                    let inner = file.strip_prefix(&dist).expect("packages are in dist");
                    assert_eq!(kind_of(inner), Some(of.name), "{}", inner.display());
                }
            }
        }
        assert_eq!(kind("release/jeton-python.tar.gz"), Some("release"));
        assert_eq!(kind("jeton-go/proxy/a/b.zip"), Some("go"));
    }

    #[test]
    fn file_of_another_version_has_no_kind() {
        for name in [
            "jeton-0.0.9-linux-x64.tar.gz",
            "jeton-lab-0.0.9-linux-x64.tar.gz",
            "jeton_0.0.9_amd64.deb",
            "jeton-ruby.tar.gz",
            "notes",
        ] {
            assert_eq!(kind(&format!("release/{name}")), None, "{name}");
        }
    }

    #[test]
    fn packages_that_were_not_built_are_named_in_one_line() {
        let (_folder, workspace) = with(&[
            "jeton-java/repository/io/github/jeton/jeton/0.1.0/jeton-0.1.0.jar",
            "jeton-node/jeton-0.1.0.tgz",
        ]);
        let said = |name: &str| {
            let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| kind.name == name).collect();
            require(&workspace, &kinds, &[&TARGETS[0]]).map_err(|error| error.to_string())
        };
        for (name, file) in [
            ("c", "dist/jeton-c/jeton-c-x86_64-unknown-linux-gnu.tar.gz"),
            (
                "java",
                "dist/jeton-java/sbom-x86_64-unknown-linux-gnu.cdx.json",
            ),
            ("node", "dist/jeton-node/jeton-linux-x64-gnu-0.1.0.tgz"),
            ("python", "dist/jeton-python/pyjeton-0.1.0-*-linux-x64.whl"),
            ("service", "dist/release/jeton-0.1.0-linux-x64.tar.gz"),
            ("release", "dist/release/install.sh"),
        ] {
            let line = format!(
                "{file} is missing; first run `cargo xtask package {name}` with the same targets"
            );
            assert_eq!(said(name), Err(line));
        }
    }

    #[test]
    fn release_with_an_old_file_is_refused() {
        let old = "release/jeton-0.0.9-linux-x64.tar.gz";
        let (_folder, workspace) = with(&[old, "release/install.sh"]);
        let refused = check_release(&workspace, "aa").map_err(|error| error.to_string());
        let line = format!("in dist/, not part of this release: {old}; remove them");
        assert_eq!(refused, Err(line));
    }

    #[test]
    fn release_with_a_package_of_another_commit_is_refused() {
        let file = "release/jeton-0.1.0-linux-x64.tar.gz";
        let (_folder, workspace) = with(&[file, "release/install.sh"]);
        let check = || check_release(&workspace, "bb").map_err(|error| error.to_string());
        let said = check().expect_err("nobody knows its commit");
        assert!(
            said.contains("service are of commit unknown, the checkout has bb"),
            "{said}"
        );
        note(&workspace, "go", Some("bb")).expect("dist is writable");
        note(&workspace, "service", Some("aa")).expect("dist is writable");
        let said = check().expect_err("it is of another commit");
        assert!(
            said.contains("service are of commit aa, the checkout has bb"),
            "{said}"
        );
        note(&workspace, "service", Some("bb")).expect("dist is writable");
        assert_eq!(check(), Ok(()));
        note(&workspace, "service", None).expect("dist is writable");
        assert!(check().is_err());
    }

    #[test]
    fn files_of_an_earlier_build_are_removed() {
        let (_folder, workspace) = with(&[
            "release/jeton-0.1.0-linux-arm64.tar.gz",
            "release/jeton-lab-0.1.0-linux-x64.tar.gz",
        ]);
        remove(&workspace, "service").expect("dist is writable");
        assert_eq!(found(&workspace, &["service"]).ok(), Some(Vec::new()));
        assert_eq!(
            found(&workspace, &["lab"]).map(|files| files.len()).ok(),
            Some(1)
        );
    }
}
