//! Rules for one Rust file. The file is read as tokens, so that a word in a comment or in a
//! string is not mistaken for code.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use super::Violation;
use super::tree::empty_word;

/// The one crate that may say `unsafe`: a global allocator cannot be written without it.
pub(super) const ALLOWED_UNSAFE: &str = "crates/jeton-testkit/";

/// A line of code has at least one token: blank lines and comments, also those for
/// rustdoc, are free. Aim for 400.
const MAX_LINES_OF_CODE: usize = 600;

/// Generated code: a test of its crate writes it, and nobody edits it.
const GENERATED: &str = "/src/generated/";

/// The library does no I/O and asks nothing of its surroundings.
const NOT_IN_THE_LIBRARY: &[&str] = &["env", "fs", "net", "process"];

/// The one file of the library that knows the system's time.
const CLOCK: &str = "crates/jeton/src/clock.rs";

/// Every rule that `text`, the file at `path`, breaks.
pub(super) fn check(path: &str, text: &str) -> Vec<Violation> {
    let stream: TokenStream = match text.parse() {
        Ok(stream) => stream,
        Err(error) => {
            let line = error.span().start().line;
            return vec![Violation::new(
                path,
                line,
                format!("cannot be read: {error}"),
            )];
        }
    };
    let tokens = flatten(stream);
    let mut violations = Vec::new();
    let mut found = |line: usize, what: String| violations.push(Violation::new(path, line, what));

    let lines = lines_of_code(&tokens);
    if lines > MAX_LINES_OF_CODE && !path.contains(GENERATED) {
        found(
            1,
            format!(
                "{lines} lines of code (neither blank nor comment), and {MAX_LINES_OF_CODE} is \
                 the limit: split it by concept"
            ),
        );
    }
    for (index, token) in tokens.iter().enumerate() {
        let next = |ahead: usize| tokens.get(index + ahead).map_or(&Kind::End, |t| &t.kind);
        let Kind::Word(word) = &token.kind else {
            continue;
        };
        match word.as_str() {
            "unsafe" if !path.starts_with(ALLOWED_UNSAFE) => found(
                token.line,
                format!(
                    "`unsafe` outside {ALLOWED_UNSAFE}: find a safe way, or a crate that has it"
                ),
            ),
            "todo" | "unimplemented" if *next(1) == Kind::Mark('!') => found(
                token.line,
                format!("`{word}!` is not finished: do it, or return an error that says so"),
            ),
            "mod" => {
                if let Kind::Word(name) = next(1)
                    && let Some(empty) = empty_word(name)
                {
                    found(
                        token.line,
                        format!("`{empty}` names nothing: call it after the one concept inside"),
                    );
                }
            }
            _ => {}
        }
    }
    if path.starts_with("crates/jeton/src/") {
        violations.extend(check_library(path, &tokens));
    }
    violations
}

/// No I/O, and time through a `Clock` alone.
fn check_library(path: &str, tokens: &[Token]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (line, module) in modules_of_std(tokens) {
        if NOT_IN_THE_LIBRARY.contains(&module) {
            violations.push(Violation::new(
                path,
                line,
                format!("`std::{module}` in the library: take bytes from the caller instead"),
            ));
        }
    }
    if path != CLOCK {
        for token in tokens {
            if let Kind::Word(word) = &token.kind
                && matches!(word.as_str(), "SystemTime" | "Instant")
            {
                violations.push(Violation::new(
                    path,
                    token.line,
                    format!("`{word}` outside {CLOCK}: take the time from the caller's Clock"),
                ));
            }
        }
    }
    violations
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Word(String),
    Mark(char),
    Open(Delimiter),
    Close(Delimiter),
    Literal,
    End,
}

#[derive(Debug)]
struct Token {
    kind: Kind,
    /// Where it starts and ends, from 1.
    line: usize,
    last_line: usize,
}

impl Token {
    fn new(kind: Kind, span: Span) -> Self {
        Self {
            kind,
            line: span.start().line,
            last_line: span.end().line,
        }
    }
}

/// The tokens in order, groups opened up, documentation left out.
fn flatten(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::new();
    flatten_into(stream, &mut tokens);
    tokens
}

fn flatten_into(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        match tree {
            TokenTree::Ident(ident) => {
                tokens.push(Token::new(Kind::Word(ident.to_string()), ident.span()));
            }
            TokenTree::Punct(mark) => {
                tokens.push(Token::new(Kind::Mark(mark.as_char()), mark.span()))
            }
            TokenTree::Literal(literal) => tokens.push(Token::new(Kind::Literal, literal.span())),
            TokenTree::Group(group) if is_documentation(&group.stream()) => {
                // `/// text` arrives as `#[doc = "text"]`, `//! text` as `#![doc = "text"]`: the
                // marks before the group go with it.
                while matches!(tokens.last(), Some(t) if matches!(t.kind, Kind::Mark('#' | '!'))) {
                    tokens.pop();
                }
            }
            TokenTree::Group(group) => {
                let delimiter = group.delimiter();
                tokens.push(Token::new(Kind::Open(delimiter), group.span_open()));
                flatten_into(group.stream(), tokens);
                tokens.push(Token::new(Kind::Close(delimiter), group.span_close()));
            }
        }
    }
}

