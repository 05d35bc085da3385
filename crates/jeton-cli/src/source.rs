//! Arguments of the form `TEXT|@FILE|-`.
//!
//! A caller who forgets the `@` would sign or encrypt a file name instead of the file. So a bare argument that
//! names an existing file is an error. For each such argument, a second one always takes text: `--text` for a
//! positional argument, `--NAME-text` for the option `--NAME`.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TryMapValueParser, TypedValueParser, ValueParserFactory};
use clap::error::{ContextKind, ContextValue};
use jeton::error::codes;
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::pasted::{self, Pasted};
use crate::redact::Redacted;
use crate::{escape, input, output, shell};

/// Where a token, claims or a payload is read from: `TEXT|@FILE|-`.
#[derive(Debug, Clone)]
pub(crate) enum Source {
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
pub(crate) struct Text(Source);

/// The token that a command reads.
#[derive(Debug, Args)]
pub(crate) struct TokenArgument {
    /// Token as text, @FILE, or - for standard input [default: standard input, if it is a pipe or a file]
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Option<Source>,

    /// Token as exactly this text: never read as @FILE or -, and nothing around it is removed
    #[arg(long, value_name = "TEXT", conflicts_with = "token")]
    text: Option<Text>,

    /// Name of the JSON member, parameter or cookie that has the token, if the text has several
    #[arg(long, value_name = "NAME", conflicts_with = "text")]
    member: Option<String>,

    /// The token, if another command has read it.
    #[arg(skip)]
    read: Option<GivenToken>,
}

/// A token that the caller passed.
#[derive(Debug, Clone)]
pub(crate) struct GivenToken {
    pub(crate) token: String,
    /// What was removed around it.
    pub(crate) input_notes: Vec<String>,
}

/// The result of a check of a token.
pub(crate) struct Checked<T> {
    pub(crate) result: Outcome<T>,
    /// The token, which is empty if it could not be read.
    pub(crate) token: String,
    /// What was removed around the token.
    pub(crate) input_notes: Vec<String>,
}

/// The payload that a command reads.
#[derive(Debug, Args)]
pub(crate) struct PayloadArgument {
    /// Payload as text, @FILE, or - for standard input
    #[arg(value_name = "PAYLOAD|@FILE|-", required_unless_present = "text")]
    payload: Option<Source>,

    /// Payload as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "payload")]
    text: Option<Text>,
}

/// The claims of a new token.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ClaimsArgument {
    /// Claims, a JSON object: as text, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    claims: Option<Source>,

    /// Claims as text, never read as @FILE or -
    #[arg(long, value_name = "JSON")]
    claims_text: Option<Text>,
}

impl ClaimsArgument {
    pub(crate) fn source(&self) -> Outcome<&Source> {
        let claims = self.claims.as_ref();
        required(
            claims,
            self.claims_text.as_ref(),
            "no claims: pass --claims",
        )
    }
}

impl TokenArgument {
    /// Reads the token, and notes what was removed around it.
    pub(crate) fn read(&self) -> Outcome<GivenToken> {
        if let Some(read) = &self.read {
            return Ok(read.clone());
        }
        let given = self.read_from(self.given().unwrap_or(&Source::Pipe))?;
        given.input_notes.iter().for_each(output::note);
        Ok(given)
    }

    /// Reads the token and checks it.
    pub(crate) fn check<T>(&self, check: impl FnOnce(&str) -> Outcome<T>) -> Checked<T> {
        match self.read() {
            Ok(given) => Checked {
                result: check(&given),
                token: given.token,
                input_notes: given.input_notes,
            },
            Err(failure) => Checked {
                result: Err(failure),
                token: String::new(),
                input_notes: Vec::new(),
            },
        }
    }

    /// Reads the token, if the caller passed one as an argument. Prints no notes.
    pub(crate) fn read_if_given(&self) -> Option<Outcome<GivenToken>> {
        self.given().map(|source| self.read_from(source))
    }

