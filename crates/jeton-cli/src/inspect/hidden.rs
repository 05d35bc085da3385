//! Finds the values in a token's JSON that are not shown: values nested too deep, and private keys.
//!
//! The text is scanned once, and the memory for nesting is bounded by the limit.

use std::borrow::Cow;
use std::ops::Range;

use super::json_tokens::{Kind, Token, json_tokens};

/// The default nesting limit of verifiers.
pub(super) const LEVELS: usize = 32;

/// Why a value is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// It is an object or array inside [`LEVELS`] others.
    TooDeep,
    /// It is a private key, or a private member of one.
    Private,
}

/// The ranges of the hidden values of a JSON text, in order and not nested.
#[derive(Debug, Default)]
pub(super) struct Hidden(Vec<(Range<usize>, Reason)>);

/// Members that only private and symmetric keys have (RFC 7518, section 6; RFC 9864 has `priv`).
const PRIVATE: [&str; 9] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/// Members that are always treated as keys.
const KEYS: [&str; 2] = ["jwk", "epk"];

/// The end of the first line of a private key in PEM.
const PEM_END: &[u8] = b"PRIVATE KEY-----";

/// The shortest text of a private key, bytes.
const PRIVATE_KEY_BYTES_MIN: usize = 16;

impl Reason {
    /// Returns the text that replaces the value in text output.
    pub(super) fn placeholder(self) -> &'static str {
        match self {
            Reason::TooDeep => "(not shown: nested deeper than 32 levels)",
            Reason::Private => "(not shown: private key)",
        }
    }
}

impl Hidden {
    /// Finds the hidden values of a valid JSON value.
    pub(super) fn of(json: &str) -> Hidden {
        let mut hidden = Scan::all(json);
        hidden.sort_by_key(|(range, _)| (range.start, usize::MAX - range.end));
        let mut end = 0;
        hidden.retain(|(range, _)| {
            let is_outer = range.start >= end;
            end = end.max(range.end);
            is_outer
        });
        Hidden(hidden)
    }

    pub(super) fn has(&self, reason: Reason) -> bool {
        self.0.iter().any(|(_, why)| *why == reason)
    }

    /// Returns the JSON with `null` in place of each hidden value.
    pub(super) fn with_nulls<'j>(&self, json: &'j str) -> Cow<'j, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(json);
        }
        let mut out = String::with_capacity(json.len());
        for (shown, reason) in self.pieces(json) {
            out.push_str(shown);
            if reason.is_some() {
                out.push_str("null");
            }
        }
        Cow::Owned(out)
    }

    /// Returns the visible pieces, each with the reason for the hidden value behind it. The last has none.
    pub(super) fn pieces<'j>(
        &self,
        json: &'j str,
    ) -> impl Iterator<Item = (&'j str, Option<Reason>)> {
        let begins = std::iter::once(0).chain(self.0.iter().map(|(range, _)| range.end));
        let ends = self
            .0
            .iter()
            .map(|(range, why)| (range.start, Some(*why)))
            .chain([(json.len(), None)]);
        begins
            .zip(ends)
            .map(|(begin, (end, why))| (&json[begin..end], why))
    }
}

/// Returns whether a text contains a private key in PEM, in JSON or as a PASERK.
pub(super) fn is_private_key(text: &str) -> bool {
    if text.len() < PRIVATE_KEY_BYTES_MIN {
        return false;
    }
    let has = |member: &str| text.contains(&format!("\"{member}\""));
    let mut frames = text.as_bytes().windows(PEM_END.len());
    frames.any(|bytes| bytes.eq_ignore_ascii_case(PEM_END))
        || has_secret_paserk(text)
        || (has("kty") && PRIVATE.into_iter().any(has))
}

fn has_secret_paserk(text: &str) -> bool {
    let is_one = |word: &str| match word.as_bytes() {
        [b'k', b'1'..=b'4', b'.', rest @ ..] => {
            rest.starts_with(b"local.") || rest.starts_with(b"secret.")
        }
        _ => false,
    };
    let is_between = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.');
    text.split(is_between).any(is_one)
}

/// An object or array whose end has not been reached.
#[derive(Default)]
struct Level {
    begin: usize,
    is_object: bool,
    /// It has a `kty`, or is the value of a key member, or an element of a list of keys.
    is_key: bool,
    /// The member whose value follows.
    member: Member,
    /// Values that are private if this is a key.
    private: Vec<Range<usize>>,
}

impl Level {
    /// Returns whether the next value is a key or a list of keys.
    fn has_key_next(&self) -> bool {
        if self.is_object {
            self.member == Member::Key
        } else {
            self.is_key
        }
    }
}

/// The kind of a member, judged by its name.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Member {
    #[default]
    Any,
    Private,
    Key,
}

/// The nesting at one place of a text.
#[derive(Default)]
struct Scan {
    /// At most [`LEVELS`].
    levels: Vec<Level>,
    /// Unordered, and possibly nested.
    hidden: Vec<(Range<usize>, Reason)>,
}

