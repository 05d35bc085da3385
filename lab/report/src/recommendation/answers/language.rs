//! jeton in my language: its time beside that of the fastest other library of each language.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{RunResult, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::interval::{Ratio, estimate};
use jeton_lab_stats::verdict::{Band, judge};
use jeton_lab_stats::verdicts::floor_for;

use super::super::cost::Cost;
use super::libraries::{USUAL, of};
use super::sure::of_ratio;
use super::{Answer, Bar, Figure, Measured};

const QUESTION: &str = "How fast is jeton in my language?";
const OWN: &str = "jeton";

/// jeton in one language, with the fastest other library.
struct Pair<'c, 'a> {
    own: &'c Cost<'a>,
    other: &'c Cost<'a>,
    /// The time of jeton, as a share of the other's.
    ratio: Ratio,
    verdict: VerdictKind,
}

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let command = "jeton lab run libraries";
    let of_alg = USUAL.map(|alg| (alg, pairs(result, &of(costs, alg))));
    let most = of_alg.iter().map(|(_, pairs)| pairs.len()).max();
    let found = of_alg
        .iter()
        .find(|(_, pairs)| Some(pairs.len()) == most)
        .filter(|(_, pairs)| !pairs.is_empty());
    let Some((alg, pairs)) = found else {
        let what = "the time of jeton and of another library in one language";
        return Answer::missing("language", QUESTION, what, command);
    };
    let slowest = pairs
        .iter()
        .max_by(|a, b| a.ratio.ratio().total_cmp(&b.ratio.ratio()));
    let measured = slowest.map(|pair| {
        let [low, high] = pair.ratio.interval();
        Measured {
            figure: Figure {
                value: format!("{}\u{a0}×", units::ratio(pair.ratio.ratio())),
                interval: format!("{} to {}", units::ratio(low), units::ratio(high)),
                what: format!(
                    "the time of {} in {}, where jeton compares worst",
                    pair.other.candidate.subject.library,
                    pair.language()
                ),
            },
            bars_show: format!(
                "Time to sign and verify one {alg} token with jeton and with the fastest other library of the language"
            ),
            bars: pairs.iter().flat_map(Pair::bars).collect(),
            sure: of_ratio(result, &pair.ratio, pair.is_managed()),
        }
    });
    Answer {
        id: "language",
        question: QUESTION,
        sentence: sentence(alg, pairs),
        measured,
        command,
    }
}

/// Returns the languages in which jeton and another library were measured.
fn pairs<'c, 'a>(result: &RunResult, costs: &[&'c Cost<'a>]) -> Vec<Pair<'c, 'a>> {
    let in_language = |language: &str| {
        let of_it = |cost: &&&'c Cost<'a>| cost.candidate.subject.language == language;
        let is_own = |cost: &&&'c Cost<'a>| cost.candidate.subject.library == OWN;
        let own = costs.iter().filter(of_it).find(is_own)?;
        let other = costs
            .iter()
            .filter(of_it)
            .filter(|cost| !is_own(cost))
            .min_by(|a, b| a.median.total_cmp(&b.median))?;
        Some((*own, *other))
    };
    let measured: Vec<_> = LANGUAGES.into_iter().filter_map(in_language).collect();
    let judged = measured.iter().filter_map(|&(own, other)| {
        let ratio = estimate(&own.rounds, &other.rounds, measured.len()).ok()?;
        let kinds = [own, other].map(|cost| cost.candidate.subject.is_managed());
        let band = Band::new(floor_for(&result.noise_floor, kinds.into_iter()));
        Some(Pair {
            own,
            other,
            verdict: judge(&ratio, band),
            ratio,
        })
    });
    judged.collect()
}

impl Pair<'_, '_> {
    fn language(&self) -> &str {
        names::language(self.own.candidate.subject)
    }

    fn is_managed(&self) -> bool {
        self.own.candidate.subject.is_managed() || self.other.candidate.subject.is_managed()
    }

    fn bars(&self) -> [Bar; 2] {
        [self.own, self.other].map(|cost| {
            let subject = cost.candidate.subject;
            Bar::of(
                cost,
                format!("{}: {}", self.language(), subject.library),
                format!(
                    "{}: {} {}",
                    self.language(),
                    subject.library,
                    subject.version
                ),
            )
        })
    }
}

/// Says in which languages jeton is faster, as fast or slower, and where it was not measured.
fn sentence(alg: &str, pairs: &[Pair<'_, '_>]) -> String {
    let with = |kind: VerdictKind| -> Vec<&str> {
        let of_kind = pairs.iter().filter(|pair| pair.verdict == kind);
        of_kind.map(Pair::language).collect()
    };
    let absent: Vec<&str> = LANGUAGES
        .into_iter()
        .filter(|language| {
            let of_it = |pair: &Pair<'_, '_>| pair.own.candidate.subject.language == *language;
            !pairs.iter().any(of_it)
        })
        .map(names::language_of)
        .collect();
    let groups = [
        ("faster", with(VerdictKind::Faster)),
        ("as fast", with(VerdictKind::Equivalent)),
        ("slower", with(VerdictKind::Slower)),
        ("undecided", with(VerdictKind::Undecided)),
        ("not measured", absent),
    ];
    let said: Vec<String> = groups
        .into_iter()
        .filter(|(_, languages)| !languages.is_empty())
        .map(|(words, languages)| format!("{words} in {}", units::list(&languages)))
        .collect();
    format!(
        "jeton against the fastest other library of each language, with {alg}: {}.",
        said.join("; ")
    )
}