    /// Reads the argument as a name, for a command that can take one in place of a token.
    pub(crate) fn name(&self) -> Outcome<String> {
        self.given().unwrap_or(&Source::Pipe).text("the name")
    }

    /// Returns the argument of a command for a token that was read already.
    pub(crate) fn of(read: GivenToken) -> TokenArgument {
        TokenArgument {
            token: None,
            text: None,
            member: None,
            read: Some(read),
        }
    }

    /// Reads the bytes of the argument, which can also be a key.
    pub(crate) fn bytes(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        self.given().unwrap_or(&Source::Pipe).bytes()
    }

    /// Returns the token in a text that was read with [`bytes`](Self::bytes), and notes what was removed.
    pub(crate) fn extract<'t>(&self, text: &'t str) -> Outcome<Pasted<'t>> {
        let pasted = self.find(text)?;
        pasted.notes.iter().for_each(output::note);
        Ok(pasted)
    }

    fn find<'t>(&self, text: &'t str) -> Outcome<Pasted<'t>> {
        match self.text {
            Some(_) => Ok(Pasted::exact(text)),
            None => pasted::extract(text, self.member.as_deref()),
        }
    }

    fn given(&self) -> Option<&Source> {
        given(self.token.as_ref(), self.text.as_ref())
    }

    fn read_from(&self, source: &Source) -> Outcome<GivenToken> {
        let text = source.token()?;
        let pasted = self.find(&text)?;
        Ok(GivenToken {
            input_notes: pasted.notes,
            token: pasted.token.into_owned(),
        })
    }
}

impl Deref for GivenToken {
    type Target = str;

    fn deref(&self) -> &str {
        &self.token
    }
}

impl PayloadArgument {
    pub(crate) fn bytes(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        required(
            self.payload.as_ref(),
            self.text.as_ref(),
            "no payload: pass one as an argument",
        )?
        .bytes()
    }
}

/// Returns the argument, in whichever of its two forms it was passed.
pub(crate) fn given<'s>(source: Option<&'s Source>, text: Option<&'s Text>) -> Option<&'s Source> {
    source.or(text.map(|text| &text.0))
}

/// Returns a required argument.
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

    /// Reads exactly the bytes.
    pub(crate) fn bytes(&self) -> Outcome<Zeroizing<Vec<u8>>> {
        match self {
            Source::Argument(argument) => Ok(Zeroizing::new(argument.as_encoded_bytes().to_vec())),
            Source::File(path) => input::file_bytes(path),
            Source::Stdin => input::stdin_bytes(),
            Source::Pipe => input::piped_bytes(),
        }
    }

    /// Reads the text of a token. One line break at the end of a file is removed, and nothing else.
    fn token(&self) -> Outcome<String> {
        let bytes = self.bytes()?;
        let bytes = match self {
            Source::Argument(_) => &bytes[..],
            Source::File(_) | Source::Stdin | Source::Pipe => input::without_line_end(&bytes),
        };
        match std::str::from_utf8(bytes) {
            Ok("") => Err(malformed("the token is empty")),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(malformed("the token is malformed: not UTF-8 text")),
        }
    }

    /// Reads text that must not be empty; errors call it `name`.
    pub(crate) fn text(&self, name: &str) -> Outcome<String> {
        match std::str::from_utf8(&self.bytes()?) {
            Ok(text) if text.trim().is_empty() => Err(Failure::error(format!("{name}: empty"))),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Failure::error(format!("{name}: not UTF-8 text"))),
        }
    }
}

fn malformed(reason: &str) -> Failure {
    Failure::rejected(reason).with_code(codes::TOKEN_MALFORMED.name())
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
pub(crate) struct BareFileName(OsString);

impl fmt::Display for BareFileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file has this name, and an argument without @ is text")
    }
}

impl Error for BareFileName {}

/// Returns the failure for a bare file name, if that is the cause of a usage error.
pub(crate) fn bare_file_name_failure(error: &clap::Error) -> Option<Failure> {
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
