//! jeton in my language: its time beside that of the fastest other library of each language.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{Row, RunResult, Status, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::interval::{Ratio, estimate};
use jeton_lab_stats::verdict::judge;
use jeton_lab_stats::verdicts::band_for;

use super::super::attacks::Attacks;
use super::super::candidate::{Cost, THREADS, judged, jwts};
use super::libraries::USUAL;
use super::sure::of_ratio;
use super::{Answer, Bar, Figure, Measured, OWN, parts};

/// jeton in one language, with the fastest other library.
struct Pair<'c, 'a> {
    own: &'c Cost<'a>,
    other: &'c Cost<'a>,
    /// The time of jeton, as a share of the other's.
    ratio: Ratio,
    verdict: VerdictKind,
}

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let of_alg = USUAL.map(|alg| (alg, pairs(result, &jwts(costs, alg))));
    let most = of_alg.iter().map(|(_, pairs)| pairs.len()).max();
    let mut found = of_alg.iter().filter(|(_, pairs)| Some(pairs.len()) == most);
    let found = found.next().and_then(|(alg, pairs)| {
        let by_ratio =
            |a: &&Pair<'_, '_>, b: &&Pair<'_, '_>| a.ratio.ratio().total_cmp(&b.ratio.ratio());
        Some((*alg, pairs, pairs.iter().max_by(by_ratio)?))
    });
    let Some((alg, pairs, slowest)) = found else {
        let what = "the time of jeton and of another library in one language";
        return Answer::missing("language", what);
    };
    let figure = |ratio: f64| units::ratio(ratio.recip());
    let [low, high] = slowest.ratio.interval();
    let (library, language) = (&slowest.other.subject.library, slowest.language());
    let is_managed = slowest.own.both.managed || slowest.other.both.managed;
    let measured = Measured {
        figure: Figure {
            value: format!("{}\u{a0}×", figure(slowest.ratio.ratio())),
            interval: format!("{} to {}", figure(high), figure(low)),
            what: format!("jeton's time with {library} in {language}, where jeton compares worst"),
        },
        bars_show: format!(
            "Time to sign and verify one {alg} token with jeton and with the fastest other library of the language"
        ),
        bars: pairs.iter().flat_map(Pair::bars).collect(),
        sure: of_ratio(result, &slowest.ratio, is_managed),
    };
    let compared = sentence(result, &jwts(costs, alg), alg, pairs);
    let sentence = format!("{compared}{}", slower_keys(result, alg));
    Answer::new("language", sentence, Some(measured))
}

/// Returns the languages in which jeton and another library were measured.
fn pairs<'c, 'a>(result: &RunResult, costs: &[&'c Cost<'a>]) -> Vec<Pair<'c, 'a>> {
    let measured = LANGUAGES.into_iter().filter_map(|language| {
        let of_it = || {
            costs
                .iter()
                .copied()
                .filter(move |cost| cost.subject.language == language)
        };
        let own = || of_it().filter(|cost| cost.subject.library == OWN);
        // Both on one runtime: a newer one can be faster than any library makes it.
        let beside =
            |other: &Cost<'_>| own().find(|own| own.subject.runtime == other.subject.runtime);
        let others = of_it().filter(|cost| cost.subject.library != OWN);
        let pairs = others.filter_map(|other| Some((beside(other)?, other)));
        pairs.min_by(|a, b| a.1.median.total_cmp(&b.1.median))
    });
    let measured: Vec<_> = measured.collect();
    let judged = measured.iter().filter_map(|&(own, other)| {
        let ratio = estimate(&own.both.rounds, &other.both.rounds, measured.len()).ok()?;
        let verdict = judge(&ratio, own.band(other, &result.noise_floor));
        Some(Pair {
            own,
            other,
            ratio,
            verdict,
        })
    });
    judged.collect()
}

impl Pair<'_, '_> {
    fn language(&self) -> &str {
        names::language(self.own.subject)
    }

    fn bars(&self) -> [Bar; 2] {
        [self.own, self.other].map(|cost| {
            let name = format!("{}: {}", self.language(), cost.subject.library);
            let in_full = format!("{name} {}", cost.subject.version);
            Bar::of(cost, name, in_full)
        })
    }
}

