//! The raw data as a download without a script, and the command that repeats the run.

use base64_simd::STANDARD;
use maud::{Markup, html};

use crate::result::{RunResult, to_packed_bytes};

use super::units;

/// A page is sent by mail and opened on telephones; beyond this it names the file instead.
const LINK_BYTES_MAX: usize = 500_000;

pub(super) fn section(result: &RunResult) -> Markup {
    let packed = to_packed_bytes(result);
    let link = format!(
        "data:application/gzip;base64,{}",
        STANDARD.encode_to_string(&packed)
    );
    html! {
        h3 { "Repeat it" }
        p { "The same choice, on this machine or another:" }
        pre tabindex="0" aria-label="The commands" { code {
            @if result.runs.is_empty() { (command(&result.command, result.seed)) }
            @for run in &result.runs { (command(&run.command, run.seed)) "\n" }
            @if !result.runs.is_empty() { (result.command) }
        } }
        p.note { "The seed repeats the order of the visits; times differ from run to run by the noise floor or more." }
        h3 { "Raw data" }
        @if link.len() <= LINK_BYTES_MAX {
            p {
                a.button href=(link) download="results.json.gz" { "Save results.json.gz" }
                " " span.muted { (units::fixed(packed.len() as f64 / 1000.0, 1)) " kB, every round of every row; this page is a function of it" }
            }
            p.note {
                "Packed by gzip, and read as it is: " code { "jeton lab report results.json.gz" } ". " code { "gunzip results.json.gz" } " gives the text."
            }
        } @else {
            p {
                "The result is too large for this page; every round of every row is in "
                code { "results.json" } ", which was written beside it."
            }
        }
    }
}

/// The command with its seed, if it does not name it.
fn command(command: &str, seed: u64) -> String {
    if command.contains("--seed") {
        return command.to_owned();
    }
    format!("{command} --seed {seed}")
}
