//! From candidates to the recommended tokens: rules first, then tokens by weight, then the libraries of
//! each token; and what would change the choice.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use jeton_lab_model::recommendation::{Choice, Out, Pick, Requirements, Rule, Weight};
use jeton_lab_model::result::{NoiseFloor, RunResult, Timing};
use jeton_lab_model::units;

use super::candidate::{Candidate, Scored, candidates, first_group, sum};
use super::rules::{Attacks, refusal};
use crate::grouped::grouped;

pub(super) struct Found {
    pub(super) tokens: usize,
    pub(super) left: usize,
    pub(super) choices: Vec<Choice>,
    pub(super) out: Vec<Out>,
}

struct Token<'a> {
    name: &'a str,
    groups: BTreeMap<&'a str, Vec<&'a Candidate<'a>>>,
}

/// The key of the single list if no language was requested.
const ANY: &str = "";

pub(super) fn choose(result: &RunResult, requirements: &Requirements, attacks: &Attacks) -> Found {
    let (noise, weight) = (&result.noise_floor, requirements.weight);
    let all = candidates(&result.rows.measured, |_| true);
    let (mut gone, mut admitted) = (Vec::new(), Vec::new());
    for candidate in &all {
        match refusal(candidate, requirements, attacks) {
            Some(out) => gone.push(out),
            None => admitted.push((candidate.token.as_str(), candidate)),
        }
    }
    let mut left: Vec<Token<'_>> = Vec::new();
    for (name, candidates) in grouped(admitted) {
        let mut groups: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for candidate in &candidates {
            let language = Some(candidate.subject.language.as_str());
            let language = language.filter(|_| !requirements.languages.is_empty());
            groups
                .entry(language.unwrap_or(ANY))
                .or_default()
                .push(*candidate);
        }
        let mut languages = requirements.languages.iter();
        match languages.find(|language| !groups.contains_key(language.as_str())) {
            Some(language) => gone.extend(candidates.iter().map(|candidate| Out {
                rule: Rule::Languages,
                token: candidate.token.clone(),
                subject: candidate.subject.id.clone(),
                why: format!("no remaining library offers this token in {language}"),
            })),
            None => left.push(Token { name, groups }),
        }
    }
    left.retain(|token| token.score(weight).is_some());
    let left: Vec<&Token<'_>> = left.iter().collect();
    let chosen = best(&left, |token| token.score(weight), weight, noise).into_iter();
    let mut choices: Vec<Choice> = chosen.map(|token| token.choice(weight, noise)).collect();
    // The order inside the group has no meaning; the shortest token comes first.
    choices.sort_by(|a, b| (a.token_bytes, &a.token).cmp(&(b.token_bytes, &b.token)));
    gone.sort_by(|a, b| (a.rule, &a.token, &a.subject).cmp(&(b.rule, &b.token, &b.subject)));
    Found {
        tokens: all.iter().map(|one| &one.token).unique().count(),
        left: left.len(),
        choices,
        out: gone,
    }
}

impl Token<'_> {
    /// Returns the weight of a token from the best library of each list. Times of several languages are
    /// added round by round; of sizes the largest counts.
    fn score(&self, weight: Weight) -> Option<Scored> {
        let log_sum = |one: &Scored| one.rounds.iter().map(|time| time.ln()).sum::<f64>();
        let best = self.groups.values().map(|libraries| {
            let all = libraries.iter().filter_map(|c| c.scored(weight));
            all.min_by(|a, b| log_sum(a).total_cmp(&log_sum(b)))
        });
        let best: Option<Vec<Scored>> = best.collect();
        let mut best = best?.into_iter();
        let first = best.next()?;
        best.try_fold(first, |whole, next| {
            let rounds = match weight {
                Weight::Size => vec![whole.rounds[0].max(next.rounds[0])],
                _ => sum(whole.rounds, &next.rounds)?,
            };
            let managed = weight != Weight::Size && (whole.managed || next.managed);
            Some(Scored { rounds, managed })
        })
    }

    fn choice(&self, weight: Weight, noise: &NoiseFloor) -> Choice {
        let groups = self.groups.values();
        let picked = groups.flat_map(|all| best(all, |one| one.scored(weight), weight, noise));
        let picked: Vec<&Candidate<'_>> = picked.collect();
        Choice {
            token: self.name.to_owned(),
            token_bytes: picked.iter().filter_map(|c| c.token_bytes).max(),
            picks: picked.into_iter().map(pick).collect(),
        }
    }
}

