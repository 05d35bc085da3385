//! The command and the token service: a static program in an archive, in a Debian package and in a container image.
//!
//! Two checkouts of the same commit give the same bytes: no path and no time of the builder is in them.

use std::fs;
use std::path::Path;

use super::built;
use super::files::{self, Tree};
use super::programs::Static;
use super::target::Target;
use super::{RELEASE, copy, failed, image, sbom};
use crate::command::{Error, Workspace, run as run_command};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The units of systemd: the service, and its backup.
const UNITS: [&str; 3] = [
    "jeton.service",
    "jeton-backup.service",
    "jeton-backup.timer",
];

/// Builds the files of each platform in `dist/release/`, and the image of all.
pub(super) fn run(workspace: &Workspace, targets: &[&'static Target]) -> Result<(), Error> {
    let tree = Tree::of_commit(workspace)?;
    let release = workspace.path(RELEASE);
    built::remove(workspace, "service")?;
    let mut programs = Vec::new();
    for target in targets.iter().filter(|target| !target.is_musl()) {
        let work = workspace
            .target()
            .join("package/service")
            .join(target.triple);
        let _ = fs::remove_dir_all(&work);
        files::make(&work)?;
        let program = work.join("jeton");
        let builder = Static::set_up(workspace, target)?;
        builder.build("jeton-cli", "jeton", &program)?;
        check(&builder, &program)?;
        archive(&tree, target, &program, &work, &release)?;
        debian(&tree, target, &program, &work, &release)?;
        programs.push((*target, program));
    }
    let image = release.join(format!("jeton-{VERSION}.oci.tar"));
    image::write(&tree, &programs, &image)
}

/// Runs the program if this machine can.
fn check(builder: &Static<'_>, program: &Path) -> Result<(), Error> {
    let version = builder.try_run(program, &["--version"])?;
    eprintln!("== {}: {}", builder.target.triple, version.trim());
    // Needs random bytes.
    builder
        .try_run(program, &["key", "new", "--alg", "HS256"])
        .map(drop)
}

/// Packs the program, the configuration and the units.
fn archive(
    tree: &Tree<'_>,
    target: &Target,
    program: &Path,
    work: &Path,
    release: &Path,
) -> Result<(), Error> {
    let workspace = tree.workspace;
    let name = format!("jeton-{VERSION}-{}", target.platform());
    let folder = work.join(&name);
    files::make(&folder)?;
    files::install(program, &folder.join("jeton"), 0o755)?;
    files::documents(workspace, &folder)?;
    let units = UNITS.map(|name| format!("systemd/{name}"));
    let files = ["jeton.toml", "systemd/jeton-backup"].into_iter();
    for file in files.chain(units.iter().map(String::as_str)) {
        let from = workspace.path("deploy").join(file);
        copy(&from, &folder.join(from.file_name().unwrap_or_default()))?;
    }
    let list = sbom(workspace, target.triple, "jeton-cli", "jeton")?;
    files::write(&folder.join("sbom.cdx.json"), &list)?;
    tree.archive(&folder, &release.join(format!("{name}.tar.gz")))
}

/// Makes the Debian package.
fn debian(
    tree: &Tree<'_>,
    target: &Target,
    program: &Path,
    work: &Path,
    release: &Path,
) -> Result<(), Error> {
    let workspace = tree.workspace;
    let architecture = target.debian();
    let root = work.join("debian");
    for part in [
        "DEBIAN",
        "usr/bin",
        "usr/lib/jeton",
        "usr/lib/systemd/system",
        "usr/share/doc/jeton",
        "etc/jeton",
    ] {
        files::make(&root.join(part))?;
    }
    files::install(program, &root.join("usr/bin/jeton"), 0o755)?;
    files::documents(workspace, &root.join("usr/share/doc/jeton"))?;
    let deploy = |name: &str| workspace.path("deploy").join(name);
    let control = deploy("debian/control");
    let text = fs::read_to_string(&control).map_err(|error| failed(&control, &error))?;
    let text = text
        .replace("@VERSION@", VERSION)
        .replace("@ARCHITECTURE@", architecture);
    files::write(&root.join("DEBIAN/control"), &text)?;
    for (from, to, mode) in [
        ("debian/conffiles", "DEBIAN/conffiles", 0o644),
        ("debian/copyright", "usr/share/doc/jeton/copyright", 0o644),
        ("debian/postinst", "DEBIAN/postinst", 0o755),
        ("debian/prerm", "DEBIAN/prerm", 0o755),
        ("systemd/jeton-backup", "usr/lib/jeton/jeton-backup", 0o755),
        ("jeton.toml", "etc/jeton/jeton.toml", 0o644),
    ] {
        files::install(&deploy(from), &root.join(to), mode)?;
    }
    for unit in UNITS {
        let to = root.join("usr/lib/systemd/system").join(unit);
        files::install(&deploy("systemd").join(unit), &to, 0o644)?;
    }
    files::publish(workspace, &root)?;
    let mut build = workspace.command("dpkg-deb");
    build
        .args(["--root-owner-group", "-Zxz", "--build"])
        .arg(&root)
        .arg(release.join(format!("jeton_{VERSION}_{architecture}.deb")))
        .env("SOURCE_DATE_EPOCH", &tree.time);
    run_command(&mut build)
}
