//! Conclusions of report 4: pascaldekloe or cristalhq.

use super::evidence::{Evidence, Finding, Open, printed};
use super::{Claim, claim, of};
use crate::report_4::{CRISTALHQ, PASCALDEKLOE, doing};
use crate::source::REPORT_4;
use jeton_lab_model::result::{Answer, ClaimAnswered, RowId, VerdictKind};

const HMACS: [&str; 3] = ["HS256", "HS384", "HS512"];

/// How many percentage points a measured difference may be outside of the published range.
const POINTS: f64 = 5.0;
/// The published range of additional bytes, in percent.
const LONGER: [f64; 2] = [1.0, 5.0];

/// The works that the conclusions are decided by.
pub(super) fn deciding() -> Vec<RowId> {
    let checked = ["ES256", "EdDSA", "RS384@1024", "RS384@4096"];
    let signed = HMACS.iter().chain(&checked[..2]);
    let signed = signed.flat_map(|alg| [PASCALDEKLOE, CRISTALHQ].map(|d| doing(d, alg, "sign")));
    let checked = HMACS.iter().chain(&checked).flat_map(|alg| {
        [
            doing(PASCALDEKLOE, alg, "verify"),
            doing(CRISTALHQ, alg, "verify"),
            doing(CRISTALHQ, alg, "verify-parsed"),
        ]
    });
    signed.chain(checked).collect()
}

pub(super) fn answers(evidence: &Evidence<'_>) -> Vec<ClaimAnswered> {
    let e = evidence;
    let checks = |algs: &[&str], said| checks(e, algs, said);
    let claims: Vec<Claim> = vec![
        claim("4.1", signs_faster(e, Said::faster(9.0, 13.0))),
        claim("4.2", checks(&HMACS, Said::faster(76.0, 76.0))),
        claim("4.3a", checks(&["ES256"], Said::faster(6.0, 6.0))),
        claim("4.3b", checks(&["EdDSA"], Said::faster(5.0, 5.0))),
        claim("4.3c", checks(&["RS384@1024"], Said::faster(11.0, 11.0))),
        claim("4.3d", checks(&["RS384@4096"], Said::slower(9.0, 9.0))),
        claim("4.4", longer(e)),
    ];
    of(REPORT_4, claims)
}

/// What a conclusion says: the direction, and the range of the difference in percent.
#[derive(Debug, Clone, Copy)]
struct Said {
    kind: VerdictKind,
    percent: [f64; 2],
}

impl Said {
    const fn faster(least: f64, most: f64) -> Self {
        Self {
            kind: VerdictKind::Faster,
            percent: [least, most],
        }
    }

    const fn slower(least: f64, most: f64) -> Self {
        Self {
            kind: VerdictKind::Slower,
            percent: [least, most],
        }
    }

    /// Returns a difference in this direction, in whole percent as it is printed.
    fn percent_of(self, ratio: f64) -> f64 {
        let more = (printed(ratio) - 1.0) * 100.0;
        match self.kind {
            VerdictKind::Faster => -more.round(),
            _ => more.round(),
        }
    }

    fn direction(self) -> &'static str {
        match self.kind {
            VerdictKind::Faster => "faster",
            _ => "slower",
        }
    }

    /// Formats the published range: `9 to 13 %`.
    fn range(self) -> String {
        range(self.percent)
    }
}

/// Several algorithms compared.
struct Seen {
    kinds: Vec<VerdictKind>,
    /// The differences in the direction of the conclusion, in percent.
    percent: Vec<f64>,
    words: String,
    with_intervals: String,
    rows: Vec<RowId>,
}

impl Seen {
    /// Every algorithm differs in the direction of the conclusion.
    fn agrees(&self, said: Said) -> bool {
        self.kinds.iter().all(|kind| *kind == said.kind)
    }

    /// An undecided verdict leaves it open, if no other contradicts it.
    ///
    /// # Errors
    /// If it is open.
    fn decided(&self, said: Said) -> Result<(), Open> {
        let has = |kind| self.kinds.contains(&kind);
        let contradicts =
            |kind: &VerdictKind| *kind != said.kind && *kind != VerdictKind::Undecided;
        if has(VerdictKind::Undecided) && !self.kinds.iter().any(contradicts) {
            Err(Open::Undecided {
                measured: self.with_intervals.clone(),
                rows: self.rows.clone(),
            })
        } else {
            Ok(())
        }
    }

    /// Every difference is inside the published range, give or take some points.
    fn is_in_range(&self, said: Said) -> bool {
        let [least, most] = said.percent;
        let range = least - POINTS..=most + POINTS;
        self.percent.iter().all(|percent| range.contains(percent))
    }

    /// Every difference is at least the published one, give or take some points.
    fn is_at_least(&self, said: Said) -> bool {
        let least = said.percent[0] - POINTS;
        self.percent.iter().all(|percent| *percent >= least)
    }

