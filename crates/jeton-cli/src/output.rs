//! What is printed, and where.
//!
//! - Standard output has data and nothing else: the key, the token, the claims, the payload. A line
//!   of text ends with a newline; a payload ends where it ends, so that `>` keeps its exact bytes.
//!   On a terminal, where nobody can see where it ends, a newline follows, and characters that would
//!   command the terminal, reorder text or are invisible are escaped: see [`escape`].
//! - Standard error has talk: `error:`, `rejected:`, `found:`, `hint:`, `note:`. The word says it; colour only
//!   repeats it, and is left out when it is not a terminal or `NO_COLOR` is set.
//! - Nothing here prints a secret; the verbs that are made to give one out pass it as data. Talk
//!   repeats names that strangers chose, and what would command a terminal is escaped in it.
//! - A reader that went away (`| head`) is no error: it has what it wanted. Any other failure to
//!   write is, and ends with exit code 2. Talk that cannot be written is lost.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::builder::StyledStr;
use jeton::Limits;
use serde::Serialize;
use serde::de::IgnoredAny;

use crate::exit::{Failure, Outcome};
use crate::escape;

/// A line of data.
pub(crate) fn line(text: &str) -> Outcome {
    match is_terminal() {
        true => write(&[escape::text(text).as_bytes(), b"\n"]),
        false => write(&[text.as_bytes(), b"\n"]),
    }
}

/// A line that is one JSON value.
pub(crate) fn json_line(json: &str) -> Outcome {
    match is_terminal() {
        true => write(&[escape::json(json).as_bytes(), b"\n"]),
        false => write(&[json.as_bytes(), b"\n"]),
    }
}

/// Data that is text already, down to its last newline.
pub(crate) fn text(text: &str) -> Outcome {
    match is_terminal() {
        true => write(&[escape::text(text).as_bytes()]),
        false => write(&[text.as_bytes()]),
    }
}

/// Exactly these bytes; on a terminal, a text that shows them.
pub(crate) fn payload(bytes: &[u8]) -> Outcome {
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

fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Bytes that are not text: never to a terminal.
pub(crate) fn binary(bytes: &[u8]) -> Outcome {
    if is_terminal() {
        return Err(Failure::error("binary data is not written to a terminal")
            .hint("send it to a file: -o FILE"));
    }
    write(&[bytes])
}

/// A line of JSON, for machines.
pub(crate) fn json(value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string(value)
        .map_err(|_| Failure::error("the answer could not be written as JSON"))?;
    json_line(&text)
}

/// A page of help, which was asked for.
pub(crate) fn page(page: &StyledStr) -> Outcome {
    let mut stdout = anstream::stdout().lock();
    written(write!(stdout, "{}", page.ansi()).and_then(|()| stdout.flush()))
}

/// What is wrong with the call, in its own words and colours.
pub(crate) fn complaint(complaint: &StyledStr) {
    let _ = write!(anstream::stderr(), "{}", complaint.ansi());
}

/// Something the caller should know although all went well.
pub(crate) fn note(message: impl Display) {
    talk(AnsiColor::Cyan.on_default(), "note", message);
}

/// Says so if a token is longer than verifiers take.
pub(crate) fn note_size(token: &str) {
    let limit = Limits::default().token_bytes;
    if token.len() > limit {
        note(format_args!(
            "the token has {} bytes; verifiers take {limit} unless they are told otherwise",
            token.len()
        ));
    }
}

/// What was done, where standard output cannot show it.
pub(crate) fn done(message: impl Display) {
    let message = escape::text(&message.to_string());
    let _ = writeln!(anstream::stderr(), "{message}");
}

pub(crate) fn error(message: impl Display) {
    talk(AnsiColor::Red.on_default().bold(), "error", message);
}

pub(crate) fn rejected(reason: impl Display) {
    talk(AnsiColor::Red.on_default().bold(), "rejected", reason);
}

pub(crate) fn found(what: impl Display) {
    talk(AnsiColor::Red.on_default().bold(), "found", what);
}

pub(crate) fn hint(message: impl Display) {
    talk(AnsiColor::Green.on_default(), "hint", message);
}

/// The line that stands over everything that has only been looked at.
pub(crate) fn warning(message: impl Display) {
    let style = AnsiColor::Yellow.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{style}{message}{style:#}");
}

fn talk(style: Style, word: &str, message: impl Display) {
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
