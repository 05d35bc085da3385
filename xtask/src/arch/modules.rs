//! Modules of a crate import one way: the modules of one folder name each other without a circle.
//!
//! A module and its own submodules are one module for its neighbours. A name that a module re-exports counts as the
//! module that defines it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::imports::Imports;

/// A module, as its path inside the crate: `["key", "algorithm"]`. The root has none.
type Module = Vec<String>;

/// Which module names which in one folder, with a file and a path as evidence.
type Arrows = BTreeMap<Module, BTreeMap<Module, String>>;

/// The circles in the crates that these sources are of. Sources outside `src/` are tests.
pub(super) fn check(sources: &[(String, String)]) -> Vec<String> {
    crates_of(sources)
        .into_iter()
        .flat_map(|(root, found)| circles(root, &found.arrows()))
        .collect()
}

/// The modules of each crate, by its folder.
fn crates_of(sources: &[(String, String)]) -> BTreeMap<&str, Crate> {
    let mut crates: BTreeMap<&str, Crate> = BTreeMap::new();
    for (path, text) in sources {
        if let Some((root, inside)) = path.split_once("/src/")
            && let Some(module) = module_of(inside)
        {
            let known = crates.entry(root).or_default();
            known
                .modules
                .insert(module, (path.clone(), Imports::read(text)));
        }
    }
    crates
}

/// The module of a file below `src/`, or none for tests and programs.
fn module_of(inside: &str) -> Option<Module> {
    let mut module: Module = inside
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    if module
        .iter()
        .any(|name| name == "tests" || name == "bin" || name.ends_with("_test"))
    {
        return None;
    }
    let last = module.last().map(String::as_str);
    if last == Some("mod") || (module.len() == 1 && matches!(last, Some("lib" | "main"))) {
        module.pop();
    }
    Some(module)
}

#[derive(Default)]
struct Crate {
    modules: BTreeMap<Module, (String, Imports)>,
}

impl Crate {
    /// What the modules of each folder name of their neighbours.
    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (from, (path, imports)) in &self.modules {
            for named in &imports.paths {
                let Some(to) = self.target(from, imports, named) else {
                    continue;
                };
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if shared == from.len() || shared == to.len() {
                    continue;
                }
                let evidence = format!("{path}: {}", named.join("::"));
                arrows
                    .entry(from[..=shared].to_vec())
                    .or_default()
                    .entry(to[..=shared].to_vec())
                    .or_insert(evidence);
            }
        }
        arrows
    }

    /// The module that a path of a source leads to.
    fn target(&self, from: &Module, imports: &Imports, named: &[String]) -> Option<Module> {
        let first = named.first()?;
        let is_relative = matches!(first.as_str(), "crate" | "self" | "super");
        match imports.named.get(first) {
            Some(import) if !is_relative && named.len() > 1 => {
                let whole = [import, &named[1..]].concat();
                self.resolve(from, &whole, 0)
            }
            _ => self.resolve(from, named, 0),
        }
    }

    /// Follows a path, through names that modules re-export.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        // A re-export of a re-export, but not a name that leads to itself.
        if depth > 8 {
            return None;
        }
        let mut module = from.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => {
                module.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            name if self.modules.contains_key(&child(&module, name)) => {}
            _ => return None,
        }
        while let Some((name, after)) = rest.split_first() {
            let inner = child(&module, name);
            if self.modules.contains_key(&inner) {
                module = inner;
                rest = after;
                continue;
            }
            let (_, imports) = self.modules.get(&module)?;
            if let Some(import) = imports.named.get(name)
                && import != path
            {
                let whole = [import, after].concat();
                return self.resolve(&module, &whole, depth + 1).or(Some(module));
            }
            break;
        }
        Some(module)
    }
}

fn child(module: &Module, name: &str) -> Module {
    let mut inner = module.clone();
    inner.push(name.to_owned());
    inner
}

