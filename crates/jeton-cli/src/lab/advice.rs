//! What the reader asks of a recommendation: for every verb that makes one.

use clap::Args;
use jeton_lab::recommendation::{Noisy, Requirements, RequirementsError, recommend};
use jeton_lab::result::RunResult;

use super::sentence;

/// Requirements, and whether a disturbed run will do.
#[derive(Debug, Args)]
pub(super) struct Advice {
    /// What the token must do, parted by commas: confidentiality, verify-by-third-parties, fips,
    /// post-quantum, revocation, header-budget=BYTES, cookie-budget=BYTES, languages=go+node,
    /// weight=verify|sign|round-trip|size; may be given again
    #[arg(long = "need", value_name = "NEEDS")]
    requirements: Vec<String>,

    /// Draw advice from a run that other work disturbed
    #[arg(long)]
    allow_noisy: bool,
}

/// The same, understood.
pub(super) struct Asked {
    requirements: Requirements,
    noisy: Noisy,
}

impl Advice {
    /// Reads the needs, before anything long is begun.
    pub(super) fn read(&self) -> Result<Asked, String> {
        let said = |e: RequirementsError| sentence(format!("--need: {e}"));
        Ok(Asked {
            requirements: Requirements::parse(&self.requirements).map_err(said)?,
            noisy: if self.allow_noisy {
                Noisy::Allowed
            } else {
                Noisy::Refused
            },
        })
    }
}

impl Asked {
    /// The recommendation of a run that was just made.
    pub(super) fn advise(&self, result: &mut RunResult) {
        result.recommendation = Some(recommend(result, &self.requirements, self.noisy));
    }

    /// That of a result which is shown again: the one it holds, unless something else is asked.
    /// A run's needs stay if only its noise is to be overlooked.
    pub(super) fn advise_again(mut self, result: &mut RunResult) {
        let Some(recorded) = &result.recommendation else {
            return self.advise(result);
        };
        if self.requirements == Requirements::default() {
            if self.noisy == Noisy::Refused {
                return;
            }
            // A file whose needs cannot be read has been refused before.
            self.requirements = Requirements::parse(&recorded.requirements).unwrap_or_default();
        }
        self.advise(result);
    }
}
