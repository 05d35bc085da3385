//! Which library: the fastest of each language, for the most usual algorithm that the run has.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::{LANGUAGES, Weight};
use jeton_lab_model::result::{NoiseFloor, RunResult, VerdictKind};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::verdict::judge;

use super::super::cost::Cost;
use super::super::ranking::first_group;
use super::sure::{Clear, Sure, clear, of_choice};
use super::{Answer, Figure, Measured};

/// The algorithms to compare libraries by, the first one measured counts. ES256 is what third parties
/// verify most.
pub(super) const USUAL: [&str; 4] = ["ES256", "EdDSA", "RS256", "HS256"];

/// The best libraries of one language.
struct Language<'c, 'a> {
    name: &'a str,
    /// Libraries that cannot be told apart, the lowest median first, with their names.
    best: Vec<(&'c Cost<'a>, String)>,
    /// The others; the lowest median first.
    others: Vec<&'c Cost<'a>>,
}

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let question = "Which library?";
    let missing = || {
        let what = "the time to sign and verify one kind of token with several libraries";
        Answer::missing("library", question, what, "jeton-lab run libraries")
    };
    let Some(alg) = USUAL.iter().find(|alg| of(costs, alg).len() > 1) else {
        return missing();
    };
    let languages = languages(result, &of(costs, alg));
    let Some((fastest, name)) = languages.first().and_then(|l| l.best.first()) else {
        return missing();
    };
    let unit = Unit::for_times([fastest.median].into_iter());
    let measured = Measured {
        figure: Figure {
            value: unit.text(fastest.median),
            interval: interval(unit, fastest.interval),
            what: format!(
                "to sign and verify one {alg} token with {name}, {}",
                names::language(fastest.candidate.subject)
            ),
        },
        bars_show: format!(
            "Time to sign and verify one {alg} token, fastest library of each language"
        ),
        bars: languages.iter().map(Language::bar).collect(),
        sure: sure(result, &languages),
    };
    Answer {
        id: "library",
        question,
        sentence: format!("The fastest of each language, with {alg}:"),
        measured: Some(measured),
        command: "jeton-lab run libraries",
    }
}

/// Formats an interval of times: `64.9 to 66.3 µs`.
pub(super) fn interval(unit: Unit, [low, high]: [f64; 2]) -> String {
    format!("{} to {}", unit.figure(low), unit.text(high))
}

pub(super) fn of<'c, 'a>(costs: &'c [Cost<'a>], alg: &str) -> Vec<&'c Cost<'a>> {
    let is_it = |cost: &&Cost<'_>| {
        let subject = cost.candidate.subject;
        subject.format == "jwt" && subject.alg.as_deref() == Some(alg)
    };
    costs.iter().filter(is_it).collect()
}

/// Returns the best of each language, the language with the lowest time first.
fn languages<'c, 'a>(result: &RunResult, costs: &[&'c Cost<'a>]) -> Vec<Language<'c, 'a>> {
    let subjects: Vec<_> = costs.iter().map(|c| c.candidate.subject).collect();
    let shown: Vec<String> = names::distinct(&subjects)
        .into_iter()
        .zip(&subjects)
        .map(|(name, subject)| {
            // The chart names the language.
            let language = format!(" ({})", names::language(subject));
            name.strip_suffix(&language)
                .map_or(name.clone(), str::to_owned)
        })
        .collect();
    let mut languages: Vec<Language<'c, 'a>> = Vec::new();
    for cost in costs {
        let name = names::language(cost.candidate.subject);
        if languages.iter().any(|l| l.name == name) {
            continue;
        }
        let own: Vec<usize> = (0..costs.len())
            .filter(|&i| names::language(costs[i].candidate.subject) == name)
            .collect();
        let scored: Vec<_> = own.iter().map(|&i| costs[i].scored()).collect();
        let group = first_group(&scored, Weight::RoundTrip, &result.noise_floor);
        let mut best: Vec<_> = group
            .into_iter()
            .map(|index| (costs[own[index]], shown[own[index]].clone()))
            .collect();
        best.sort_by(|a, b| a.0.median.total_cmp(&b.0.median));
        let is_best = |id: &str| best.iter().any(|(cost, _)| cost.candidate.subject.id == id);
        let mut others: Vec<_> = own.iter().map(|&i| costs[i]).collect();
        others.retain(|cost| !is_best(&cost.candidate.subject.id));
        others.sort_by(|a, b| a.median.total_cmp(&b.median));
        if !best.is_empty() {
            languages.push(Language { name, best, others });
        }
    }
    languages.sort_by(|a, b| a.best[0].0.median.total_cmp(&b.best[0].0.median));
    languages
}

