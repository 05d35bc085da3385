//! Arguments that are text, `@FILE` or `-`.
//!
//! Who forgets the `@` would sign or encrypt the name of a file. A bare argument that is the name of a file
//! is therefore refused, before anything else is done. Every such argument has a twin that takes exactly a
//! text: `--text`, or of an option `--NAME` the option `--NAME-text`.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TryMapValueParser, TypedValueParser, ValueParserFactory};
use clap::error::{ContextKind, ContextValue};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::redact::Redacted;
use crate::{escape, input, shell};

/// Where a token, claims or a payload come from: `TEXT|@FILE|-`.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// The argument itself.
    Argument(OsString),
    /// `@FILE`
    File(PathBuf),
    /// `-`
    Stdin,
}

/// Exactly a text: nothing in it has a meaning of its own.
#[derive(Debug, Clone)]
pub(crate) struct Text(Source);

/// The token that a command is about.
#[derive(Debug, Args)]
pub(crate) struct TokenArgument {
    /// The token: the text itself, @FILE, or - for standard input
    #[arg(value_name = "TOKEN|@FILE|-", required_unless_present = "text")]
    token: Option<Source>,

    /// Like TOKEN, but always the text itself, even if a file has that name
    #[arg(long, value_name = "TEXT", conflicts_with = "token")]
    text: Option<Text>,
}

/// The bytes that a command is about.
#[derive(Debug, Args)]
pub(crate) struct PayloadArgument {
    /// The payload: the text itself, @FILE, or - for standard input
    #[arg(value_name = "PAYLOAD|@FILE|-", required_unless_present = "text")]
    payload: Option<Source>,

    /// Like PAYLOAD, but always the text itself, even if a file has that name
    #[arg(long, value_name = "TEXT", conflicts_with = "payload")]
    text: Option<Text>,
}

/// The claims of a new token.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ClaimsArgument {
    /// The claims, a JSON object: the text itself, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    claims: Option<Source>,

    /// Like --claims, but always the text itself, even if a file has that name
    #[arg(long, value_name = "JSON")]
    claims_text: Option<Text>,
}

impl ClaimsArgument {
    pub(crate) fn source(&self) -> Outcome<&Source> {
        let claims = self.claims.as_ref();
        required(claims, self.claims_text.as_ref(), "give --claims")
    }
}

impl TokenArgument {
    pub(crate) fn source(&self) -> Outcome<&Source> {
        required(self.token.as_ref(), self.text.as_ref(), "give a token")
    }

    pub(crate) fn read(&self) -> Outcome<String> {
        self.source()?.token()
    }
}

impl PayloadArgument {
    pub(crate) fn bytes(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        required(self.payload.as_ref(), self.text.as_ref(), "give a payload")?.bytes()
    }
}

/// What was given: in one way, or as exactly a text.
pub(crate) fn given<'s>(source: Option<&'s Source>, text: Option<&'s Text>) -> Option<&'s Source> {
    source.or(text.map(|text| &text.0))
}

/// The same of an argument without which nothing is done.
pub(crate) fn required<'s>(
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

    /// Exactly the bytes that are there.
    pub(crate) fn bytes(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        match self {
            Source::Argument(argument) => Ok(Zeroizing::new(argument.as_encoded_bytes().to_vec())),
            Source::File(path) => input::file_bytes(path),
            Source::Stdin => input::stdin_bytes(),
        }
    }

    /// A token. One line's end after it belongs to the file, not to the token; nothing else is
    /// taken away. What is not text cannot be a token.
    pub(crate) fn token(&self) -> Outcome<String> {
        let bytes = self.bytes()?;
        let bytes = match self {
            Source::Argument(_) => &bytes[..],
            Source::File(_) | Source::Stdin => input::without_line_end(&bytes),
        };
        match std::str::from_utf8(bytes) {
            Ok("") => Err(Failure::rejected("the token is empty")),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Failure::rejected("the token is malformed: not text")),
        }
    }

    /// Text that the caller wrote, called by that name if it is not, or empty.
    pub(crate) fn text(&self, name: &str) -> Outcome<String> {
        match std::str::from_utf8(&self.bytes()?) {
            Ok(text) if text.trim().is_empty() => {
                Err(Failure::error(format!("{name}: the text is empty")))
            }
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Failure::error(format!("{name}: not UTF-8 text"))),
        }
    }
}

/// What is there is only looked at, never opened: a pipe would wait for its writer. A folder is no file
/// that could have been meant. What cannot be looked at, as it is too long for a path, is text.
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

/// A bare argument that is the name of a file.
#[derive(Debug)]
pub(crate) struct BareFileName(OsString);

impl fmt::Display for BareFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is the name of a file, and an argument without @ is text")
    }
}

impl Error for BareFileName {}

/// The failure behind a call that was not understood, if it is this one.
pub(crate) fn bare_file_name_failure(error: &clap::Error) -> Option<Failure> {
    let BareFileName(name) = error.source()?.downcast_ref()?;
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => "",
    };
    let name = name.to_str().filter(|name| can_be_shown(name));
    Some(match argument.split_once(' ') {
        Some((option, _)) => of_option(option, name),
        None => of_positional(argument.trim_matches(['<', '>', '[', ']']), name),
    })
}

fn of_option(option: &str, name: Option<&str>) -> Failure {
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

fn of_positional(value_name: &str, name: Option<&str>) -> Failure {
    let (file, text) = match name {
        None => ("@FILE".to_owned(), " TEXT".to_owned()),
        Some(name) => (shell::quoted(&format!("@{name}")), value(name)),
    };
    // It stood behind --, where no option can.
    let where_ = match name {
        Some(name) if name.starts_with('-') => ", without --",
        _ => "",
    };
    let called = value_name.split('|').next().unwrap_or(value_name);
    failure(called, name, &file, &format!("--text{text}{where_}"))
}

/// The value of an option, with what stands before it.
fn value(name: &str) -> String {
    let before = if name.starts_with('-') { '=' } else { ' ' };
    format!("{before}{}", shell::quoted(name))
}

fn failure(called: &str, name: Option<&str>, file: &str, text: &str) -> Failure {
    let name = name.unwrap_or("the argument");
    Failure::error(format!(
        "{called}: {name} is the name of a file, and an argument without @ is text"
    ))
    .hint(format!("to read the file: {file}; to use the text: {text}"))
}

/// Whether a name may be said, and is typed again as it is seen.
fn can_be_shown(name: &str) -> bool {
    Redacted::of(name).is_none() && escape::line(name) == name
}
