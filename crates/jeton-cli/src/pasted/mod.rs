//! Finds the token in text that a person pasted: an Authorization header, a JSON answer, a cookie, a URL, quotes,
//! wrapped lines.
//!
//! `verify`, `inspect` and `doctor` use it, and say what they removed. The characters of the token stay as they are:
//! only the text around it and the breaks between its lines go away. If nothing in a text is clearly a token, the text
//! stays as it is, so that the error is about what the caller passed. The other commands, the library and the service
//! never do this.

mod notes;
mod scan;

use std::borrow::Cow;

use jeton::error::codes;

use crate::escape;
use crate::exit::{Failure, Outcome};
use crate::jose::{self, Token};
use scan::Candidate;

/// How many tokens an error describes.
const DESCRIBED: usize = 8;

/// The token in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pasted<'t> {
    pub(crate) token: Cow<'t, str>,
    /// What was removed. The notes never repeat the token.
    pub(crate) notes: Vec<String>,
}

impl<'t> Pasted<'t> {
    /// Returns the text as it is.
    pub(crate) fn exact(text: &'t str) -> Pasted<'t> {
        Pasted {
            token: text.into(),
            notes: Vec::new(),
        }
    }
}

/// Returns the token in a text, or the text itself if it has none.
///
/// With `member`, returns the token in the JSON member, the parameter, the cookie or the header of this name. Fails
/// if the text has several tokens. The time is linear in the length of the text.
pub(crate) fn extract<'t>(text: &'t str, member: Option<&str>) -> Outcome<Pasted<'t>> {
    // A token in JSON form is a token, and not an answer that contains one.
    if jose::is_json(text) && Token::read(text).is_some() {
        return Ok(Pasted::exact(text));
    }
    let found = scan::candidates(text);
    if found.is_empty()
        && let Some(decoded) = unescaped(text)
    {
        let found = scan::candidates(&decoded);
        if !found.is_empty() {
            let pasted = choose(&decoded, &found, member)?;
            let mut notes = vec![notes::DECODED.to_owned()];
            notes.extend(pasted.notes);
            return Ok(Pasted {
                token: pasted.token.into_owned().into(),
                notes,
            });
        }
    }
    match (found.is_empty(), member) {
        (true, None) => Ok(Pasted::exact(text)),
        _ => choose(text, &found, member),
    }
}

/// Returns whether a text has a token and something else: text around it, breaks inside it, or several tokens.
pub(crate) fn has_more_than_a_token(text: &str) -> bool {
    extract(text, None).map_or(true, |pasted| pasted.token != text)
}

/// Returns the only token, or the one of the member.
fn choose<'t>(text: &'t str, found: &[Candidate], member: Option<&str>) -> Outcome<Pasted<'t>> {
    let chosen: Vec<&Candidate> = match member {
        None => found.iter().collect(),
        Some(member) => {
            let is_named = |candidate: &&Candidate| notes::name(text, candidate) == Some(member);
            found.iter().filter(is_named).collect()
        }
    };
    match (&chosen[..], member) {
        ([only], _) => Ok(Pasted {
            token: only.token(text),
            notes: notes::notes(text, only),
        }),
        ([], _) => Err(no_such_member(text, found)),
        _ => Err(several(text, found)),
    }
}

fn several(text: &str, found: &[Candidate]) -> Failure {
    let mut each: Vec<String> = found
        .iter()
        .take(DESCRIBED)
        .map(|candidate| described(text, candidate))
        .collect();
    if found.len() > DESCRIBED {
        each.push(format!("{} more", found.len() - DESCRIBED));
    }
    let more = match found.len() {
        scan::TOKENS_MAX => " or more",
        _ => "",
    };
    Failure::rejected(format!(
        "these are {}{more} tokens: {}",
        found.len(),
        each.join("; ")
    ))
    .with_code(codes::TOKEN_MALFORMED.name())
    .hint(match unique_name(text, found) {
        Some(name) => format!("to choose one, add `--member {name}`"),
        None => "pass one of them".to_owned(),
    })
}

fn no_such_member(text: &str, found: &[Candidate]) -> Failure {
    let failure = Failure::error("the text has no token in the member of --member");
    match unique_name(text, found) {
        Some(name) => failure.hint(format!("to choose a token, add `--member {name}`")),
        None => failure.hint("remove `--member`"),
    }
}

/// Returns the first name that only one token has.
fn unique_name<'t>(text: &'t str, found: &[Candidate]) -> Option<&'t str> {
    let names: Vec<Option<&str>> = found
        .iter()
        .take(DESCRIBED)
        .map(|candidate| notes::name(text, candidate))
        .collect();
    let is_unique =
        |name: &&&str| names.iter().filter(|other| **other == Some(**name)).count() == 1;
    names.iter().flatten().find(is_unique).copied()
}

/// Describes a token by its place, its kind and its header.
fn described(text: &str, candidate: &Candidate) -> String {
    let token = candidate.token(text);
    let mut what = vec![candidate.kind(&token)];
    if let Some(Token::Jws(jws)) = Token::read(&token)
        && let Some(signature) = jws.signatures.first()
    {
        let headers = signature.headers();
        let short = |name| headers.text(name).filter(|text| text.len() <= 32);
        what.extend(short("alg").map(|alg| escape::line(&alg)));
        what.extend(short("typ").map(|typ| format!("typ {}", escape::line(&typ))));
    }
    let what = what.join(", ");
    match notes::name(text, candidate) {
        Some(name) => format!("`{name}` ({what})"),
        None => what,
    }
}

/// Decodes the escapes of URLs (`%2E`) and of JSON (`\u003d`) once; returns `None` if there is none.
fn unescaped(text: &str) -> Option<String> {
    let mut decoded = String::new();
    let mut rest = text;
    let mut is_changed = false;
    while let Some(at) = rest.find(['%', '\\']) {
        let (before, escape) = rest.split_at(at);
        decoded.push_str(before);
        let (prefix, digits) = match escape.as_bytes() {
            [b'%', ..] => (1, 2),
            [b'\\', b'u', b'0', b'0', ..] => (4, 2),
            _ => (1, 0),
        };
        let code = escape.get(prefix..prefix + digits);
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match byte.filter(u8::is_ascii_graphic) {
            Some(byte) => {
                decoded.push(char::from(byte));
                is_changed = true;
                rest = &escape[prefix + digits..];
            }
            None => {
                decoded.push_str(&escape[..1]);
                rest = &escape[1..];
            }
        }
    }
    decoded.push_str(rest);
    is_changed.then_some(decoded)
}

#[cfg(test)]
mod tests;
