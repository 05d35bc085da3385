//! The library for Java, in `sdk/java`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use super::libraries::Build;
use super::{KEY_SERVER, key_server};
use crate::command::{BRIEF_JVM, Error, Workspace, run as run_command};
use crate::counted;
use crate::setup::runtimes::find_jdk;
use crate::tally::Format;

pub(super) const FOLDER: &str = "sdk/java";

/// What users get is not built where the tests are: another native library is in it.
pub(super) const DIST_TARGET: &str = "-Djeton.target=target/dist";

/// The jar for the lab, and what it is made of beside the native library.
const DIST_JAR: &str = concat!(
    "sdk/java/core/target/dist/jeton-",
    env!("CARGO_PKG_VERSION"),
    ".jar"
);
const SOURCES: [&str; 3] = [
    "sdk/java/core/src/main",
    "sdk/java/core/pom.xml",
    "sdk/java/pom.xml",
];

/// The oldest JDK that the library supports, and the newest that is tested.
const OLDEST: &str = "17";
pub(crate) const NEWEST: &str = "25";

/// Builds it, and runs its tests on the oldest JDK. They need the command `jeton`, which is an issuer there.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let mut tests = tests(workspace)?;
    counted::run(FOLDER, Format::Surefire, &mut tests)
}

/// Runs its tests on the newest JDK, compiled by the oldest. Returns false without such a JDK.
pub(crate) fn newest(workspace: &Workspace) -> Result<bool, Error> {
    let Some((folder, version)) = find_jdk(NEWEST) else {
        return Ok(false);
    };
    eprintln!("  on JDK {version}");
    let mut tests = tests(workspace)?;
    // As programs on it do, which load native code.
    tests.arg("-Djeton.jvm.arguments=--enable-native-access=ALL-UNNAMED");
    tests.arg(format!("-Djvm={}", folder.join("bin/java").display()));
    counted::run(FOLDER, Format::Surefire, &mut tests)?;
    Ok(true)
}

fn tests(workspace: &Workspace) -> Result<Command, Error> {
    let natives = workspace.target().join("java/natives");
    native_library(workspace, Build::Tests, &natives)?;
    let jeton = workspace.tested_binary()?;
    let mut tests = maven(workspace, &natives);
    tests.arg("test");
    tests.arg(format!("-Djeton.command={}", jeton.display()));
    tests.env(KEY_SERVER, key_server(workspace)?);
    Ok(tests)
}

/// Builds the jar of the core for the lab.
pub(crate) fn library(workspace: &Workspace, how: Build) -> Result<(), Error> {
    let natives = workspace.target().join("java/dist-natives");
    native_library(workspace, how, &natives)?;
    let sources = SOURCES.map(|source| workspace.path(source));
    let is_newest =
        |jar: &Path| is_newer(jar, &sources) && is_newer(jar, slice::from_ref(&natives));
    if how == Build::Tests && is_newest(&workspace.path(DIST_JAR)) {
        return Ok(());
    }
    let mut jar = maven(workspace, &natives);
    jar.args([
        "--projects",
        "core",
        "--also-make",
        "-Dmaven.test.skip=true",
    ]);
    run_command(jar.args([DIST_TARGET, "package"]))
}

/// The same for tests.
pub(crate) fn library_for_tests(workspace: &Workspace) -> Result<(), Error> {
    library(workspace, Build::Tests)
}

/// Maven in the folder of the library, on the oldest JDK that is there.
pub(super) fn maven(workspace: &Workspace, natives: &Path) -> Command {
    let mut maven = workspace.command("mvn");
    maven.current_dir(workspace.path(FOLDER));
    maven.args(["--batch-mode", "--no-transfer-progress"]);
    // Cargo sets it to where the library is built, and the one in the jar is to be tested.
    maven.env_remove("LD_LIBRARY_PATH");
    maven.arg(format!("-Djeton.natives={}", natives.display()));
    if let Some((folder, _)) = find_jdk(OLDEST) {
        maven.env("JAVA_HOME", folder);
    }
    // Not of the tests, which run in a Java of their own.
    if std::env::var_os("MAVEN_OPTS").is_none() {
        maven.env("MAVEN_OPTS", BRIEF_JVM.join(" "));
    }
    maven
}

/// Builds the native library of this platform into the folder that the jar is made of.
pub(super) fn native_library(
    workspace: &Workspace,
    how: Build,
    natives: &Path,
) -> Result<PathBuf, Error> {
    let name = format!(
        "{}jeton_java{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let from = how.library(
        workspace,
        "jeton-java",
        ("cdylib", &name),
        &["-C", "strip=symbols"],
    )?;
    let folder = natives.join(platform());
    let library = folder.join(&name);
    let failed = |error: std::io::Error| Error::Failed(format!("{}: {error}", library.display()));
    fs::create_dir_all(&folder).map_err(failed)?;
    // A file that is the same keeps its time, so that Maven has nothing to do.
    let is_same = match (fs::read(&from), fs::read(&library)) {
        (Ok(new), Ok(old)) => new == old,
        _ => false,
    };
    if !is_same {
        fs::copy(&from, &library).map_err(failed)?;
    }
    Ok(library)
}

/// Whether the file is newer than these files, and all in these folders.
fn is_newer(file: &Path, others: &[PathBuf]) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let Ok(made) = changed(file) else {
        return false;
    };
    others.iter().all(|other| {
        let inside: Vec<PathBuf> = fs::read_dir(other)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        changed(other).is_ok_and(|changed| changed < made) && is_newer(file, &inside)
    })
}

/// The name of this platform, as `NativeLibrary.java` says it.
pub(super) fn platform() -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    match os {
        "linux" if cfg!(target_env = "musl") => format!("{os}-{arch}-musl"),
        "linux" => format!("{os}-{arch}-gnu"),
        _ => format!("{os}-{arch}"),
    }
}
