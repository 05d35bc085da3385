//! `public-api.txt` lists the public API: every item that a user can reach, under the path that the user writes, with its
//! signature, every public field and variant, and every trait of a public type. Hidden items (`#[doc(hidden)]`) are left
//! out. This test fails if the API and the listing differ, so that changes are visible in review. With `JETON_WRITE=1` it
//! writes the listing instead.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{
    Attribute, Fields, File, ImplItem, Item, ItemImpl, TraitItem, Type, UseTree, Visibility,
};

use crate::macro_items;

#[test]
fn public_api_matches_the_listing() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let lines = reachable_items(&root.join("src"), "jeton");
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
    let mut files = Vec::new();
    read(&root.join("src"), "jeton", &mut files);
    let modules = modules(&files);
    let mut paths = reachable(&modules, "jeton");
    paths.retain(|_, paths| paths.len() > 1);
    assert!(paths.is_empty(), "items with several paths: {paths:#?}");
}

/// Where an item is: the module, and the name in it.
type Place = (String, String);

type Modules<'f> = HashMap<String, &'f [Item]>;

/// The items of each module, also of inline modules.
fn modules(files: &[(String, File)]) -> Modules<'_> {
    let mut modules = HashMap::new();
    for (module, file) in files {
        add_module(module.clone(), &file.items, &mut modules);
    }
    modules
}

fn add_module<'f>(module: String, items: &'f [Item], modules: &mut Modules<'f>) {
    for item in items {
        if let Item::Mod(inner) = item
            && let Some((_, content)) = &inner.content
        {
            add_module(format!("{module}::{}", inner.ident), content, modules);
        }
    }
    modules.insert(module, items);
}

/// The lines of all items that a user can reach.
fn reachable_items(src: &Path, name: &str) -> BTreeSet<String> {
    let mut files = Vec::new();
    read(src, name, &mut files);
    let modules = modules(&files);
    let reachable = reachable(&modules, name);
    let is_of_hidden_trait = |item: &ItemImpl, module: &String| {
        let last = item
            .trait_
            .as_ref()
            .and_then(|(_, path, _)| path.segments.last());
        let of_trait = last.map(|segment| segment.ident.to_string());
        let origin = of_trait.and_then(|of_trait| resolve(&modules, name, module, &of_trait, 0));
        origin.is_some_and(|place| !reachable.contains_key(&place))
    };
    let mut lines = BTreeSet::new();
    for (module, items) in &modules {
        for item in *items {
            let Some(listed) = name_of(item) else {
                continue;
            };
            let origin = match item {
                // Of a trait that only the crate can name.
                Item::Impl(item) if is_of_hidden_trait(item, module) => None,
                Item::Impl(_) => resolve(&modules, name, module, &listed, 0),
                _ => Some((module.clone(), listed.clone())),
            };
            for (public, alias) in origin
                .iter()
                .filter_map(|place| reachable.get(place))
                .flatten()
            {
                let names = HashSet::from([listed.clone()]);
                list(item, public, &names, &mut lines);
                if *alias != listed && !matches!(item, Item::Impl(_)) {
                    lines.insert(format!("{public}: use {module}::{listed} as {alias}"));
                }
            }
        }
    }
    lines
}

/// The public paths of each item that a user can reach.
fn reachable(modules: &Modules<'_>, root: &str) -> HashMap<Place, BTreeSet<Place>> {
    let mut reachable: HashMap<Place, BTreeSet<Place>> = HashMap::new();
    let mut queue = vec![root.to_owned()];
    let mut seen = HashSet::new();
    while let Some(module) = queue.pop() {
        if !seen.insert(module.clone()) {
            continue;
        }
        for item in modules.get(&module).copied().unwrap_or_default() {
            let Some((visibility, attributes)) = visibility(item) else {
                continue;
            };
            if !is_public(visibility) || is_hidden(attributes) {
                continue;
            }
            let mut reach = |origin: Place, name: String| {
                let path = format!("{}::{}", origin.0, origin.1);
                if modules.contains_key(&path) {
                    queue.push(path);
                }
                let paths = reachable.entry(origin).or_default();
                paths.insert((module.clone(), name));
            };
            if let Item::Use(item) = item {
                for (path, name) in imports(&item.tree) {
                    let source = absolute(modules, root, &module, &path);
                    let (inside, last) = source.rsplit_once("::").unwrap();
                    let origin = resolve(modules, root, inside, last, 0);
                    if let Some(origin) = origin {
                        reach(origin, name);
                    }
                }
            } else if let Some(name) = name_of(item) {
                reach((module.clone(), name.clone()), name);
            }
        }
    }
    reachable
}

