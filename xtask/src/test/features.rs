//! The features of the library: sets of them compile without warnings. And traces of the server.

use super::Outcome;
use crate::command::{
    CLIPPY, Error, Workspace, output, run as run_command, without_optimised_test_dependencies,
};
use crate::counted;
use crate::tally::Format;

/// The features of `jeton` for users, as `default` in its manifest.
const FEATURES: [&str; 5] = ["hmac", "jwe", "legacy", "paseto", "pem"];

/// Without features, the library verifies RS256. A user counts what that brings in.
const DEPENDENCIES_MAX: usize = 9;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    few_dependencies(workspace)?;
    for features in sets() {
        let mut check = workspace.cargo(&["rustc", "--locked", "--quiet", "--package", "jeton"]);
        check.args(["--lib", "--no-default-features", "--features", &features]);
        run_command(check.args(["--profile", "check", "--", "-D", "warnings"]))?;
    }
    // With all features it is among the tests of the workspace.
    let mut test = workspace.cargo(&["test", "--locked", "--quiet", "--package", "jeton"]);
    test.args(["--no-default-features", "--test", "features"]);
    // They are compiled for three tests.
    test.arg("--config=profile.dev.package.jeton.opt-level=0");
    test.args(without_optimised_test_dependencies("dev"));
    counted::run("jeton without features", Format::Libtest, &mut test)?;
    plain_command(workspace)?;
    Ok(Outcome::Passed)
}

/// Lints of the command as users build it, without traces and HSMs. All tests are of a build with both.
fn plain_command(workspace: &Workspace) -> Result<(), Error> {
    // Cargo takes other features of dependencies, and checks hundreds of them again, if it checks no test.
    let plain = ["check", "--locked", "--quiet", "--workspace"];
    let mut clippy = workspace.cargo(&plain);
    clippy.args(["--bin", "jeton", "--test", "features"]);
    run_command(clippy.envs(CLIPPY))
}

/// Sets of features, as `--features` takes them: none, each alone, all but one, all. The code of a feature that
/// needs another, or lacks it, is compiled in one of these; all 32 sets would take three times as long.
fn sets() -> impl Iterator<Item = String> {
    let alone = FEATURES.iter().map(|name| (*name).to_owned());
    let all_but_one = FEATURES.iter().map(|left_out| {
        let others = FEATURES.into_iter().filter(|name| name != left_out);
        others.collect::<Vec<_>>().join(",")
    });
    let ends = [String::new(), FEATURES.join(",")].into_iter();
    ends.chain(alone).chain(all_but_one)
}

fn few_dependencies(workspace: &Workspace) -> Result<(), Error> {
    let mut tree = workspace.cargo(&["tree", "--locked", "--package", "jeton"]);
    tree.args(["--no-default-features", "--edges", "normal"]);
    let tree = output(tree.args(["--depth", "1", "--prefix", "none"]))?;
    // The first line is the library itself.
    let count = tree.lines().count().saturating_sub(1);
    if count <= DEPENDENCIES_MAX {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "jeton without features has {count} direct dependencies, at most {DEPENDENCIES_MAX} are allowed:\n{tree}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_different() {
        let all: std::collections::BTreeSet<String> = sets().collect();
        assert_eq!(all.len(), 12);
        assert!(all.contains("") && all.contains("hmac,jwe,legacy,paseto,pem"));
        assert!(all.contains("pem") && all.contains("hmac,jwe,legacy,paseto"));
    }

    #[test]
    fn features_are_those_of_the_manifest() {
        let manifest = include_str!("../../../crates/jeton/Cargo.toml");
        let default = format!("default = {FEATURES:?}");
        assert!(manifest.contains(&default), "{default}");
    }
}
