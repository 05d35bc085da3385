//! Which crate may use which, and what must not be under the library.

use std::collections::{HashMap, VecDeque};

use super::Violation;
use super::metadata::{Metadata, Package};
use super::tree::File;

/// The map: each crate, and the crates of this workspace that it may use. ARCHITECTURE.md draws
/// the same arrows. A crate that is not yet there is listed, so that its arrows are settled
/// before its first line.
const MAP: &[(&str, &[&str])] = &[
    ("jeton", &[]),
    ("jeton-jwks", &["jeton"]),
    ("jeton-tower", &["jeton", "jeton-jwks"]),
    ("jeton-store", &["jeton"]),
    ("jeton-issuer", &["jeton", "jeton-store"]),
    ("jeton-proto", &[]),
    (
        "jeton-server",
        &["jeton", "jeton-proto", "jeton-store", "jeton-issuer"],
    ),
    ("jeton-client", &["jeton", "jeton-proto"]),
    // The lab knows the service over the network alone: neither server nor client is here.
    ("jeton-lab", &["jeton"]),
    (
        "jeton-cli",
        &[
            "jeton",
            "jeton-jwks",
            "jeton-lab",
            "jeton-store",
            "jeton-issuer",
            "jeton-proto",
            "jeton-server",
            "jeton-client",
        ],
    ),
    ("jeton-testkit", &[]),
    ("xtask", &[]),
];

/// May be used by the tests of every crate, and by nothing that ships.
const FOR_TESTS: &str = "jeton-testkit";

/// Async runtimes and their reactors. The library does no I/O, so none may be under it.
const ASYNC_RUNTIMES: &[&str] = &[
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

/// Every arrow between this workspace's crates is on the map, and `jeton` has no async runtime.
pub(super) fn check(metadata: &Metadata, files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in metadata.members() {
        let manifest = metadata.manifest(package);
        let Some((_, may_use)) = MAP.iter().find(|(name, _)| *name == package.name) else {
            violations.push(Violation::new(
                &manifest,
                1,
                format!(
                    "the crate `{}` is not on the map: give it its arrows in MAP \
                     (xtask/src/arch/arrows.rs) and its place in ARCHITECTURE.md",
                    package.name
                ),
            ));
            continue;
        };
        for (used, is_test) in arrows_of(metadata, package) {
            let allowed = may_use.contains(&used) || (is_test && used == FOR_TESTS);
            if !allowed {
                violations.push(Violation::new(
                    &manifest,
                    line_of(files, &manifest, used),
                    wrong_arrow(&package.name, used, may_use),
                ));
            }
        }
        if package.name == "jeton" {
            violations.extend(async_runtime_under(metadata, package));
        }
    }
    violations
}

/// Every crate of the workspace is named in ARCHITECTURE.md, and none is marked as yet to come.
pub(super) fn check_map(metadata: &Metadata, map: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in metadata.members() {
        let places: Vec<(usize, &str)> = map
            .lines()
            .enumerate()
            .filter(|(_, line)| names(line, &package.name))
            .collect();
        if places.is_empty() {
            violations.push(Violation::new(
                "ARCHITECTURE.md",
                1,
                format!(
                    "the crate `{}` is not on this page: draw it in",
                    package.name
                ),
            ));
        }
        for (index, line) in places {
            if line.contains("(to come)") && words(line).next() == Some(package.name.as_str()) {
                violations.push(Violation::new(
                    "ARCHITECTURE.md",
                    index + 1,
                    format!(
                        "the crate `{}` is here: it no longer is to come",
                        package.name
                    ),
                ));
            }
        }
    }
    violations
}

/// The workspace crates that `package` names, and whether only for its tests.
fn arrows_of<'m>(metadata: &'m Metadata, package: &'m Package) -> Vec<(&'m str, bool)> {
    package
        .dependencies
        .iter()
        .filter(|dependency| {
            metadata
                .members()
                .any(|member| member.name == dependency.name)
        })
        .map(|dependency| {
            (
                dependency.name.as_str(),
                dependency.kind.as_deref() == Some("dev"),
            )
        })
        .collect()
}

