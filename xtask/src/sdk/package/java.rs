//! The library for Java: a Maven repository of jars.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::java::{self, DIST_TARGET, FOLDER as SOURCES};
use super::super::libraries::Build;
use super::{FOLDER, copy, failed, sbom, write_checksums};
use crate::command::{Error, Workspace, output, run as run_command};

/// What Maven calls the repository in a folder.
const REPOSITORY: &str = "jeton";

/// Builds `dist/jeton-java-TARGET`, and uses it in an empty project.
pub(super) fn run(workspace: &Workspace, target: &str) -> Result<(), Error> {
    let folder = workspace.path(FOLDER).join(format!("jeton-java-{target}"));
    let repository = folder.join("repository");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    }
    fs::create_dir_all(&repository).map_err(|error| failed(&repository, &error))?;

    let natives = workspace.target().join("java/dist-natives");
    java::native_library(workspace, Build::Dist, &natives)?;
    let mut deploy = java::maven(workspace, &natives);
    deploy.args(["-Ppackage", "-Dmaven.test.skip=true", DIST_TARGET]);
    deploy.arg(format!("-Djeton.platform={}", java::platform()));
    deploy.arg(format!(
        "-DaltDeploymentRepository={REPOSITORY}::file://{}",
        repository.display()
    ));
    run_command(deploy.args(["clean", "deploy"]))?;
    is_reproducible(workspace, &natives)?;

    let mut files = files_in(&repository)?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        files.push(copy(&workspace.path(name), &folder.join(name))?);
    }
    let readme = workspace.path(SOURCES).join("README.md");
    files.push(copy(&readme, &folder.join("README.md"))?);
    let list = folder.join("sbom.cdx.json");
    fs::write(&list, sbom(workspace, target, "jeton-java", "jeton-java")?)
        .map_err(|error| failed(&list, &error))?;
    files.push(list);
    write_checksums(workspace, &folder, &files)?;
    eprintln!("== {}", folder.display());
    install(workspace, &repository)
}

/// Builds the jar of the core again, elsewhere, and compares the bytes.
fn is_reproducible(workspace: &Workspace, natives: &Path) -> Result<(), Error> {
    let mut again = java::maven(workspace, natives);
    again.args([
        "--projects",
        "core",
        "--also-make",
        "-Dmaven.test.skip=true",
    ]);
    run_command(again.args(["-Djeton.target=target/again", "clean", "package"]))?;
    let jar = |target: &str| {
        let name = format!("jeton-{}.jar", env!("CARGO_PKG_VERSION"));
        let jar = workspace
            .path(SOURCES)
            .join("core/target")
            .join(target)
            .join(name);
        fs::read(&jar).map_err(|error| failed(&jar, &error))
    };
    if jar("dist")? == jar("again")? {
        Ok(())
    } else {
        Err(Error::Failed(
            "the jar is another one when it is built again".into(),
        ))
    }
}

/// All files below a folder, sorted.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_in(&path)?)
        } else {
            files.push(path)
        }
    }
    files.sort();
    Ok(files)
}

/// Installs the library into a copy of `example`, with an empty repository of Maven, and runs it.
fn install(workspace: &Workspace, repository: &Path) -> Result<(), Error> {
    let project = workspace.target().join("java/empty-project");
    if project.exists() {
        fs::remove_dir_all(&project).map_err(|error| failed(&project, &error))?;
    }
    let sources = project.join("src/main/java");
    fs::create_dir_all(&sources).map_err(|error| failed(&sources, &error))?;
    let example = workspace.path(SOURCES).join("example");
    let pom = example.join("pom.xml");
    let text = fs::read_to_string(&pom).map_err(|error| failed(&pom, &error))?;
    let place = format!(
        "<repositories>\n    <repository>\n      <id>{REPOSITORY}</id>\n      \
         <url>file://{}</url>\n    </repository>\n  </repositories>\n\n  <dependencies>",
        repository.display()
    );
    let pom = project.join("pom.xml");
    fs::write(&pom, text.replacen("<dependencies>", &place, 1))
        .map_err(|error| failed(&pom, &error))?;
    copy(
        &example.join("src/main/java/Example.java"),
        &sources.join("Example.java"),
    )?;
    let mut build = workspace.command("mvn");
    build.current_dir(&project);
    build.args(["--quiet", "--batch-mode", "--no-transfer-progress"]);
    build.arg(format!(
        "-Dmaven.repo.local={}",
        project.join("repository").display()
    ));
    run_command(build.args(["compile", "dependency:copy-dependencies"]))?;
    let mut example = workspace.command("java");
    example.current_dir(&project).env_remove("LD_LIBRARY_PATH");
    example.args(["-cp", "target/classes:target/dependency/*", "Example"]);
    let said = output(&mut example)?;
    if said.trim() == "verified: /" {
        eprintln!("== an empty project issues a token with it");
        Ok(())
    } else {
        Err(Error::Failed(format!("the example says `{}`", said.trim())))
    }
}
