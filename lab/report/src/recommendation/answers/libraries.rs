//! Which library: the fastest of each language, for the most usual algorithm that the run has.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{NoiseFloor, RunResult, VerdictKind};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::verdict::judge;

use super::super::candidate::{Cost, fastest, jwts};
use super::sure::{Clear, Sure, clear, of_choice};
use super::{Answer, Bar, Figure, Measured, of_languages};

/// The algorithms to compare libraries by, the first one measured counts. ES256 is what third parties
/// verify most.
pub(super) const USUAL: [&str; 4] = ["ES256", "EdDSA", "RS256", "HS256"];

/// The libraries of one language.
struct Language<'c, 'a> {
    name: &'a str,
    /// Libraries that cannot be told apart, the lowest median first, with their names.
    best: Vec<(&'c Cost<'a>, String)>,
    /// The others; the lowest median first.
    others: Vec<&'c Cost<'a>>,
}

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let noise = &result.noise_floor;
    let alg = USUAL.iter().find(|alg| jwts(costs, alg).len() > 1);
    let languages = alg.map_or_else(Vec::new, |alg| languages(&jwts(costs, alg), noise));
    let best = languages.first().and_then(|language| language.best.first());
    let Some((alg, (fastest, name))) = alg.zip(best) else {
        let what = "the time to sign and verify one kind of token with several libraries";
        return Answer::missing("library", what);
    };
    let unit = Unit::for_times([fastest.median].into_iter());
    let [low, high] = fastest.interval;
    let language = names::language(fastest.subject);
    let measured = Measured {
        figure: Figure {
            value: unit.text(fastest.median),
            interval: format!("{} to {}", unit.figure(low), unit.text(high)),
            what: format!("to sign and verify one {alg} token with {name}, {language}"),
        },
        bars_show: format!(
            "Time to sign and verify one {alg} token, fastest library of each language"
        ),
        bars: languages.iter().map(Language::bar).collect(),
        sure: sure(result, &languages),
    };
    let sentence = format!("The fastest of each language, with {alg}:");
    Answer::new("library", sentence, Some(measured))
}

