//! Finds the tokens in a text, by a positive mark: the beginning of a header, or a version and purpose.

use std::borrow::Cow;
use std::ops::Range;

use jeton::key::Alg;

use crate::jose::{self, Headers};

/// The longest header that is decoded here, characters.
const HEADER_CHARS: usize = 1 << 21;

/// The search ends after this many tokens.
pub(super) const TOKENS_MAX: usize = 100;

/// The most pieces of one token: 4 MiB in lines of 64 characters.
const PIECES_MAX: usize = 1 << 16;

/// A token in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The characters of the token: several ranges if it was wrapped.
    pieces: Vec<Range<usize>>,
}

impl Candidate {
    pub(super) fn start(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.start)
    }

    pub(super) fn end(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// Returns the token.
    pub(super) fn token<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.pieces[..] {
            [whole] => text[whole.clone()].into(),
            pieces => pieces.iter().map(|piece| &text[piece.clone()]).collect(),
        }
    }

    /// Returns the texts between the pieces.
    pub(super) fn breaks<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let pairs = self.pieces.windows(2);
        pairs.filter_map(move |pair| Some(&text[pair.first()?.end..pair.last()?.start]))
    }

    /// Returns the kind of the token, for a message.
    pub(super) fn kind(&self, token: &str) -> String {
        if token.starts_with('v') {
            let kind: Vec<&str> = token.splitn(3, '.').take(2).collect();
            return format!("PASETO {}", kind.join("."));
        }
        if token.contains('~') {
            return "SD-JWT".to_owned();
        }
        let mut parts = token.splitn(6, '.');
        let payload = parts.nth(1).unwrap_or_default();
        match parts.count() {
            3 => "JWE".to_owned(),
            _ if jose::decode_json(payload).is_some_and(|json| json.get().starts_with('{')) => {
                "JWT".to_owned()
            }
            _ => "JWS".to_owned(),
        }
    }
}

/// Returns the tokens in a text, in order, at most [`TOKENS_MAX`].
pub(super) fn candidates(text: &str) -> Vec<Candidate> {
    let mut found = Vec::new();
    // Each byte can be read as part of the token before it and of its own. The budget bounds the time for texts that
    // are made of beginnings.
    let mut budget = text.len().saturating_mul(8);
    let first_quote = text.find(is_quote);
    let mut at = 0;
    while let Some(start) = next_start(text, at) {
        let is_quoted = first_quote.is_some_and(|quote| quote < start);
        at = match Chain::new(text, start, is_quoted).read(&mut budget) {
            Some(candidate) => {
                let end = candidate.end();
                found.push(candidate);
                if found.len() == TOKENS_MAX {
                    break;
                }
                end
            }
            None => start + 1,
        };
    }
    found
}

/// Returns the next place at which a token can begin.
fn next_start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        at += bytes[at..]
            .iter()
            .position(|byte| matches!(byte, b'e' | b'v'))?;
        if is_start(&bytes[at..]) && is_delimited_left(text, at) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns whether a text begins as a header in base64url (`{"`, `{ `, `{` and a line break), or as a PASETO.
fn is_start(bytes: &[u8]) -> bool {
    match bytes {
        [b'e', b'y' | b'w', ..] => true,
        [b'v', b'1'..=b'4', b'.', rest @ ..] => {
            rest.starts_with(b"public.") || rest.starts_with(b"local.")
        }
        _ => false,
    }
}

fn is_delimited_left(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    match before.next() {
        None => true,
        // An escaped line break: \n
        Some('n' | 'r' | 't') => before.next() == Some('\\'),
        Some(c) => is_break(c) || is_quote(c) || "=:?&#/([{<>|,;@".contains(c),
    }
}

/// `is_quoted` is whether there is a quote before the token: without one, a quote is inside the token and not its end.
fn is_delimited_right(text: &str, end: usize, is_quoted: bool) -> bool {
    match text[end..].chars().next() {
        None => true,
        Some(c) if is_quote(c) => is_quoted,
        Some(c) => is_break(c) || ",;:&#)]}<>|\\".contains(c),
    }
}

