use std::borrow::Cow;
use std::fmt::Write as _;

use jeton::Timestamp;
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::hidden::{self, Hidden, LEVELS, Reason};
use super::verdict::Verdict;
use super::{invisible, pretty, relative_time};
use crate::json::{Members, Problem};
use crate::{escape, output};

/// How many times of the claims are shown. Only duplicate members give more than three.
const TIMES_SHOWN: usize = 16;

/// How many different invisible characters are named.
const CHARACTERS_NAMED: usize = 8;

/// The report about a token or key.
pub(super) struct Report {
    /// The format in JSON output: `jws`, `v4.public`, `jwk`.
    format: &'static str,
    /// The title in text output.
    title: String,
    /// Short values by name.
    facts: Vec<(&'static str, Fact)>,
    /// Parts of a token by name.
    parts: Vec<(&'static str, Content)>,
    /// The times of the claims by name; `None` for a value that is not a time.
    times: Vec<(&'static str, Option<jiff::Timestamp>)>,
    /// The keys of a set, or the signatures or recipients of a token.
    children: Option<Children>,
    /// The notes about the token or key.
    notes: Vec<String>,
    /// What was removed around the token.
    input_notes: Vec<String>,
    /// The result of verification, if the caller passed keys.
    verdict: Option<Verdict>,
}

/// Several reports of the same kind.
pub(super) struct Children {
    /// The name of one.
    pub(super) one: &'static str,
    /// The name of all, in JSON.
    all: &'static str,
    pub(super) reports: Vec<Report>,
}

pub(super) enum Fact {
    Text(String),
    Number(usize),
}

/// The content of a part of a token.
pub(super) enum Content {
    /// One JSON value.
    Json(Json),
    Text(String),
    Bytes(Vec<u8>),
    /// A private key of this many bytes.
    Private(usize),
}

/// A JSON value as it is written, and its hidden parts.
pub(super) struct Json {
    raw: Box<RawValue>,
    hidden: Hidden,
}

impl Json {
    pub(super) fn of(raw: Box<RawValue>) -> Json {
        let hidden = Hidden::of(raw.get());
        Json { raw, hidden }
    }

    /// Returns the whole value.
    pub(super) fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// Returns the visible parts, indented.
    pub(super) fn pretty(&self) -> String {
        pretty::json(self.raw.get(), &self.hidden)
    }
}

impl Content {
    pub(super) fn of(bytes: Vec<u8>) -> Content {
        match String::from_utf8(bytes) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(json) => Content::Json(Json::of(json)),
                Err(_) if hidden::is_private_key(&text) => Content::Private(text.len()),
                Err(_) => Content::Text(text),
            },
            Err(error) => Content::Bytes(error.into_bytes()),
        }
    }

    /// Returns JSON that is not encoded in the token.
    pub(super) fn json(raw: &RawValue) -> Content {
        Content::Json(Json::of(raw.to_owned()))
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Content::Json(json) => json.raw.get().len(),
            Content::Text(text) => text.len(),
            Content::Bytes(bytes) => bytes.len(),
            Content::Private(bytes) => *bytes,
        }
    }

    /// Returns the text, or nothing for bytes and private keys.
    fn text(&self) -> &str {
        match self {
            Content::Json(json) => json.raw.get(),
            Content::Text(text) => text,
            Content::Bytes(_) | Content::Private(_) => "",
        }
    }

    fn hides(&self, reason: Reason) -> bool {
        match self {
            Content::Json(json) => json.hidden.has(reason),
            Content::Private(_) => reason == Reason::Private,
            Content::Text(_) | Content::Bytes(_) => false,
        }
    }
}

impl Report {
    pub(super) fn new(format: &'static str, title: impl Into<String>) -> Report {
        Report {
            format,
            title: title.into(),
            facts: Vec::new(),
            parts: Vec::new(),
            times: Vec::new(),
            children: None,
            notes: Vec::new(),
            input_notes: Vec::new(),
            verdict: None,
        }
    }

    /// Sets what was removed around the token.
    pub(super) fn with_input_notes(mut self, notes: Vec<String>) -> Report {
        self.input_notes = notes;
        self
    }

    pub(super) fn with_verdict(mut self, verdict: Option<Verdict>) -> Report {
        self.verdict = verdict;
        self
    }

    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    pub(super) fn into_verdict(self) -> Option<Verdict> {
        self.verdict
    }

