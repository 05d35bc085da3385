//! Reads which paths a source names: its `use` declarations, and the paths in its code.

use std::collections::BTreeMap;

/// The segments of a path: `crate`, `key`, `SigAlg`.
pub(super) type Segments = Vec<String>;

/// What a source names.
#[derive(Default)]
pub(super) struct Imports {
    /// The paths of `use` declarations, by the name that each gives.
    pub(super) named: BTreeMap<String, Segments>,
    /// All paths, those of declarations first.
    pub(super) paths: Vec<Segments>,
}

impl Imports {
    /// Reads a source without its inline test modules.
    pub(super) fn read(text: &str) -> Imports {
        let tokens = without_tests(&tokens(text));
        let mut imports = Imports::default();
        let mut code = Vec::new();
        let mut rest = &tokens[..];
        while let Some((first, after)) = rest.split_first() {
            // `use<'a>` lists what a type captures.
            rest = if *first == "use" && after.first() != Some(&"<") {
                let end = after.iter().position(|token| *token == ";");
                let (tree, after) = after.split_at(end.unwrap_or(after.len()));
                imports.add_tree(&[], tree);
                after
            } else {
                code.push(*first);
                after
            };
        }
        imports.paths = imports.named.values().cloned().collect();
        imports.paths.extend(paths(&code));
        imports
    }

    /// Adds `a::{b, c as d}`, without `use` and `;`.
    fn add_tree(&mut self, prefix: &[String], tree: &[&str]) {
        if let Some(open) = tree.iter().position(|token| *token == "{") {
            let prefix: Segments = [prefix, &segments(&tree[..open])].concat();
            let close = tree.iter().rposition(|token| *token == "}");
            let inside = &tree[open + 1..close.unwrap_or(tree.len()).max(open + 1)];
            for part in split_at_commas(inside) {
                self.add_tree(&prefix, part);
            }
            return;
        }
        let alias = tree.iter().position(|token| *token == "as");
        let mut path: Segments = [prefix, &segments(&tree[..alias.unwrap_or(tree.len())])].concat();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = match alias {
            Some(at) => tree.get(at + 1).map(|name| (*name).to_owned()),
            None => path.last().cloned(),
        };
        if let Some(name) = name {
            self.named.insert(name, path);
        }
    }
}

fn segments(tokens: &[&str]) -> Segments {
    let names = tokens
        .iter()
        .filter(|token| is_name(token) && **token != "pub");
    names.map(|name| (*name).to_owned()).collect()
}

fn split_at_commas<'a>(tokens: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut depth = 0_usize;
    let parts = tokens.split(|token| {
        match *token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == ","
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// The paths with at least two segments.
fn paths(tokens: &[&str]) -> Vec<Segments> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let mut end = at + 1;
        while is_name(tokens[at])
            && tokens.get(end) == Some(&"::")
            && tokens.get(end + 1).is_some_and(|token| is_name(token))
        {
            end += 2;
        }
        if end > at + 1 {
            found.push(segments(&tokens[at..end]));
        }
        at = end;
    }
    found
}

/// Omits `#[cfg(test)] mod tests { … }`.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        let is_test = rest.starts_with(&["cfg", "(", "test", ")", "]"])
            || rest.starts_with(&["cfg", "(", "all", "(", "test", ","]);
        if is_test && let Some(body) = test_module(rest) {
            rest = body;
        } else {
            kept.push(*first);
            rest = after;
        }
    }
    kept
}

/// What follows an inline module, or none if another item follows.
fn test_module<'t, 'a>(tokens: &'t [&'a str]) -> Option<&'t [&'a str]> {
    let item = tokens.iter().position(|token| *token == "]")? + 1;
    let is_start = |token: &&str| matches!(*token, "{" | ";" | "(");
    let open = item + tokens[item..].iter().position(is_start)?;
    if tokens[open] != "{" || !tokens[item..open].contains(&"mod") {
        return None;
    }
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&tokens[index + 1..]);
        }
    }
    Some(&[])
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Names, `::` and single symbols. Comments, texts and lifetimes are left out.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(length) = ignored(rest) {
            length
        } else {
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
            let length = if first.is_alphanumeric() || first == '_' {
                rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            found.push(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    found
}

/// The length of white space, a comment, a text, a character or a lifetime at the start.
fn ignored(text: &str) -> Option<usize> {
    let until = |end: &str, from: usize| {
        let found = text[from..].find(end);
        found.map_or(text.len(), |at| from + at + end.len())
    };
    let first = text.chars().next()?;
    if first.is_whitespace() {
        return Some(first.len_utf8());
    }
    if text.starts_with("//") {
        return Some(until("\n", 2));
    }
    if text.starts_with("/*") {
        return Some(until("*/", 2));
    }
    let literal = text.strip_prefix('b').unwrap_or(text);
    let prefix = text.len() - literal.len();
    if literal.starts_with('"') {
        return Some(prefix + quoted(literal, '"'));
    }
    if let Some(raw) = literal.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            return Some(until(&end, prefix + 1 + hashes + 1));
        }
    }
    if literal.starts_with('\'') {
        let mut letters = literal.chars().skip(1);
        let (one, two) = (letters.next(), letters.next());
        if one == Some('\\') || two == Some('\'') {
            return Some(prefix + quoted(literal, '\''));
        }
        if prefix == 0 {
            return Some(1);
        }
    }
    None
}

/// The length of a literal that starts and ends with `quote`.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_and_paths_are_read() {
        let imports = Imports::read(
            "pub(crate) use crate::a::{self, B, c::{D as E, F}};\n\
             use super::g;\nfn f<'a>() { h::I::new('\\''); \"j::K\"; br#\"l::M\"#; } // n::O",
        );
        let path = |name: &str| imports.named.get(name).map(|path| path.join("::"));
        assert_eq!(path("a").as_deref(), Some("crate::a"));
        assert_eq!(path("B").as_deref(), Some("crate::a::B"));
        assert_eq!(path("E").as_deref(), Some("crate::a::c::D"));
        assert_eq!(path("F").as_deref(), Some("crate::a::c::F"));
        assert_eq!(path("g").as_deref(), Some("super::g"));
        assert_eq!(imports.named.len(), 5);
        let code = &imports.paths[5..];
        assert_eq!(code, [["h", "I", "new"]]);
    }

    #[test]
    fn test_modules_are_omitted() {
        let imports = Imports::read(
            "use crate::a;\n#[cfg(test)]\nmod tests { use crate::b; fn f() {} }\nuse crate::c;\n\
             #[cfg(all(test, feature = \"a\"))]\nmod more { use crate::d; }",
        );
        assert_eq!(imports.named.keys().collect::<Vec<_>>(), ["a", "c"]);
        let item = Imports::read("#[cfg(test)]\nfn f() { crate::b::g() }");
        assert_eq!(item.paths.len(), 1);
    }
}
