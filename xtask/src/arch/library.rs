//! What is below the library: no async runtime, through any crate.

use crate::command::{Error, Workspace, output};

/// Async runtimes and their reactors. The library does no I/O.
const ASYNC_RUNTIMES: [&str; 10] = [
    "async-executor",
    "async-io",
    "async-std",
    "embassy-executor",
    "futures-executor",
    "glommio",
    "mio",
    "monoio",
    "smol",
    "tokio",
];

/// Checks the dependencies that `jeton` is built with, with every feature, and not those of its tests.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<String>, Error> {
    let tree = output(&mut workspace.cargo(&[
        "tree",
        "--locked",
        "--package",
        "jeton",
        "--edges",
        "no-dev",
        "--all-features",
        "--target",
        "all",
        "--prefix",
        "none",
    ]))?;
    Ok(runtimes(&tree))
}

fn runtimes(tree: &str) -> Vec<String> {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let mut found: Vec<&str> = names.filter(|name| ASYNC_RUNTIMES.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    found
        .into_iter()
        .map(|name| {
            format!(
                "`jeton` depends on the async runtime `{name}`: drop the dependency, or its feature, that brings \
                 it in (cargo tree -p jeton -e no-dev --all-features -i {name})"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_at_any_depth_fails() {
        let tree = "jeton v0.1.0 (/w)\nhyper v1.0.0\ntokio v1.0.0\ntokio v1.0.0 (*)\n";
        let found = runtimes(tree);
        assert!(
            found.len() == 1 && found[0].contains("`tokio`"),
            "{found:?}"
        );
    }

    #[test]
    fn crate_with_a_similar_name_passes() {
        assert_eq!(runtimes("jeton v0.1.0\ntokio-macros v1\n"), [""; 0]);
    }
}
