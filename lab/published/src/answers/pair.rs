//! Answers conclusions from a pair that differs in more than one factor: does the difference exist in
//! this run, and does it remain with the named factor only?

use super::evidence::{Compared, Evidence, Finding, Missing, difference};
use jeton_lab_model::result::{Answer, RowId, VerdictKind};

/// The conclusion about the first of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    Faster,
    /// Not slower.
    AsFast,
}

impl Statement {
    fn agrees(self, kind: VerdictKind) -> Option<bool> {
        match (self, kind) {
            (_, VerdictKind::Undecided) => None,
            (_, VerdictKind::Faster) | (Self::AsFast, VerdictKind::Equivalent) => Some(true),
            _ => Some(false),
        }
    }
}

/// Two works, or two sequences of works.
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

/// Answers a conclusion from the original pairs and from pairs with one factor.
///
/// If all original pairs and all pairs with one factor agree, it holds. If an original pair disagrees,
/// it does not hold. If all original pairs agree and a pair with one factor does not, the difference
/// has another cause.
pub(super) fn confounded(
    evidence: &Evidence<'_>,
    said: Statement,
    published: &[Pair],
    one_factor: &[Pair],
) -> Result<Finding, Missing> {
    let (agrees, words, mut rows) = all(evidence, said, published)?;
    let as_published = format!("the original pair: {words}");
    if !agrees {
        let why = "the original pair does not show it in this run";
        return Ok(Finding::new(Answer::DoesNotHold, as_published, why, rows));
    }
    let (stays, words, more) = all(evidence, said, one_factor)?;
    rows.extend(more);
    let measured = format!("{as_published}; one library and one algorithm: {words}");
    Ok(if stays {
        let why = "the format as the only factor shows it too";
        Finding::new(Answer::Holds, measured, why, rows)
    } else {
        let why = "the pair differs in format, algorithm and library; with the format as the only \
                   factor there is no difference, so the format is not its cause";
        Finding::new(Answer::Artefact, measured, why, rows)
    })
}

/// Reports whether all pairs agree, with a description and their rows. A disagreement decides;
/// otherwise an undecided pair leaves it open.
pub(super) fn all(
    evidence: &Evidence<'_>,
    said: Statement,
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
            "more rounds: {}, {} is undecided in this run",
            difference(compared.ratio),
            compared.words
        )),
        _ => Ok((agrees, words.join(", "), rows)),
    }
}
