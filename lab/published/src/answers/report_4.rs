//! Conclusions of report 4: pascaldekloe or cristalhq.

use super::evidence::{Evidence, Finding, Open, printed};
use super::{Conclusion, Rule};
use crate::report_4::{CRISTALHQ, PASCALDEKLOE, doing};
use jeton_lab_model::result::{Answer, RowId, VerdictKind};

const HMACS: [&str; 3] = ["HS256", "HS384", "HS512"];

/// How many percentage points a measured difference may be outside of the published range.
const POINTS: f64 = 5.0;
/// The published range of additional bytes, in percent.
const LONGER: [f64; 2] = [1.0, 5.0];

/// What a conclusion says: by how many percent cristalhq is faster or slower.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    algs: &'static [&'static str],
    /// `sign`, or `verify`, which was timed with unequal work.
    operation: &'static str,
    said: VerdictKind,
    percent: [f64; 2],
}

const fn faster(
    operation: &'static str,
    algs: &'static [&'static str],
    percent: [f64; 2],
) -> Range {
    let said = VerdictKind::Faster;
    Range {
        algs,
        operation,
        said,
        percent,
    }
}

const RANGES: [(&str, Range); 6] = [
    ("4.1", faster("sign", &HMACS, [9.0, 13.0])),
    ("4.2", faster("verify", &HMACS, [76.0, 76.0])),
    ("4.3a", faster("verify", &["ES256"], [6.0, 6.0])),
    ("4.3b", faster("verify", &["EdDSA"], [5.0, 5.0])),
    ("4.3c", faster("verify", &["RS384@1024"], [11.0, 11.0])),
    (
        "4.3d",
        Range {
            said: VerdictKind::Slower,
            ..faster("verify", &["RS384@4096"], [9.0, 9.0])
        },
    ),
];

pub(super) fn conclusions() -> Vec<Conclusion> {
    let ranges = RANGES
        .into_iter()
        .map(|(id, range)| (id, Rule::Range(range)));
    let sizes = ["HS256", "ES256", "EdDSA"];
    let sizes = sizes
        .iter()
        .flat_map(|alg| [CRISTALHQ, PASCALDEKLOE].map(|of| doing(of, alg, "sign")));
    let longer = Rule::Figures(sizes.collect(), longer);
    ranges.chain([("4.4", longer)]).collect()
}

/// Several algorithms compared.
#[derive(Default)]
struct Seen {
    kinds: Vec<VerdictKind>,
    /// The differences in the direction of the conclusion, in percent.
    percent: Vec<f64>,
    words: Vec<String>,
    with_intervals: Vec<String>,
    rows: Vec<RowId>,
}

impl Range {
    fn pairs(&self, of_cristalhq: &str) -> Vec<[RowId; 2]> {
        let pair = |alg: &&str| {
            [
                doing(CRISTALHQ, alg, of_cristalhq),
                doing(PASCALDEKLOE, alg, self.operation),
            ]
        };
        self.algs.iter().map(pair).collect()
    }

    pub(super) fn works(&self) -> Vec<RowId> {
        let unequal = (self.operation == "verify").then(|| self.pairs("verify-parsed"));
        let equal = self.pairs(self.operation).into_iter();
        equal
            .chain(unequal.into_iter().flatten())
            .flatten()
            .collect()
    }

