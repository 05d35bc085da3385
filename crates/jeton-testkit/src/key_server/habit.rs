//! The data: `sdk/testdata/fetch.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    #[serde(rename = "about")]
    _about: String,
    pub(super) token: String,
    pub(super) keys: Value,
    pub(super) habits: Vec<Habit>,
}

/// What a key server does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Habit {
    /// The first part of its path.
    pub name: String,
    /// The result of a verification: `ok`, or the code of the error.
    pub expect: String,
    /// How many requests the server gets if a second verification follows after a second.
    pub requests_after_a_second: Option<usize>,
    #[serde(default)]
    via: Via,
    #[serde(default = "ok")]
    pub(super) status: u16,
    /// Headers of the response. `null` removes one.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Option<String>>,
    /// Texts that headers of the request must contain. Otherwise the status is 403.
    #[serde(default)]
    pub(super) require: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: Body,
    /// Applied one after another, to the document of an issuer or else to the key set.
    #[serde(default)]
    pub(super) encode: Vec<Encoding>,
    #[serde(default)]
    pub(super) framing: Framing,
    #[serde(default)]
    pub(super) document: Document,
}

/// The result that a habit has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected<'h> {
    /// The token verifies.
    Verified,
    /// An error with this code.
    Code(&'h str),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Via {
    #[default]
    Address,
    Issuer,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Body {
    #[default]
    Keys,
    Html,
    Empty,
    /// The key set with 5 MB of white space.
    Large,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Encoding {
    #[serde(rename = "bom")]
    ByteOrderMark,
    #[serde(rename = "gzip")]
    Gzip,
    #[serde(rename = "utf-16")]
    Utf16,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Framing {
    /// `Content-Length`.
    #[default]
    Length,
    Chunked,
    /// The end of the connection is the end of the body.
    Close,
    /// The body ends before its `Content-Length`.
    Cut,
    /// One byte after another, without an end.
    Drip,
    /// No body.
    None,
}

/// The document of an issuer: members that replace the usual ones, or a page.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Document {
    Page(#[allow(dead_code, reason = "its presence counts")] String),
    Members(Map<String, Value>),
}

impl Default for Document {
    fn default() -> Document {
        Document::Members(Map::new())
    }
}

fn ok() -> u16 {
    200
}

impl Habit {
    /// Whether the key set is discovered.
    #[must_use]
    pub fn is_of_issuer(&self) -> bool {
        self.via == Via::Issuer
    }

    /// Returns the expected result.
    #[must_use]
    pub fn expected(&self) -> Expected<'_> {
        match &*self.expect {
            "ok" => Expected::Verified,
            code => Expected::Code(code),
        }
    }
}