/// Returns the best of each language, the language with the lowest time first.
fn languages<'c, 'a>(costs: &[&'c Cost<'a>], noise: &NoiseFloor) -> Vec<Language<'c, 'a>> {
    let subjects: Vec<_> = costs.iter().map(|cost| cost.subject).collect();
    let shown = names::distinct(&subjects);
    let mut known: Vec<&str> = Vec::new();
    for subject in &subjects {
        let name = names::language(subject);
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let of_name = |name| {
        let own = costs
            .iter()
            .copied()
            .filter(|cost| names::language(cost.subject) == name);
        let mut others: Vec<&Cost<'a>> = own.collect();
        let best = fastest(&others, noise);
        others.retain(|cost| !best.iter().any(|one| std::ptr::eq(*one, *cost)));
        others.sort_by(|a, b| a.median.total_cmp(&b.median));
        let best = best.into_iter().map(|cost| {
            let index = costs.iter().position(|one| std::ptr::eq(*one, cost));
            let shown = index.map_or("", |index| shown[index].as_str());
            // The chart names the language.
            let shown = shown.strip_suffix(&format!(" ({name})")).unwrap_or(shown);
            (cost, shown.to_owned())
        });
        let best: Vec<_> = best.collect();
        (!best.is_empty()).then_some(Language { name, best, others })
    };
    let mut languages: Vec<_> = known.into_iter().filter_map(of_name).collect();
    languages.sort_by(|a, b| a.best[0].0.median.total_cmp(&b.best[0].0.median));
    languages
}

impl Language<'_, '_> {
    fn bar(&self) -> Bar {
        let (cost, name) = &self.best[0];
        let others = match self.best.len() {
            1 => String::new(),
            several => format!(" +{}", several - 1),
        };
        let all: Vec<&str> = self.best.iter().map(|(_, name)| name.as_str()).collect();
        let in_full = format!("{}: {}", self.name, units::list(&all));
        Bar::of(cost, format!("{}: {name}{others}", self.name), in_full)
    }

    /// Names the libraries behind the first of the group that are equivalent to it, or of which that is undecided.
    fn behind(&self, equivalent: bool, noise: &NoiseFloor) -> Vec<&str> {
        let (first, behind) = (self.best[0].0, &self.best[1..]);
        let comparisons = behind.len() + self.others.len();
        let verdict = |cost: &Cost<'_>| cost.judged(first, comparisons, noise);
        let of_kind = behind.iter();
        let of_kind =
            of_kind.filter(|(c, _)| (verdict(c) == VerdictKind::Equivalent) == equivalent);
        of_kind.map(|(_, name)| name.as_str()).collect()
    }

    /// Says how clear the choice is; `None` if there is no other library.
    fn clear(&self, noise: &NoiseFloor) -> Option<Clear> {
        if self.best.len() > 1 {
            let is_decided = self.behind(false, noise).is_empty();
            return Some(if is_decided { Clear::Far } else { Clear::No });
        }
        let (first, next) = (self.best[0].0, *self.others.first()?);
        let band = next.band(first, noise);
        let ratio = estimate(&next.both.rounds, &first.both.rounds, self.others.len()).ok()?;
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
    let behind = |equivalent| {
        let of_each = languages.iter();
        of_languages(of_each.map(|l| (units::list(&l.behind(equivalent, noise)), l.name)))
    };
    let alone = languages
        .iter()
        .filter(|l| l.best.len() + l.others.len() == 1);
    let alone: Vec<&str> = alone.map(|l| l.name).collect();
    let absent = LANGUAGES.into_iter().map(names::language_of);
    let absent = absent.filter(|name| !languages.iter().any(|l| l.name == *name));
    let is_lead = languages.iter().all(|l| l.best.len() == 1) && alone.is_empty();
    let parts = [
        (
            "",
            if is_lead {
                lead(languages, noise)
            } else {
                String::new()
            },
        ),
        ("as fast: ", behind(true)),
        ("undecided: ", behind(false)),
        ("no other library in ", units::list(&alone)),
        ("not measured: ", units::list(&absent.collect::<Vec<_>>())),
    ];
    let said = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let said: Vec<String> = said.map(|(what, names)| format!("{what}{names}")).collect();
    of_choice(result, clear, &said.join("; "))
}

/// Says how much more time the next library of each language takes: first where that is near the noise.
fn lead(languages: &[Language<'_, '_>], noise: &NoiseFloor) -> String {
    let leads = languages.iter().filter_map(|language| {
        let next = language.others.first()?;
        let is_near = language.clear(noise) != Some(Clear::Far);
        Some((
            is_near,
            next.median / language.best[0].0.median,
            language.name,
        ))
    });
    let mut leads: Vec<(bool, f64, &str)> = leads.collect();
    leads.sort_by(|a, b| a.1.total_cmp(&b.1));
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
    use super::super::answers;
    use super::super::sure::Sureness::{self, FairlySure, NotSure, Sure};
    use crate::recommendation::sample::{result, row};

    /// How sure the answer about ES256 libraries with these times is, at this noise floor.
    fn sure(libraries: &[(&str, &str, f64)], floor: f64) -> (Sureness, String) {
        let rows = libraries.iter().flat_map(|(language, library, ns)| {
            ["sign", "verify"].map(|verb| row(language, library, "jwt", "ES256", verb, *ns))
        });
        let answer = answers(&result(rows.collect(), floor)).swap_remove(0);
        let sure = answer.measured.unwrap().sure;
        (sure.sureness, sure.why)
    }

    #[test]
    fn sure_names_leads_ties_and_lone_libraries() {
        let two = |ns| [("go", "a", 100.0), ("go", "b", ns)];
        let three = ["go", "node", "java"].map(|language| (language, "a", 100.0));
        let [go, node, java] = [
            ("go", "b", 150.0),
            ("node", "b", 130.0),
            ("java", "b", 200.0),
        ];
        let leads = [&three[..], &[go, node, java]].concat();
        let near = [&three[..2], &[go, ("node", "b", 110.0)]].concat();
        let lone = [("go", "a", 100.0), ("node", "b", 200.0)];
        for (libraries, floor, expected, words) in [
            (&two(200.0)[..], 1.1, NotSure, "undecided: b (Go)"),
            (
                &two(200.0),
                0.01,
                Sure,
                "the next library takes 2\u{a0}× (Go) the time",
            ),
            (&two(100.5), 0.01, Sure, "as fast: b (Go)"),
            (&two(110.0), 0.05, FairlySure, "1.1\u{a0}×"),
            (
                &leads,
                0.01,
                Sure,
                "the next library takes 1.3\u{a0}× (Node), 1.5\u{a0}× (Go) and 2\u{a0}× (Java) the time;",
            ),
            // A language that is near the noise comes first.
            (
                &near,
                0.05,
                FairlySure,
                "the next library takes 1.1\u{a0}× (Node) the time. Sure: 1.5\u{a0}× (Go);",
            ),
            (
                &lone,
                0.01,
                NotSure,
                "no other library in Go and Node; not measured: Java, Python and Rust",
            ),
        ] {
            let (sureness, why) = sure(libraries, floor);
            assert_eq!(sureness, expected, "{why}");
            assert!(why.contains(words), "{why}");
            let is_lead = why.contains("the next library");
            assert!(
                !(why.contains("faster than") || is_lead && why.contains("as fast")),
                "{why}"
            );
        }
    }
}
