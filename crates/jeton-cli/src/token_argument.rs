//! The arguments for tokens and payloads: each in its two forms, `TEXT|@FILE|-` and text alone.
//!
//! Most commands take a token exactly, as the library does: a script must not verify something else than it passes on.
//! `verify`, `inspect` and `doctor` are for people, and find the token in pasted text.

use std::fs;
use std::ops::Deref;

use clap::Args;
use jeton::Limits;
use jeton::error::codes;
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::pasted::{self, Pasted};
use crate::source::{self, Source, Text, required};
use crate::{input, limit_args, output};

/// A token that is taken exactly. Only white space at its ends is removed.
#[derive(Debug, Args)]
pub(crate) struct TokenArgument {
    /// Token as text, @FILE, or - for standard input [default: standard input, if it is a pipe or a file]
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Option<Source>,

    /// Token as exactly this text: never read as @FILE or -, and nothing around it is removed
    #[arg(long, value_name = "TEXT", conflicts_with = "token")]
    text: Option<Text>,
}

/// A token in text that a person pasted.
#[derive(Debug, Args)]
pub(crate) struct PastedToken {
    #[command(flatten)]
    argument: TokenArgument,

    /// Name of the JSON member, parameter or cookie that has the token, if the text has several
    #[arg(long, value_name = "NAME", conflicts_with = "text")]
    member: Option<String>,
}

/// The token of a verification.
pub(crate) enum TokenInput<'a> {
    /// The argument of a command that takes a token exactly.
    Exact {
        argument: &'a TokenArgument,
        hint: PastedHint,
        limits: Limits,
    },
    /// A token that `jeton verify` has found.
    Found(GivenToken),
}

/// The command that finds a token in pasted text, for a hint.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PastedHint {
    /// `jeton verify` does the same.
    Verify,
    /// No command does the same.
    Inspect,
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

impl TokenArgument {
    /// Reads the token. A file may have more bytes if the limits allow such a token.
    pub(crate) fn read(&self, limits: &Limits) -> Outcome<GivenToken> {
        let text = self.text(limits)?;
        let token = match self.text {
            Some(_) => &text,
            None => text.trim_ascii(),
        };
        if token.is_empty() {
            return Err(malformed("the token is empty"));
        }
        Ok(GivenToken {
            token: token.to_owned(),
            input_notes: Vec::new(),
        })
    }

    /// Reads the argument as a name, for a command that can take one in place of a token.
    pub(crate) fn name(&self) -> Outcome<String> {
        self.source().text("the name")
    }

    fn given(&self) -> Option<&Source> {
        source::given(self.token.as_ref(), self.text.as_ref())
    }

    fn source(&self) -> &Source {
        self.given().unwrap_or(&Source::Pipe)
    }

    fn bytes(&self, limits: &Limits) -> Outcome<Zeroizing<Vec<u8>>> {
        self.source().bytes_within(bytes_max(limits))
    }

    /// Adds the hint to a failure to read, for a command with `--max-bytes`.
    fn explain_too_long(&self, failure: Failure, limits: &Limits) -> Failure {
        let bytes_max = bytes_max(limits);
        let actual = match self.source() {
            Source::File(path) => fs::metadata(path).ok().map(|file| file.len()),
            Source::Argument(_) | Source::Stdin | Source::Pipe => None,
        };
        // A pipe with a name has no length.
        let actual = actual.filter(|actual| *actual > bytes_max);
        limit_args::explain_too_long(failure, bytes_max, actual)
    }

    fn text(&self, limits: &Limits) -> Outcome<String> {
        let bytes = self.bytes(limits)?;
        // A file usually ends with a line break.
        let bytes = match self.source() {
            Source::Argument(_) => &bytes[..],
            Source::File(_) | Source::Stdin | Source::Pipe => input::without_line_end(&bytes),
        };
        let text = std::str::from_utf8(bytes);
        let not_text = |_| malformed("the token is malformed: not UTF-8 text");
        text.map(str::to_owned).map_err(not_text)
    }
}

