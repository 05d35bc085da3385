//! Arguments of the form `TEXT|@FILE|-`.
//!
//! A caller who forgets the `@` would sign or encrypt a file name instead of the file. So a bare argument that
//! names an existing file is an error. For each such argument, a second one always takes text: `--text` for a
//! positional argument, `--NAME-text` for the option `--NAME`.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TryMapValueParser, TypedValueParser, ValueParserFactory};
use clap::error::{ContextKind, ContextValue};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::redact::Redacted;
use crate::{escape, input, shell};

/// Where a token, claims or a payload is read from: `TEXT|@FILE|-`.
#[derive(Debug, Clone)]
pub enum Source {
    /// The argument itself.
    Argument(OsString),
    /// `@FILE`
    File(PathBuf),
    /// `-`
    Stdin,
    /// No argument: standard input, unless it is a terminal.
    Pipe,
}

/// An argument that is always text, also if it begins with `@` or is `-`.
#[derive(Debug, Clone)]
pub struct Text(Source);

/// Returns the argument, in whichever of its two forms it was passed.
pub fn given<'s>(source: Option<&'s Source>, text: Option<&'s Text>) -> Option<&'s Source> {
    source.or(text.map(|text| &text.0))
}

/// Returns a required argument.
pub fn required<'s>(
    source: Option<&'s Source>,
    text: Option<&'s Text>,
    missing: &str,
) -> Outcome<&'s Source> {
    given(source, text).ok_or_else(|| Failure::error(missing))
}

impl Source {
    fn read(argument: OsString) -> Result<Source, BareFileName> {
        match argument.to_str() {
            Some("-") => Ok(Source::Stdin),
            Some(text) if text.starts_with('@') => Ok(Source::File(text[1..].into())),
            _ if is_file_name(Path::new(&argument)) => Err(BareFileName(argument)),
            _ => Ok(Source::Argument(argument)),
        }
    }

    /// Reads exactly the bytes.
    pub fn bytes(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        self.bytes_within(input::INPUT_BYTES_MAX)
    }

    /// Reads exactly the bytes, with this limit.
    pub fn bytes_within(&self, bytes_max: u64) -> Outcome<Zeroizing<Vec<u8>>> {
        match self {
            Source::Argument(argument) => Ok(Zeroizing::new(argument.as_encoded_bytes().to_vec())),
            Source::File(path) => input::file_bytes(path, bytes_max),
            Source::Stdin => input::stdin_bytes(bytes_max),
            Source::Pipe => input::piped_bytes(bytes_max),
        }
    }

    /// Reads text that must not be empty; errors call it `name`.
    pub fn text(&self, name: &str) -> Outcome<String> {
        match std::str::from_utf8(&self.bytes()?) {
            Ok(text) if text.trim().is_empty() => Err(Failure::error(format!("{name}: empty"))),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Failure::error(format!("{name}: not UTF-8 text"))),
        }
    }
}

/// Returns whether a path names an existing file.
///
/// The file is not opened, because a pipe would wait for its writer. A folder does not count. Neither does a
/// text that is too long for a path.
fn is_file_name(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir())
}

impl ValueParserFactory for Source {
    type Parser =
        TryMapValueParser<OsStringValueParser, fn(OsString) -> Result<Source, BareFileName>>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().try_map(Source::read)
    }
}

impl From<OsString> for Text {
    fn from(text: OsString) -> Text {
        Text(Source::Argument(text))
    }
}

/// An argument without `@` that names an existing file.
#[derive(Debug)]
pub struct BareFileName(OsString);

impl fmt::Display for BareFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file has this name, and an argument without @ is text")
    }
}

impl Error for BareFileName {}

/// Returns the failure for a bare file name, if that is the cause of a usage error.
pub fn bare_file_name_failure(error: &clap::Error) -> Option<Failure> {
    let BareFileName(name) = error.source()?.downcast_ref()?;
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => "",
    };
    let name = name.to_str().filter(|name| can_be_shown(name));
    Some(match argument.split_once(' ') {
        Some((option, _)) => option_failure(option, name),
        None => positional_failure(argument.trim_matches(['<', '>', '[', ']']), name),
    })
}

fn option_failure(option: &str, name: Option<&str>) -> Failure {
    let (file, text) = match name {
        None => ("@FILE".to_owned(), " TEXT".to_owned()),
        Some(name) => (shell::quoted(&format!("@{name}")), value(name)),
    };
    failure(
        option,
        name,
        &format!("{option} {file}"),
        &format!("{option}-text{text}"),
    )
}

fn positional_failure(value_name: &str, name: Option<&str>) -> Failure {
    let (file, text) = match name {
        None => ("@FILE".to_owned(), " TEXT".to_owned()),
        Some(name) => (shell::quoted(&format!("@{name}")), value(name)),
    };
    // It followed `--`, and no option can follow that.
    let where_ = match name {
        Some(name) if name.starts_with('-') => ", without --",
        _ => "",
    };
    let argument = value_name.split('|').next().unwrap_or(value_name);
    failure(argument, name, &file, &format!("--text{text}{where_}"))
}

/// Returns the value of an option with its separator.
fn value(name: &str) -> String {
    let before = if name.starts_with('-') { '=' } else { ' ' };
    format!("{before}{}", shell::quoted(name))
}

fn failure(argument: &str, name: Option<&str>, file: &str, text: &str) -> Failure {
    let name = name.unwrap_or("the argument");
    Failure::error(format!(
        "{argument}: {name} is a file, and an argument without @ is text"
    ))
    .hint(format!("to read the file: {file}; to use the text: {text}"))
}

/// Returns whether a name is not secret and can be typed as it is shown.
fn can_be_shown(name: &str) -> bool {
    Redacted::of(name).is_none() && escape::line(name) == name
}
