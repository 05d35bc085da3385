//! `jeton-lab check`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_model::result::{RunResult, to_text};
use jeton_lab_model::units::{count, list};
use jeton_lab_report::multi_run::{Contradiction, check, recomputed};
use jeton_lab_report::visible;

use super::destination::Destination;
use super::results;
use crate::output;

/// Exit code: a figure does not follow from its rounds.
const CONTRADICTED: u8 = 1;

/// The number of contradictions printed per file.
const SHOWN_MAX: usize = 20;

/// Check that the figures of result files follow from their rounds
///
/// Computes everything that is derived again from the rounds in the file: medians, intervals, noise floor,
/// verdicts, groups, published comparisons, answers and the recommendation. For servers, it computes the
/// figures of the repetitions. Use it before you accept a file from someone else.
///
/// The check cannot detect invented rounds, because their figures can be correct.
///
/// A file of another version of the lab can have other rules or sentences. With --rewrite, its rounds stay, and
/// everything that is derived is computed and written again.
///
/// If a file is not a result, the other files are still checked.
///
/// Exit codes: 0 every figure follows, 1 a figure does not follow, 2 a file is not a result.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab check results.json
  jeton-lab check submitted/*.json
  jeton-lab check old/results.json --rewrite -o results.json")]
pub(super) struct Check {
    /// Result files; - for standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Write the result with all derived figures computed again; needs one file
    #[arg(long)]
    rewrite: bool,

    #[command(flatten)]
    destination: Destination,
}

impl Check {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        if self.rewrite {
            return self.rewritten();
        }
        let mut shown = String::new();
        let (mut wrong, mut unread) = (0, Vec::new());
        for path in &self.files {
            let name = path.display().to_string();
            match results::read_measured(path) {
                Ok(result) => {
                    let found = check(&result);
                    shown.push_str(&described(&visible::text(&name), &result, &found));
                    wrong += usize::from(!found.is_empty());
                }
                Err(why) => unread.push(why),
            }
        }
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        let of = count(self.files.len(), "file", "files");
        if !shown.is_empty() {
            self.destination.text(&shown, &sources)?;
            output::note("a check cannot detect rounds that were invented");
        }
        if wrong > 0 {
            output::error(format!(
                "{wrong} of {of}: figures do not follow from the rounds"
            ));
        }
        // The last error is that of the command; each has its own line.
        let Some(last) = unread.pop() else {
            return Ok(match wrong {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::from(CONTRADICTED),
            });
        };
        for why in &unread {
            output::error(visible::text(why));
        }
        Err(last)
    }

    /// Writes the result of one file with its derived figures computed again.
    fn rewritten(&self) -> Result<ExitCode, String> {
        let [path] = self.files.as_slice() else {
            return Err(format!(
                "{} files: --rewrite needs exactly one file",
                self.files.len()
            ));
        };
        let own: RunResult = recomputed(&results::read_measured(path)?);
        self.destination.text(&to_text(&own), &[path])
    }
}

/// Describes what was checked in a file, and what does not follow.
fn described(name: &str, result: &RunResult, found: &[Contradiction]) -> String {
    let timed = result
        .rows
        .measured
        .iter()
        .filter(|row| row.ns_per_op.is_some());
    let loaded = result.rows.servers.iter().filter(|row| row.load.is_some());
    let published = result.published.iter().flat_map(|table| &table.rows);
    let published = published.map(|row| row.figures.len()).sum();
    let recommendations = usize::from(result.recommendation.is_some());
    let parts = [
        (timed.count() + loaded.count(), "row", "rows"),
        (result.noise_floor.pairs.len(), "A/A pair", "A/A pairs"),
        (result.verdicts.len(), "verdict", "verdicts"),
        (published, "published figure", "published figures"),
        (result.claims_answered.len(), "answer", "answers"),
        (recommendations, "recommendation", "recommendations"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, several)| count(number, one, several))
        .collect();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match (found.len(), parts.as_slice()) {
        (0, []) => writeln!(text, "{name}: no figures that follow from rounds"),
        (0, parts) => writeln!(
            text,
            "{name}: all figures follow from the rounds ({})",
            list(parts)
        ),
        (wrong, parts) => writeln!(
            text,
            "{name}: {} not follow from the rounds ({})",
            count(wrong, "figure does", "figures do"),
            list(parts)
        ),
    };
    for one in found.iter().take(SHOWN_MAX) {
        let (about, what) = (visible::text(&one.about), visible::text(&one.what));
        let _ = writeln!(text, "  {about}: {what}");
    }
    if let Some(more @ 1..) = found.len().checked_sub(SHOWN_MAX) {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}
