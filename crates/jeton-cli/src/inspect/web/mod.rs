//! The HTML page of `inspect --web`.
//!
//! Its frame, which `jeton_page` has, allows no script. Control characters and bidirectional controls are written as
//! escapes, as on a terminal.

mod destination;
mod members;
mod segments;
mod timeline;

use jeton::Timestamp;
use maud::{Markup, html};

use super::hidden::Reason;
use super::invisible::{self, Piece};
use super::pretty;
use super::report::{Content, Fact, Report};
use crate::escape;
use crate::json::Members;
use members::{Family, Member};
use segments::{Kind, segments};

pub(super) use destination::Web;

/// How many parts of a token the table lists. 64 signatures have fewer.
const SEGMENTS_SHOWN: usize = 256;

/// The colours of the parts of a token, and what else only this page has.
const STYLE: &str = include_str!("page.css");

/// The content of the page.
pub(super) struct Page<'a> {
    pub(super) report: &'a Report,
    pub(super) token: Token<'a>,
    /// The warning at the top.
    pub(super) caution: &'static str,
    pub(super) now: Timestamp,
}

/// The text of the token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Token<'a> {
    Shown(&'a str),
    /// It contains a private key and is not shown.
    Withheld,
    /// It is a key and is not shown.
    Key,
}

impl Page<'_> {
    /// Returns the page: UTF-8 HTML without other files.
    fn html(&self) -> String {
        let footer = html! {
            "Made by jeton " (env!("CARGO_PKG_VERSION")) ". It sends no requests."
            @if let Token::Shown(_) = self.token {
                " It contains the token: anyone who has this file can use the token. Delete it after use."
            }
        };
        let frame = jeton_page::Page {
            program: "jeton inspect",
            heading: self.report.title(),
            style: STYLE,
            main: self.sections(),
            footer,
        };
        frame.html()
    }

    /// Renders the answer first, then the claims, and last the text of the token.
    fn sections(&self) -> Markup {
        let report = self.report;
        let is_payload = |name: &str| name == "payload";
        html! {
            (self.findings())
            (parts(report, "", is_payload))
            @if !report.moments().is_empty() {
                section #times aria-labelledby="times-heading" {
                    h2 #times-heading { "Times" }
                    (timeline::section(report.moments(), self.now))
                }
            }
            (parts(report, "", |name| !is_payload(name)))
            @if let Some(below) = report.children() {
                @for (index, one) in below.reports.iter().enumerate() {
                    @let id = format!("{}-{}", below.one, index + 1);
                    section #(id) aria-labelledby={ (id) "-heading" } {
                        h2 #{ (id) "-heading" } {
                            (capital(below.one)) " " (index + 1)
                            @if !one.title().is_empty() { ": " (one.title()) }
                        }
                        (notes(one))
                        (facts(one, &format!("Facts of {} {}", below.one, index + 1)))
                        (parts(one, &format!("{id}-"), |_| true))
                    }
                }
            }
            @match self.token {
                Token::Shown(token) => (written(report, token)),
                Token::Withheld => p.note {
                    "The token is not on this page because it contains a private key."
                },
                Token::Key => {},
            }
            @if !report.facts().is_empty() {
                section #facts aria-labelledby="facts-heading" {
                    h2 #facts-heading { "Facts" }
                    (facts(report, "Form and sizes"))
                }
            }
        }
    }

    /// Renders the verdict or the warning that there is none, and what the content shows.
    fn findings(&self) -> Markup {
        let report = self.report;
        html! {
            section #findings aria-label="Findings" {
                @match report.verdict() {
                    None => p.caution role="note" { (self.caution) "." },
                    Some(verdict) => p.verdict.(if verdict.is_verified() { "for" } else { "against" }) {
                        (escape::text(&verdict.text())) "."
                        @if let Some(detail) = verdict.detail() { small { (escape::text(detail)) "." } }
                    },
                }
                @if !report.moments().is_empty() {
                    @for (against, sentence) in timeline::summary(report.moments(), self.now) {
                        p.verdict.against[against] { (sentence) }
                    }
                }
                (notes(report))
            }
        }
    }
}

fn notes(report: &Report) -> Markup {
    html! {
        @for note in report.notes() { p.note { (escape::text(note)) "." } }
    }
}

