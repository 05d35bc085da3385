//! Format, lints, documentation and dependencies of the workspace.

use serde::Deserialize;

use super::step::{Context, Outcome};
use crate::command::{CLIPPY, Error, output, run};
use crate::setup;

pub(super) fn fmt(context: &Context<'_>) -> Result<Outcome, Error> {
    // Names are enough: `cargo fmt` fixes them.
    run(&mut context
        .workspace
        .cargo(&["fmt", "--all", "--check", "--", "-l"]))?;
    Ok(Outcome::Passed)
}

pub(super) fn deny(context: &Context<'_>) -> Result<Outcome, Error> {
    let Some(cargo_deny) = setup::cargo_deny_path(context.workspace) else {
        return Ok(Outcome::Skipped("cargo-deny is not installed".into()));
    };
    // Two versions of one crate are a note that deny.toml leaves to people, not to this step.
    run(context.workspace.command(cargo_deny).args([
        "--log-level",
        "error",
        "check",
        "bans",
        "licenses",
        "sources",
    ]))?;
    Ok(Outcome::Passed)
}

pub(super) fn clippy(context: &Context<'_>) -> Result<Outcome, Error> {
    let mut clippy = context.workspace.cargo_workspace("check");
    clippy.args(["--quiet", "--all-targets"]);
    run(clippy.envs(CLIPPY))?;
    Ok(Outcome::Passed)
}

pub(super) fn doc(context: &Context<'_>) -> Result<Outcome, Error> {
    let json = output(
        context
            .workspace
            .cargo(&["metadata", "--format-version", "1", "--no-deps"])
            .arg("--locked"),
    )?;
    let metadata: Metadata = serde_json::from_str(&json)
        .map_err(|error| Error::Failed(format!("cargo metadata cannot be read: {error}")))?;
    let mut doc = context.workspace.cargo_workspace("doc");
    // There are no examples. With this, cargo takes the features of dependencies that tests need, and the crates are those
    // that clippy has checked.
    doc.args(["--no-deps", "--quiet", "--lib", "--examples"]);
    for program in metadata.packages.iter().flat_map(Package::programs) {
        doc.args(["--bin", program]);
    }
    run(doc.envs(CLIPPY).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    doc: bool,
    #[serde(rename = "required-features", default)]
    required_features: Vec<String>,
}

impl Package {
    /// The programs that cargo documents without options: not one with the name of its library.
    fn programs(&self) -> impl Iterator<Item = &str> {
        let is_bin = |target: &&Target| target.kind == ["bin"];
        let bins = self.targets.iter().filter(is_bin);
        let is_documented = |bin: &&Target| {
            let is_same = |other: &Target| other.kind != ["bin"] && other.name == bin.name;
            bin.doc && bin.required_features.is_empty() && !self.targets.iter().any(is_same)
        };
        bins.filter(is_documented).map(|bin| &*bin.name)
    }
}
