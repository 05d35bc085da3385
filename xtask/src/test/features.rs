//! The features of the library: each set of them compiles without warnings.

use super::Outcome;
use crate::command::{Error, Workspace, output, run as run_command};

/// The features of `jeton` for users, as `default` in its manifest.
const FEATURES: [&str; 5] = ["hmac", "jwe", "legacy", "paseto", "pem"];

/// Without features, the library verifies RS256. A user counts what that brings in.
const DEPENDENCIES_MAX: usize = 9;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    few_dependencies(workspace)?;
    for features in sets() {
        let mut clippy = workspace.cargo(&["clippy", "--locked", "--quiet", "--package", "jeton"]);
        clippy.args(["--lib", "--no-default-features", "--features", &features]);
        run_command(clippy.args(["--", "-D", "warnings"]))?;
    }
    for features in ["", "hmac", "pem"] {
        let mut test = workspace.cargo(&["test", "--locked", "--quiet", "--package", "jeton"]);
        test.args(["--no-default-features", "--features", features]);
        run_command(test.args(["--test", "features"]))?;
    }
    Ok(Outcome::Passed)
}

/// Every set of features, as `--features` takes it; the empty one first.
fn sets() -> impl Iterator<Item = String> {
    (0..1 << FEATURES.len()).map(|set: usize| {
        let numbered = FEATURES.iter().enumerate();
        let chosen = numbered.filter(|(number, _)| set >> number & 1 == 1);
        chosen.map(|(_, name)| *name).collect::<Vec<_>>().join(",")
    })
}

fn few_dependencies(workspace: &Workspace) -> Result<(), Error> {
    let mut tree = workspace.cargo(&["tree", "--locked", "--package", "jeton"]);
    tree.args(["--no-default-features", "--edges", "normal"]);
    let tree = output(tree.args(["--depth", "1", "--prefix", "none"]))?;
    // The first line is the library itself.
    let count = tree.lines().count().saturating_sub(1);
    match count <= DEPENDENCIES_MAX {
        true => Ok(()),
        false => Err(Error::Failed(format!(
            "jeton without features has {count} direct dependencies, at most {DEPENDENCIES_MAX} are allowed:\n{tree}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_all_and_different() {
        let all: std::collections::BTreeSet<String> = sets().collect();
        assert_eq!(all.len(), 32);
        assert!(all.contains("") && all.contains("hmac,jwe,legacy,paseto,pem"));
    }

    #[test]
    fn features_are_those_of_the_manifest() {
        let manifest = include_str!("../../../crates/jeton/Cargo.toml");
        let default = format!("default = {FEATURES:?}");
        assert!(manifest.contains(&default), "{default}");
    }
}
