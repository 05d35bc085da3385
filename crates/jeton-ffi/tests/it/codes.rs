//! The numbers and names of the error codes, and their files for other languages. `JETON_WRITE=1` writes these files:
//! `cargo xtask sdk codes`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use jeton::error::codes::{self, Code};
use jeton_ffi::{NUMBERS, jeton_code_name};

use crate::api;

#[test]
fn every_code_has_one_number_and_its_name() {
    let mut numbers = BTreeSet::new();
    for (number, code) in NUMBERS {
        assert!(
            *number > 0 && numbers.insert(*number),
            "{number} occurs twice"
        );
        assert_eq!(api::name(*number), code.name());
        assert_eq!(codes::find(code.name()), Some(*code));
    }
    for code in codes::ALL {
        let count = NUMBERS.iter().filter(|(_, known)| *known == code).count();
        assert_eq!(count, 1, "{code}: add it at the end of NUMBERS");
    }
    for unknown in [0, -1, i32::MIN, i32::MAX] {
        assert!(jeton_code_name(unknown).is_null());
    }
}

/// Programs are compiled with the numbers.
#[test]
fn numbers_do_not_change() {
    let number = |name: &str| {
        NUMBERS
            .iter()
            .find(|(_, code)| code.name() == name)
            .unwrap()
            .0
    };
    for (name, expected) in [
        ("TOKEN_EXPIRED", 1),
        ("TOKEN_COMPRESSED", 22),
        ("KEY_MALFORMED", 23),
        ("INTERNAL", 95),
        ("PREPARED_TOKEN_USED", 123),
    ] {
        assert_eq!(number(name), expected, "{name}");
    }
}

#[test]
fn files_of_other_languages_match_the_table() {
    assert_written(
        "codes",
        &[
            ("crates/jeton-ffi/include/jeton_codes.h", c()),
            ("sdk/go/internal/core/jeton_codes.h", c()),
            ("sdk/go/codes.go", go()),
            ("sdk/node/src/codes.ts", typescript()),
            ("sdk/python/python/jeton/_codes.py", python()),
            (
                "sdk/java/core/src/main/java/io/github/jeton/ErrorCode.java",
                java(),
            ),
        ],
    );
}

/// A file of the repository.
fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// Returns the text of a file of the repository.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(file(path)).unwrap_or_default()
}

/// Compares files of the repository with what the tables say. `JETON_WRITE=1` writes them first.
pub(crate) fn assert_written(name: &str, files: &[(&str, String)]) {
    let mut stale = Vec::new();
    for (path, text) in files {
        let file = file(path);
        if std::env::var_os("JETON_WRITE").is_some() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
        }
        if read(path) != *text {
            stale.push(path);
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {stale:?}; run cargo xtask sdk {name}"
    );
}

const NOTE: &str = "Written from crates/jeton/src/error/codes.rs by `cargo xtask sdk codes`. Do not change it here.";

/// The codes that a library returns, without the codes of the token service.
fn of_library() -> impl Iterator<Item = (i32, &'static Code)> {
    let all = NUMBERS.iter().map(|(number, code)| (*number, *code));
    all.filter(|(_, code)| !code.is_of_service())
}

/// `TOKEN_EXPIRED` as `TokenExpired`.
fn camel(code: &Code) -> String {
    let words = code.name().split('_');
    words
        .map(|word| format!("{}{}", &word[..1], word[1..].to_ascii_lowercase()))
        .collect()
}

fn c() -> String {
    let mut text = format!(
        "// The error codes.\n//\n// {NOTE}\n\n#ifndef JETON_CODES_H\n#define JETON_CODES_H\n\n"
    );
    for (number, code) in of_library() {
        writeln!(text, "// {}\n#define JETON_{code} {number}", code.meaning()).unwrap();
    }
    text + "\n#endif\n"
}

fn go() -> String {
    let mut text = format!(
        "// {NOTE}\n\npackage jeton\n\n// A Code says why something failed. It is stable, and the same in every language.\ntype Code int32\n\nconst (\n"
    );
    for (number, code) in of_library() {
        writeln!(
            text,
            "\t// {}\n\tCode{} Code = {number}",
            code.meaning(),
            camel(code)
        )
        .unwrap();
    }
    text += ")\n\n// The codes as errors, for [errors.Is].\nconst (\n";
    let width = of_library()
        .map(|(_, code)| camel(code).len())
        .max()
        .unwrap();
    for (_, code) in of_library() {
        let name = camel(code);
        writeln!(text, "\tErr{name:width$} = Code{name}").unwrap();
    }
    text += ")\n\nvar codeNames = map[Code]string{\n";
    for (_, code) in of_library() {
        let name = camel(code);
        let space = " ".repeat(width - name.len() + 1);
        writeln!(text, "\tCode{name}:{space}\"{code}\",").unwrap();
    }
    text + "}\n"
}

fn typescript() -> String {
    let mut text = format!(
        "// {NOTE}\n\n/** The error codes with their numbers. */\nexport const codes = {{\n"
    );
    for (number, code) in of_library() {
        writeln!(text, "  /** {} */\n  {code}: {number},", code.meaning()).unwrap();
    }
    text + "} as const\n\n/** Why something failed. It is stable, and the same in every language. */\nexport type Code = keyof typeof codes\n"
}

fn python() -> String {
    let mut text = format!(
        "# {NOTE}\n\"\"\"The error codes: what each means, and what to do.\"\"\"\n\nCODES = {{\n"
    );
    for (_, code) in of_library() {
        let (meaning, action) = (code.meaning(), code.action());
        write!(text, "    \"{code}\": \"{meaning} \"\n    \"{action}\",\n").unwrap();
    }
    text + "}\n"
}

fn java() -> String {
    let mut text = format!(
        "// {NOTE}\npackage io.github.jeton;\n\n/** Why something failed. The names are stable, and the same in every language. */\npublic enum ErrorCode {{\n"
    );
    let all: Vec<_> = of_library().collect();
    for (index, (number, code)) in all.iter().enumerate() {
        let end = if index + 1 == all.len() { ';' } else { ',' };
        writeln!(
            text,
            "    /** {} */\n    {code}({number}){end}",
            code.meaning()
        )
        .unwrap();
    }
    text + "\n    private final int number;\n\n    ErrorCode(int number) {\n        this.number = number;\n    }\n\n    int number() {\n        return number;\n    }\n}\n"
}
