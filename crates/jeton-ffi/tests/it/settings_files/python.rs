//! The parameters of Python's classes, their documentation, and the names that differ.

use jeton_bindings::settings::{ISSUER, Kind, REMOTE_KEYS, Setting, VERIFIER};

use super::names::{Language, name};
use super::{Section, WIDTH, lower_first, sentences, with_sections, wrapped, written};

const END: &str = "# END SETTINGS\n";

pub(super) fn files() -> Vec<(&'static str, String)> {
    let mut files: Vec<_> = [
        ("sdk/python/python/jeton/_issuer.py", ISSUER),
        ("sdk/python/python/jeton/_verifier.py", VERIFIER),
    ]
    .map(|(path, rows)| {
        let sections = [
            Section {
                begin: "\n    Settings:\n\n",
                end: "\n\n",
                text: list(rows),
            },
            Section {
                begin: "\n        # BEGIN SETTINGS: written by `cargo xtask sdk settings`.\n",
                end: END,
                text: lines(rows, "        ", |row| {
                    let (kind, default) = kind_of(row.kind);
                    format!(
                        "{}: {kind} = {default}",
                        super::name_of(row, Language::Python)
                    )
                }),
            },
            Section {
                begin: "\n            # BEGIN SETTINGS: written by `cargo xtask sdk settings`.\n",
                end: END,
                text: lines(rows, "            ", |row| {
                    format!("{}={}", row.name, value(row))
                }),
            },
        ];
        (path, with_sections(path, &sections))
    })
    .into();
    let path = "sdk/python/python/jeton/_errors.py";
    let section = Section {
        begin: "# BEGIN SETTINGS: written by `cargo xtask sdk settings`.\n",
        end: END,
        text: names(),
    };
    files.push((path, with_sections(path, &[section])));
    files
}

fn lines(rows: &'static [Setting], space: &str, line: impl Fn(&Setting) -> String) -> String {
    let lines = written(rows, Language::Python).map(|row| format!("{space}{},\n", line(row)));
    lines.collect::<String>() + space
}

fn list(rows: &'static [Setting]) -> String {
    let items = written(rows, Language::Python).map(|row| {
        let about = lower_first(&sentences(row, rows, Language::Python));
        let unit = if row.kind == Kind::Seconds {
            " Pass a `timedelta` or seconds."
        } else {
            ""
        };
        let name = super::name_of(row, Language::Python);
        wrapped(
            &format!("`{name}`: {about}{unit}"),
            "    - ",
            "      ",
            WIDTH,
        )
    });
    let items: Vec<String> = items.collect();
    items.join("\n")
}

/// The type of a parameter, and its default.
fn kind_of(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Flag => ("bool", "False"),
        Kind::Text | Kind::Algorithm | Kind::SignatureAlgorithm | Kind::Encryption => {
            ("str | None", "None")
        }
        Kind::Texts | Kind::Encryptions => ("Texts | None", "None"),
        Kind::List => ("Sequence[str]", "()"),
        Kind::Object => ("dict[str, Any] | None", "None"),
        Kind::Seconds => ("timedelta | int | None", "None"),
        Kind::Count => ("int | None", "None"),
        Kind::Serialization => ("Serialization | None", "None"),
        Kind::Format | Kind::Limits | Kind::Key => panic!("{kind:?}: write it by hand"),
    }
}

/// The value for `to_json`.
fn value(row: &Setting) -> String {
    let name = super::name_of(row, Language::Python);
    match row.kind {
        Kind::Texts | Kind::Encryptions => format!("texts(\"{name}\", {name})"),
        Kind::List => format!("listed(\"{name}\", {name})"),
        Kind::Seconds => format!("whole_seconds(\"{name}\", {name})"),
        _ => name,
    }
}

/// The parameters with another name than the setting. No other setting has that name.
fn names() -> String {
    let rows = [ISSUER, VERIFIER, REMOTE_KEYS].into_iter().flatten();
    let mut names: Vec<String> = rows
        .filter_map(|row| Some((row.name, name(row, Language::Python)?)))
        .filter(|(setting, parameter)| setting != parameter)
        .map(|(setting, parameter)| format!("    \"{setting}\": \"{parameter}\",\n"))
        .collect();
    names.sort();
    names.dedup();
    format!("_PARAMETERS = {{\n{}}}\n", names.concat())
}