impl Scan {
    fn all(json: &str) -> Vec<(Range<usize>, Reason)> {
        let mut scan = Scan::default();
        let mut tokens = json_tokens(json).peekable();
        while let Some(Token { kind, range }) = tokens.next() {
            match kind {
                Kind::Begin if scan.levels.len() == LEVELS => {
                    let deep = range.start..end_of_nested(&mut tokens, range.end);
                    scan.hidden.push((deep.clone(), Reason::TooDeep));
                    scan.value(deep);
                }
                Kind::Begin => scan.levels.push(Level {
                    begin: range.start,
                    is_object: json[range].starts_with('{'),
                    is_key: scan.levels.last().is_some_and(Level::has_key_next),
                    ..Level::default()
                }),
                Kind::End => scan.end_level(range.end),
                Kind::Comma | Kind::Colon => {}
                Kind::Other => scan.value(range),
                Kind::String => {
                    let text = unescaped(&json[range.clone()]);
                    let next = tokens.peek().map(|token| token.kind);
                    if next == Some(Kind::Colon) {
                        scan.name(&text);
                    } else {
                        if is_private_key(&text) {
                            scan.hidden.push((range.clone(), Reason::Private));
                        }
                        scan.value(range);
                    }
                }
            }
        }
        scan.hidden
    }

    /// Reads the name of a member.
    fn name(&mut self, text: &str) {
        if let Some(level) = self.levels.last_mut() {
            level.is_key |= text == "kty";
            level.member = match text {
                name if PRIVATE.contains(&name) => Member::Private,
                name if KEYS.contains(&name) => Member::Key,
                _ => Member::Any,
            };
        }
    }

    /// Records a complete value.
    fn value(&mut self, range: Range<usize>) {
        if let Some(level) = self.levels.last_mut()
            && std::mem::take(&mut level.member) == Member::Private
        {
            level.private.push(range);
        }
    }

    fn end_level(&mut self, end: usize) {
        let Some(level) = self.levels.pop() else {
            return;
        };
        if level.is_key {
            let private = level.private.into_iter();
            self.hidden
                .extend(private.map(|range| (range, Reason::Private)));
        }
        self.value(level.begin..end);
    }
}

/// Returns the end of an object or array of any depth, whose beginning was read up to `begun`.
fn end_of_nested(tokens: &mut impl Iterator<Item = Token>, begun: usize) -> usize {
    let (mut depth, mut end) = (1_usize, begun);
    while depth > 0
        && let Some(token) = tokens.next()
    {
        end = token.range.end;
        match token.kind {
            Kind::Begin => depth += 1,
            Kind::End => depth -= 1,
            _ => {}
        }
    }
    end
}

fn unescaped(string: &str) -> Cow<'_, str> {
    if string.contains('\\') {
        serde_json::from_str(string).map_or(Cow::Borrowed(string), Cow::Owned)
    } else {
        Cow::Borrowed(string.trim_matches('"'))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn with_nulls(json: &str) -> String {
        let shown = Hidden::of(json).with_nulls(json).into_owned();
        let _: serde_json::Value = serde_json::from_str(&shown).unwrap();
        shown
    }

    #[test]
    fn hidden_private_key_members_become_null() {
        for (json, shown) in [
            (
                r#"{"jwk":{"d":"A","kty":"EC","x":"B"}}"#,
                r#"{"jwk":{"d":null,"kty":"EC","x":"B"}}"#,
            ),
            (
                r#"{"jwk":{"\u0064" : "A" ,"k":["A"]},"k":1}"#,
                r#"{"jwk":{"\u0064" : null ,"k":null},"k":1}"#,
            ),
            (
                r#"{"cnf":[{"x":{"oth":[{"d":1,"kty":""}],"kty":"RSA","q":{}}}]}"#,
                r#"{"cnf":[{"x":{"oth":null,"kty":"RSA","q":null}}]}"#,
            ),
            (
                r#"{"epk":{"priv":"A","n":"B"}}"#,
                r#"{"epk":{"priv":null,"n":"B"}}"#,
            ),
            (
                r#"{"jwk":[[{"d":1}],"d"]}"#,
                r#"{"jwk":[[{"d":null}],"d"]}"#,
            ),
            (
                r#"{"kty":"oct","k":"A","k":-1}"#,
                r#"{"kty":"oct","k":null,"k":null}"#,
            ),
            (
                r#"["k4.secret.AAAAAA","k4.public.AAAAAA"]"#,
                r#"[null,"k4.public.AAAAAA"]"#,
            ),
            (
                r#"{"key":"-----BEGIN PRIVATE KEY-----\nAAAA"}"#,
                r#"{"key":null}"#,
            ),
            (r#""{\"kty\":\"oct\",\"k\":\"A\"}""#, "null"),
            (
                r#"["-----begin private key-----A","\ud800-----BEGIN PRIVATE KEY-----A"]"#,
                "[null,null]",
            ),
            (
                r#"["KEY=k4.secret.AAAAAA","k4.secret-wrap.pie.AAAAAA"]"#,
                r#"[null,"k4.secret-wrap.pie.AAAAAA"]"#,
            ),
            (
                r#"{"d":"A","p":{"kty":"EC","d":1}}"#,
                r#"{"d":"A","p":{"kty":"EC","d":null}}"#,
            ),
            (
                r#"{"kid":"d","kty":"EC","e":"d"}"#,
                r#"{"kid":"d","kty":"EC","e":"d"}"#,
            ),
        ] {
            assert_eq!(with_nulls(json), shown);
        }
    }

    #[test]
    fn hidden_values_below_limit_become_null() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(with_nulls(&nested(32)), nested(32));
        let pruned = format!("{}null{}", "[".repeat(32), "]".repeat(32));
        assert_eq!(with_nulls(&nested(33)), pruned);
        assert_eq!(with_nulls(&nested(200_000)), pruned);
        let json = format!("{}[\"]\"],1,{{}}{}", "[".repeat(32), "]".repeat(32));
        let shown = format!("{}null,1,null{}", "[".repeat(32), "]".repeat(32));
        assert_eq!(with_nulls(&json), shown);
    }
}