/// One shortest circle for each set of modules that reach each other.
fn circles(root: &str, arrows: &Arrows) -> Vec<String> {
    let mut found: Vec<Vec<Module>> = arrows
        .keys()
        .filter_map(|start| circle_through(start, arrows))
        .collect();
    found.sort_by_key(Vec::len);
    let mut reported = BTreeSet::new();
    let mut broken = Vec::new();
    for circle in found {
        if circle.iter().any(|module| reported.contains(module)) {
            continue;
        }
        let mut text = format!("{root}: modules import each other:");
        for (index, module) in circle.iter().enumerate() {
            let next = &circle[(index + 1) % circle.len()];
            text += &format!(
                "\n    {} uses {} ({})",
                module.join("::"),
                next.join("::"),
                arrows[module][next]
            );
        }
        broken.push(text);
        reported.extend(circle);
    }
    broken
}

/// The shortest way from a module back to it.
fn circle_through(start: &Module, arrows: &Arrows) -> Option<Vec<Module>> {
    let mut before: BTreeMap<&Module, &Module> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(at) = waiting.pop_front() {
        for next in arrows.get(at).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut circle = vec![at.clone()];
                while let Some(module) = before.get(&circle[circle.len() - 1]) {
                    circle.push((*module).clone());
                }
                circle.reverse();
                return Some(circle);
            }
            if next != start && !before.contains_key(next) {
                before.insert(next, at);
                waiting.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Workspace;

    fn sources(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(path, text): &(&str, &str)| (format!("c/src/{path}"), (*text).to_owned());
        files.iter().map(owned).collect()
    }

    #[test]
    fn circle_is_named_with_its_arrows() {
        let broken = check(&sources(&[
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "fn f() -> crate::A { todo }"),
        ]));
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert!(broken[0].contains("a uses b (c/src/a.rs: crate::b::B)"));
        assert!(broken[0].contains("b uses a (c/src/b.rs: crate::A)"));
    }

    #[test]
    fn one_direction_passes() {
        let broken = check(&sources(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod c; use super::b::B; pub use c::C;"),
            ("a/c.rs", "use super::super::b; use super::D;"),
            ("b.rs", "#[cfg(test)] mod tests { use crate::a::C; }"),
            ("b_test.rs", "use crate::a::C; use crate::b::B;"),
        ]));
        assert_eq!(broken, [""; 0]);
    }

    #[test]
    fn circle_in_a_folder_is_found() {
        let broken = check(&sources(&[
            ("a/mod.rs", "mod b; mod c; pub use c::C;"),
            ("a/b.rs", "use super::C;"),
            ("a/c.rs", "use crate::a::b;"),
        ]));
        assert!(
            broken.len() == 1 && broken[0].contains("a::b uses a::c"),
            "{broken:?}"
        );
    }

    #[test]
    fn planted_circle_is_found_in_each_crate() {
        let workspace = Workspace::here();
        let all = super::super::files::sources(&workspace).expect("git lists the sources");
        assert_eq!(check(&all), [""; 0]);
        let mut planted = 0;
        for (root, found) in crates_of(&all) {
            // A crate of one module has no circle.
            let Some((from, to)) = found
                .arrows()
                .into_iter()
                .find(|(from, _)| from.len() == 1)
                .and_then(|(from, to)| Some((from, to.into_keys().next()?)))
            else {
                continue;
            };
            let (path, _) = &found.modules[&to];
            let mut changed = all.clone();
            for (other, text) in &mut changed {
                if other == path {
                    text.insert_str(0, &format!("use crate::{};\n", from[0]));
                }
            }
            let broken = check(&changed);
            assert!(
                broken
                    .iter()
                    .any(|circle| circle.starts_with(&format!("{root}: "))),
                "{root}: {broken:?}"
            );
            planted += 1;
        }
        assert!(planted >= 20, "{planted} crates have two modules");
    }
}
