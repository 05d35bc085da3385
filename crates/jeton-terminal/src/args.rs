//! Parses the arguments. An error message never repeats an argument that looks like a key or a token.

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, Error};

use crate::redact::Redacted;
use crate::{escape, exit, output, source};

/// Parses the arguments. For help or invalid usage, prints it and returns the exit code.
pub fn parse<T: Parser>() -> Result<T, ExitCode> {
    T::try_parse().map_err(|error| {
        if !error.use_stderr() {
            output::report(output::help(&error.render()))
        } else {
            if let Some(failure) = source::bare_file_name_failure(&error) {
                return output::report(Err(failure));
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

/// Removes secrets from the error, and returns what was removed.
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
            Some(redacted) => format!("({redacted}, not shown)"),
            None => escape::line(&text),
        };
        if shown != text {
            error.insert(kind, ContextValue::String(shown));
            // A suggestion would repeat the argument.
            error.remove(ContextKind::Suggested);
        }
        found = found.or(redacted);
    }
    (error, found)
}

fn hint(redacted: Redacted) -> &'static str {
    match redacted {
        Redacted::Key => {
            "pass the name of a key file; write the key to a file that only you can read, or pass `-` and pipe it to standard input"
        }
        Redacted::Token => {
            "pass one token: as text, @FILE, or - for standard input; to see where, run the command with `--help`"
        }
        Redacted::Json | Redacted::Long => "to see the arguments, run the command with `--help`",
    }
}