/// Says in which languages jeton is faster, as fast or slower, and why it is not compared in the others.
fn sentence(result: &RunResult, costs: &[&Cost<'_>], alg: &str, pairs: &[Pair<'_, '_>]) -> String {
    let with = |kind: VerdictKind| {
        let of_kind = pairs.iter().filter(|pair| pair.verdict == kind);
        of_kind.map(Pair::language).collect()
    };
    let is_compared = |language: &str| {
        pairs
            .iter()
            .any(|pair| pair.own.subject.language == language)
    };
    let absent = |why: &str| {
        let absent = LANGUAGES
            .into_iter()
            .filter(|language| !is_compared(language));
        let of_why = absent.filter(|language| absence(result, costs, alg, language) == why);
        of_why.map(names::language_of).collect()
    };
    let compared = parts([
        ("faster", with(VerdictKind::Faster)),
        ("as fast", with(VerdictKind::Equivalent)),
        ("slower", with(VerdictKind::Slower)),
        ("undecided", with(VerdictKind::Undecided)),
        (ALONE, absent(ALONE)),
        (FAILED, absent(FAILED)),
        (EXCLUDED, absent(EXCLUDED)),
        (NOT_MEASURED, absent(NOT_MEASURED)),
    ]);
    format!("jeton against the fastest other library of each language, with {alg}: {compared}.")
}

/// No other library was measured.
const ALONE: &str = "without another library";
/// A check failed, or it has no time.
const FAILED: &str = "failed";
/// A rule of the recommendation excludes it.
const EXCLUDED: &str = "excluded";
const NOT_MEASURED: &str = "not measured";

/// Says why jeton is not compared in a language.
fn absence(result: &RunResult, costs: &[&Cost<'_>], alg: &str, language: &str) -> &'static str {
    let is_own = |(library, of): (&str, &str)| library == OWN && of == language;
    if costs
        .iter()
        .any(|cost| is_own((&cost.subject.library, &cost.subject.language)))
    {
        return ALONE;
    }
    let rows = result.rows.measured.iter().filter(|row| {
        let subject = &row.subject;
        is_own((&subject.library, &subject.language))
            && subject.format == "jwt"
            && subject.alg.as_deref() == Some(alg)
            && row.status != Status::Unavailable
    });
    let is_timed: Vec<bool> = rows.map(|row| row.ns_per_op.is_some()).collect();
    match is_timed.as_slice() {
        [] => NOT_MEASURED,
        timed if timed.contains(&false) => FAILED,
        _ => EXCLUDED,
    }
}

/// What is done with keys: the operation, the form of the key, and the words.
const OF_KEYS: [(&str, &str, &str); 3] = [
    ("load-key", "jwk", "to load a JWK"),
    ("load-key", "pem", "to load a PEM key"),
    ("generate-key", "prepared", "to generate a key"),
];

/// Says in which languages another library loads or generates a key faster.
fn slower_keys(result: &RunResult, alg: &str) -> String {
    let attacks = Attacks::of(&result.rows.attack);
    let said = parts(OF_KEYS.map(|(operation, form, words)| {
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
        let slower = LANGUAGES
            .into_iter()
            .filter(|language| is_slower_at(result, &rows, language));
        (words, slower.map(names::language_of).collect())
    }));
    match said.as_str() {
        "" => String::new(),
        said => format!(" Slower {said}."),
    }
}

/// Reports whether jeton is slower than the fastest other library of a language.
fn is_slower_at(result: &RunResult, rows: &[&Row], language: &str) -> bool {
    let in_language = || rows.iter().filter(|row| row.subject.language == language);
    in_language()
        .filter(|row| row.subject.library == OWN)
        .any(|own| {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Answer, by_language};
    use super::*;
    use crate::recommendation::sample::{fail, result, row};

    fn both(language: &str, library: &str, ns: f64) -> [Row; 2] {
        ["sign", "verify"].map(|verb| row(language, library, "jwt", "ES256", verb, ns))
    }

    fn answer(rows: &[[Row; 2]], keys: impl IntoIterator<Item = Row>) -> Answer {
        by_language(&result(
            rows.concat().into_iter().chain(keys).collect(),
            0.02,
        ))
    }

    #[test]
    fn failed_jeton_is_not_called_unmeasured() {
        let mut failed = both("go", "jeton", 100.0);
        failed
            .iter_mut()
            .for_each(|row| fail(row, Status::FailedPreflight));
        let rows = [
            failed,
            both("go", "other", 200.0),
            both("node", "jeton", 100.0),
            both("rust", "jeton", 100.0),
            both("rust", "other", 200.0),
        ];
        assert_eq!(
            answer(&rows, []).sentence,
            "jeton against the fastest other library of each language, with ES256: faster in Rust; without another library in Node; failed in Go; not measured in Java and Python."
        );
    }

    #[test]
    fn operations_of_keys_at_which_jeton_is_slower_are_named() {
        let keys = [
            ("load-key", "jwk", 200.0),
            ("load-key", "pem", 50.0),
            ("generate-key", "prepared", 50.0),
        ];
        let keys = keys.into_iter().flat_map(|(operation, form, ns)| {
            [("jeton", 100.0), ("other", ns)].map(|(library, ns)| {
                let mut row = row("go", library, "jwt", "ES256", operation, ns);
                row.subject.key_handling = form.to_owned();
                row
            })
        });
        let rows = [both("go", "jeton", 100.0), both("go", "other", 200.0)];
        let said = answer(&rows, keys).sentence;
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
        let answer = answer(&rows, []);
        assert!(
            answer.sentence.contains("faster in Java"),
            "{}",
            answer.sentence
        );
        assert_eq!(answer.measured.unwrap().bars[1].median, 800.0);
    }
}