    /// Answers a conclusion: true for the same work, or only for the unequal work that was timed.
    pub(super) fn answer(&self, e: &Evidence<'_>) -> Result<Finding, Open> {
        let equal = self.seen(e, self.operation)?;
        // An undecided verdict leaves it open, if no other contradicts it.
        let contradicts = |kind: &VerdictKind| ![self.said, VerdictKind::Undecided].contains(kind);
        if equal.kinds.contains(&VerdictKind::Undecided) && !equal.kinds.iter().any(contradicts) {
            let (measured, rows) = (equal.with_intervals.join(", "), equal.rows);
            return Err(Open::Undecided { measured, rows });
        }
        let [least, most] = [self.percent[0] - POINTS, self.percent[1] + POINTS];
        let is_in_range = equal
            .percent
            .iter()
            .all(|percent| (least..=most).contains(percent));
        let holds = self.agrees(&equal) && is_in_range;
        let instead = self.instead(&equal);
        let words = equal.words.join(", ");
        if self.operation == "sign" {
            let whys = [
                format!("with all three hashes, give or take {POINTS} percentage points"),
                format!("in this run cristalhq is {instead}"),
            ];
            return Ok(Finding::judged(holds, words, whys, equal.rows));
        }
        let measured = format!("same work: {words}");
        if holds {
            let why =
                format!("both parse, verify and decode, give or take {POINTS} percentage points");
            return Ok(Finding::new(Answer::Holds, measured, why, equal.rows));
        }
        let unequal = self.seen(e, "verify-parsed")?;
        let measured = format!(
            "{measured}; as originally timed: {}",
            unequal.words.join(", ")
        );
        let rows = [equal.rows, unequal.rows.clone()].concat();
        let is_at_least = unequal.percent.iter().all(|percent| *percent >= least);
        let (answer, why) = if self.agrees(&unequal) && is_at_least {
            let why = format!(
                "the two sides did different work: one verified a token that was parsed outside of the \
                 timed part and decoded no claims, the other did both; with the same work cristalhq is \
                 {instead}"
            );
            (Answer::Artefact, why)
        } else {
            let why = format!(
                "with the same work cristalhq is {instead}; the originally timed work does not show it \
                 either"
            );
            (Answer::DoesNotHold, why)
        };
        Ok(Finding::new(answer, measured, why, rows))
    }

    /// Compares cristalhq, doing this, with pascaldekloe.
    fn seen(&self, e: &Evidence<'_>, of_cristalhq: &str) -> Result<Seen, Open> {
        let mut seen = Seen::default();
        for (alg, [ours, theirs]) in self.algs.iter().zip(self.pairs(of_cristalhq)) {
            let compared = e.compare(&ours, &theirs)?;
            // In whole percent as it is printed.
            let more = ((printed(compared.ratio) - 1.0) * 100.0).round();
            let is_faster = self.said == VerdictKind::Faster;
            seen.kinds.push(compared.kind);
            seen.percent.push(if is_faster { -more } else { more });
            seen.words.push(format!("{alg} {}", compared.words));
            seen.with_intervals
                .push(format!("{alg} {}", compared.with_interval()));
            seen.rows.extend(compared.rows);
        }
        Ok(seen)
    }

    /// Every algorithm differs in the direction of the conclusion.
    fn agrees(&self, seen: &Seen) -> bool {
        seen.kinds.iter().all(|kind| *kind == self.said)
    }

    /// Describes how the same work differs, if not as published.
    fn instead(&self, seen: &Seen) -> String {
        let all = |kind| seen.kinds.iter().all(|one| *one == kind);
        let direction = if self.said == VerdictKind::Faster {
            "faster"
        } else {
            "slower"
        };
        if self.agrees(seen) {
            let ends = [f64::min, f64::max]
                .map(|end: fn(f64, f64) -> f64| seen.percent.iter().copied().reduce(end));
            let ends = ends.map(Option::unwrap_or_default);
            format!("{} {direction}, not {}", range(ends), range(self.percent))
        } else if all(VerdictKind::Equivalent) {
            "not different above the noise".to_owned()
        } else if all(VerdictKind::Faster) || all(VerdictKind::Slower) {
            "different the other way round".to_owned()
        } else {
            format!("not {direction} with every algorithm")
        }
    }
}

fn longer(e: &Evidence<'_>, works: &[RowId]) -> Result<Finding, Open> {
    let (mut longer, mut in_range, mut words) = (true, true, Vec::new());
    for (pair, alg) in works.chunks(2).zip(["HS256", "ES256", "EdDSA"]) {
        let (long, short) = (e.size(&pair[0])?, e.size(&pair[1])?);
        let more = ((long as f64 / short as f64 - 1.0) * 100.0).round();
        longer &= long > short;
        in_range &= (LONGER[0]..=LONGER[1]).contains(&more);
        words.push(format!("{alg} {long} against {short} bytes ({more:+.0} %)"));
    }
    let cause = "the claims are equal, so the header causes the difference: one library writes `typ` and the \
                 other does not";
    let why_not = if longer {
        format!("longer, but not by {}; {cause}", range(LONGER))
    } else {
        "not true for equal claims".to_owned()
    };
    let whys = [cause.to_owned(), why_not];
    Ok(Finding::judged(
        longer && in_range,
        words.join(", "),
        whys,
        works,
    ))
}

/// Formats a range of percent: `9 to 13 %`, `76 %`.
fn range([least, most]: [f64; 2]) -> String {
    if least < most {
        format!("{least:.0} to {most:.0} %")
    } else {
        format!("{least:.0} %")
    }
}