fn best<'x, T>(
    all: &[&'x T],
    score: impl Fn(&T) -> Option<Scored>,
    weight: Weight,
    noise: &NoiseFloor,
) -> Vec<&'x T> {
    let scored = all.iter().filter_map(|one| Some((*one, score(one)?)));
    let (all, scores): (Vec<&T>, Vec<Scored>) = scored.unzip();
    let group = first_group(&scores.iter().collect::<Vec<_>>(), weight, noise).into_iter();
    group.map(|index| all[index]).collect()
}

fn pick(candidate: &Candidate<'_>) -> Pick {
    let median = |timing: Option<&Timing>| Some(timing?.median);
    let subject = candidate.subject;
    Pick {
        subject: subject.id.clone(),
        library: subject.library.clone(),
        version: subject.version.clone(),
        language: subject.language.clone(),
        runtime: subject.own_runtime().map(str::to_owned),
        make_ns: median(candidate.making),
        open_ns: median(candidate.opening),
    }
}

const OF_KIND: [&str; 4] = [
    "confidentiality",
    "verify-by-third-parties",
    "fips",
    "post-quantum",
];

/// Returns what would change the choice: the same rules with one requirement more, less or different, one sentence
/// each.
pub(super) fn changes(
    result: &RunResult,
    requirements: &Requirements,
    attacks: &Attacks,
    found: &Found,
) -> Vec<String> {
    let given = requirements.names();
    let name_of = |one: &str| one.split('=').next().unwrap_or_default().to_owned();
    // Another value of a requirement replaces the given one.
    let changed = |name: &str, more: Option<&str>| {
        let others = given
            .iter()
            .map(String::as_str)
            .filter(|one| name_of(one) != name);
        let changed = Requirements::parse(&others.chain(more).collect::<Vec<_>>());
        changed.expect("names of requirements parse")
    };
    let tokens = |choices: &[Choice]| choices.iter().map(|c| c.token.clone()).collect::<Vec<_>>();
    let ask = |requirements: &Requirements| tokens(&choose(result, requirements, attacks).choices);
    let mut told = Vec::new();
    if found.choices.is_empty() {
        for name in given.iter().map(|one| name_of(one)) {
            let then = ask(&changed(&name, None));
            if !then.is_empty() {
                told.push(format!("Without {name}: {}.", units::list(then)));
            }
        }
    } else {
        let weights = Weight::ALL.map(|weight| format!("weight={}", weight.name()));
        for more in OF_KIND
            .into_iter()
            .chain(weights.iter().map(String::as_str))
        {
            let changed = changed(&name_of(more), Some(more));
            if changed == *requirements {
                continue;
            }
            let then = ask(&changed);
            if then.is_empty() {
                told.push(format!("With {more}, no measured token would be left."));
            } else if then != tokens(&found.choices) {
                told.push(format!("With {more}: {}.", units::list(then)));
            }
        }
    }
    let is_group = found.choices.len() > 1 || found.choices.iter().any(|c| c.picks.len() > 1);
    let others = [
        requirements.languages.is_empty().then_some(
            "Languages, for example languages=go+node: only libraries of these count, and a token must have one in each.",
        ),
        (*attacks == Attacks::NotRun).then_some(
            "Attack results, which may exclude libraries: run `jeton-lab attack --out attack`, and merge its results.json with this one by `jeton-lab merge`.",
        ),
        is_group.then_some("More rounds on a quieter machine, which may split the fastest group."),
    ];
    told.extend(others.into_iter().flatten().map(str::to_owned));
    told
}