/// Returns whether a line of a wrapped token can end here.
fn is_line_end(text: &str, end: usize) -> bool {
    let next = text[end..].chars().next();
    next.is_none_or(|c| is_break(c) || is_quote(c) || c == '\\')
}

/// Returns whether a character can stand between the lines of a wrapped token: white space, or an invisible one.
pub(super) fn is_break(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        )
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '\u{ab}' | '\u{bb}' | '\u{2018}'..='\u{201f}'
    )
}

/// Returns whether a byte can be in a token, or in one that was written in base64 with padding.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~=+/".contains(&byte)
}

fn word_end(text: &str, start: usize) -> usize {
    let word = &text.as_bytes()[start..];
    start
        + word
            .iter()
            .position(|byte| !is_token_byte(*byte))
            .unwrap_or(word.len())
}

/// Returns the end of a break between two pieces of a token. The next piece begins there.
fn break_end(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let rest = &bytes[at..];
        at += match rest {
            // Markdown and shells escape punctuation.
            [b'\\', b'.' | b'_' | b'-' | b'~', ..] if at == from => return Some(at + 1),
            [b'\\', b'n' | b'r', ..] => 2,
            // A shell continues a line.
            [b'\\', b'\n' | b'\r', ..] => 1,
            // Mail programs mark quoted lines.
            [b'>', ..] if at > from => 1,
            [byte, ..] if is_token_byte(*byte) => return (at > from).then_some(at),
            _ => match text[at..].chars().next() {
                Some(c) if is_break(c) => c.len_utf8(),
                _ => return None,
            },
        };
    }
}

/// The pieces that may be one token: words with nothing but breaks between them.
struct Chain<'t> {
    text: &'t str,
    start: usize,
    is_paseto: bool,
    /// Whether there is a quote before the token.
    is_quoted: bool,
    pieces: Vec<Range<usize>>,
    dots: usize,
    /// The number of characters after the last dot.
    last_part: usize,
    /// The lengths of the lines.
    lines: Vec<usize>,
    /// Whether the pieces can be the lines of a wrapped text.
    is_wrapped: bool,
    header: Option<Option<Header>>,
}

/// What the header of a JOSE token says about the length of its last part.
struct Header {
    alg: Option<String>,
    enc: Option<String>,
}