/// Returns where the item is defined that has this name in a module.
fn resolve(
    modules: &Modules<'_>,
    root: &str,
    module: &str,
    name: &str,
    depth: u32,
) -> Option<Place> {
    let items = modules.get(module).filter(|_| depth < 16)?;
    let defines = |item: &Item| {
        !matches!(item, Item::Impl(_)) && name_of(item).is_some_and(|defined| defined == name)
    };
    if items.iter().any(defines) {
        return Some((module.to_owned(), name.to_owned()));
    }
    let uses = items.iter().filter_map(|item| match item {
        Item::Use(item) => Some(imports(&item.tree)),
        _ => None,
    });
    let (path, _) = uses.flatten().find(|(_, imported)| imported == name)?;
    let source = absolute(modules, root, module, &path);
    let (inside, last) = source.rsplit_once("::")?;
    resolve(modules, root, inside, last, depth + 1)
}

/// Returns a path of a `use` from the root of the crate.
fn absolute(modules: &Modules<'_>, root: &str, module: &str, path: &[String]) -> String {
    let mut base = module.to_owned();
    let mut rest = path;
    while let [first, others @ ..] = rest {
        match first.as_str() {
            "crate" => base = root.to_owned(),
            "self" => {}
            "super" => base = base.rsplit_once("::").unwrap().0.to_owned(),
            _ => break,
        }
        rest = others;
    }
    // The first name may be a module that is imported.
    if let [first, _, ..] = rest
        && !modules.contains_key(&format!("{base}::{first}"))
        && let Some((inside, last)) = resolve(modules, root, &base, first, 1)
    {
        let parts = [inside, last].into_iter().chain(rest[1..].iter().cloned());
        return parts.collect::<Vec<_>>().join("::");
    }
    let parts = std::iter::once(base).chain(rest.iter().cloned());
    parts.collect::<Vec<_>>().join("::")
}

/// Returns path and name of each import.
fn imports(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let mut inner = imports(&path.tree);
            for (segments, name) in &mut inner {
                if segments.last().is_some_and(|last| last == "self") {
                    segments.pop();
                    *name = path.ident.to_string();
                }
                segments.insert(0, path.ident.to_string());
            }
            inner
        }
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(name) => vec![(vec![name.ident.to_string()], name.rename.to_string())],
        UseTree::Group(group) => group.items.iter().flat_map(imports).collect(),
        UseTree::Glob(_) => Vec::new(),
    }
}

/// Returns the name of an item, and for an `impl` the name of its type.
fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Const(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Mod(item) => item.ident.to_string(),
        Item::Impl(item) => match &*item.self_ty {
            Type::Path(path) => path.path.segments.last()?.ident.to_string(),
            _ => return None,
        },
        _ => return None,
    })
}

fn visibility(item: &Item) -> Option<(&Visibility, &[Attribute])> {
    Some(match item {
        Item::Fn(item) => (&item.vis, &item.attrs),
        Item::Const(item) => (&item.vis, &item.attrs),
        Item::Type(item) => (&item.vis, &item.attrs),
        Item::Struct(item) => (&item.vis, &item.attrs),
        Item::Enum(item) => (&item.vis, &item.attrs),
        Item::Trait(item) => (&item.vis, &item.attrs),
        Item::Mod(item) => (&item.vis, &item.attrs),
        Item::Use(item) => (&item.vis, &item.attrs),
        _ => return None,
    })
}

/// Whether the documentation leaves the item out.
fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("doc") && tokens(attribute).contains("hidden"))
}

/// Every source file with the path of its module, and with the items that macros define.
fn read(folder: &Path, module: &str, files: &mut Vec<(String, File)>) {
    parse(folder, module, files);
    macro_items::expand(files);
}

fn parse(folder: &Path, module: &str, files: &mut Vec<(String, File)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = match stem.as_str() {
            "mod" | "lib" => module.to_owned(),
            _ => format!("{module}::{stem}"),
        };
        if path.is_dir() {
            parse(&path, &inner, files);
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
                if let TraitItem::Fn(method) = method
                    && !is_hidden(&method.attrs)
                {
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
                    ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
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
