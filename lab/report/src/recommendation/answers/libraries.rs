//! Which library: the fastest of each language, for the most usual algorithm that the run has.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{NoiseFloor, RunResult, VerdictKind};
use jeton_lab_model::units::{self, Unit};
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::verdict::judge;

use super::super::candidate::{Cost, fastest, jwts};
use super::sure::{Clear, Sure, clear, of_choice};
use super::{Answer, Bar, Figure, Measured};

/// The algorithms to compare libraries by, the first one measured counts. ES256 is what third parties
/// verify most.
pub(super) const USUAL: [&str; 4] = ["ES256", "EdDSA", "RS256", "HS256"];

/// The libraries of one language.
struct Language<'c, 'a> {
    name: &'a str,
    /// All libraries with their names: first those that cannot be told apart, then the others, each with the lowest
    /// median first.
    all: Vec<(&'c Cost<'a>, String)>,
    /// The number of libraries that cannot be told apart.
    best: usize,
}

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let noise = &result.noise_floor;
    let alg = USUAL.iter().find(|alg| jwts(costs, alg).len() > 1);
    let languages = alg.map_or_else(Vec::new, |alg| languages(&jwts(costs, alg), noise));
    let Some((alg, first)) = alg.zip(languages.first()) else {
        let what = "the time to sign and verify one kind of token with several libraries";
        return Answer::missing("library", what);
    };
    let (fastest, name) = &first.all[0];
    let unit = Unit::for_times([fastest.median].into_iter());
    let [low, high] = fastest.interval;
    let bar = |language: &Language<'_, '_>| {
        let (cost, name) = &language.all[0];
        let name = format!("{}: {name}", language.name);
        Bar::of(cost, name.clone(), name)
    };
    let measured = Measured {
        figure: Figure {
            value: unit.text(fastest.median),
            interval: format!("{} to {}", unit.figure(low), unit.text(high)),
            what: format!(
                "to sign and verify one {alg} token with {name}, {}",
                first.name
            ),
        },
        bars_show: format!(
            "Time to sign and verify one {alg} token, fastest library of each language"
        ),
        bars: languages.iter().map(bar).collect(),
        sure: sure(result, &languages),
    };
    let sentence = format!("The fastest of each language, with {alg}:");
    Answer::new("library", sentence, Some(measured))
}

/// Returns the libraries of each language, the language with the lowest time first.
fn languages<'c, 'a>(costs: &[&'c Cost<'a>], noise: &NoiseFloor) -> Vec<Language<'c, 'a>> {
    let of_language = |language| {
        let own = costs
            .iter()
            .copied()
            .filter(|cost| cost.subject.language == language);
        let mut others: Vec<&Cost<'a>> = own.collect();
        let mut all = fastest(&others, noise);
        let best = all.len();
        others.retain(|cost| !all.iter().any(|one| std::ptr::eq(*one, *cost)));
        others.sort_by(|a, b| a.median.total_cmp(&b.median));
        all.extend(others);
        let name = names::language(all.first().filter(|_| best > 0)?.subject);
        let shown = names::distinct(&all.iter().map(|cost| cost.subject).collect::<Vec<_>>());
        let all = all.into_iter().zip(shown).collect();
        Some(Language { name, all, best })
    };
    let mut languages: Vec<_> = LANGUAGES.into_iter().filter_map(of_language).collect();
    languages.sort_by(|a, b| a.all[0].0.median.total_cmp(&b.all[0].0.median));
    languages
}

impl Language<'_, '_> {
    /// Names the libraries behind the first of the group that are equivalent to it, or of which that is undecided.
    fn behind(&self, equivalent: bool, noise: &NoiseFloor) -> Vec<&str> {
        let (first, comparisons) = (self.all[0].0, self.all.len() - 1);
        let verdict = |cost: &Cost<'_>| cost.judged(first, comparisons, noise);
        let of_kind = self.all[1..self.best].iter();
        let of_kind =
            of_kind.filter(|(c, _)| (verdict(c) == VerdictKind::Equivalent) == equivalent);
        of_kind.map(|(_, name)| name.as_str()).collect()
    }

    /// Says how clear the choice is; `None` if there is no other library.
    fn clear(&self, noise: &NoiseFloor) -> Option<Clear> {
        if self.best > 1 {
            let is_decided = self.behind(false, noise).is_empty();
            return Some(if is_decided { Clear::Far } else { Clear::No });
        }
        let (first, next) = (self.all[0].0, self.all.get(1)?.0);
        let band = next.band(first, noise);
        let ratio = estimate(&next.both.rounds, &first.both.rounds, self.all.len() - 1).ok()?;
        Some(clear(judge(&ratio, band), ratio.interval(), band))
    }
}

/// Says how sure the choice is, and names the libraries that are as fast.
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
        let of_each = languages
            .iter()
            .map(|l| (l.behind(equivalent, noise), l.name));
        let named = of_each.filter(|(names, _)| !names.is_empty());
        let named = named.map(|(names, language)| format!("{} ({language})", units::list(&names)));
        named.collect::<Vec<_>>().join("; ")
    };
    let alone = languages.iter().filter(|l| l.all.len() == 1);
    let alone: Vec<&str> = alone.map(|l| l.name).collect();
    let absent = LANGUAGES.into_iter().map(names::language_of);
    let absent = absent.filter(|name| !languages.iter().any(|l| l.name == *name));
    let is_lead = languages.iter().all(|l| l.best == 1) && alone.is_empty();
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
        let ratio = language.all.get(1)?.0.median / language.all[0].0.median;
        Some((
            language.clear(noise) != Some(Clear::Far),
            ratio,
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
