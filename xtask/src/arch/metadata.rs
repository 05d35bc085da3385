//! The part of `cargo metadata` that the rules look at.

use serde::Deserialize;

use crate::command::{self, Error, Workspace};

#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_root: String,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    manifest_path: String,
    pub(super) dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// None for a normal dependency, else `dev` or `build`.
    pub(super) kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: String,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

impl Metadata {
    /// Asks cargo, with every feature on: an optional dependency is an arrow too.
    pub(super) fn read(workspace: &Workspace) -> Result<Self, Error> {
        let mut cargo = workspace.cargo(&["metadata", "--format-version", "1", "--all-features"]);
        Self::parse(&command::output(&mut cargo)?)
    }

    pub(super) fn parse(json: &str) -> Result<Self, Error> {
        serde_json::from_str(json)
            .map_err(|error| Error::Failed(format!("cargo metadata cannot be read: {error}")))
    }

    /// The crates of this workspace.
    pub(super) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }

    pub(super) fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }

    /// What `id` is built with and runs with; not what its tests use.
    pub(super) fn built_with(&self, id: &str) -> impl Iterator<Item = &str> {
        self.resolve
            .nodes
            .iter()
            .filter(move |node| node.id == id)
            .flat_map(|node| &node.deps)
            .filter(|edge| {
                edge.dep_kinds
                    .iter()
                    .any(|kind| kind.kind.as_deref() != Some("dev"))
            })
            .map(|edge| edge.pkg.as_str())
    }

    /// `path` as seen from the checkout's root, with `/`.
    fn relative(&self, path: &str) -> String {
        path.strip_prefix(&self.workspace_root)
            .unwrap_or(path)
            .replace('\\', "/")
            .trim_start_matches('/')
            .to_owned()
    }

    pub(super) fn manifest(&self, package: &Package) -> String {
        self.relative(&package.manifest_path)
    }

    /// The roots of what `package` ships: its library and its binaries.
    pub(super) fn roots(&self, package: &Package) -> Vec<String> {
        package
            .targets
            .iter()
            .filter(|target| {
                target
                    .kind
                    .iter()
                    .any(|kind| kind == "lib" || kind == "bin")
            })
            .map(|target| self.relative(&target.src_path))
            .collect()
    }
}
