//! The parts of the project that `--for` names: what a change there needs to be tested with.

use std::path::Path;

use crate::command::{Error, Workspace};

/// A part of the project. In this order, tests of the workspace run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Area {
    Library,
    Cli,
    Service,
    Sdk,
    Lab,
    /// What only a test of everything covers: tasks, studies, examples.
    Other,
}

impl Area {
    /// The areas that `--for` takes.
    const NAMED: [(&'static str, Self); 5] = [
        ("library", Self::Library),
        ("cli", Self::Cli),
        ("service", Self::Service),
        ("sdk", Self::Sdk),
        ("lab", Self::Lab),
    ];

    pub(super) fn parse(name: &str) -> Result<Self, Error> {
        let found = Self::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, area)| *area).ok_or_else(|| {
            let names = Self::NAMED.map(|(name, _)| name);
            Error::Usage(format!(
                "unknown part `{name}`; expected one of: {}",
                names.join(", ")
            ))
        })
    }

    pub(super) fn name(self) -> &'static str {
        let found = Self::NAMED.iter().find(|(_, area)| *area == self);
        found.map_or("", |(name, _)| name)
    }

    /// The packages of the workspace that are built and tested for it.
    pub(super) fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Library => &["jeton", "jeton-jwks", "jeton-testkit", "jeton-tower"],
            Self::Cli => &["jeton-cli", "jeton-terminal"],
            Self::Service => &[
                "jeton-cli",
                "jeton-client",
                "jeton-heap",
                "jeton-issuer",
                "jeton-pkcs11",
                "jeton-proto",
                "jeton-server",
                "jeton-store",
                "jeton-transport",
            ],
            Self::Sdk => &[
                "jeton-bindings",
                "jeton-cli",
                "jeton-ffi",
                "jeton-java",
                "jeton-node",
                "jeton-python",
            ],
            // The attacks on a running service need the command.
            Self::Lab => &[
                "jeton-cli",
                "jeton-lab",
                "jeton-lab-conformance",
                "jeton-lab-fixtures",
                "jeton-lab-harness",
                "jeton-lab-load",
                "jeton-lab-model",
                "jeton-lab-published",
                "jeton-lab-report",
                "jeton-lab-stats",
            ],
            Self::Other => &[],
        }
    }

    /// The modules of the command's tests that these areas need: `None` for all.
    pub(super) fn modules_of_the_command(areas: &[Self]) -> Option<Vec<&'static str>> {
        if areas.is_empty() || areas.contains(&Self::Cli) {
            return None;
        }
        let of = |area: &Self| match area {
            Self::Service => &["admin::", "operating::", "production::", "serve::"][..],
            _ => &[],
        };
        Some(areas.iter().flat_map(of).copied().collect())
    }

    /// The area of a crate's folder.
    pub(super) fn of(workspace: &Workspace, folder: &Path) -> Self {
        let inside = folder.strip_prefix(workspace.root()).unwrap_or(folder);
        let inside = inside.to_string_lossy();
        match &*inside {
            "crates/jeton"
            | "crates/jeton-jwks"
            | "crates/jeton-testkit"
            | "crates/jeton-tower" => Self::Library,
            "crates/jeton-cli" | "crates/jeton-terminal" => Self::Cli,
            "crates/jeton-bindings" | "crates/jeton-ffi" => Self::Sdk,
            crates if crates.starts_with("crates/") => Self::Service,
            sdk if sdk.starts_with("sdk/") => Self::Sdk,
            lab if lab.starts_with("lab/") => Self::Lab,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_area_has_a_name_and_packages() {
        let workspace = Workspace::here();
        for (name, area) in Area::NAMED {
            assert_eq!(Area::parse(name).ok(), Some(area));
            assert_eq!(area.name(), name);
            assert!(!area.packages().is_empty());
        }
        assert_eq!(
            Area::of(&workspace, &workspace.path("lab/stats")),
            Area::Lab
        );
        assert_eq!(Area::of(&workspace, &workspace.path("xtask")), Area::Other);
        assert_eq!(Area::modules_of_the_command(&[]), None);
        assert_eq!(Area::modules_of_the_command(&[Area::Lab, Area::Cli]), None);
        assert_eq!(Area::modules_of_the_command(&[Area::Sdk]), Some(vec![]));
    }
}
