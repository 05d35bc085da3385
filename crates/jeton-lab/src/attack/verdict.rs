//! What the trials of one attack come to together.

use super::catalogue::Attack;
use super::fixtures::Stage;
use super::run_trial::Tried;
use super::trial::Trial;
use crate::result::{AttackOutcome, AttackRow, Evidence, Party, Practice, Status};
use crate::suite::Format;

/// A token in evidence has so many characters; of a longer one its beginning is kept.
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

/// Why a library is not attacked with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// The driver does the check, as a user of the library has to.
    ByDriver,
    /// Its users declare no types.
    Untyped,
    /// Who calls the library by its defaults has not asked for the check.
    NotDemanded,
    /// It takes time, or another algorithm than the few of a quick run.
    Quick,
}

impl Tally {
    pub(super) fn leave_out(&mut self, why: LeftOut) {
        let sentence = match why {
            LeftOut::ByDriver => {
                "the library does not look at this: its user has to, and the driver does"
            }
            LeftOut::Untyped => "claims have no declared type here",
            LeftOut::NotDemanded => "nobody demands this by default",
            LeftOut::Quick => "a quick run leaves it out",
        };
        self.not_offered.get_or_insert_with(|| sentence.into());
    }

    pub(super) fn add(&mut self, stage: &Stage, trial: &Trial, tried: Tried) {
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
            Tried::Void(why) => {
                self.void += 1;
                self.void_reason.get_or_insert(why);
            }
            Tried::NotOffered(why) => drop(self.not_offered.get_or_insert(why)),
            Tried::Seen {
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
                // Of what comes again in every round, the first is kept.
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
        // The worst first, and one of each algorithm before a second of any.
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
                let why = format!("void: the untampered twin is refused too: {why}");
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
