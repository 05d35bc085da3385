//! `jeton lab check`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_model::units::{count, list};
use jeton_lab_report::multi_run::{Checked, check};
use jeton_lab_report::visible;

use super::results;
use crate::output;

/// Exit code: a figure does not follow from its rounds.
const CONTRADICTED: u8 = 1;

/// The number of contradictions printed per file.
const SHOWN_MAX: usize = 20;

/// Check that the figures of result files follow from their rounds
///
/// Computes the medians, intervals, noise floor and verdicts again from the rounds in the file. For
/// servers, it computes the medians of the repetitions. Use it before you accept a file from someone else.
///
/// The check cannot detect invention: rounds that were made up can have correct figures.
///
/// Exit codes: 0 every figure follows, 1 a figure does not follow, 2 a file is not a result.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab check results.json
  jeton lab check submitted/*.json")]
pub(super) struct Check {
    /// Result files; - for standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
}

impl Check {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let mut shown = String::new();
        let mut wrong = 0;
        for path in &self.files {
            let result = results::read(path)?;
            let checked = check(&visible::result(&result));
            let name = path.display().to_string();
            shown.push_str(&described(&visible::text(&name), &checked));
            if checked.groups > 0 {
                output::note(format!(
                    "{}: {} in another group; older versions of the lab computed groups in another way",
                    visible::text(&name),
                    count(checked.groups, "verdict is", "verdicts are")
                ));
            }
            wrong += usize::from(!checked.contradictions.is_empty());
        }
        output::text(&shown).map_err(|failure| failure.with_hint())?;
        output::note("a check cannot detect rounds that were invented");
        if wrong == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        output::error(format!(
            "{} of {}: figures do not follow from the rounds",
            wrong,
            count(self.files.len(), "file", "files")
        ));
        Ok(ExitCode::from(CONTRADICTED))
    }
}

/// Describes what was checked in a file, and what does not follow.
fn described(name: &str, checked: &Checked) -> String {
    let parts = [
        (checked.rows, "row", "rows"),
        (checked.pairs, "A/A pair", "A/A pairs"),
        (checked.verdicts, "verdict", "verdicts"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, several)| count(number, one, several))
        .collect();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match (checked.contradictions.len(), parts.as_slice()) {
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
    for one in checked.contradictions.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "  {}: {}", one.about, one.what);
    }
    if let Some(more @ 1..) = checked.contradictions.len().checked_sub(SHOWN_MAX) {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}