impl<'t> Chain<'t> {
    fn new(text: &'t str, start: usize, is_quoted: bool) -> Chain<'t> {
        Chain {
            text,
            start,
            is_paseto: text.as_bytes().get(start) == Some(&b'v'),
            is_quoted,
            pieces: Vec::new(),
            dots: 0,
            last_part: 0,
            lines: vec![0],
            is_wrapped: true,
            header: None,
        }
    }

    /// Returns the longest complete token, or else the longest text of the form of a token.
    fn read(mut self, budget: &mut usize) -> Option<Candidate> {
        let (mut complete, mut formed) = (None, None);
        let mut at = self.start;
        while *budget > 0 && self.pieces.len() < PIECES_MAX {
            let end = word_end(self.text, at);
            *budget = budget.saturating_sub(end - at + 1);
            self.push(at..end);
            if self.dots > 4 {
                break;
            }
            if self.is_formed() && is_delimited_right(self.text, end, self.is_quoted) {
                let count = self.pieces.len();
                if self.is_complete() {
                    complete = Some(count);
                }
                if formed.is_none() || (self.is_wrapped && is_line_end(self.text, end)) {
                    formed = Some(count);
                }
            }
            match break_end(self.text, end) {
                Some(next) if !self.is_another_token(next) => {
                    *budget = budget.saturating_sub(next - end);
                    self.add_break(&self.text[end..next]);
                    at = next;
                }
                _ => break,
            }
        }
        self.pieces.truncate(complete.or(formed)?);
        Some(Candidate {
            pieces: self.pieces,
        })
    }

    /// Every line but the first and the last of a wrapped text has the same length.
    fn add_break(&mut self, between: &str) {
        if between == "\\" {
            return;
        }
        self.is_wrapped &= between.contains(['\n', '\r', '\\']);
        if let [_, width, .., last] = self.lines[..] {
            self.is_wrapped &= width == last;
        }
        self.lines.push(0);
    }

    fn push(&mut self, piece: Range<usize>) {
        let text = &self.text[piece.clone()];
        match text.rfind('.') {
            Some(dot) => {
                self.dots += text.bytes().filter(|byte| *byte == b'.').count();
                self.last_part = text.len() - dot - 1;
            }
            None => self.last_part += text.len(),
        }
        if let Some(line) = self.lines.last_mut() {
            *line += text.len();
        }
        self.pieces.push(piece);
    }

    /// Returns whether a whole token begins here, so that the one before it has ended.
    fn is_another_token(&self, at: usize) -> bool {
        let rest = &self.text.as_bytes()[at..];
        let word = rest.iter().take_while(|byte| is_token_byte(**byte));
        is_start(rest) && word.filter(|byte| **byte == b'.').take(2).count() == 2
    }

    /// Returns whether the pieces have the form of a token.
    fn is_formed(&mut self) -> bool {
        match (self.is_paseto, self.dots) {
            (true, 2) => self.last_part > 0,
            (true, 3) => true,
            // A header that begins with {" and cannot be read is the header of a damaged token.
            (false, 2) => self.header().is_some() || self.text[self.start..].starts_with("eyJ"),
            (false, 4) => self.header().is_some_and(|header| header.enc.is_some()),
            _ => false,
        }
    }

    /// Returns whether the last part has the length that the header promises.
    fn is_complete(&mut self) -> bool {
        let (dots, chars) = (self.dots, self.last_part);
        if self.is_paseto {
            return false;
        }
        let Some(header) = self.header() else {
            return false;
        };
        let lengths = match dots {
            2 => signature_bytes(header.alg.as_deref().unwrap_or_default()),
            _ => tag_bytes(header.enc.as_deref().unwrap_or_default()).to_vec(),
        };
        lengths.iter().any(|bytes| (bytes * 4).div_ceil(3) == chars)
    }

    /// Returns the header, which is decoded once.
    fn header(&mut self) -> Option<&Header> {
        if self.header.is_none() {
            let read = self.read_header();
            self.header = Some(read);
        }
        self.header.as_ref()?.as_ref()
    }

    fn read_header(&self) -> Option<Header> {
        let mut header = String::new();
        for piece in &self.pieces {
            let text = &self.text[piece.clone()];
            let part = text.split('.').next().unwrap_or(text);
            if header.len() + part.len() > HEADER_CHARS {
                return None;
            }
            header.push_str(part);
            if part.len() < text.len() {
                break;
            }
        }
        let headers = Headers::of_protected(header.trim_end_matches('='))?;
        Some(Header {
            alg: headers.text("alg"),
            enc: headers.text("enc"),
        })
    }
}

/// Returns the lengths that a signature can have. RSA keys have the usual lengths.
fn signature_bytes(alg: &str) -> Vec<usize> {
    match alg.parse() {
        Ok(Alg::Mac(alg)) => vec![alg.key_bytes()],
        Ok(Alg::Sig(alg)) => match alg.signature_bytes() {
            Some(bytes) => vec![bytes],
            None => vec![128, 256, 384, 512, 1024],
        },
        _ if alg == "none" => vec![0],
        _ => Vec::new(),
    }
}

/// Returns the length of an authentication tag.
fn tag_bytes(enc: &str) -> &'static [usize] {
    match enc {
        "A128GCM" | "A192GCM" | "A256GCM" | "A128CBC-HS256" => &[16],
        "A192CBC-HS384" => &[24],
        "A256CBC-HS512" => &[32],
        _ => &[],
    }
}
