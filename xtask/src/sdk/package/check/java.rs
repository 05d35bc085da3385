//! The jar.

use std::fs;

use super::super::super::readme::check_printed;
use super::super::java::{PRINTED, README, example, jar};
use super::super::target::Target;
use super::super::{empty, failed};
use super::{Context, Root};
use crate::command::{Error, run as run_command};

/// The class path in the root: the program, jeton, and Jackson, which the program needs.
pub(super) const CLASS_PATH: &str = "/check/classes:/check/jeton.jar:/check/libraries/*";

/// Adds the program of the README, which the compiler of this machine compiles, and the jars.
pub(super) fn add_program(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let workspace = context.workspace;
    let jar = jar(&context.dist("java"));
    root.add(&jar, "jeton.jar")?;
    // From the project that used the package when it was built.
    let libraries = workspace
        .target()
        .join("package/java-project/target/dependency");
    root.add(&libraries, "libraries")?;
    let classes = root.path("classes");
    empty(&classes)?;
    root.write("Example.java", &example(workspace)?)?;
    let mut compile = workspace.command("javac");
    compile.args(["--release", "17", "-d"]).arg(&classes);
    compile.arg("-cp").arg(&jar);
    run_command(compile.arg(root.path("Example.java")))
}

/// Returns the program `java` of the root.
pub(super) fn java(root: &Root<'_>) -> String {
    format!(
        "/usr/lib/jvm/java-17-openjdk-{}/bin/java",
        root.target.debian()
    )
}

pub(super) fn readme(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    add_program(context, root)?;
    let printed = root.run(&java(root), &["-cp", CLASS_PATH, "Example"])?;
    check_printed(README, &printed, PRINTED)
}

/// The library of the jar, where it is unpacked.
pub(super) const LIBRARY: &str = "libjeton_java.so";

/// Unpacks the library for a platform.
pub(super) fn unpack_library(
    context: &Context<'_>,
    root: &Root<'_>,
    target: &Target,
) -> Result<(), Error> {
    let jar = jar(&context.dist("java"));
    let name = format!("io/github/jeton/native/{}/{LIBRARY}", target.java);
    let mut unpack = context.workspace.command("unzip");
    let library = unpack.arg("-p").arg(&jar).arg(&name).output();
    let library = library.map_err(|error| failed(&jar, &error))?.stdout;
    let to = root.path(LIBRARY);
    fs::write(&to, library).map_err(|error| failed(&to, &error))
}
