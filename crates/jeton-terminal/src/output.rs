//! Writes results to standard output and diagnostics to standard error.
//!
//! - Standard output has only the result: a key, a token, claims or a payload. Text ends with a line break. A
//!   payload is written byte by byte, so that `>` keeps it exactly. On a terminal, a line break follows, and
//!   [`escape`] replaces control characters and invisible characters.
//! - Standard error has diagnostics: `error:`, `rejected:`, `found:`, `hint:`, `note:`. Colour repeats the word
//!   and is off if standard error is not a terminal or `NO_COLOR` is set.
//! - Diagnostics never contain a secret. They may repeat names from untrusted input, and are escaped.
//! - A closed pipe (`| head`) is not an error. Any other failed write to standard output ends with exit code 2.
//!   A failed write to standard error is ignored.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::builder::StyledStr;
use serde::Serialize;
use serde::de::IgnoredAny;

use crate::exit::{Cause, Failure, Outcome};
use crate::{escape, width};

/// Longer lines are hard to read.
const COLUMNS_MAX: usize = 100;

/// Writes a line of text.
pub fn line(text: &str) -> Outcome {
    if is_terminal() {
        write(&[escape::text(text).as_bytes(), b"\n"])
    } else {
        write(&[text.as_bytes(), b"\n"])
    }
}

/// Writes a line that is one JSON value.
pub fn json_line(json: &str) -> Outcome {
    if is_terminal() {
        write(&[escape::json(json).as_bytes(), b"\n"])
    } else {
        write(&[json.as_bytes(), b"\n"])
    }
}

/// Writes text that ends with its own line break.
pub fn text(text: &str) -> Outcome {
    if is_terminal() {
        write(&[escape::text(text).as_bytes()])
    } else {
        write(&[text.as_bytes()])
    }
}

/// Writes exactly these bytes; on a terminal, an escaped text.
pub fn payload(bytes: &[u8]) -> Outcome {
    if !is_terminal() {
        return write(&[bytes]);
    }
    let shown = match std::str::from_utf8(bytes) {
        Ok(json) if serde_json::from_str::<IgnoredAny>(json).is_ok() => escape::json(json),
        _ => escape::bytes(bytes).into(),
    };
    let end = if shown.ends_with('\n') { "" } else { "\n" };
    write(&[shown.as_bytes(), end.as_bytes()])
}

/// Returns the width for text on standard output, if that is a terminal.
pub fn columns() -> Option<usize> {
    is_terminal().then(|| width::columns().min(COLUMNS_MAX))
}

fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes bytes that are not text; fails on a terminal.
pub fn binary(bytes: &[u8]) -> Outcome {
    if is_terminal() {
        return Err(
            Failure::error("standard output is a terminal, and the result is binary")
                .hint("to write it to a file, add `-o FILE`"),
        );
    }
    write(&[bytes])
}

/// Writes a value as one line of JSON.
pub fn json(value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string(value)
        .map_err(|_| Failure::error("the result cannot be written as JSON"))?;
    json_line(&text)
}

/// Writes the help that the caller asked for.
pub fn help(page: &StyledStr) -> Outcome {
    let mut stdout = anstream::stdout().lock();
    written(write!(stdout, "{}", page.ansi()).and_then(|()| stdout.flush()))
}

/// Writes clap's message about invalid usage.
pub fn usage_error(message: &StyledStr) {
    let _ = write!(anstream::stderr(), "{}", message.ansi());
}

/// Writes a note about a run that succeeds.
pub fn note(message: impl Display) {
    diagnostic(AnsiColor::Cyan.on_default(), "note", message);
}

/// Writes what the command did, if there is no result for standard output.
pub fn status(message: impl Display) {
    let message = escape::text(&message.to_string());
    let _ = writeln!(anstream::stderr(), "{message}");
}

/// Writes the failure, if there is one, and returns the exit code.
pub fn report(outcome: Outcome) -> ExitCode {
    let Err(failure) = outcome else {
        return ExitCode::SUCCESS;
    };
    match failure.cause() {
        Cause::Rejection => rejected(failure.message()),
        Cause::Finding => found(failure.message()),
        Cause::Error => error(failure.message()),
    }
    if let Some(text) = failure.hint_text() {
        hint(text);
    }
    failure.code()
}

/// Writes an error.
pub fn error(message: impl Display) {
    diagnostic(AnsiColor::Red.on_default().bold(), "error", message);
}

fn rejected(reason: impl Display) {
    diagnostic(AnsiColor::Red.on_default().bold(), "rejected", reason);
}

fn found(what: impl Display) {
    diagnostic(AnsiColor::Red.on_default().bold(), "found", what);
}

/// Writes what to do next.
pub fn hint(message: impl Display) {
    diagnostic(AnsiColor::Green.on_default(), "hint", message);
}

/// Writes the warning above output that was not verified.
pub fn warning(message: impl Display) {
    let style = AnsiColor::Yellow.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{style}{message}{style:#}");
}

fn diagnostic(style: Style, word: &str, message: impl Display) {
    let message = escape::text(&message.to_string());
    let _ = writeln!(anstream::stderr(), "{style}{word}:{style:#} {message}");
}

fn write(pieces: &[&[u8]]) -> Outcome {
    let mut stdout = io::stdout().lock();
    let mut all = || {
        for piece in pieces {
            stdout.write_all(piece)?;
        }
        stdout.flush()
    };
    written(all())
}

fn written(done: io::Result<()>) -> Outcome {
    match done {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::error(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}
