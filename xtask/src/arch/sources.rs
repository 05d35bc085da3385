//! Rules for Rust sources and manifests that a lint keeps only where a manifest asks for it.

/// The crates that may use `unsafe`: a global allocator needs it, and so do a function of the C library, a C interface,
/// JNI and Node-API.
const ALLOWED_UNSAFE: [&str; 5] = [
    "crates/jeton-ffi/",
    "crates/jeton-heap/",
    "crates/jeton-testkit/",
    "sdk/java/native/",
    "sdk/node/native/",
];

/// Whether a file may use `unsafe`.
fn may_be_unsafe(path: &str) -> bool {
    ALLOWED_UNSAFE.iter().any(|folder| path.starts_with(folder))
}

/// The macro of libFuzzer expands to an unsafe attribute, so no lint can forbid it there. The check of
/// sources covers the targets.
const LINT_IMPOSSIBLE: &str = "fuzz/";

/// Modules of `std` that the library does not use: it does no I/O and reads nothing of its surroundings.
const NOT_IN_THE_LIBRARY: [&str; 4] = ["env", "fs", "net", "process"];

/// A library source: clippy checks its types and methods, and this its imports and paths.
const LIBRARY: &str = "crates/jeton/src/";

/// The library's insecure and legacy features. `danger` re-exports them from the module of their format, so
/// only the crate's root names it.
const DANGER: [&str; 2] = ["crates/jeton/src/danger/", "crates/jeton/src/lib.rs"];

/// What is wrong in one source or manifest. `text_of` reads another tracked file.
pub(super) fn check(
    path: &str,
    text: &str,
    text_of: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    if path.ends_with("Cargo.toml") {
        return manifest(path, text, text_of).into_iter().collect();
    }
    let mut broken = Vec::new();
    for (index, line) in code(text) {
        let mut add = |why: &str| broken.push(format!("{path}:{}: {why}", index + 1));
        if UNFINISHED.iter().any(|name| calls(line, name)) {
            add("unfinished code: write it, or return an error that says so");
        }
        if !may_be_unsafe(path) && is_unsafe(line) {
            add("`unsafe`: find a safe way, or a crate that has it");
        }
        if path.starts_with(LIBRARY)
            && let Some(module) = forbidden_module(line)
        {
            add(&format!(
                "`std::{module}` in the library: take bytes from the caller"
            ));
        }
        if path.starts_with(LIBRARY)
            && !DANGER.iter().any(|part| path.starts_with(part))
            && has_word(line, "danger")
        {
            add("`danger` only re-exports: import from the module that implements it");
        }
    }
    broken
}

const UNFINISHED: [&str; 2] = ["todo", "unimplemented"];

/// Whether the line calls the macro `name`.
fn calls(line: &str, name: &str) -> bool {
    (line.match_indices(name)).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let starts = !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        starts && line[at + name.len()..].starts_with("!(")
    })
}

/// Whether the line has the keyword `unsafe`; `unsafe_code` is the name of a lint.
fn is_unsafe(line: &str) -> bool {
    has_word(line, "unsafe")
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .any(|found| found == word)
}

/// The lines that are not comments or parts of a string, with their index.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index, line.trim()))
        .filter(|(_, line)| !line.starts_with("//") && !line.contains('"'))
}

/// The module in `std::MODULE` or `use std::{MODULE…}`.
fn forbidden_module(line: &str) -> Option<&'static str> {
    let starts = |rest: &str, module: &str| {
        rest.strip_prefix(module).is_some_and(|end| {
            !end.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        })
    };
    line.match_indices("std::").find_map(|(at, found)| {
        let rest = &line[at + found.len()..];
        let named: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => list.split([',', '{', '}']).map(str::trim).collect(),
            None => vec![rest],
        };
        (NOT_IN_THE_LIBRARY.into_iter())
            .find(|module| named.iter().any(|rest| starts(rest, module)))
    })
}

