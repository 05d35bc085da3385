//! Options about the recommendation, shared by several commands.

use clap::Args;
use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::RunResult;
use jeton_lab_report::recommendation::recommend;

/// Requirements, and whether a disturbed run may give a recommendation.
#[derive(Debug, Args)]
pub(super) struct Advice {
    /// Requirements for the recommendation, separated by commas: confidentiality, verify-by-third-parties,
    /// fips, post-quantum, revocation, header-budget=BYTES, cookie-budget=BYTES, languages=go+node,
    /// weight=verify|sign|round-trip|size (repeatable)
    #[arg(long = "need", value_name = "NEEDS")]
    requirements: Vec<String>,

    /// Give a recommendation even if the run was disturbed
    #[arg(long)]
    allow_noisy: bool,
}

/// The parsed options.
pub(super) struct Asked {
    requirements: Requirements,
    allow_noisy: bool,
}

impl Advice {
    /// Parses the requirements; called before long work starts.
    pub(super) fn read(&self) -> Result<Asked, String> {
        let said = |e: String| format!("--need: {e}");
        Ok(Asked {
            requirements: Requirements::parse(&self.requirements).map_err(said)?,
            allow_noisy: self.allow_noisy,
        })
    }
}

impl Asked {
    /// Adds the recommendation to the result of a new run.
    pub(super) fn advise(&self, result: &mut RunResult) {
        result.recommendation = Some(recommend(result, &self.requirements, self.allow_noisy));
    }

    /// Updates the recommendation of a stored result if the options ask for another one. With
    /// `--allow-noisy` alone, the stored requirements stay.
    pub(super) fn advise_again(mut self, result: &mut RunResult) {
        let Some(recorded) = &result.recommendation else {
            return self.advise(result);
        };
        if self.requirements == Requirements::default() {
            if !self.allow_noisy {
                return;
            }
            // Reading the file already rejected requirements that do not parse.
            self.requirements = Requirements::parse(&recorded.requirements).unwrap_or_default();
        }
        self.advise(result);
    }
}
