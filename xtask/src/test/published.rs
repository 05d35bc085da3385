//! What crates.io gets: the crates in [`PUBLISHED`], each with a description for people who search, and no other crate.

use serde::Deserialize;

use super::Outcome;
use crate::arch::PUBLISHED;
use crate::command::{Error, Workspace, output, run as run_command};

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// The part of a manifest that crates.io shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Package {
    name: String,
    /// The registries that may have it: `None` for all, and an empty list for `publish = false`.
    publish: Option<Vec<String>>,
    description: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    documentation: Option<String>,
    readme: Option<String>,
    rust_version: Option<String>,
    keywords: Vec<String>,
    categories: Vec<String>,
}

pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let json = output(&mut workspace.cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Metadata = serde_json::from_str(&json)
        .map_err(|error| Error::Failed(format!("cargo metadata cannot be read: {error}")))?;
    let broken: Vec<String> = metadata.packages.iter().flat_map(check).collect();
    if !broken.is_empty() {
        return Err(Error::Failed(broken.join("\n")));
    }
    // Continuous integration also builds what is packaged, with AWS-LC.
    let mut package = workspace.cargo(&["package", "--locked", "--quiet", "--no-verify"]);
    run_command(
        package
            .arg("--allow-dirty")
            .args(PUBLISHED.map(|name| format!("--package={name}"))),
    )?;
    Ok(Outcome::Passed)
}

fn check(package: &Package) -> Vec<String> {
    let name = &package.name;
    if !PUBLISHED.contains(&name.as_str()) {
        return match &package.publish {
            Some(registries) if registries.is_empty() => Vec::new(),
            _ => vec![format!(
                "`{name}` is not for crates.io: add `publish = false`"
            )],
        };
    }
    let mut broken = Vec::new();
    if package.publish.is_some() {
        broken.push(format!("`{name}` is for crates.io: remove `publish`"));
    }
    for (field, is_there) in [
        ("description", package.description.is_some()),
        ("license", package.license.is_some()),
        ("repository", package.repository.is_some()),
        ("documentation", package.documentation.is_some()),
        ("readme", package.readme.is_some()),
        ("rust-version", package.rust_version.is_some()),
        ("keywords", !package.keywords.is_empty()),
        ("categories", !package.categories.is_empty()),
    ] {
        if !is_there {
            broken.push(format!("`{name}` has no `{field}` in its manifest"));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Package {
        Package {
            name: "jeton".into(),
            description: Some("tokens".into()),
            license: Some("MIT".into()),
            repository: Some("https://code.example".into()),
            documentation: Some("https://docs.example".into()),
            readme: Some("README.md".into()),
            rust_version: Some("1.90".into()),
            keywords: vec!["jwt".into()],
            categories: vec!["authentication".into()],
            ..Package::default()
        }
    }

    #[test]
    fn published_crate_without_keywords_fails() {
        assert_eq!(check(&library()), [""; 0]);
        let mut library = library();
        library.keywords.clear();
        assert_eq!(
            check(&library),
            ["`jeton` has no `keywords` in its manifest"]
        );
    }

    #[test]
    fn other_crate_that_can_be_published_fails() {
        let mut other = Package {
            name: "jeton-server".into(),
            publish: Some(Vec::new()),
            ..Package::default()
        };
        assert_eq!(check(&other), [""; 0]);
        other.publish = None;
        assert_eq!(check(&other).len(), 1);
    }
}