    /// Describes how the same work differs, if not as published.
    fn instead(&self, said: Said) -> String {
        let all = |kind| self.kinds.iter().all(|one| *one == kind);
        if self.agrees(said) {
            let ends = [f64::min, f64::max];
            let ends = ends.map(|end| self.percent.iter().copied().reduce(end).unwrap_or(0.0));
            format!("{} {}, not {}", range(ends), said.direction(), said.range())
        } else if all(VerdictKind::Equivalent) {
            "not different above the noise".to_owned()
        } else if all(VerdictKind::Faster) || all(VerdictKind::Slower) {
            "different the other way round".to_owned()
        } else {
            format!("not {} with every algorithm", said.direction())
        }
    }
}

/// Compares cristalhq with pascaldekloe for these operations.
fn pairs(
    e: &Evidence<'_>,
    algs: &[&str],
    said: Said,
    operation: &str,
    of_cristalhq: &str,
) -> Result<Seen, Open> {
    let mut seen = Seen {
        kinds: Vec::new(),
        percent: Vec::new(),
        words: String::new(),
        with_intervals: String::new(),
        rows: Vec::new(),
    };
    let (mut words, mut with_intervals) = (Vec::new(), Vec::new());
    for alg in algs {
        let ours = doing(CRISTALHQ, alg, of_cristalhq);
        let compared = e.compare(&ours, &doing(PASCALDEKLOE, alg, operation))?;
        seen.kinds.push(compared.kind);
        seen.percent.push(said.percent_of(compared.ratio));
        words.push(format!("{alg} {}", compared.words));
        with_intervals.push(format!("{alg} {}", compared.with_interval()));
        seen.rows.extend(compared.rows);
    }
    seen.words = words.join(", ");
    seen.with_intervals = with_intervals.join(", ");
    Ok(seen)
}

fn signs_faster(e: &Evidence<'_>, said: Said) -> Result<Finding, Open> {
    let seen = pairs(e, &HMACS, said, "sign", "sign")?;
    seen.decided(said)?;
    let (answer, why) = if seen.agrees(said) && seen.is_in_range(said) {
        (
            Answer::Holds,
            format!("with all three hashes, give or take {POINTS} percentage points"),
        )
    } else {
        (
            Answer::DoesNotHold,
            format!("in this run cristalhq is {}", seen.instead(said)),
        )
    };
    Ok(Finding::new(answer, seen.words, why, seen.rows))
}

/// Answers a conclusion about checking: true for the same work, or only for the unequal work that was
/// timed.
fn checks(e: &Evidence<'_>, algs: &[&str], said: Said) -> Result<Finding, Open> {
    let equal = pairs(e, algs, said, "verify", "verify")?;
    let measured = format!("same work: {}", equal.words);
    equal.decided(said)?;
    if equal.agrees(said) && equal.is_in_range(said) {
        let why = format!("both parse, verify and decode, give or take {POINTS} percentage points");
        return Ok(Finding::new(Answer::Holds, measured, why, equal.rows));
    }
    let unequal = pairs(e, algs, said, "verify", "verify-parsed")?;
    let measured = format!("{measured}; as originally timed: {}", unequal.words);
    let rows = [equal.rows.clone(), unequal.rows.clone()].concat();
    let instead = equal.instead(said);
    Ok(if unequal.agrees(said) && unequal.is_at_least(said) {
        let why = format!(
            "the two sides did different work: one verified a token that was parsed outside of the \
             timed part and decoded no claims, the other did both; with the same work cristalhq is \
             {instead}"
        );
        Finding::new(Answer::Artefact, measured, why, rows)
    } else {
        let why = format!(
            "with the same work cristalhq is {instead}; the originally timed work does not show it \
             either"
        );
        Finding::new(Answer::DoesNotHold, measured, why, rows)
    })
}

fn longer(e: &Evidence<'_>) -> Result<Finding, Open> {
    let (mut longer, mut in_range) = (true, true);
    let (mut words, mut rows) = (Vec::new(), Vec::new());
    for alg in ["HS256", "ES256", "EdDSA"] {
        let (ours, theirs) = (
            doing(CRISTALHQ, alg, "sign"),
            doing(PASCALDEKLOE, alg, "sign"),
        );
        let (long, short) = (e.size(&ours)?, e.size(&theirs)?);
        longer &= long > short;
        let more = ((long as f64 / short as f64 - 1.0) * 100.0).round();
        in_range &= (LONGER[0]..=LONGER[1]).contains(&more);
        words.push(format!("{alg} {long} against {short} bytes ({more:+.0} %)"));
        rows.extend([ours, theirs]);
    }
    let cause = "the claims are equal, so the header causes the difference: one library writes `typ` and the \
                 other does not";
    let (answer, why) = match (longer, in_range) {
        (true, true) => (Answer::Holds, cause.to_owned()),
        (true, false) => (
            Answer::DoesNotHold,
            format!("longer, but not by {}; {cause}", range(LONGER)),
        ),
        (false, _) => (Answer::DoesNotHold, "not true for equal claims".to_owned()),
    };
    Ok(Finding::new(answer, words.join(", "), why, rows))
}

/// Formats a range of percent: `9 to 13 %`, `76 %`.
fn range([least, most]: [f64; 2]) -> String {
    if least < most {
        format!("{least:.0} to {most:.0} %")
    } else {
        format!("{least:.0} %")
    }
}
