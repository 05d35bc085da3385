//! `cargo xtask package --sizes`: the sizes of the packages in `dist/`, beside those of other libraries as the registries
//! have them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::built;
use super::target::{TARGETS, Target};
use super::{empty, failed, files_in, java};
use crate::command::{Error, Workspace, output, run as run_command};

const PAGE: &str = "docs/reference/package-sizes.md";

const TITLE: &str = "# Sizes of the packages\n\n`cargo xtask package --sizes` writes this page from `dist/` and from the \
    registries. *Download* is the size of the files that a package manager or the install script fetches for one platform. \
    *Unpacked* is their content. Sizes are in kB (1000 bytes).\n\n";

const BESIDE: &str = "On Linux x64 with glibc. For claims as objects, jeton for Java needs Jackson; it is not counted.";

/// Other libraries: those with whom the guides for moving compare, with what they need.
const PIP: [&str; 2] = ["PyJWT==2.15.1", "cryptography==50.0.2"];
const NPM: [&str; 2] = ["jose@6.2.18", "jsonwebtoken@9.0.3"];
const MAVEN: [&str; 1] = ["com.nimbusds:nimbus-jose-jwt:10.10"];
const GO: [&str; 1] = ["github.com/golang-jwt/jwt/v5@v5.3.1"];

/// The files that one platform needs.
struct Entry {
    /// The language of a library, or the platform of a program.
    language: &'static str,
    name: String,
    files: Vec<PathBuf>,
}

/// Prints the sizes, and writes the page.
pub(super) fn run(workspace: &Workspace) -> Result<(), Error> {
    let work = workspace.target().join("package/sizes");
    empty(&work)?;
    let own: Vec<&Target> = TARGETS
        .iter()
        .filter(|target| target.wheel.is_some())
        .collect();
    let all = |of: fn(&Workspace, &Target) -> Vec<Entry>, targets: &[&Target]| -> Vec<Entry> {
        targets
            .iter()
            .flat_map(|target| of(workspace, target))
            .collect()
    };
    let mut entries = all(libraries, &own[..1]);
    if entries.is_empty() {
        return Err(Error::Usage(
            "dist has no library for Linux x64; first run `cargo xtask package`".into(),
        ));
    }
    entries.extend(others(workspace, &work)?);
    entries.sort_by_key(|entry| entry.language);
    let mut text = format!("{TITLE}## Beside other libraries\n{BESIDE}\n\n");
    text += &table(workspace, "language", &entries)?;
    text += "\n## Libraries for all platforms\n\n";
    text += &table(workspace, "language", &all(libraries, &own))?;
    text += "\n## Programs\nThe image has the program of each platform that was built.\n\n";
    text += &table(workspace, "platform", &all(programs, &own))?;
    print!("{text}");
    let page = workspace.path(PAGE);
    fs::write(&page, text).map_err(|error| failed(&page, &error))
}

/// The packages for libraries, and what the page calls their languages.
const LIBRARIES: [(&str, &str); 5] = [
    ("c", "C"),
    ("go", "Go"),
    ("java", "Java"),
    ("node", "Node"),
    ("python", "Python"),
];

/// The libraries for one platform. Those that are not in `dist` are left out.
fn libraries(workspace: &Workspace, target: &Target) -> Vec<Entry> {
    let is_built = |(kind, _): &(&str, _)| {
        let proofs = built::proofs(workspace, kind, target);
        proofs.iter().all(|file| file.is_file())
    };
    let entry = |(kind, language)| Entry {
        language,
        name: format!("jeton, {}", target.npm),
        files: built::files(workspace, kind, target),
    };
    LIBRARIES.into_iter().filter(is_built).map(entry).collect()
}

/// The programs for one platform. The image is in the list of the first, because it is one file for all.
fn programs(workspace: &Workspace, target: &Target) -> Vec<Entry> {
    let is_image = |file: &Path| file.extension().is_some_and(|ending| ending == "tar");
    let kinds = ["service", "lab"].into_iter();
    let files = kinds.flat_map(|kind| built::files(workspace, kind, target));
    let files = files.filter(|file| file.is_file() && (*target == TARGETS[0] || !is_image(file)));
    let entry = |file: PathBuf| Entry {
        language: if is_image(&file) {
            "all"
        } else {
            target.platform()
        },
        name: file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        files: vec![file],
    };
    files.map(entry).collect()
}

