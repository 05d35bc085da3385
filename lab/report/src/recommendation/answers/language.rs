//! jeton in my language: its time beside that of the fastest other library of each language.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{Row, RunResult, Status, Subject, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::interval::{Ratio, estimate};
use jeton_lab_stats::verdict::judge;
use jeton_lab_stats::verdicts::band_for;

use super::super::attacks::Attacks;
use super::super::candidate::THREADS;
use super::super::cost::{Cost, judged};
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
    let command = "jeton-lab run libraries";
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
                value: format!("{}\u{a0}×", units::ratio(pair.ratio.ratio().recip())),
                interval: format!("{} to {}", units::ratio(high.recip()), units::ratio(low.recip())),
                what: format!(
                    "jeton's time with {} in {}, where jeton compares worst",
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
        sentence: format!(
            "{}{}",
            sentence(result, &of(costs, alg), alg, pairs),
            slower_keys(result, alg)
        ),
        measured,
        command,
    }
}

/// Returns the languages in which jeton and another library were measured.
fn pairs<'c, 'a>(result: &RunResult, costs: &[&'c Cost<'a>]) -> Vec<Pair<'c, 'a>> {
    let in_language = |language: &str| {
        let of_it = |cost: &&&'c Cost<'a>| cost.candidate.subject.language == language;
        let is_own = |cost: &&&'c Cost<'a>| cost.candidate.subject.library == OWN;
        // Both on one runtime: a newer one can be faster than any library makes it.
        let own_beside = |other: &Cost<'_>| {
            let runtime = &other.candidate.subject.runtime;
            let is_same = |cost: &&&'c Cost<'a>| cost.candidate.subject.runtime == *runtime;
            costs.iter().filter(of_it).filter(is_own).find(is_same)
        };
        let others = costs.iter().filter(of_it).filter(|cost| !is_own(cost));
        let pairs = others.filter_map(|other| Some((*own_beside(other)?, *other)));
        pairs.min_by(|a, b| a.1.median.total_cmp(&b.1.median))
    };
    let measured: Vec<_> = LANGUAGES.into_iter().filter_map(in_language).collect();
    let judged = measured.iter().filter_map(|&(own, other)| {
        let ratio = estimate(&own.rounds, &other.rounds, measured.len()).ok()?;
        let kinds = [own, other].map(|cost| cost.candidate.subject.is_managed());
        let band = band_for(&result.noise_floor, kinds.into_iter(), THREADS);
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

/// Says in which languages jeton is faster, as fast or slower, and why it is not compared in the others.
fn sentence(result: &RunResult, costs: &[&Cost<'_>], alg: &str, pairs: &[Pair<'_, '_>]) -> String {
    let with = |kind: VerdictKind| -> Vec<&str> {
        let of_kind = pairs.iter().filter(|pair| pair.verdict == kind);
        of_kind.map(Pair::language).collect()
    };
    let is_compared = |language: &str| {
        let of_it = |pair: &Pair<'_, '_>| pair.own.candidate.subject.language == language;
        pairs.iter().any(of_it)
    };
    let absent = |why: Absence| -> Vec<&str> {
        let absent = LANGUAGES.into_iter().filter(|it| !is_compared(it));
        let of_why = absent.filter(|language| Absence::of(result, costs, alg, language) == why);
        of_why.map(names::language_of).collect()
    };
    let groups = [
        ("faster", with(VerdictKind::Faster)),
        ("as fast", with(VerdictKind::Equivalent)),
        ("slower", with(VerdictKind::Slower)),
        ("undecided", with(VerdictKind::Undecided)),
        ("without another library", absent(Absence::Alone)),
        ("failed", absent(Absence::Failed)),
        ("excluded", absent(Absence::Excluded)),
        ("not measured", absent(Absence::NotMeasured)),
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

/// What is done with keys: the operation, the form of the key, and the words.
const OF_KEYS: [(&str, &str, &str); 3] = [
    ("load-key", "jwk", "load a JWK"),
    ("load-key", "pem", "load a PEM key"),
    ("generate-key", "prepared", "generate a key"),
];

/// Says in which languages another library loads or generates a key faster.
fn slower_keys(result: &RunResult, alg: &str) -> String {
    let attacks = Attacks::of(&result.rows.attack);
    let said = OF_KEYS.into_iter().filter_map(|(operation, form, words)| {
        let of_it = |row: &&Row| {
            let subject = &row.subject;
            row.operation == operation
                && subject.key_handling == form
                && subject.format == "jwt"
                && subject.alg.as_deref() == Some(alg)
                && subject.superseded_by.is_none()
                && attacks.fell_to(subject.driver()).is_none()
                && row.threads == THREADS
                && row.status == Status::Ok
                && !row.reference
        };
        let rows: Vec<&Row> = result.rows.measured.iter().filter(of_it).collect();
        let is_slower = |language: &&str| is_slower_at(result, &rows, language);
        let languages = LANGUAGES.into_iter().filter(is_slower);
        let languages: Vec<&str> = languages.map(names::language_of).collect();
        (!languages.is_empty()).then(|| format!("to {words} in {}", units::list(&languages)))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() {
        String::new()
    } else {
        format!(" Slower {}.", said.join("; "))
    }
}

/// Reports whether jeton is slower than the fastest other library of a language.
fn is_slower_at(result: &RunResult, rows: &[&Row], language: &str) -> bool {
    let in_language = || rows.iter().filter(|row| row.subject.language == language);
    let mut own = in_language().filter(|row| row.subject.library == OWN);
    own.any(|own| {
        let is_like = |row: &&&Row| {
            row.subject.library != OWN
                && row.subject.runtime == own.subject.runtime
                && row.claims.name == own.claims.name
        };
        let times = in_language()
            .filter(is_like)
            .filter_map(|row| row.ns_per_op.as_ref());
        let fastest = times.min_by(|a, b| a.median.total_cmp(&b.median));
        let both = own.ns_per_op.as_ref().zip(fastest);
        both.is_some_and(|(own_time, other)| {
            let managed = std::iter::once(own.subject.is_managed());
            let band = band_for(&result.noise_floor, managed, THREADS);
            let comparisons = OF_KEYS.len() * LANGUAGES.len();
            judged(&own_time.rounds, &other.rounds, comparisons, band) == VerdictKind::Slower
        })
    })
}

/// Why jeton is not compared in a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absence {
    /// No other library was measured.
    Alone,
    /// A check failed, or it has no time.
    Failed,
    /// A rule of the recommendation excludes it.
    Excluded,
    NotMeasured,
}

impl Absence {
    fn of(result: &RunResult, costs: &[&Cost<'_>], alg: &str, language: &str) -> Self {
        let is_own = |subject: &Subject| subject.library == OWN && subject.language == language;
        if costs.iter().any(|cost| is_own(cost.candidate.subject)) {
            return Self::Alone;
        }
        let rows = result.rows.measured.iter().filter(|row| {
            let subject = &row.subject;
            is_own(subject) && subject.format == "jwt" && subject.alg.as_deref() == Some(alg)
        });
        let rows = rows.filter(|row| row.status != Status::Unavailable);
        let rows: Vec<&Row> = rows.collect();
        match rows.iter().any(|row| row.ns_per_op.is_none()) {
            true => Self::Failed,
            false if rows.is_empty() => Self::NotMeasured,
            false => Self::Excluded,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Answer, by_language};
    use super::*;
    use crate::recommendation::sample::{fail, result, row};

    fn both(language: &str, library: &str, ns: f64) -> [Row; 2] {
        ["sign", "verify"].map(|verb| row(language, library, "jwt", "ES256", verb, ns))
    }

    fn answer(rows: &[[Row; 2]]) -> Answer {
        by_language(&result(rows.concat(), 0.02))
    }

    #[test]
    fn failed_jeton_is_not_called_unmeasured() {
        let mut failed = both("go", "jeton", 100.0);
        for row in &mut failed {
            fail(row, Status::FailedPreflight);
        }
        let rows = [
            failed,
            both("go", "other", 200.0),
            both("node", "jeton", 100.0),
            both("rust", "jeton", 100.0),
            both("rust", "other", 200.0),
        ];
        assert_eq!(
            answer(&rows).sentence,
            "jeton against the fastest other library of each language, with ES256: faster in Rust; without another library in Node; failed in Go; not measured in Java and Python."
        );
    }

    #[test]
    fn operations_of_keys_at_which_jeton_is_slower_are_named() {
        let key = |library: &str, operation: &str, form: &str, ns: f64| {
            let mut row = row("go", library, "jwt", "ES256", operation, ns);
            row.subject.key_handling = form.to_owned();
            row
        };
        let mut rows = [both("go", "jeton", 100.0), both("go", "other", 200.0)].concat();
        rows.extend([
            key("jeton", "load-key", "jwk", 100.0),
            key("other", "load-key", "jwk", 200.0),
            key("jeton", "load-key", "pem", 100.0),
            key("other", "load-key", "pem", 50.0),
            key("jeton", "generate-key", "prepared", 100.0),
            key("other", "generate-key", "prepared", 50.0),
        ]);
        let said = by_language(&result(rows, 0.02)).sentence;
        let slower = ". Slower to load a PEM key in Go; to generate a key in Go.";
        assert!(said.ends_with(slower), "{said}");
    }

    #[test]
    fn pair_is_of_one_runtime() {
        let on = |library: &str, runtime: &str, ns: f64| {
            both("java", library, ns).map(|mut row| {
                row.subject.runtime = Some(runtime.to_owned());
                row.subject.id = row.subject.id.replacen(':', &format!("@{runtime}:"), 1);
                row
            })
        };
        let rows = [
            on("jeton", "JDK 17", 100.0),
            on("other", "JDK 17", 400.0),
            on("other", "JDK 25", 50.0),
        ];
        let answer = answer(&rows);
        assert!(
            answer.sentence.contains("faster in Java"),
            "{}",
            answer.sentence
        );
        let bars = answer.measured.unwrap().bars;
        assert_eq!(bars[1].median, 800.0);
    }
}
