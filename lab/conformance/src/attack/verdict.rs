//! Combines the trials of one attack.

use super::catalogue::Attack;
use super::fixtures::Stage;
use super::run_trial::TrialResult;
use super::trial::Trial;
use jeton_lab_model::Format;
use jeton_lab_model::result::{AttackOutcome, AttackRow, Evidence, Party, Practice, Status};

/// The maximum length of a token in the evidence; longer tokens are truncated.
const TOKEN_CHARS_MAX: usize = 6000;

/// The trials of one attack on one driver in one format.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    algs: Vec<String>,
    tried: u32,
    void: u32,
    refusal: Option<String>,
    void_reason: Option<String>,
    not_offered: Option<String>,
    worst: Option<AttackOutcome>,
    found: u32,
    evidence: Vec<Evidence>,
}

/// Why an attack does not apply to a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkipReason {
    /// The driver does the check, as users of the library must.
    ByDriver,
    /// Its users declare no types.
    Untyped,
    /// A caller that uses the library's defaults does not require the check.
    NotDemanded,
    /// It is slow, or needs an algorithm that a quick run skips.
    Quick,
}

impl Tally {
    pub(super) fn skip(&mut self, why: SkipReason) {
        let sentence = match why {
            SkipReason::ByDriver => {
                "the library does not check this; the driver does, as a user must"
            }
            SkipReason::Untyped => "claims have no declared type in this language",
            SkipReason::NotDemanded => "not required by default",
            SkipReason::Quick => "skipped by a quick run",
        };
        self.not_offered.get_or_insert_with(|| sentence.into());
    }

    pub(super) fn add(&mut self, stage: &Stage, trial: &Trial, tried: TrialResult) {
        let alg = match (stage.alg.as_str(), stage.enc.as_str()) {
            ("", _) => None,
            (alg, "") => Some(alg.to_owned()),
            (alg, enc) => Some(format!("{alg}+{enc}")),
        };
        if tried.counts()
            && let Some(alg) = &alg
            && !self.algs.contains(alg)
        {
            self.algs.push(alg.clone());
        }
        match tried {
            TrialResult::Void(why) => {
                self.void += 1;
                self.void_reason.get_or_insert(why);
            }
            TrialResult::NotOffered(why) => drop(self.not_offered.get_or_insert(why)),
            TrialResult::Seen {
                outcome,
                seen,
                token,
                key,
            } => {
                self.tried += 1;
                self.worst = self.worst.max(Some(outcome));
                if !outcome.is_finding() {
                    self.refusal.get_or_insert(seen);
                    return;
                }
                self.found += 1;
                // Of equal results in every round, the first is kept.
                let same = |e: &Evidence| {
                    e.alg == alg && e.spelling == trial.spelling && e.outcome == outcome
                };
                if self.evidence.iter().any(same) {
                    return;
                }
                self.evidence.push(Evidence {
                    alg,
                    spelling: trial.spelling.clone(),
                    outcome,
                    token: token.map(shortened),
                    key,
                    seen: Some(seen),
                });
            }
        }
    }

    pub(super) fn row(
        mut self,
        attack: &Attack,
        party: &Party,
        format: Format,
        practice: Practice,
    ) -> AttackRow {
        // The worst first, and one of each algorithm before a second of the same.
        let mut seen: Vec<(Option<String>, usize)> = Vec::new();
        let mut order = Vec::new();
        for evidence in &self.evidence {
            let nth = seen.iter().filter(|(alg, _)| *alg == evidence.alg).count();
            seen.push((evidence.alg.clone(), nth));
            order.push((std::cmp::Reverse(evidence.outcome), nth));
        }
        let mut ranked: Vec<_> = order.into_iter().zip(self.evidence).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut ranked = ranked.into_iter().map(|(_, e)| e);
        self.evidence = ranked.by_ref().take(AttackRow::EVIDENCE_MAX).collect();
        let also = ranked.take(AttackRow::ALSO_MAX).map(|e| e.name()).collect();

        let (status, outcome, reason) = match (self.worst, self.void_reason, self.not_offered) {
            (Some(outcome), ..) => {
                let status = match outcome {
                    AttackOutcome::Crashed => Status::Crashed,
                    AttackOutcome::Hung => Status::TimedOut,
                    _ => Status::Ok,
                };
                (status, Some(outcome), self.refusal)
            }
            (None, Some(why), _) => {
                let why = format!("void: the positive control is rejected too: {why}");
                (Status::FailedPreflight, None, Some(why))
            }
            (None, None, Some(why)) => (Status::Ok, Some(AttackOutcome::NotOffered), Some(why)),
            (None, None, None) => (Status::Ok, Some(AttackOutcome::NotApplicable), None),
        };
        AttackRow {
            status,
            reason,
            attack: attack.id.into(),
            family: attack.family.name().into(),
            subject: party.clone(),
            format: format.name().into(),
            practice,
            outcome,
            tried: self.tried,
            void: self.void,
            algs: self.algs,
            found: self.found,
            evidence: self.evidence,
            also,
        }
    }
}

fn shortened(token: String) -> String {
    if token.len() <= TOKEN_CHARS_MAX {
        return token;
    }
    let begin: String = token.chars().take(200).collect();
    format!("{begin}… ({} bytes)", token.len())
}
