//! The raw data as a download without a script, and the command that repeats the run.

use std::fmt::Write;

use maud::{Markup, html};

use crate::result::RunResult;

use super::units;

/// Browsers cut links off at two megabytes; beyond this the page names the file instead.
const LINK_BYTES_MAX: usize = 1_500_000;

pub(super) fn section(result: &RunResult) -> Markup {
    // A result holds only maps with string keys, so it always serialises; an empty link would
    // be worse than none if that ever changed.
    let link = serde_json::to_string(result)
        .ok()
        .map(|json| (json.len(), data_link(&json)))
        .filter(|(_, link)| link.len() <= LINK_BYTES_MAX);
    let seeded = result.command.contains("--seed");
    html! {
        h3 { "Repeat it" }
        p { "The same choice, on this machine or another:" }
        pre tabindex="0" aria-label="The command" { code {
            (result.command) @if !seeded { " --seed " (result.seed) }
        } }
        p.note { "The seed repeats the order of the visits; times differ from run to run by the noise floor or more." }
        h3 { "Raw data" }
        @match link {
            Some((bytes, link)) => {
                p {
                    a.button href=(link) download="results.json" { "Save results.json" }
                    " " span.muted { (units::fixed((bytes as f64 / 1000.0).max(0.1), 1)) " kB, every round of every row; this page is a function of it" }
                }
            }
            None => p {
                "The result is too large for a link in this page; every round of every row is in "
                code { "results.json" } ", which was written beside it."
            }
        }
    }
}

/// A `data:` link of JSON: percent-encoded where HTML or a URL would read a character as its own.
fn data_link(json: &str) -> String {
    let mut link = String::with_capacity(json.len() * 3 / 2);
    link.push_str("data:application/json;charset=utf-8,");
    for byte in json.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => link.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'{' | b'}' | b'[' | b']' | b':' | b',' | b'+' | b'/' => {
                link.push(char::from(byte));
            }
            _ => write!(link, "%{byte:02X}").expect("writing to a String cannot fail"),
        }
    }
    link
}
