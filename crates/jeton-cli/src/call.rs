//! The call itself: what was typed, or what is wrong with it. An argument that looks like a key or a
//! token is not repeated, whatever is said about it.

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, Error};

use crate::kept_back::KeptBack;
use crate::{exit, output, printable, source};

/// Takes the arguments apart. The exit code of what is no call to be run: help, or a mistake.
pub(crate) fn read<T: Parser>() -> Result<T, ExitCode> {
    T::try_parse().map_err(|error| match error.use_stderr() {
        false => exit::end(output::page(&error.render())),
        true => {
            if let Some(failure) = source::names_a_file_failure(&error) {
                return exit::end(Err(failure));
            }
            let (error, kept_back) = fit_to_be_said(error);
            output::complaint(&error.render());
            if let Some(kept_back) = kept_back {
                output::hint(advice(kept_back));
            }
            exit::wrong()
        }
    })
}

/// The error without what is not to be repeated, and what that was.
fn fit_to_be_said(mut error: Error) -> (Error, Option<KeptBack>) {
    let typed: Vec<(ContextKind, String)> = (error.context())
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, text.clone())),
            _ => None,
        })
        .collect();
    let mut found = None;
    for (kind, text) in typed {
        let kept_back = KeptBack::of(&text);
        let shown = match kept_back {
            Some(kept_back) => format!("({kept_back}, not repeated)"),
            None => printable::line(&text),
        };
        if shown != text {
            error.insert(kind, ContextValue::String(shown));
            // It would repeat the argument.
            error.remove(ContextKind::Suggested);
        }
        found = found.or(kept_back);
    }
    (error, found)
}

fn advice(kept_back: KeptBack) -> &'static str {
    match kept_back {
        KeptBack::Key => {
            "a key is given by the name of its file: write it to one that only you can read, or give - and send it to standard input"
        }
        KeptBack::Token => {
            "a token is given once: its text, @FILE, or - for standard input; jeton VERB --help says where"
        }
        KeptBack::Json | KeptBack::Long => "jeton VERB --help says what is wanted",
    }
}
