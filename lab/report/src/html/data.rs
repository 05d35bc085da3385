//! The raw data as a download that needs no script, and the command that repeats the run.

use base64_simd::STANDARD;
use maud::{Markup, html};

use jeton_lab_model::result::{RunResult, to_packed_bytes};

use super::units;

/// A larger result is not embedded, because the page is sent by mail and opened on phones.
const LINK_BYTES_MAX: usize = 500_000;

pub(super) fn section(result: &RunResult) -> Markup {
    let packed = to_packed_bytes(result);
    let link = format!(
        "data:application/gzip;base64,{}",
        STANDARD.encode_to_string(&packed)
    );
    html! {
        h3 { "Repeat this run" }
        p { "This command repeats the same selection, on this machine or another:" }
        pre tabindex="0" aria-label="Commands" { code {
            @if result.runs.is_empty() { (command(&result.command, result.seed)) }
            @for run in &result.runs { (command(&run.command, run.seed)) "\n" }
            @if !result.runs.is_empty() { (result.command) }
        } }
        p.note { "The seed repeats the order of measurements. Times differ from run to run by the noise floor or more." }
        h3 { "Raw data" }
        @if link.len() <= LINK_BYTES_MAX {
            p {
                a.button href=(link) download="results.json.gz" { "Save results.json.gz" }
                " " span.muted { (units::fixed(packed.len() as f64 / 1000.0, 1)) " kB, every round of every row; this page is created from it" }
            }
            p.note {
                "Compressed with gzip. Read it directly with " code { "jeton-lab report results.json.gz" } ", or unpack it with " code { "gunzip results.json.gz" } "."
            }
        } @else {
            p {
                "The result is too large for this page. Every round of every row is in "
                code { "results.json" } ", next to this page."
            }
        }
    }
}

/// Returns the command, with its seed appended if it is missing.
fn command(command: &str, seed: u64) -> String {
    if command.contains("--seed") {
        return command.to_owned();
    }
    format!("{command} --seed {seed}")
}
