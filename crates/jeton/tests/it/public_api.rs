//! `public-api.txt` lists the public API: every `pub` item of the sources with its signature, every public field
//! and variant, and every trait of a public type. This test fails if the API and the listing differ, so that
//! changes are visible in review. With `JETON_WRITE=1` it writes the listing instead.
//!
//! The lint `unreachable_pub` ensures that every `pub` item can be reached.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Fields, File, ImplItem, Item, TraitItem, Type, Visibility};

#[test]
fn public_api_matches_the_listing() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let lines: BTreeSet<String> = public_items(&root.join("src"), "jeton")
        .into_iter()
        .flat_map(|(_, lines)| lines)
        .collect();
    let mut listing = String::from(
        "# The public API of jeton. Written by tests/it/public_api.rs (JETON_WRITE=1).\n",
    );
    for line in lines {
        listing.push_str(&line);
        listing.push('\n');
    }
    let path = root.join("public-api.txt");
    if std::env::var_os("JETON_WRITE").is_some() {
        fs::write(&path, &listing).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let difference: Vec<&str> = written
        .lines()
        .filter(|line| !listing.lines().any(|other| other == *line))
        .chain(
            listing
                .lines()
                .filter(|line| !written.lines().any(|other| other == *line)),
        )
        .collect();
    assert!(
        written == listing,
        "the public API changed: JETON_WRITE=1 cargo test -p jeton --test it public_api\n{}",
        difference.join("\n")
    );
}

/// Every source file of a crate with its public items, one a line.
pub(crate) fn public_items(src: &Path, name: &str) -> Vec<(File, BTreeSet<String>)> {
    let mut files = Vec::new();
    read(src, name, &mut files);
    let public: HashSet<String> = files
        .iter()
        .flat_map(|(_, file)| file.items.iter().filter_map(public_type))
        .collect();
    let with_lines = |(module, file): (String, File)| {
        let mut lines = BTreeSet::new();
        for item in &file.items {
            list(item, &module, &public, &mut lines);
        }
        (file, lines)
    };
    files.into_iter().map(with_lines).collect()
}

/// Programs import a type from one place only, so that two names never mean the same.
#[test]
fn public_item_has_one_path() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let listing = fs::read_to_string(root.join("public-api.txt")).unwrap();
    let lines = || listing.lines().filter_map(|line| line.split_once(": "));
    let mut modules = vec!["jeton".to_owned()];
    modules
        .extend(lines().filter_map(|(module, item)| {
            Some(format!("{module}::{}", item.strip_prefix("mod ")?))
        }));
    // By module and name: the module that the name is imported from.
    let mut imports = HashMap::new();
    for (module, item) in lines() {
        let Some(path) = item.strip_prefix("use ") else {
            continue;
        };
        for (source, name) in imported(module, path) {
            imports.insert((module.to_owned(), name), source);
        }
    }
    let mut paths: HashMap<(String, String), Vec<&String>> = HashMap::new();
    for (module, name) in imports
        .keys()
        .filter(|(module, _)| modules.contains(module))
    {
        let mut origin = (module.clone(), name.clone());
        while let Some(source) = imports.get(&origin) {
            origin.0.clone_from(source);
        }
        if let Some(public) = modules.iter().find(|module| **module == origin.0) {
            paths.entry(origin.clone()).or_default().push(public);
        }
        paths.entry(origin).or_default().push(module);
    }
    paths.retain(|_, modules| modules.len() > 1);
    assert!(paths.is_empty(), "items with several paths: {paths:#?}");
}

/// Returns module and name of each import in a path such as `a::{B, C}`.
fn imported(module: &str, path: &str) -> Vec<(String, String)> {
    let (prefix, names) = match path.split_once('{') {
        Some((prefix, names)) => (prefix, names.trim_end_matches('}')),
        None => path.rsplit_once("::").unwrap_or(("", path)),
    };
    let prefix = prefix.trim_end_matches("::");
    let source = match (prefix.strip_prefix("crate"), prefix.strip_prefix("super")) {
        (Some(rest), _) => format!("jeton{rest}"),
        (_, Some(rest)) => format!("{}{rest}", module.rsplit_once("::").unwrap().0),
        _ => format!("{module}::{prefix}"),
    };
    let names = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    names
        .map(|name| (source.clone(), name.to_owned()))
        .collect()
}

