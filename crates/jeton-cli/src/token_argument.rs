//! The arguments for tokens, payloads and claims: each in its two forms, `TEXT|@FILE|-` and text alone.

use std::ops::Deref;

use clap::Args;
use jeton::error::codes;
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::pasted::{self, Pasted};
use crate::source::{Source, Text, given, required};
use crate::{input, output};

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
        let text = token(source)?;
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

/// Reads the text of a token. One line break at the end of a file is removed, and nothing else.
fn token(source: &Source) -> Outcome<String> {
    let bytes = source.bytes()?;
    let bytes = match source {
        Source::Argument(_) => &bytes[..],
        Source::File(_) | Source::Stdin | Source::Pipe => input::without_line_end(&bytes),
    };
    match std::str::from_utf8(bytes) {
        Ok("") => Err(malformed("the token is empty")),
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(malformed("the token is malformed: not UTF-8 text")),
    }
}

fn malformed(reason: &str) -> Failure {
    Failure::rejected(reason).with_code(codes::TOKEN_MALFORMED.name())
}