/// The line of `manifest` that names the dependency; 1 if it cannot be found.
fn line_of(files: &[File], manifest: &str, dependency: &str) -> usize {
    files
        .iter()
        .find(|file| file.path == manifest)
        .and_then(|file| {
            file.text.lines().position(|line| {
                let name = line.split(['.', '=', ' ']).next();
                name == Some(dependency)
            })
        })
        .map_or(1, |index| index + 1)
}

fn wrong_arrow(from: &str, to: &str, may_use: &[&str]) -> String {
    if to == FOR_TESTS {
        return format!("`{from}` uses `{to}`: only tests may, so move it to [dev-dependencies]");
    }
    let allowed = if may_use.is_empty() {
        "none of the workspace's crates".to_owned()
    } else {
        may_use.join(", ")
    };
    format!(
        "`{from}` uses `{to}`, and that arrow is not on the map: it may use {allowed}. \
         Move the code to where both may reach it"
    )
}

fn async_runtime_under(metadata: &Metadata, library: &Package) -> Vec<Violation> {
    let mut came_from: HashMap<&str, &str> = HashMap::new();
    let mut queue = VecDeque::from([library.id.as_str()]);
    let mut violations = Vec::new();
    while let Some(id) = queue.pop_front() {
        for next in metadata.built_with(id) {
            if next == library.id || came_from.contains_key(next) {
                continue;
            }
            came_from.insert(next, id);
            queue.push_back(next);
            let name = name_of(metadata, next);
            if ASYNC_RUNTIMES.contains(&name) {
                let way = way_to(metadata, &came_from, next);
                violations.push(Violation::new(
                    &metadata.manifest(library),
                    1,
                    format!(
                        "the async runtime `{name}` is under the library ({way}): drop the \
                         dependency, or its feature, that brings it in"
                    ),
                ));
            }
        }
    }
    violations
}

/// The chain of names from the library to `id`.
fn way_to(metadata: &Metadata, came_from: &HashMap<&str, &str>, id: &str) -> String {
    let mut names = vec![name_of(metadata, id)];
    let mut at = id;
    while let Some(before) = came_from.get(at) {
        names.push(name_of(metadata, before));
        at = before;
    }
    names.reverse();
    names.join(" → ")
}

fn name_of<'m>(metadata: &'m Metadata, id: &'m str) -> &'m str {
    metadata.package(id).map_or(id, |package| &package.name)
}

