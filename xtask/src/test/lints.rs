//! Format, lints, documentation and dependencies of the workspace.

use super::step::{Context, Outcome};
use crate::command::{Error, run};
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
    let mut clippy = context.workspace.cargo_workspace("clippy");
    clippy.args(["--quiet", "--all-targets"]);
    run(clippy.args(["--", "-D", "warnings"]))?;
    Ok(Outcome::Passed)
}

pub(super) fn doc(context: &Context<'_>) -> Result<Outcome, Error> {
    let mut doc = context.workspace.cargo_workspace("doc");
    doc.args(["--no-deps", "--quiet"]);
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}