    pub(super) fn text(mut self, name: &'static str, text: impl Into<String>) -> Report {
        self.facts.push((name, Fact::Text(text.into())));
        self
    }

    pub(super) fn number(mut self, name: &'static str, number: usize) -> Report {
        self.facts.push((name, Fact::Number(number)));
        self
    }

    /// Adds a part of a token, and notes if some of it is hidden.
    pub(super) fn part(self, name: &'static str, content: Content) -> Report {
        let mut report = self;
        if content.hides(Reason::Private) {
            report = report.note(format!(
                "{name}: contains a private key, which is not shown; anyone who has the token has the key"
            ));
        }
        if content.hides(Reason::TooDeep) {
            report = report.note(format!(
                "{name}: values nested deeper than {LEVELS} levels are not shown"
            ));
        }
        let found = invisible::characters(content.text());
        if !found.is_empty() {
            let names: Vec<String> = found
                .into_iter()
                .take(CHARACTERS_NAMED)
                .map(invisible::name)
                .collect();
            report = report.note(format!(
                "{name}: contains characters that are invisible or change the direction of text: {}",
                names.join(", ")
            ));
        }
        report.parts.push((name, content));
        report
    }

    /// Adds `iat`, `nbf` and `exp` of the claims.
    pub(super) fn times(mut self, claims: &Content) -> Report {
        if let Content::Json(json) = claims {
            self.times = relative_time::times(json.raw());
        }
        if self.times.len() > TIMES_SHOWN {
            let count = self.times.len();
            self.times.truncate(TIMES_SHOWN);
            return self.note(format!(
                "payload: {count} times, of which {TIMES_SHOWN} are shown"
            ));
        }
        self
    }

    /// Adds several reports of the same kind, with the names for one and for all.
    pub(super) fn with_children(
        mut self,
        one: &'static str,
        all: &'static str,
        reports: Vec<Report>,
    ) -> Report {
        self.children = Some(Children { one, all, reports });
        self
    }

    /// Prints a note and adds it.
    pub(super) fn note(self, note: impl Into<String>) -> Report {
        let note = note.into();
        output::note(&note);
        self.add_note(note)
    }

    /// Adds a note that has been printed already.
    pub(super) fn add_note(mut self, note: impl Into<String>) -> Report {
        self.notes.push(note.into());
        self
    }

    /// Notes a duplicate member, which readers interpret differently.
    pub(super) fn note_ambiguity(self, part: &str, content: &Content) -> Report {
        if let Content::Json(json) = content
            && let Some(name) = duplicate_member(json.raw.get())
        {
            return self.note(format!(
                "{part}: duplicate member {name:?}; a strict verifier rejects the token"
            ));
        }
        self
    }

