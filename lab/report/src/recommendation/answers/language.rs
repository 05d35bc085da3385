//! jeton in my language: its time beside that of the fastest other library of each language.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{Row, RunResult, Status, VerdictKind};
use jeton_lab_model::units;
use jeton_lab_stats::interval::{Ratio, estimate};
use jeton_lab_stats::verdict::judge;
use jeton_lab_stats::verdicts::band_for;

use super::super::candidate::{Cost, THREADS, judged, jwts};
use super::super::library::comparisons_among;
use super::super::rules::Attacks;
use super::super::sure::of_ratio;
use super::libraries::USUAL;
use super::{Answer, Bar, Figure, Measured, OWN};

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
    // Of equal ones, the first.
    let most = of_alg.iter().rev().max_by_key(|(_, pairs)| pairs.len());
    let slowest = most.and_then(|(alg, pairs)| {
        let by_ratio =
            |a: &&Pair<'_, '_>, b: &&Pair<'_, '_>| a.ratio.ratio().total_cmp(&b.ratio.ratio());
        Some((*alg, pairs, pairs.iter().max_by(by_ratio)?))
    });
    let Some((alg, pairs, slowest)) = slowest else {
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
            what: format!(
                "the time of {library} with jeton's as 1, in {language}, where jeton compares worst"
            ),
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
        let of_it = costs.iter().copied();
        let of_it = of_it.filter(|cost| cost.subject.language == language);
        let comparisons = comparisons_among(of_it.clone().count());
        let (own, others): (Vec<_>, Vec<_>) = of_it.partition(|cost| cost.subject.library == OWN);
        // Both on one runtime: a newer one can be faster than any library makes it.
        let pairs = others.into_iter().filter_map(|other: &'c Cost<'a>| {
            let mut own = own.iter();
            let own = own.find(|own| own.subject.runtime == other.subject.runtime)?;
            Some((*own, other))
        });
        let (own, other) = pairs.min_by(|a, b| a.1.median.total_cmp(&b.1.median))?;
        let ratio = estimate(&own.both.rounds, &other.both.rounds, comparisons).ok()?;
        let verdict = judge(&ratio, own.band(other, &result.noise_floor));
        Some(Pair {
            own,
            other,
            ratio,
            verdict,
        })
    });
    measured.collect()
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

/// Says in which languages jeton is faster, as fast or slower, and why it is not compared in the others: no other
/// library was measured, a check failed, or a rule of the recommendation excludes it.
fn sentence(result: &RunResult, costs: &[&Cost<'_>], alg: &str, pairs: &[Pair<'_, '_>]) -> String {
    let said = |language: &str| {
        let mut pairs = pairs.iter();
        match pairs.find(|pair| pair.own.subject.language == language) {
            Some(pair) => match pair.verdict {
                VerdictKind::Faster => "faster",
                VerdictKind::Equivalent => "as fast",
                VerdictKind::Slower => "slower",
                VerdictKind::Undecided => "undecided",
            },
            None => absence(result, costs, alg, language),
        }
    };
    let all = [
        "faster",
        "as fast",
        "slower",
        "undecided",
        "without another library",
        "failed",
        "excluded",
        "not measured",
    ];
    let compared = in_languages(all, |what, language| said(language) == what);
    format!("jeton against the fastest other library of each language, with {alg}: {compared}.")
}

/// Says in which languages each of these is so: `faster in Go; slower in Node`.
fn in_languages<const N: usize>(all: [&str; N], is_so: impl Fn(&str, &str) -> bool) -> String {
    let said = all.into_iter().filter_map(|what| {
        let languages = LANGUAGES.into_iter();
        let languages = languages.filter(|language| is_so(what, language));
        let languages = units::list(languages.map(names::language_of));
        (!languages.is_empty()).then(|| format!("{what} in {languages}"))
    });
    said.collect::<Vec<_>>().join("; ")
}

/// Says why jeton is not compared in a language.
fn absence(result: &RunResult, costs: &[&Cost<'_>], alg: &str, language: &str) -> &'static str {
    let mut usable = costs.iter().map(|cost| cost.subject);
    if usable.any(|subject| subject.library == OWN && subject.language == language) {
        return "without another library";
    }
    let rows = result.rows.measured.iter().filter(|row| {
        let subject = &row.subject;
        (subject.library.as_str(), subject.language.as_str()) == (OWN, language)
            && subject.format == "jwt"
            && subject.alg.as_deref() == Some(alg)
            && row.status != Status::Unavailable
    });
    let is_timed: Vec<bool> = rows.map(|row| row.ns_per_op.is_some()).collect();
    match is_timed.as_slice() {
        [] => "not measured",
        timed if timed.contains(&false) => "failed",
        _ => "excluded",
    }
}

/// What is done with keys: the words, the operation, and the form of the key.
const OF_KEYS: [(&str, &str, &str); 3] = [
    ("to load a JWK", "load-key", "jwk"),
    ("to load a PEM key", "load-key", "pem"),
    ("to generate a key", "generate-key", "prepared"),
];

/// Says in which languages another library loads or generates a key faster.
fn slower_keys(result: &RunResult, alg: &str) -> String {
    let attacks = Attacks::of(&result.rows.attack);
    let of_alg = |row: &&Row| {
        let subject = &row.subject;
        subject.format == "jwt"
            && subject.alg.as_deref() == Some(alg)
            && subject.superseded_by.is_none()
            && attacks.fell_to(subject.driver()).is_none()
            && row.threads == THREADS
            && row.status == Status::Ok
            && !row.reference
    };
    let rows: Vec<&Row> = result.rows.measured.iter().filter(of_alg).collect();
    let is_slower = |what: &str, language: &str| {
        let of_it = |row: &&Row| {
            let (subject, operation) = (&row.subject, row.operation.as_str());
            subject.language == language
                && OF_KEYS.contains(&(what, operation, &subject.key_handling))
        };
        let rows = rows.iter().copied().filter(of_it);
        let (own, others): (Vec<&Row>, Vec<&Row>) =
            rows.partition(|row| row.subject.library == OWN);
        own.iter().any(|own| is_slower_than(result, own, &others))
    };
    match in_languages(OF_KEYS.map(|(what, ..)| what), is_slower).as_str() {
        "" => String::new(),
        said => format!(" Slower {said}."),
    }
}

/// Reports whether jeton is slower than the fastest of these libraries on the same runtime.
fn is_slower_than(result: &RunResult, own: &Row, others: &[&Row]) -> bool {
    let like = |row: &Row| (row.subject.runtime.clone(), row.claims.name.clone());
    let others = others.iter().filter(|row| like(row) == like(own));
    let times = others.filter_map(|row| row.ns_per_op.as_ref());
    let fastest = times.min_by(|a, b| a.median.total_cmp(&b.median));
    let both = own.ns_per_op.as_ref().zip(fastest);
    both.is_some_and(|(own_time, other)| {
        let managed = std::iter::once(own.subject.is_managed());
        let band = band_for(&result.noise_floor, managed, THREADS);
        let comparisons = OF_KEYS.len() * LANGUAGES.len();
        judged(&own_time.rounds, &other.rounds, comparisons, band) == VerdictKind::Slower
    })
}
