//! The call itself: what was typed, or what is wrong with it. An argument that looks like a key or a
//! token is not repeated, whatever is said about it.

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, Error};

use crate::redact::Redacted;
use crate::{escape, exit, output, source};

/// Takes the arguments apart. The exit code of what is no call to be run: help, or a mistake.
pub(crate) fn parse<T: Parser>() -> Result<T, ExitCode> {
    T::try_parse().map_err(|error| match error.use_stderr() {
        false => exit::report(output::help(&error.render())),
        true => {
            if let Some(failure) = source::bare_file_name_failure(&error) {
                return exit::report(Err(failure));
            }
            let (error, redacted) = redact_error(error);
            output::usage_error(&error.render());
            if let Some(redacted) = redacted {
                output::hint(hint(redacted));
            }
            exit::error_code()
        }
    })
}

/// The error without what is not to be repeated, and what that was.
fn redact_error(mut error: Error) -> (Error, Option<Redacted>) {
    let typed: Vec<(ContextKind, String)> = (error.context())
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, text.clone())),
            _ => None,
        })
        .collect();
    let mut found = None;
    for (kind, text) in typed {
        let redacted = Redacted::of(&text);
        let shown = match redacted {
            Some(redacted) => format!("({redacted}, not repeated)"),
            None => escape::line(&text),
        };
        if shown != text {
            error.insert(kind, ContextValue::String(shown));
            // It would repeat the argument.
            error.remove(ContextKind::Suggested);
        }
        found = found.or(redacted);
    }
    (error, found)
}

fn hint(redacted: Redacted) -> &'static str {
    match redacted {
        Redacted::Key => {
            "a key is given by the name of its file: write it to one that only you can read, or give - and send it to standard input"
        }
        Redacted::Token => {
            "a token is given once: its text, @FILE, or - for standard input; jeton VERB --help says where"
        }
        Redacted::Json | Redacted::Long => "jeton VERB --help says what is wanted",
    }
}
