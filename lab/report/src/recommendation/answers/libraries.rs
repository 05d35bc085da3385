//! Which library: the fastest of each language, for the most usual algorithm that the run has.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::Weight;
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units::{self, Unit};

use super::super::cost::Cost;
use super::super::ranking::first_group;
use super::sure::{Sure, of_choice};
use super::{Answer, Figure, Measured};

/// The algorithms to compare libraries by, the first one measured counts. ES256 is what third parties
/// verify most.
pub(super) const USUAL: [&str; 4] = ["ES256", "EdDSA", "RS256", "HS256"];

/// The best libraries of one language.
struct Language<'c, 'a> {
    name: &'a str,
    /// Libraries that cannot be told apart, the lowest median first, with their names.
    best: Vec<(&'c Cost<'a>, String)>,
}

pub(super) fn answer(result: &RunResult, costs: &[Cost<'_>]) -> Answer {
    let question = "Which library?";
    let missing = || {
        let what = "the time to sign and verify one kind of token with several libraries";
        Answer::missing("library", question, what, "jeton lab run libraries")
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
        sentence: format!("The fastest library of each language, with {alg}:"),
        measured: Some(measured),
        command: "jeton lab run libraries",
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
        if !best.is_empty() {
            languages.push(Language { name, best });
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

/// Says how sure the choice is, and names the libraries behind `+1`.
fn sure(result: &RunResult, languages: &[Language<'_, '_>]) -> Sure {
    let open: Vec<&Language<'_, '_>> = languages.iter().filter(|l| l.best.len() > 1).collect();
    let others = open.iter().map(|language| {
        let names: Vec<&str> = language.best[1..].iter().map(|(_, n)| n.as_str()).collect();
        format!("{} ({})", units::list(&names), language.name)
    });
    let what = match open.len() {
        0 => "each is faster than the others of its language".to_owned(),
        _ => format!("as fast: {}", others.collect::<Vec<_>>().join("; ")),
    };
    of_choice(result, open.len() < languages.len(), &what)
}