/// Every source file with the path of its module.
fn read(folder: &Path, module: &str, files: &mut Vec<(String, File)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = match stem.as_str() {
            "mod" | "lib" => module.to_owned(),
            _ => format!("{module}::{stem}"),
        };
        if path.is_dir() {
            read(&path, &inner, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((inner, syn::parse_file(&text).unwrap()));
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn public_type(item: &Item) -> Option<String> {
    match item {
        Item::Struct(item) if is_public(&item.vis) => Some(item.ident.to_string()),
        Item::Enum(item) if is_public(&item.vis) => Some(item.ident.to_string()),
        _ => None,
    }
}

fn list(item: &Item, module: &str, public: &HashSet<String>, lines: &mut BTreeSet<String>) {
    let mut add = |line: String| {
        lines.insert(format!("{module}: {}", tidy(&line)));
    };
    match item {
        Item::Fn(item) if is_public(&item.vis) => add(tokens(&item.sig)),
        Item::Const(item) if is_public(&item.vis) => {
            add(format!("const {}: {}", item.ident, tokens(&item.ty)));
        }
        Item::Type(item) if is_public(&item.vis) => {
            let generics = tokens(&item.generics);
            add(format!(
                "type {}{generics} = {}",
                item.ident,
                tokens(&item.ty)
            ));
        }
        Item::Use(item) if is_public(&item.vis) => add(format!("use {}", tokens(&item.tree))),
        Item::Mod(item) if is_public(&item.vis) => add(format!("mod {}", item.ident)),
        Item::Struct(item) if is_public(&item.vis) => {
            let (name, generics) = (&item.ident, tokens(&item.generics));
            add(format!("{}struct {name}{generics}", derives(&item.attrs)));
            for (index, field) in item.fields.iter().enumerate() {
                if is_public(&field.vis) {
                    let field_name = match &field.ident {
                        Some(ident) => ident.to_string(),
                        None => index.to_string(),
                    };
                    add(format!("{name}.{field_name}: {}", tokens(&field.ty)));
                }
            }
        }
        Item::Enum(item) if is_public(&item.vis) => {
            let (name, generics) = (&item.ident, tokens(&item.generics));
            add(format!("{}enum {name}{generics}", derives(&item.attrs)));
            for variant in &item.variants {
                let fields = match &variant.fields {
                    Fields::Unit => String::new(),
                    fields => tokens(fields),
                };
                add(format!("{name}::{}{fields}", variant.ident));
            }
        }
        Item::Trait(item) if is_public(&item.vis) => {
            add(format!(
                "trait {}: {}",
                item.ident,
                tokens(&item.supertraits)
            ));
            for method in &item.items {
                if let TraitItem::Fn(method) = method {
                    add(format!("{}::{}", item.ident, tokens(&method.sig)));
                }
            }
        }
        Item::Impl(item) => {
            let Type::Path(path) = &*item.self_ty else {
                return;
            };
            let name = path.path.segments.last().unwrap().ident.to_string();
            if !public.contains(&name) {
                return;
            }
            let of = tokens(&item.self_ty);
            if let Some((_, of_trait, _)) = &item.trait_ {
                add(format!("impl {} for {of}", tokens(of_trait)));
                return;
            }
            for member in &item.items {
                match member {
                    ImplItem::Fn(method) if is_public(&method.vis) => {
                        add(format!("{of}::{}", tokens(&method.sig)));
                    }
                    ImplItem::Const(constant) if is_public(&constant.vis) => {
                        let (name, of_type) = (&constant.ident, tokens(&constant.ty));
                        add(format!("{of}::const {name}: {of_type}"));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// `#[derive(…)]` and `#[non_exhaustive]`, which are part of the API.
fn derives(attributes: &[Attribute]) -> String {
    let seen = attributes
        .iter()
        .filter(|a| a.path().is_ident("derive") || a.path().is_ident("non_exhaustive"));
    seen.map(|attribute| tokens(attribute) + " ").collect()
}

fn tokens(part: &impl ToTokens) -> String {
    part.to_token_stream().to_string()
}

/// Formats a line with normal spacing.
fn tidy(line: &str) -> String {
    let mut line = line.to_owned();
    for (spaced, tight) in [
        (" :: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" :", ":"),
        ("# [", "#["),
        (" ]", "]"),
        ("[ ", "["),
        ("{ ", "{"),
        (" }", "}"),
        (" ;", ";"),
        ("->", " ->"),
        ("  ", " "),
        (",)", ")"),
    ] {
        line = line.replace(spaced, tight);
    }
    line.trim_end().trim_end_matches(':').to_owned()
}