fn is_documentation(stream: &TokenStream) -> bool {
    let mut trees = stream.clone().into_iter();
    matches!(trees.next(), Some(TokenTree::Ident(word)) if word == "doc")
        && matches!(trees.next(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=')
        && matches!(trees.next(), Some(TokenTree::Literal(_)))
        && trees.next().is_none()
}

fn lines_of_code(tokens: &[Token]) -> usize {
    tokens
        .iter()
        .flat_map(|token| token.line..=token.last_line)
        .collect::<BTreeSet<usize>>()
        .len()
}

/// The modules named directly under `std`, in paths and in grouped imports, with their lines.
fn modules_of_std(tokens: &[Token]) -> Vec<(usize, &str)> {
    let mut modules = Vec::new();
    for (index, window) in tokens.windows(4).enumerate() {
        let [std, colon, colon_too, after] = window else {
            continue;
        };
        if std.kind != Kind::Word("std".into())
            || colon.kind != Kind::Mark(':')
            || colon_too.kind != Kind::Mark(':')
        {
            continue;
        }
        match &after.kind {
            Kind::Word(module) => modules.push((after.line, module.as_str())),
            Kind::Open(Delimiter::Brace) => {
                let group = tokens.get(index + 4..).unwrap_or_default();
                modules.extend(first_words(group));
            }
            _ => {}
        }
    }
    modules
}

/// The first word of each entry of a braced import whose opening brace was just passed.
fn first_words(tokens: &[Token]) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut depth = 1_usize;
    let mut at_start = true;
    for token in tokens {
        match &token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth -= 1,
            Kind::Mark(',') if depth == 1 => at_start = true,
            Kind::Word(word) if depth == 1 && at_start => {
                words.push((token.line, word.as_str()));
                at_start = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANYWHERE: &str = "crates/jeton-lab/src/x.rs";
    const LIBRARY: &str = "crates/jeton/src/x.rs";

    fn found(path: &str, text: &str) -> String {
        check(path, text).iter().map(|v| format!("{v}\n")).collect()
    }

    #[test]
    fn unsafe_is_red_and_named_with_its_line() {
        let found = found(ANYWHERE, "fn f() {\n    unsafe { g() }\n}\n");
        assert!(
            found.starts_with("crates/jeton-lab/src/x.rs:2: `unsafe`"),
            "{found}"
        );
    }

    #[test]
    fn unsafe_in_words_and_in_lint_names_passes() {
        let text = "#![forbid(unsafe_code)]\n//! unsafe\n/// unsafe\nconst A: &str = \"unsafe\"; // unsafe\n";
        assert_eq!(found(ANYWHERE, text), "");
    }

    #[test]
    fn unsafe_in_the_testkit_passes() {
        assert_eq!(
            found("crates/jeton-testkit/src/lib.rs", "unsafe fn f() {}"),
            ""
        );
    }

    #[test]
    fn unfinished_code_fails() {
        assert!(found(ANYWHERE, "fn f() { todo!() }").contains("`todo!`"));
        assert!(found(ANYWHERE, "fn f() { unimplemented!(\"x\") }").contains("`unimplemented!`"));
        assert_eq!(found(ANYWHERE, "fn todo() {} // todo!()"), "");
    }

    #[test]
    fn vague_module_name_fails() {
        assert!(found(ANYWHERE, "mod util { }").contains("`util` names nothing"));
        assert_eq!(found(ANYWHERE, "mod unit { }"), "");
    }

    #[test]
    fn file_over_the_limit_fails_without_its_comments() {
        let full = "fn f() {}\n".repeat(MAX_LINES_OF_CODE);
        let with_comments = format!("//! Docs.\n\n/// More.\n{full}// end\n/* and\nmore */\n");
        assert_eq!(found(ANYWHERE, &with_comments), "");
        let over = format!("{full}fn g() {{}}\n");
        assert!(found(ANYWHERE, &over).contains("601 lines of code"));
        assert!(!found("crates/jeton-proto/src/generated/a.rs", &over).contains("601 lines"));
    }

    #[test]
    fn each_line_of_a_long_string_is_a_line_of_code() {
        let tokens = flatten("const A: &str = \"a\nb\nc\";".parse().unwrap_or_default());
        assert_eq!(lines_of_code(&tokens), 3);
    }

    #[test]
    fn input_and_output_in_the_library_is_red() {
        for text in [
            "use std::fs;",
            "fn f() { std::env::var(\"A\"); }",
            "use std::{fmt, net::TcpStream};",
            "use ::std::process::exit;",
        ] {
            assert!(found(LIBRARY, text).contains("in the library"), "{text}");
        }
    }

    #[test]
    fn same_code_elsewhere_passes() {
        assert_eq!(found(ANYWHERE, "use std::fs;"), "");
        assert_eq!(found("crates/jeton/tests/x.rs", "use std::fs;"), "");
        assert_eq!(
            found(
                LIBRARY,
                "use std::{fmt, collections::{fs, net}}; mod net {}"
            ),
            ""
        );
    }

    #[test]
    fn system_time_outside_clock_fails() {
        let text = "use std::time::{Duration, SystemTime};";
        assert!(found(LIBRARY, text).contains("`SystemTime` outside crates/jeton/src/clock.rs"));
        assert_eq!(found(CLOCK, text), "");
    }

    #[test]
    fn invalid_rust_fails() {
        assert!(found(ANYWHERE, "fn f( {").contains("cannot be read"));
    }
}
