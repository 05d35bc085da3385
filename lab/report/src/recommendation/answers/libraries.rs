//! Which library: the fastest of each language, for the most usual algorithm that the run has.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{NoiseFloor, RunResult, VerdictKind};
use jeton_lab_model::units::{self, Unit};

use super::super::candidate::{Cost, fastest, jwts};
use super::super::library::{Against, Library, compare_with_first};
use super::super::sure::{Clear, Sure, of_choice};
use super::{Answer, Bar, Figure, Measured};

/// The algorithms to compare libraries by, the first one measured counts. ES256 is what third parties
/// verify most.
pub(super) const USUAL: [&str; 4] = ["ES256", "EdDSA", "RS256", "HS256"];

/// The libraries of one language.
struct Language<'a> {
    name: &'a str,
    /// First those that cannot be told apart, then the others, each with the lowest median first.
    all: Vec<Library<'a>>,
    /// The number of libraries that cannot be told apart.
    best: usize,
}

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let alg = USUAL.iter().find(|alg| jwts(costs, alg).len() > 1);
    let languages = alg.map_or_else(Vec::new, |alg| {
        languages(&jwts(costs, alg), &result.noise_floor)
    });
    let Some((alg, first)) = alg.zip(languages.first()) else {
        let what = "the time to sign and verify one kind of token with several libraries";
        return Answer::missing("library", what);
    };
    let Library { cost, name, .. } = &first.all[0];
    let unit = Unit::for_times([cost.median].into_iter());
    let what = format!(
        "to sign and verify one {alg} token with {name}, {}",
        first.name
    );
    let measured = Measured {
        figure: Figure::time(cost, unit, what),
        bars_show: format!(
            "Time to sign and verify one JWT {alg}, the fastest library of each language and the next one"
        ),
        bars: languages.iter().map(Language::bar).collect(),
        sure: sure(result, &languages),
    };
    let sentence = format!("The fastest of each language, with {alg}:");
    Answer::new("library", sentence, Some(measured))
}

/// Returns the libraries of each language, the language with the lowest time first.
fn languages<'a>(costs: &[&Cost<'a>], noise: &NoiseFloor) -> Vec<Language<'a>> {
    let of_language = |language| {
        let own = costs.iter().copied();
        let own = own.filter(|cost| cost.subject.language == language);
        let mut others: Vec<&Cost<'a>> = own.collect();
        let mut all = fastest(&others, noise);
        let best = all.len();
        others.retain(|cost| !all.iter().any(|one| std::ptr::eq(*one, *cost)));
        others.sort_by(|a, b| a.median.total_cmp(&b.median));
        all.extend(others);
        let name = names::language(all.first().filter(|_| best > 0)?.subject);
        let shown = names::distinct(&all.iter().map(|cost| cost.subject).collect::<Vec<_>>());
        let all = all.into_iter().zip(shown).map(|(cost, name)| Library {
            cost: cost.clone(),
            name,
            has_findings: false,
            against_first: None,
        });
        let mut all: Vec<Library<'a>> = all.collect();
        compare_with_first(&mut all, noise);
        Some(Language { name, all, best })
    };
    let mut languages: Vec<_> = LANGUAGES.into_iter().filter_map(of_language).collect();
    languages.sort_by(|a, b| a.all[0].cost.median.total_cmp(&b.all[0].cost.median));
    languages
}

impl Language<'_> {
    /// Returns the bar of the first library, and of the next one by name.
    fn bar(&self) -> Bar {
        let bar = |one: &Library<'_>| {
            let name = format!("{}: {}", self.name, one.name);
            Bar::of(&one.cost, name.clone(), name)
        };
        let (first, next) = (&self.all[0], self.all.get(1));
        let effect = next.map_or_else(
            || "no other library".to_owned(),
            |next| {
                let against = next.against_first.as_ref();
                let ratio = against.map(|against| units::times(against.ratio.ratio()));
                let ratio = ratio.map_or_else(String::new, |ratio| format!(" {ratio}\u{a0}×"));
                format!("then {}{ratio}", next.name)
            },
        );
        Bar {
            effect,
            next: next.map(|next| Box::new(bar(next))),
            ..bar(first)
        }
    }

    /// Names the libraries behind the first of the group that are equivalent to it, or of which that is undecided.
    fn behind(&self, equivalent: bool) -> Vec<&str> {
        let group = self.all[1..self.best].iter();
        let is_it = |one: &&Library<'_>| (one.verdict() == VerdictKind::Equivalent) == equivalent;
        group.filter(is_it).map(|one| one.name.as_str()).collect()
    }

    /// Says how clear the choice is; `None` if there is no other library.
    fn clear(&self) -> Option<Clear> {
        if self.best == 1 {
            return self.all.get(1)?.against_first.as_ref().map(Against::clear);
        }
        let is_decided = self.behind(false).is_empty();
        Some(if is_decided { Clear::Far } else { Clear::No })
    }
}

/// Says how sure the choice is, and names the libraries that are as fast.
fn sure(result: &RunResult, languages: &[Language<'_>]) -> Sure {
    let clear: Vec<Clear> = languages.iter().filter_map(Language::clear).collect();
    let open = clear.iter().filter(|clear| **clear == Clear::No).count();
    let clear = match clear.iter().min() {
        Some(Clear::No) if 2 * open <= clear.len() => Clear::Near,
        Some(least) => *least,
        None => Clear::No,
    };
    let behind = |equivalent| {
        let of_each = languages.iter().map(|l| (l.behind(equivalent), l.name));
        let named = of_each.filter(|(names, _)| !names.is_empty());
        let named = named.map(|(names, language)| format!("{} ({language})", units::list(names)));
        named.collect::<Vec<_>>().join("; ")
    };
    let alone = languages.iter().filter(|l| l.all.len() == 1);
    let alone = units::list(alone.map(|l| l.name));
    let absent = LANGUAGES.into_iter().map(names::language_of);
    let absent = absent.filter(|name| !languages.iter().any(|l| l.name == *name));
    let is_lead = languages.iter().all(|l| l.best == 1) && alone.is_empty();
    let lead = if is_lead {
        lead(languages)
    } else {
        String::new()
    };
    let parts = [
        ("", lead),
        ("as fast: ", behind(true)),
        ("undecided: ", behind(false)),
        ("no other library in ", alone),
        ("not measured: ", units::list(absent)),
    ];
    let said = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let said: Vec<String> = said.map(|(what, names)| format!("{what}{names}")).collect();
    of_choice(result, clear, &said.join("; "))
}

/// Says how much more time the next library of each language takes: first where that is near the noise.
fn lead(languages: &[Language<'_>]) -> String {
    let leads = languages.iter().filter_map(|language| {
        let ratio = language.all.get(1)?.against_first.as_ref()?.ratio.ratio();
        Some((language.clear() != Some(Clear::Far), ratio, language.name))
    });
    let mut leads: Vec<(bool, f64, &str)> = leads.collect();
    leads.sort_by(|a, b| a.1.total_cmp(&b.1));
    let said =
        |wanted: bool| {
            let of_kind = leads.iter().filter(|(is_near, ..)| *is_near == wanted);
            units::list(of_kind.map(|(_, ratio, language)| {
                format!("{}\u{a0}× ({language})", units::times(*ratio))
            }))
        };
    match [said(true), said(false)].each_ref().map(String::as_str) {
        ["", ""] => "no other library".to_owned(),
        [all, ""] | ["", all] => format!("the next library takes {all} the time"),
        [near, far] => format!("the next library takes {near} the time. Sure: {far}"),
    }
}
