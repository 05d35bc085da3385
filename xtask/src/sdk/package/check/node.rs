//! The packages for npm.

use std::path::PathBuf;

use super::super::super::readme::check_printed;
use super::super::target::Target;
use super::super::{empty, node as package};
use super::{Context, Root};
use crate::command::{Error, Workspace, run as run_command};

/// From npm: Node as its project builds it, and the npm of the same release.
const NODE: &str = "20.20.2";
const NPM: &str = "npm@10.8.2";

/// Adds Node, as one of its commands.
pub(super) fn add_node(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    root.link(&runtime(context.workspace, root.target)?)?;
    root.add_command("node", &node(context, root))
}

/// Adds Node and the packages for the root's platform.
pub(super) fn add_packages(context: &Context<'_>, root: &Root<'_>) -> Result<Vec<String>, Error> {
    add_node(context, root)?;
    let version = env!("CARGO_PKG_VERSION");
    let mut names = Vec::new();
    for name in [
        format!("jeton-{version}.tgz"),
        format!("jeton-{}-{version}.tgz", root.target.npm),
    ] {
        root.add(&context.built("node", &name)?, &name)?;
        names.push(format!("/check/{name}"));
    }
    empty(&root.path("app"))?;
    root.write(
        "app/package.json",
        "{ \"name\": \"app\", \"private\": true }\n",
    )?;
    Ok(names)
}

/// Installs Node and npm into a folder, and returns it.
fn runtime(workspace: &Workspace, target: &Target) -> Result<PathBuf, Error> {
    let folder = workspace.target().join("package/node");
    let name = node_package(target);
    if !folder.join("node_modules").join(&name).exists() {
        empty(&folder)?;
        let mut install = workspace.command("npm");
        install.current_dir(&folder);
        install.args(["install", "--force", "--no-save", "--ignore-scripts"]);
        install.args(["--no-audit", "--no-fund", NPM]);
        for architecture in ["x64", "arm64"] {
            install.arg(format!("node-linux-{architecture}@{NODE}"));
        }
        run_command(&mut install)?;
    }
    Ok(folder.join("node_modules"))
}

fn node_package(target: &Target) -> String {
    format!("node-linux-{}", target.node())
}

/// Returns the path of a file of the runtime, which is the same in the root.
fn runtime_file(context: &Context<'_>, file: &str) -> String {
    let folder = context.workspace.target().join("package/node/node_modules");
    folder.join(file).display().to_string()
}

/// Returns the program `node` of the root.
pub(super) fn node(context: &Context<'_>, root: &Root<'_>) -> String {
    runtime_file(context, &format!("{}/bin/node", node_package(root.target)))
}

/// Installs packages into the project in the root.
pub(super) fn install(
    context: &Context<'_>,
    root: &Root<'_>,
    packages: &[String],
) -> Result<(), Error> {
    let arguments = install_command(context, packages);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    root.run(&node(context, root), &arguments).map(drop)
}

/// Returns the arguments with which Node runs npm, which installs packages into the project.
pub(super) fn install_command(context: &Context<'_>, packages: &[String]) -> Vec<String> {
    let npm = runtime_file(context, "npm/bin/npm-cli.js");
    let install = [
        npm.as_str(),
        "--prefix",
        "/check/app",
        "install",
        "--offline",
    ];
    let options = ["--no-audit", "--no-fund", "--install-links"];
    let all = install
        .iter()
        .chain(&options)
        .map(|part| (*part).to_owned());
    all.chain(packages.iter().cloned()).collect()
}

pub(super) fn readme(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let packages = add_packages(context, root)?;
    install(context, root, &packages)?;
    package::example(context.workspace, &root.path("app/example.mjs"))?;
    let printed = root.run(&node(context, root), &["/check/app/example.mjs"])?;
    check_printed(package::README, &printed, package::PRINTED)
}