/// Whether `line` has `name` as a word of its own: `jeton` is not named by `jeton-lab`.
fn names(line: &str, name: &str) -> bool {
    words(line).any(|word| word == name)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A dependency and its kind, as cargo names it.
    type Uses<'a> = (&'a str, Option<&'a str>);

    /// A workspace of packages with their dependencies.
    fn workspace(packages: &[(&str, &[Uses<'_>])]) -> Metadata {
        let kinds = |kind: &Option<&str>| serde_json::json!([{ "kind": kind }]);
        let listed: Vec<_> = packages
            .iter()
            .map(|(name, dependencies)| {
                let dependencies: Vec<_> = dependencies
                    .iter()
                    .map(|(name, kind)| serde_json::json!({ "name": name, "kind": kind }))
                    .collect();
                serde_json::json!({
                    "id": name, "name": name, "targets": [],
                    "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
                    "dependencies": dependencies,
                })
            })
            .collect();
        let nodes: Vec<_> = packages
            .iter()
            .map(|(name, dependencies)| {
                let deps: Vec<_> = dependencies
                    .iter()
                    .map(
                        |(name, kind)| serde_json::json!({ "pkg": name, "dep_kinds": kinds(kind) }),
                    )
                    .collect();
                serde_json::json!({ "id": name, "deps": deps })
            })
            .collect();
        let members: Vec<_> = packages
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| name.starts_with("jeton") || *name == "xtask")
            .collect();
        let json = serde_json::json!({
            "packages": listed, "workspace_members": members,
            "workspace_root": "/w", "resolve": { "nodes": nodes },
        });
        Metadata::parse(&json.to_string()).unwrap()
    }

    fn whats(violations: &[Violation]) -> String {
        violations.iter().map(|v| format!("{v}\n")).collect()
    }

    #[test]
    fn allowed_dependencies_pass() {
        let metadata = workspace(&[
            ("jeton", &[("jeton-testkit", Some("dev"))]),
            ("jeton-testkit", &[]),
            ("jeton-lab", &[("jeton", None)]),
            ("jeton-cli", &[("jeton", None), ("jeton-lab", None)]),
        ]);
        assert_eq!(whats(&check(&metadata, &[])), "");
    }

    #[test]
    fn reverse_dependency_fails() {
        let metadata = workspace(&[("jeton", &[("jeton-lab", None)]), ("jeton-lab", &[])]);
        let manifest = File {
            path: "crates/jeton/Cargo.toml".into(),
            text: "[dependencies]\njeton-lab-two = \"1\"\njeton-lab.workspace = true\n".into(),
        };
        let found = whats(&check(&metadata, &[manifest]));
        assert!(
            found.contains("crates/jeton/Cargo.toml:3: `jeton` uses `jeton-lab`"),
            "{found}"
        );
    }

    #[test]
    fn reverse_dev_dependency_fails() {
        let metadata = workspace(&[("jeton", &[("jeton-lab", Some("dev"))]), ("jeton-lab", &[])]);
        assert_eq!(check(&metadata, &[]).len(), 1);
    }

    #[test]
    fn lab_depending_on_client_fails() {
        let metadata = workspace(&[
            ("jeton-lab", &[("jeton-client", None)]),
            ("jeton-client", &[]),
        ]);
        assert_eq!(check(&metadata, &[]).len(), 1);
    }

    #[test]
    fn testkit_as_normal_dependency_fails() {
        let metadata = workspace(&[
            ("jeton", &[("jeton-testkit", None)]),
            ("jeton-testkit", &[]),
        ]);
        let found = whats(&check(&metadata, &[]));
        assert!(found.contains("move it to [dev-dependencies]"), "{found}");
    }

    #[test]
    fn unknown_crate_fails() {
        let found = whats(&check(&workspace(&[("jeton-extra", &[])]), &[]));
        assert!(found.contains("`jeton-extra` is not on the map"), "{found}");
    }

    #[test]
    fn runtime_below_library_fails_with_its_path() {
        let metadata = workspace(&[
            ("jeton", &[("web", None)]),
            ("web", &[("tokio", None)]),
            ("tokio", &[]),
        ]);
        let found = whats(&check(&metadata, &[]));
        assert!(found.contains("jeton → web → tokio"), "{found}");
    }

    #[test]
    fn runtime_in_tests_or_other_crates_passes() {
        let metadata = workspace(&[
            ("jeton", &[("tokio", Some("dev"))]),
            ("jeton-server", &[("tokio", None)]),
            ("tokio", &[]),
        ]);
        assert_eq!(whats(&check(&metadata, &[])), "");
    }

    #[test]
    fn crate_missing_from_page_fails() {
        let metadata = workspace(&[("jeton", &[]), ("jeton-lab", &[])]);
        let found = whats(&check_map(&metadata, "jeton-lab/  the lab\n"));
        assert!(
            found.contains("the crate `jeton` is not on this page"),
            "{found}"
        );
    }

    #[test]
    fn existing_crate_marked_as_planned_fails() {
        let metadata = workspace(&[("jeton-lab", &[])]);
        let found = whats(&check_map(
            &metadata,
            "# Map\n  jeton-lab  (to come) the lab\n",
        ));
        assert!(
            found.contains("ARCHITECTURE.md:2: the crate `jeton-lab` is here"),
            "{found}"
        );
    }
}
