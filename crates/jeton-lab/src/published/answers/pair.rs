//! The rule for what was concluded from a pair that differs in more than one factor: does this run see
//! the same difference, and does it stay when only the factor that it was put down to is left?

use super::evidence::{Compared, Evidence, Finding, Missing, difference};
use crate::result::{Answer, RowId, VerdictKind};

/// What was said of the first of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Faster,
    /// Not slower.
    AsFast,
}

impl Said {
    fn agrees(self, kind: VerdictKind) -> Option<bool> {
        match (self, kind) {
            (_, VerdictKind::Undecided) => None,
            (_, VerdictKind::Faster) | (Self::AsFast, VerdictKind::Equivalent) => Some(true),
            _ => Some(false),
        }
    }
}

/// Two works, or two that are each done one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pair {
    pub(super) first: Vec<RowId>,
    pub(super) second: Vec<RowId>,
}

impl Pair {
    pub(super) fn new(first: RowId, second: RowId) -> Self {
        Self {
            first: vec![first],
            second: vec![second],
        }
    }

    fn compared(&self, evidence: &Evidence<'_>) -> Result<Compared, Missing> {
        evidence.compare_sums(&self.first, &self.second)
    }
}

/// What the pairs as published say of what was said, and then the pairs with one factor.
///
/// All of the published pairs agree, and so do all of those with one factor: it holds. A pair as
/// published disagrees: it does not. All of them agree, and one with one factor does not: the
/// difference has another cause.
pub(super) fn confounded(
    evidence: &Evidence<'_>,
    said: Said,
    published: &[Pair],
    one_factor: &[Pair],
) -> Result<Finding, Missing> {
    let (agrees, words, mut rows) = all(evidence, said, published)?;
    let as_published = format!("the pair as published: {words}");
    if !agrees {
        let why = "the pair as published does not show it here";
        return Ok(Finding::new(Answer::DoesNotHold, as_published, why, rows));
    }
    let (stays, words, more) = all(evidence, said, one_factor)?;
    rows.extend(more);
    let measured = format!("{as_published}; one library and one algorithm: {words}");
    Ok(if stays {
        let why = "the format alone shows it too";
        Finding::new(Answer::Holds, measured, why, rows)
    } else {
        let why = "the pair differs in format, algorithm and library at once; with the format as the \
                   one factor the difference is gone, so that the format is not its cause";
        Finding::new(Answer::Artefact, measured, why, rows)
    })
}

/// Whether all of these agree, in words and with their rows. One that disagrees decides; without one,
/// one that cannot tell leaves it open.
pub(super) fn all(
    evidence: &Evidence<'_>,
    said: Said,
    pairs: &[Pair],
) -> Result<(bool, String, Vec<RowId>), Missing> {
    let (mut words, mut rows, mut agrees, mut open) = (Vec::new(), Vec::new(), true, None);
    for pair in pairs {
        let compared = pair.compared(evidence)?;
        words.push(format!(
            "{} ({})",
            difference(compared.ratio),
            compared.words
        ));
        rows.extend(compared.rows.clone());
        match said.agrees(compared.kind) {
            Some(one) => agrees &= one,
            None => open = Some(compared),
        }
    }
    match open {
        Some(compared) if agrees => Err(format!(
            "more rounds: {}, {}, which this run cannot tell from nothing",
            difference(compared.ratio),
            compared.words
        )),
        _ => Ok((agrees, words.join(", "), rows)),
    }
}