impl Language<'_, '_> {
    fn bar(&self) -> super::Bar {
        let (cost, name) = &self.best[0];
        let others = match self.best.len() {
            1 => String::new(),
            several => format!(" +{}", several - 1),
        };
        let all: Vec<&str> = self.best.iter().map(|(_, name)| name.as_str()).collect();
        super::Bar::of(
            cost,
            format!("{}: {name}{others}", self.name),
            format!("{}: {}", self.name, units::list(&all)),
        )
    }
}

impl Language<'_, '_> {
    /// Splits the libraries behind the first of the group into those that are equivalent to it, and those
    /// of which that is undecided.
    fn behind(&self, noise: &NoiseFloor) -> (Vec<&str>, Vec<&str>) {
        let (first, behind) = (self.best[0].0, &self.best[1..]);
        let comparisons = behind.len() + self.others.len();
        let (mut equivalent, mut undecided) = (Vec::new(), Vec::new());
        for (cost, name) in behind {
            match cost.judged(first, comparisons, noise) {
                VerdictKind::Equivalent => equivalent.push(name.as_str()),
                _ => undecided.push(name.as_str()),
            }
        }
        (equivalent, undecided)
    }

    /// Says how clear the choice is; `None` if there is no other library.
    fn clear(&self, noise: &NoiseFloor) -> Option<Clear> {
        if self.best.len() > 1 {
            let (_, undecided) = self.behind(noise);
            return Some(if undecided.is_empty() {
                Clear::Far
            } else {
                Clear::No
            });
        }
        let (first, next) = (self.best[0].0, *self.others.first()?);
        let band = next.band(first, noise);
        let ratio = estimate(&next.rounds, &first.rounds, self.others.len()).ok()?;
        Some(clear(judge(&ratio, band), ratio.interval(), band))
    }
}

/// Says how sure the choice is, and names the libraries behind `+1`.
fn sure(result: &RunResult, languages: &[Language<'_, '_>]) -> Sure {
    let noise = &result.noise_floor;
    let clear: Vec<Clear> = languages.iter().filter_map(|l| l.clear(noise)).collect();
    let open = clear.iter().filter(|clear| **clear == Clear::No).count();
    let clear = match clear.iter().min() {
        Some(Clear::No) if 2 * open <= clear.len() => Clear::Near,
        Some(least) => *least,
        None => Clear::No,
    };
    let behind: Vec<_> = languages.iter().map(|l| (l, l.behind(noise))).collect();
    let of_each = |pick: fn(&(Vec<&str>, Vec<&str>)) -> String| {
        let named = behind.iter().map(|(l, names)| (l.name, pick(names)));
        let named = named.filter(|(_, names)| !names.is_empty());
        let named: Vec<String> = named.map(|(l, names)| format!("{names} ({l})")).collect();
        named.join("; ")
    };
    let alone = languages
        .iter()
        .filter(|l| l.best.len() + l.others.len() == 1);
    let alone: Vec<&str> = alone.map(|l| l.name).collect();
    let absent = LANGUAGES.into_iter().map(names::language_of);
    let absent = absent.filter(|name| !languages.iter().any(|l| l.name == *name));
    let parts = [
        (
            "as fast: ",
            of_each(|(equivalent, _)| units::list(equivalent)),
        ),
        (
            "undecided: ",
            of_each(|(_, undecided)| units::list(undecided)),
        ),
        ("no other library in ", units::list(&alone)),
        ("not measured: ", units::list(&absent.collect::<Vec<_>>())),
    ];
    let said = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let mut said: Vec<String> = said.map(|(what, names)| format!("{what}{names}")).collect();
    if languages.iter().all(|l| l.best.len() == 1) && alone.is_empty() {
        said.insert(0, lead(languages, noise));
    }
    of_choice(result, clear, &said.join("; "))
}

