//! The library for Java: a Maven repository of jars. The jar of the core has the native libraries of all platforms.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::java::{self, DIST_TARGET, FOLDER as SOURCES};
use super::super::readme::{check_printed, first_block};
use super::target::{Target, Toolchain};
use super::{copy, empty, empty_folder, failed, finish, library, write_sbom};
use crate::command::{Error, Workspace, output, run as run_command};

/// What Maven calls the repository in a folder.
const REPOSITORY: &str = "jeton";

/// The page with the example.
pub(super) const README: &str = "sdk/java/README.md";

/// Builds `dist/jeton-java`, and uses it in an empty project.
pub(super) fn run(workspace: &Workspace, targets: &[&'static Target]) -> Result<(), Error> {
    let toolchain = Toolchain::set_up(workspace, targets)?;
    let folder = empty_folder(workspace, "java")?;
    let repository = folder.join("repository");
    let natives = toolchain.target().join("java-natives");
    empty(&natives)?;
    for target in targets {
        let native = library::shared(&toolchain, target, "jeton-java")?;
        let place = natives.join(target.java);
        empty(&place)?;
        copy(&native, &place.join(target.shared("jeton_java")))?;
        let list = folder.join(format!("sbom-{}.cdx.json", target.triple));
        write_sbom(workspace, target, "jeton-java", "jeton-java", &list)?;
    }

    let mut deploy = java::maven(workspace, &natives);
    deploy.args(["-Ppackage", "-Dmaven.test.skip=true", DIST_TARGET]);
    deploy.arg(format!(
        "-DaltDeploymentRepository={REPOSITORY}::file://{}",
        repository.display()
    ));
    run_command(deploy.args(["clean", "deploy"]))?;
    without_times(&repository)?;
    for page in [
        README,
        "sdk/java/docs/migrate.md",
        "sdk/java/docs/spring.md",
        "sdk/java/docs/release.md",
        "sdk/java/example/pom.xml",
        "sdk/java/example/src/main/java/Example.java",
    ] {
        let name = page.strip_prefix("sdk/java/").unwrap_or(page);
        let place = folder.join(name);
        fs::create_dir_all(place.parent().unwrap_or(&folder))
            .map_err(|error| failed(&place, &error))?;
        copy(&workspace.path(page), &place)?;
    }
    finish(workspace, &folder)?;
    if targets.contains(&Target::host(workspace)?) {
        install(
            workspace,
            &repository,
            &toolchain.target().join("java-project"),
        )?;
    }
    Ok(())
}

/// Removes the files in which Maven writes when it deployed a jar. A repository of releases does without.
fn without_times(repository: &Path) -> Result<(), Error> {
    for file in super::files_in(repository)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("maven-metadata.xml") {
            fs::remove_file(&file).map_err(|error| failed(&file, &error))?;
        }
    }
    Ok(())
}

/// Installs the library into a copy of `example`, with an empty repository of Maven, and runs it.
fn install(workspace: &Workspace, repository: &Path, project: &Path) -> Result<(), Error> {
    empty(project)?;
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
    build.current_dir(project);
    build.args(["--quiet", "--batch-mode", "--no-transfer-progress"]);
    build.arg(format!(
        "-Dmaven.repo.local={}",
        project.join("repository").display()
    ));
    run_command(build.args(["compile", "dependency:copy-dependencies"]))?;
    let mut example = workspace.command("java");
    example.current_dir(project).env_remove("LD_LIBRARY_PATH");
    example.args(["-cp", "target/classes:target/dependency/*", "Example"]);
    check_printed("sdk/java/example", &output(&mut example)?, "verified: /")
}

/// What the program prints.
pub(super) const PRINTED: &str = "/";

/// The first code of the README as a program.
pub(super) fn example(workspace: &Workspace) -> Result<String, Error> {
    let code = first_block(workspace, README, "java")?;
    Ok(format!(
        "import io.github.jeton.*;\nimport java.time.Duration;\n\npublic class Example {{\n    \
         public static void main(String[] arguments) {{\n{code}\n        System.out.println(page);\n    }}\n}}\n"
    ))
}

/// The jar with the classes and the native libraries, in the repository of `dist`.
pub(super) fn jar(folder: &Path) -> PathBuf {
    let version = env!("CARGO_PKG_VERSION");
    folder.join(format!(
        "repository/io/github/jeton/jeton/{version}/jeton-{version}.jar"
    ))
}

/// Fetches a file from Maven Central into an empty folder, and returns the files there.
pub(super) fn fetch(
    workspace: &Workspace,
    artifact: &str,
    folder: &Path,
) -> Result<Vec<PathBuf>, Error> {
    empty(folder)?;
    let mut maven = workspace.command("mvn");
    maven.args(["--quiet", "--batch-mode", "dependency:copy"]);
    maven.arg(format!("-Dartifact={artifact}"));
    run_command(maven.arg(format!("-DoutputDirectory={}", folder.display())))?;
    super::files_in(folder)
}