/// Renders the short values, with the meaning of the members of a JWK.
fn facts(report: &Report, caption: &str) -> Markup {
    let family = ["jwk", "pem", "der"].contains(&report.format());
    let meaning = |name: &str| Family::Jwk.member(name).filter(|_| family);
    if report.facts().is_empty() {
        return html! {};
    }
    html! {
        div.scroll {
            table.facts {
                caption { (caption) }
                tbody {
                    @for (name, fact) in report.facts() {
                        tr {
                            th scope="row" { (name.replace('_', " ")) }
                            td {
                                @match fact {
                                    Fact::Text(text) => code { (marked(&escape::text(text))) },
                                    Fact::Number(number) => (number),
                                }
                                @if let Some(member) = meaning(name) {
                                    small { (member.meaning) " (" (member.source) ")" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the text of the token in colours, with a legend.
fn written(report: &Report, token: &str) -> Markup {
    let all = segments(report.format(), token);
    let mut kinds = all
        .iter()
        .filter_map(|(kind, text)| Some(((*kind)?, *text)));
    let rows: Vec<(Kind, &str)> = kinds.by_ref().take(SEGMENTS_SHOWN).collect();
    let left_out = kinds.count();
    html! {
        section #token aria-labelledby="token-heading" {
            h2 #token-heading { "The token" }
            div.token role="group" aria-label="Text of the token" tabindex="0" {
                code {
                    @for (kind, text) in &all {
                        @match kind {
                            Some(kind) => span.(kind.class()) { (escape::text(text)) },
                            None => (escape::text(text)),
                        }
                    }
                }
            }
            div.scroll {
                table.segments {
                    caption { "Colours" }
                    thead {
                        tr {
                            th scope="col" { "Part" }
                            th scope="col" { "Meaning" }
                        }
                    }
                    tbody {
                        @for (kind, text) in rows {
                            @let (meaning, source) = kind.meaning(report.format());
                            tr {
                                th scope="row" {
                                    span.swatch.(kind.class()) { (anchor(report, kind)) }
                                    small { (count(text.chars().count(), "character")) }
                                    small { (count(bytes_behind(report, kind, text), "byte")) }
                                }
                                td { (meaning) small { (source) } }
                            }
                        }
                        @if left_out > 0 {
                            tr { td colspan="2" { "and " (left_out) " more" } }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the number of bytes of a segment. All segments are base64url, except a payload of RFC 7797.
fn bytes_behind(report: &Report, kind: Kind, text: &str) -> usize {
    let mut parts = report.parts().iter();
    let part = parts.find(|(name, _)| kind.part() == Some(name));
    match part {
        Some((_, content)) if content.bytes() == text.len() => text.len(),
        _ if kind == Kind::Version => text.len(),
        _ => text.len() * 3 / 4,
    }
}

/// Renders the name of a segment, with a link to its content if that has one place.
fn anchor(report: &Report, kind: Kind) -> Markup {
    let part = kind.part().filter(|part| {
        let mut shown = report.parts().iter();
        shown.any(|(name, _)| name == part)
    });
    html! {
        @match part {
            Some(part) => a href={ "#" (part) } { (kind.name()) },
            None => (kind.name()),
        }
    }
}

/// Renders the parts of the token, one section for each. `prefix` makes the ids of nested parts unique.
fn parts(report: &Report, prefix: &str, is_shown: impl Fn(&str) -> bool) -> Markup {
    html! {
        @for (name, content) in report.parts().iter().filter(|(name, _)| is_shown(name)) {
            @let id = format!("{prefix}{name}");
            // A nested part is no landmark: its parent identifies it.
            @let top = prefix.is_empty();
            section.part.(colour(name)) #(id) aria-labelledby=[top.then(|| format!("{id}-heading"))] {
                @let heading = html! { (title(name)) " " small { (size(content)) } };
                @if top {
                    h2 #{ (id) "-heading" } { (heading) }
                } @else {
                    h3 #{ (id) "-heading" } { (heading) }
                }
                div.sides {
                    pre tabindex="0" role="group" aria-labelledby={ (id) "-heading" } {
                        code { (marked(&shown(content))) }
                    }
                    (meanings(report.format(), name, content))
                }
            }
        }
    }
}

/// Returns the full title of a part.
fn title(part: &str) -> String {
    match part {
        "unprotected" => "Unprotected header".to_owned(),
        "recipient" => "Header of the recipient".to_owned(),
        "aad" => Kind::Aad.name().to_owned(),
        _ => capital(part),
    }
}

/// Returns the CSS class with the colour of a part.
fn colour(part: &str) -> &'static str {
    match part {
        "header" => Kind::Header.class(),
        "payload" => Kind::Payload.class(),
        "footer" | "aad" => Kind::Footer.class(),
        _ => "plain",
    }
}

fn size(content: &Content) -> String {
    let bytes = count(content.bytes(), "byte");
    match content {
        Content::Json(_) => bytes,
        Content::Text(_) | Content::Private(_) => format!("{bytes}, text"),
        Content::Bytes(_) => format!("{bytes}, not text"),
    }
}

/// Renders a text and marks each invisible character, with its name.
fn marked(text: &str) -> Markup {
    html! {
        @for piece in invisible::pieces(text) {
            @match piece {
                Piece::Visible(text) => (text),
                Piece::Invisible(c, written) => {
                    @let name = invisible::name(c);
                    mark title=(name) { (mark_text(&name, written)) }
                }
            }
        }
    }
}

/// Returns the text of a mark: the escape, or the code point of a space, which is not escaped.
fn mark_text(name: &str, written: &str) -> String {
    match name.split_once(' ') {
        Some((code, _)) if !written.starts_with('\\') => format!("[{code}]"),
        _ => written.to_owned(),
    }
}

fn count(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
}

fn shown(content: &Content) -> String {
    match content {
        Content::Json(json) => json.pretty(),
        Content::Text(text) => escape::text(text),
        Content::Bytes(bytes) => pretty::all_bytes(bytes),
        Content::Private(_) => Reason::Private.placeholder().to_owned(),
    }
}

/// Renders the registered members of a part, each once.
fn meanings(format: &str, part: &str, content: &Content) -> Markup {
    let known = match (Family::of(format, part), content) {
        (Some(family), Content::Json(json)) => known(family, json.raw().get()),
        _ => Vec::new(),
    };
    if known.is_empty() {
        return html! {};
    }
    html! {
        div.scroll {
            table.members {
                caption { "Registered members" }
                thead {
                    tr {
                        th scope="col" { "Name" }
                        th scope="col" { "Meaning" }
                    }
                }
                tbody {
                    @for member in known {
                        tr {
                            th scope="row" { code { (member.name) } }
                            td { (member.meaning) small { (member.source) } }
                        }
                    }
                }
            }
        }
    }
}

fn known(family: Family, json: &str) -> Vec<Member> {
    let mut known: Vec<Member> = Vec::new();
    let members = Members::loose(json).map_or(Vec::new(), |Members(all)| all);
    for (name, _) in &members {
        if let Some(member) = family.member(name)
            && !known.iter().any(|other| other.name == member.name)
        {
            known.push(member);
        }
    }
    known
}

/// Capitalizes the first letter of a heading.
fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
