//! The page of `inspect --web`: the report for who would rather look than read.
//!
//! A function of the report and the token's text, without script and without network: its content
//! security policy allows the one style sheet by its hash and nothing else, so that what a stranger
//! wrote can at worst be ugly. Text is escaped by maud, and what would command a terminal or turn
//! the text's direction is written as an escape, as it is on the terminal.

mod destination;
mod members;
mod segments;
mod timeline;

use base64_simd::STANDARD;
use jeton::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::hidden::Reason;
use super::pretty;
use super::report::{Content, Fact, Report};
use crate::json::Members;
use crate::escape;
use members::{Family, Member};
use segments::{Kind, segments};

pub(super) use destination::Web;

/// Most parts of a token's text that are told apart in its table: more than 64 signatures have.
const SEGMENTS_SHOWN: usize = 256;

const STYLE: &str = include_str!("page.css");

/// What is shown.
pub(super) struct Page<'a> {
    pub(super) report: &'a Report,
    pub(super) token: Token<'a>,
    /// What stands over everything.
    pub(super) caution: &'static str,
    pub(super) now: Timestamp,
}

/// The text that the page is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Token<'a> {
    Shown(&'a str),
    /// It has a private key in it.
    Withheld,
    /// It is a key, and for nobody's eyes.
    Key,
}

impl Page<'_> {
    /// The whole page: UTF-8 HTML that needs no other file.
    fn html(&self) -> String {
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            STANDARD.encode_to_string(Sha256::digest(STYLE))
        );
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { "jeton inspect: " (self.report.title()) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#main" { "Skip to what was found" }
                    header {
                        p.eyebrow { "jeton inspect" }
                        h1 { (self.report.title()) }
                        p.caution role="note" { (self.caution) "." }
                    }
                    main #main { (self.sections()) }
                    footer {
                        p {
                            "Made by jeton " (env!("CARGO_PKG_VERSION")) ". It asks nobody for anything."
                            @if let Token::Shown(_) = self.token {
                                " It holds the token: whoever has this file can use it, so delete it when you have looked."
                            }
                        }
                    }
                }
            }
        }
        .into_string()
    }

    fn sections(&self) -> Markup {
        let report = self.report;
        html! {
            (self.glance())
            @match self.token {
                Token::Shown(token) => (written(report, token)),
                Token::Withheld => p.note {
                    "The token's text is not on this page: there is a private key in it."
                },
                Token::Key => {},
            }
            (parts(report, ""))
            @if !report.moments().is_empty() {
                section #times aria-labelledby="times-heading" {
                    h2 #times-heading { "Times" }
                    (timeline::section(report.moments(), self.now))
                }
            }
            @if let Some(below) = report.below() {
                @for (index, one) in below.reports.iter().enumerate() {
                    @let id = format!("{}-{}", below.one, index + 1);
                    section #(id) aria-labelledby={ (id) "-heading" } {
                        h2 #{ (id) "-heading" } {
                            (capital(below.one)) " " (index + 1)
                            @if !one.title().is_empty() { ": " (one.title()) }
                        }
                        (notes(one))
                        (facts(one, &format!("Facts of {} {}", below.one, index + 1)))
                        (parts(one, &format!("{id}-")))
                    }
                }
            }
        }
    }

    fn glance(&self) -> Markup {
        let report = self.report;
        if report.facts().is_empty() {
            return notes(report);
        }
        html! {
            section #glance aria-labelledby="glance-heading" {
                h2 #glance-heading { "At a glance" }
                @if !report.moments().is_empty() {
                    @for (against, sentence) in timeline::verdicts(report.moments(), self.now) {
                        p.verdict.against[against] { (sentence) }
                    }
                }
                (notes(report))
                (facts(report, "Facts"))
            }
        }
    }
}

fn notes(report: &Report) -> Markup {
    html! {
        @for note in report.notes() { p.note { (escape::text(note)) "." } }
    }
}

/// Small things by name, and what the names of a JWK mean.
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
                                    Fact::Text(text) => code { (escape::text(text)) },
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

/// The token's own text in its colours, and what they stand for.
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
            div.token role="group" aria-label="The token's text" tabindex="0" {
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
                    caption { "What its colours stand for" }
                    thead {
                        tr {
                            th scope="col" { "Part" }
                            th scope="col" { "What it is" }
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

/// How many bytes a segment is. A payload of RFC 7797 stands as it is; what else there is is base64url.
fn bytes_behind(report: &Report, kind: Kind, text: &str) -> usize {
    let mut parts = report.parts().iter();
    let part = parts.find(|(name, _)| kind.part() == Some(name));
    match part {
        Some((_, content)) if content.bytes() == text.len() => text.len(),
        _ if kind == Kind::Version => text.len(),
        _ => text.len() * 3 / 4,
    }
}

/// The name of a segment, leading to what is in it if that is shown in one place.
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

/// What is in the token, a section each. `prefix` keeps the ids apart of what is under something.
fn parts(report: &Report, prefix: &str) -> Markup {
    html! {
        @for (name, content) in report.parts() {
            @let id = format!("{prefix}{name}");
            // Of several headers, each is told by what it stands under, and is no landmark of its own.
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
                        code { (shown(content)) }
                    }
                    (meanings(report.format(), name, content))
                }
            }
        }
    }
}

/// What the report calls short.
fn title(part: &str) -> String {
    match part {
        "unprotected" => "Unprotected header".to_owned(),
        "recipient" => "Recipient's header".to_owned(),
        "aad" => Kind::Aad.name().to_owned(),
        _ => capital(part),
    }
}

/// The colour of the segment that it is from.
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

fn count(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
}

fn shown(content: &Content) -> String {
    match content {
        Content::Json(json) => json.pretty(),
        Content::Text(text) => escape::text(text),
        Content::Bytes(bytes) => pretty::all_bytes(bytes),
        Content::Private(_) => Reason::Private.words().to_owned(),
    }
}

/// The registered names among the members of a part, each once.
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
                caption { "Registered names in it" }
                thead {
                    tr {
                        th scope="col" { "Name" }
                        th scope="col" { "What it is" }
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

/// A heading begins with a capital.
fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