/// A package forbids `unsafe`: by the workspace's lints, by its own, or in its root.
fn manifest(path: &str, text: &str, text_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_excepted = may_be_unsafe(path) || path.starts_with(LINT_IMPOSSIBLE);
    if !text.contains("[package]") || is_excepted {
        return None;
    }
    let by_lints = section_has(text, "[lints]", "workspace = true")
        || section_has(text, "[lints.rust]", "unsafe_code = \"forbid\"");
    let folder = path.trim_end_matches("Cargo.toml");
    let in_root = |root: &str| {
        text_of(&format!("{folder}{root}"))
            .is_none_or(|text| text.lines().any(|line| line == "#![forbid(unsafe_code)]"))
    };
    let roots = ["src/lib.rs", "src/main.rs"];
    let exists = |root: &str| text_of(&format!("{folder}{root}")).is_some();
    let by_roots = roots.iter().any(|root| exists(root)) && roots.iter().all(|root| in_root(root));
    (!by_lints && !by_roots).then(|| {
        format!(
            "{path}: forbid unsafe code: `[lints] workspace = true`, `unsafe_code = \"forbid\"` under [lints.rust], or \
             `#![forbid(unsafe_code)]` in its root"
        )
    })
}

fn section_has(manifest: &str, section: &str, line: &str) -> bool {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|at| *at != section)
        .skip(1)
        .take_while(|at| !at.starts_with('['))
        .any(|at| at == line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY_FILE: &str = "crates/jeton/src/a.rs";

    fn found(path: &str, text: &str) -> usize {
        check(path, text, |_| None).len()
    }

    #[test]
    fn module_of_io_in_the_library_fails() {
        assert_eq!(found(LIBRARY_FILE, "use std::fs;"), 1);
        assert_eq!(found(LIBRARY_FILE, "use std::{fmt, net::IpAddr};"), 1);
        assert_eq!(found(LIBRARY_FILE, "let _ = std::env::var(name);"), 1);
        assert_eq!(found(LIBRARY_FILE, "use std::fmt;\n// std::fs"), 0);
        assert_eq!(found("crates/jeton-cli/src/a.rs", "use std::fs;"), 0);
    }

    #[test]
    fn import_from_danger_in_the_library_fails() {
        let import = "use crate::danger::Password;";
        assert_eq!(found(LIBRARY_FILE, import), 1);
        assert_eq!(found(LIBRARY_FILE, "use crate::{base64, danger};"), 1);
        assert_eq!(found(LIBRARY_FILE, "let alg = super::danger::RSA1_5;"), 1);
        assert_eq!(found(LIBRARY_FILE, "/// [`danger`](crate::danger)"), 0);
        assert_eq!(found("crates/jeton/src/danger/mod.rs", import), 0);
        assert_eq!(found("crates/jeton/src/lib.rs", "pub mod danger;"), 0);
        assert_eq!(found("crates/jeton-cli/src/a.rs", import), 0);
    }

    #[test]
    fn unfinished_code_fails_in_every_source() {
        let unfinished = ["todo", "!()"].concat();
        assert_eq!(found("drivers/rust/a/src/main.rs", &unfinished), 1);
        assert_eq!(
            found("drivers/rust/a/src/main.rs", &format!("// {unfinished}")),
            0
        );
        assert_eq!(
            found("drivers/rust/a/src/main.rs", &format!("my_{unfinished}")),
            0
        );
    }

    #[test]
    fn unsafe_code_fails_outside_the_two_crates() {
        let code = "    unsafe { call() }";
        assert_eq!(found("fuzz/fuzz_targets/a.rs", code), 1);
        assert_eq!(found("crates/jeton-testkit/src/lib.rs", code), 0);
        assert_eq!(found("crates/jeton-ffi/src/handle.rs", code), 0);
        for other in ["jeton", "jeton-ffi-more", "jeton-jwks", "jeton-server"] {
            assert_eq!(
                found(&format!("crates/{other}/src/lib.rs"), code),
                1,
                "{other}"
            );
        }
        assert_eq!(
            found("fuzz/fuzz_targets/a.rs", "#![forbid(unsafe_code)]"),
            0
        );
    }

    #[test]
    fn package_without_a_ban_on_unsafe_fails() {
        let bare = "[package]\nname = \"a\"\n";
        let path = "drivers/rust/a/Cargo.toml";
        assert_eq!(found(path, bare), 1);
        assert_eq!(
            found(path, &format!("{bare}[lints]\nworkspace = true\n")),
            0
        );
        let own = format!("{bare}[lints.rust]\nunsafe_code = \"forbid\"\n");
        assert_eq!(found(path, &own), 0);
        let root = |path: &str| {
            path.ends_with("main.rs")
                .then(|| "#![forbid(unsafe_code)]\n".to_owned())
        };
        assert_eq!(check(path, bare, root).len(), 0);
    }
}
