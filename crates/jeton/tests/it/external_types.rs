//! `docs/reference/external-types.md` lists the types and traits of other crates in the public API of each published
//! crate. This test fails if an item uses another one, or none uses one that is listed.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;

use syn::{Item, UseTree};

use crate::public_api::public_items;

const PUBLISHED: [&str; 5] = [
    "jeton",
    "jeton-client",
    "jeton-jwks",
    "jeton-proto",
    "jeton-tower",
];

#[test]
fn external_types_are_those_of_the_page() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut used = BTreeSet::new();
    for name in PUBLISHED {
        let folder = root.join("crates").join(name);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let crates = dependencies(&manifest);
        for (file, lines) in public_items(&folder.join("src"), name) {
            let mut imports = HashMap::new();
            for item in &file.items {
                if let Item::Use(item) = item {
                    import(&item.tree, "", &mut imports);
                }
            }
            let paths = lines.iter().flat_map(|line| paths(line));
            let external = paths.filter_map(|path| external(&path, &imports, &crates));
            used.extend(external.map(|path| format!("| `{name}` | `{path}` |")));
        }
    }
    let page = fs::read_to_string(root.join("docs/reference/external-types.md")).unwrap();
    // The third column is the reason.
    let listed: BTreeSet<String> = page
        .lines()
        .filter(|line| line.starts_with("| `jeton") && line.matches('|').count() == 4)
        .filter_map(|line| line.trim_end_matches('|').rsplit_once('|'))
        .map(|(start, _)| format!("{start}|"))
        .collect();
    let missing: Vec<&String> = used.difference(&listed).collect();
    let unused: Vec<&String> = listed.difference(&used).collect();
    assert!(
        missing.is_empty() && unused.is_empty(),
        "docs/reference/external-types.md\nwithout: {missing:#?}\nnot used: {unused:#?}"
    );
}

/// The names of a manifest's dependencies, as paths spell them.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let (_, behind) = manifest.split_once("\n[dependencies]\n").unwrap();
    let lines = behind.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.split(['.', ' ']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(|name| name.replace('-', "_"))
        .collect()
}

/// Records what each name stands for that a `use` brings in.
fn import(tree: &UseTree, before: &str, imports: &mut HashMap<String, String>) {
    match tree {
        UseTree::Path(path) => import(&path.tree, &format!("{before}{}::", path.ident), imports),
        UseTree::Name(name) if name.ident == "self" => {
            let module = before.trim_end_matches("::");
            let last = module.rsplit("::").next().unwrap_or(module);
            imports.insert(last.to_owned(), module.to_owned());
        }
        UseTree::Name(name) => {
            imports.insert(name.ident.to_string(), format!("{before}{}", name.ident));
        }
        UseTree::Rename(rename) => {
            imports.insert(
                rename.rename.to_string(),
                format!("{before}{}", rename.ident),
            );
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                import(tree, before, imports);
            }
        }
        UseTree::Glob(_) => {}
    }
}

/// The paths in a line of the listing, behind its module.
fn paths(line: &str) -> Vec<String> {
    let (_, item) = line.split_once(": ").unwrap();
    item.split(|c: char| !(c.is_ascii_alphanumeric() || "_:".contains(c)))
        .map(|word| word.trim_matches(':').to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the full path of a type or trait of another crate. Of jeton's own crates, only the name of the crate: they
/// are released together.
fn external(
    path: &str,
    imports: &HashMap<String, String>,
    crates: &BTreeSet<String>,
) -> Option<String> {
    let (first, rest) = path.split_once("::").unwrap_or((path, ""));
    let full = match imports.get(first) {
        Some(full) if rest.is_empty() => full.clone(),
        Some(full) => format!("{full}::{rest}"),
        None => path.to_owned(),
    };
    let (krate, inside) = full.split_once("::")?;
    if !crates.contains(krate) {
        return None;
    }
    if krate.starts_with("jeton") {
        return Some(krate.to_owned());
    }
    // A method or a variant is not a type.
    let parts = inside.split("::").collect::<Vec<_>>();
    let last = parts
        .iter()
        .position(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))?;
    Some(format!("{krate}::{}", parts[..=last].join("::")))
}