/// Fetches other libraries into a folder each.
fn others(workspace: &Workspace, work: &Path) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    let mut add = |language, name: &str, files| {
        let name = name.replace(':', " ");
        entries.push(Entry {
            language,
            name,
            files,
        });
    };
    let folder = work.join("pip");
    let mut pip = workspace.command("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--only-binary", ":all:"]);
    run_command(pip.arg("-d").arg(&folder).args(PIP))?;
    add(
        "Python",
        &PIP.join(", ").replace("==", " "),
        files_in(&folder)?,
    );
    for name in NPM {
        let folder = work.join(name.split('@').next().unwrap_or(name));
        add("Node", name, npm(workspace, &folder, name)?);
    }
    for name in MAVEN {
        let files = java::fetch(workspace, name, &work.join("maven"))?;
        add("Java", name, files);
    }
    for name in GO {
        let mut go = workspace.command("go");
        let text = output(
            go.args(["mod", "download", "-json", name])
                .current_dir(work),
        )?;
        let module: Module = serde_json::from_str(&text)
            .map_err(|error| Error::Failed(format!("go mod download: {error}")))?;
        add("Go", name, vec![module.zip]);
    }
    Ok(entries)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    zip: PathBuf,
}

#[derive(Deserialize)]
struct Lock {
    packages: std::collections::BTreeMap<String, Locked>,
}

#[derive(Deserialize)]
struct Locked {
    #[serde(default)]
    version: String,
}

/// Fetches the package and all that it needs.
fn npm(workspace: &Workspace, folder: &Path, name: &str) -> Result<Vec<PathBuf>, Error> {
    empty(folder)?;
    let npm = |arguments: &[&str]| {
        let mut npm = workspace.command("npm");
        npm.args(arguments).args(["--silent", "--ignore-scripts"]);
        npm.current_dir(folder);
        npm
    };
    output(&mut npm(&["install", "--package-lock-only", name]))?;
    let lock = folder.join("package-lock.json");
    let text = fs::read_to_string(&lock).map_err(|error| failed(&lock, &error))?;
    let lock: Lock = serde_json::from_str(&text)
        .map_err(|error| Error::Failed(format!("{}: {error}", lock.display())))?;
    let locked = lock.packages.iter().filter_map(|(path, locked)| {
        let name = path.rsplit_once("node_modules/")?.1;
        Some(format!("{name}@{}", locked.version))
    });
    let names: Vec<String> = locked.collect();
    let mut pack = npm(&["pack"]);
    output(pack.args(&names))?;
    let files = files_in(folder)?;
    let is_package = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "tgz");
    Ok(files.into_iter().filter(is_package).collect())
}

fn table(workspace: &Workspace, first: &str, entries: &[Entry]) -> Result<String, Error> {
    let mut text =
        format!("| {first} | package | files | download | unpacked |\n|---|---|---:|---:|---:|\n");
    for entry in entries {
        let (mut download, mut content) = (0, 0);
        for file in &entry.files {
            let metadata = fs::metadata(file).map_err(|error| failed(file, &error))?;
            download += metadata.len();
            content += unpacked(workspace, file)?;
        }
        let Entry {
            language,
            name,
            files,
        } = entry;
        let _ = writeln!(
            text,
            "| {language} | {name} | {} | {} | {} |",
            files.len(),
            kilobytes(download),
            kilobytes(content)
        );
    }
    Ok(text)
}

fn kilobytes(bytes: u64) -> u64 {
    bytes.div_ceil(1000)
}

/// The size of the files in an archive.
fn unpacked(workspace: &Workspace, archive: &Path) -> Result<u64, Error> {
    let ending = archive.extension().unwrap_or_default();
    let list = if ending == "tgz" || ending == "gz" {
        ["tar", "-tvzf"]
    } else if ending == "tar" {
        ["tar", "-tvf"]
    } else if ending == "deb" {
        ["dpkg-deb", "--contents"]
    } else {
        ["unzip", "-Zl"]
    };
    let text = output(workspace.command(list[0]).arg(list[1]).arg(archive))?;
    // Each list has the size in a column of each file.
    let column = if list[0] == "unzip" { 3 } else { 2 };
    let size = |line: &str| line.split_whitespace().nth(column)?.parse::<u64>().ok();
    let files = text.lines().filter(|line| line.starts_with('-'));
    Ok(files.filter_map(size).sum())
}