impl PastedToken {
    /// Reads the token, and notes what was removed around it.
    pub(crate) fn read(&self, limits: &Limits) -> Outcome<GivenToken> {
        let given = self.read_quietly(limits)?;
        given.input_notes.iter().for_each(output::note);
        Ok(given)
    }

    /// Reads the token, if the caller passed one as an argument. Prints no notes.
    pub(crate) fn read_if_given(&self, limits: &Limits) -> Option<Outcome<GivenToken>> {
        let given = self.argument.given();
        given.map(|_| self.read_quietly(limits))
    }

    /// Reads the bytes of the argument, which can also be a key.
    pub(crate) fn bytes(&self, limits: &Limits) -> Outcome<Zeroizing<Vec<u8>>> {
        let bytes = self.argument.bytes(limits);
        bytes.map_err(|failure| self.argument.explain_too_long(failure, limits))
    }

    /// Returns the token in a text that was read with [`bytes`](Self::bytes), and notes what was removed.
    pub(crate) fn extract<'t>(&self, text: &'t str) -> Outcome<Pasted<'t>> {
        let pasted = self.find(text)?;
        pasted.notes.iter().for_each(output::note);
        Ok(pasted)
    }

    fn find<'t>(&self, text: &'t str) -> Outcome<Pasted<'t>> {
        match self.argument.text {
            Some(_) => Ok(Pasted::exact(text)),
            None => pasted::extract(text, self.member.as_deref()),
        }
    }

    fn read_quietly(&self, limits: &Limits) -> Outcome<GivenToken> {
        let text = self.argument.text(limits);
        let text = text.map_err(|failure| self.argument.explain_too_long(failure, limits))?;
        if text.is_empty() {
            return Err(malformed("the token is empty"));
        }
        let pasted = self.find(&text)?;
        Ok(GivenToken {
            input_notes: pasted.notes,
            token: pasted.token.into_owned(),
        })
    }
}

impl TokenInput<'_> {
    fn read(&self) -> Outcome<GivenToken> {
        match self {
            TokenInput::Exact {
                argument, limits, ..
            } => {
                let given = argument.read(limits);
                given.map_err(|failure| argument.explain_too_long(failure, limits))
            }
            TokenInput::Found(given) => Ok(given.clone()),
        }
    }

    /// Reads the token and checks it.
    pub(crate) fn check<T>(&self, check: impl FnOnce(&str) -> Outcome<T>) -> Checked<T> {
        match self.read() {
            Ok(given) => Checked {
                result: check(&given).map_err(|failure| self.explain(failure, &given)),
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

    fn explain(&self, failure: Failure, given: &GivenToken) -> Failure {
        match self {
            TokenInput::Exact { hint, .. } => hint.explain(failure, given),
            TokenInput::Found(_) => failure,
        }
    }
}

impl PastedHint {
    /// Adds the command for pasted text, if a rejected token is one.
    pub(crate) fn explain(self, failure: Failure, given: &GivenToken) -> Failure {
        if failure.rejection().is_none() || !pasted::has_more_than_a_token(given) {
            return failure;
        }
        failure.hint(match self {
            PastedHint::Verify => {
                "the text is more than a token, and this command takes a token exactly; to verify pasted text, run `jeton verify`"
            }
            PastedHint::Inspect => {
                "the text is more than a token, and this command takes a token exactly; to see what is in it, run `jeton inspect`"
            }
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

/// The longest input for a token, bytes.
fn bytes_max(limits: &Limits) -> u64 {
    // A line break is not part of the token.
    let bytes = limits.token_bytes.saturating_add("\r\n".len());
    input::INPUT_BYTES_MAX.max(bytes as u64)
}

fn malformed(reason: &str) -> Failure {
    Failure::rejected(reason).with_code(codes::TOKEN_MALFORMED.name())
}