/// Says how much more time the next library of each language takes: first where that is near the noise.
fn lead(languages: &[Language<'_, '_>], noise: &NoiseFloor) -> String {
    let leads = languages.iter().filter_map(|language| {
        let next = language.others.first()?;
        let is_near = language.clear(noise) != Some(Clear::Far);
        let ratio = next.median / language.best[0].0.median;
        Some((is_near, ratio, language.name))
    });
    let mut leads: Vec<(bool, f64, &str)> = leads.collect();
    leads.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
    let said = |wanted: bool| {
        let of_kind = leads.iter().filter(|(is_near, ..)| *is_near == wanted);
        let said = of_kind
            .map(|(_, ratio, language)| format!("{}\u{a0}× ({language})", units::times(*ratio)));
        units::list(&said.collect::<Vec<_>>())
    };
    match [said(true), said(false)].each_ref().map(String::as_str) {
        ["", ""] => "no other library".to_owned(),
        [all, ""] | ["", all] => format!("the next library takes {all} the time"),
        [near, far] => format!("the next library takes {near} the time. Sure: {far}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::sure::Sureness;
    use super::super::{Answer, answers};
    use crate::recommendation::sample::{result, row};

    /// The answer about ES256 libraries with these times, at this noise floor.
    fn answer(libraries: &[(&str, &str, f64)], floor: f64) -> Answer {
        let rows = libraries.iter().flat_map(|(language, library, ns)| {
            ["sign", "verify"].map(|verb| row(language, library, "jwt", "ES256", verb, *ns))
        });
        answers(&result(rows.collect(), floor)).swap_remove(0)
    }

    fn sure(answer: &Answer) -> (Sureness, &str) {
        let sure = &answer.measured.as_ref().unwrap().sure;
        (sure.sureness, &sure.why)
    }

    #[test]
    fn undecided_library_is_not_called_as_fast() {
        let two = [("go", "a", 100.0), ("go", "b", 200.0)];
        let noisy = answer(&two, 1.1);
        let (sureness, why) = sure(&noisy);
        assert_eq!(sureness, Sureness::NotSure);
        assert!(
            why.contains("undecided: b (Go)") && !why.contains("as fast"),
            "{why}"
        );
        let quiet = answer(&two, 0.01);
        let (sureness, why) = sure(&quiet);
        assert_eq!(sureness, Sureness::Sure);
        assert!(
            why.contains("the next library takes 2\u{a0}× (Go) the time"),
            "{why}"
        );
        let alike = answer(&[("go", "a", 100.0), ("go", "b", 100.5)], 0.01);
        let (sureness, why) = sure(&alike);
        assert_eq!(sureness, Sureness::Sure);
        assert!(why.contains("as fast: b (Go)"), "{why}");
    }

    #[test]
    fn sure_names_the_lead_of_every_language() {
        let three = [
            ("go", "a", 100.0),
            ("go", "b", 150.0),
            ("node", "a", 100.0),
            ("node", "b", 130.0),
            ("java", "a", 100.0),
            ("java", "b", 200.0),
        ];
        let (_, why) = (answer(&three, 0.01)
            .measured
            .map(|m| (m.sure.sureness, m.sure.why)))
        .unwrap();
        let leads = "the next library takes 1.3\u{a0}× (Node), 1.5\u{a0}× (Go) and 2\u{a0}× (Java) the time;";
        assert!(why.starts_with(leads), "{why}");
    }

    #[test]
    fn language_that_is_near_the_noise_is_named_first() {
        let two = [
            ("go", "a", 100.0),
            ("go", "b", 150.0),
            ("node", "a", 100.0),
            ("node", "b", 110.0),
        ];
        let near = answer(&two, 0.05);
        let (sureness, why) = sure(&near);
        assert_eq!(sureness, Sureness::FairlySure);
        let leads = "the next library takes 1.1\u{a0}× (Node) the time. Sure: 1.5\u{a0}× (Go);";
        assert!(why.starts_with(leads), "{why}");
    }

    #[test]
    fn difference_just_above_the_noise_is_fairly_sure() {
        let near = answer(&[("go", "a", 100.0), ("go", "b", 110.0)], 0.05);
        assert_eq!(sure(&near).0, Sureness::FairlySure);
    }

    #[test]
    fn lone_library_is_not_faster_than_others() {
        let lone = answer(&[("go", "a", 100.0), ("node", "b", 200.0)], 0.01);
        let (sureness, why) = sure(&lone);
        assert_eq!(sureness, Sureness::NotSure);
        assert!(why.contains("no other library in Go and Node"), "{why}");
        assert!(why.contains("not measured: Java, Python and Rust"), "{why}");
        assert!(!why.contains("faster than"), "{why}");
    }
}