    pub(super) fn format(&self) -> &'static str {
        self.format
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    pub(super) fn facts(&self) -> &[(&'static str, Fact)] {
        &self.facts
    }

    pub(super) fn parts(&self) -> &[(&'static str, Content)] {
        &self.parts
    }

    pub(super) fn moments(&self) -> &[(&'static str, Option<jiff::Timestamp>)] {
        &self.times
    }

    pub(super) fn children(&self) -> Option<&Children> {
        self.children.as_ref()
    }

    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns whether a part contains a hidden private key.
    pub(super) fn hides_key(&self) -> bool {
        let hides = |(_, content): &(&str, Content)| content.hides(Reason::Private);
        let mut children = self.children.iter().flat_map(|children| &children.reports);
        self.parts.iter().any(hides) || children.any(Report::hides_key)
    }

    /// Returns whether it or one of its parts is secret.
    pub(super) fn is_secret(&self) -> bool {
        let says_so = |(name, fact): &(&str, Fact)| {
            *name == "secret" && matches!(fact, Fact::Text(text) if text == "yes")
        };
        let children = self.children.iter().flat_map(|children| &children.reports);
        self.facts.iter().any(says_so) || children.into_iter().any(Report::is_secret)
    }

    /// Formats the report as text.
    pub(super) fn to_text(&self, now: Timestamp) -> String {
        let mut out = format!("{}\n", self.title);
        if let Some(verdict) = &self.verdict {
            let _ = writeln!(out, "{}", escape::line(&verdict.text()));
        }
        self.write_facts(&mut out, "  ");
        self.write_parts(&mut out);
        if !self.times.is_empty() {
            out.push_str("\ntimes\n");
        }
        for (name, time) in &self.times {
            let _ = match time {
                Some(time) => writeln!(
                    out,
                    "  {name}  {time}  {}",
                    relative_time::relative(*time, now)
                ),
                None => writeln!(out, "  {name}  not a valid time"),
            };
        }
        if let Some(children) = &self.children {
            for (index, one) in children.reports.iter().enumerate() {
                let colon = if one.title.is_empty() { "" } else { ": " };
                let (name, number) = (children.one, index + 1);
                let _ = writeln!(out, "\n{name} {number}{colon}{}", one.title);
                one.write_facts(&mut out, "  ");
                one.write_parts(&mut out);
            }
        }
        out
    }

    fn write_parts(&self, out: &mut String) {
        for (name, content) in &self.parts {
            let size = content.bytes();
            // Writing to a String cannot fail.
            let _ = match content {
                Content::Json(json) => {
                    write!(out, "\n{name} ({size} bytes)\n{}\n", json.pretty())
                }
                Content::Text(text) => {
                    write!(
                        out,
                        "\n{name} ({size} bytes, text)\n{}\n",
                        escape::text(text)
                    )
                }
                Content::Bytes(bytes) => {
                    write!(
                        out,
                        "\n{name} ({size} bytes, not text)\n{}\n",
                        pretty::bytes(bytes)
                    )
                }
                Content::Private(_) => {
                    let words = Reason::Private.placeholder();
                    write!(out, "\n{name} ({size} bytes, text)\n{words}\n")
                }
            };
        }
    }

    fn write_facts(&self, out: &mut String, indent: &str) {
        let width = self.facts.iter().map(|(name, _)| name.len()).max();
        let width = width.unwrap_or_default();
        for (name, fact) in &self.facts {
            let _ = match fact {
                Fact::Text(text) => {
                    writeln!(out, "{indent}{name:width$}  {}", escape::text(text))
                }
                Fact::Number(number) => writeln!(out, "{indent}{name:width$}  {number}"),
            };
        }
    }
}

/// Returns the name of a duplicate member. JSON that is nested too deep for verifiers is not searched.
pub(super) fn duplicate_member(json: &str) -> Option<String> {
    match Members::strict(json, LEVELS as u32) {
        Err(Problem::Duplicate(name)) => Some(name),
        _ => None,
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let is_verified = self.verdict.as_ref().is_some_and(Verdict::is_verified);
        map.serialize_entry("verified", &is_verified)?;
        if let Some(verdict) = &self.verdict {
            map.serialize_entry("verdict", &verdict.text())?;
        }
        map.serialize_entry("format", self.format)?;
        for (name, fact) in &self.facts {
            match fact {
                Fact::Text(text) => map.serialize_entry(name, text)?,
                Fact::Number(number) => map.serialize_entry(name, number)?,
            }
        }
        for (name, content) in &self.parts {
            map.serialize_entry(name, content)?;
        }
        if !self.times.is_empty() {
            map.serialize_entry("times", &Times(&self.times))?;
        }
        if let Some(children) = &self.children {
            map.serialize_entry(children.all, &children.reports)?;
        }
        if !self.notes.is_empty() {
            map.serialize_entry("notes", &self.notes)?;
        }
        if !self.input_notes.is_empty() {
            map.serialize_entry("input_notes", &self.input_notes)?;
        }
        map.end()
    }
}

impl Serialize for Content {
    /// Writes JSON unchanged, with `null` for hidden values; text as a string; bytes as an object with the member
    /// `base64url`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Json(json) => match json.hidden.with_nulls(json.raw.get()) {
                Cow::Borrowed(_) => json.raw.serialize(serializer),
                Cow::Owned(shown) => RawValue::from_string(shown)
                    .map_err(S::Error::custom)?
                    .serialize(serializer),
            },
            Content::Private(_) => serializer.serialize_none(),
            Content::Text(text) => text.serialize(serializer),
            Content::Bytes(bytes) => {
                let mut map = serializer.serialize_map(Some(1))?;
                let text = base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes);
                map.serialize_entry("base64url", &text)?;
                map.end()
            }
        }
    }
}

struct Times<'a>(&'a [(&'static str, Option<jiff::Timestamp>)]);

impl Serialize for Times<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times = self.0.iter();
        serializer.collect_map(times.map(|(name, time)| (name, time.map(|time| time.to_string()))))
    }
}
