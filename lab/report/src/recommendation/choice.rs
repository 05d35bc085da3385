//! From candidates to the recommended tokens: rules first, then tokens by weight, then the libraries of
//! each token; and what would change the choice.

use std::collections::BTreeMap;

use jeton_lab_model::recommendation::{Choice, Out, Pick, Requirements, Rule, Weight};
use jeton_lab_model::result::{NoiseFloor, RunResult, Timing};
use jeton_lab_model::units;

use super::attacks::Attacks;
use super::candidate::{Candidate, Scored, candidates, first_group, sum};
use super::rules::{out, refusal};

/// The remaining candidates, and the choice by weight.
pub(super) struct Found {
    /// The number of tokens before the rules.
    pub(super) tokens: usize,
    /// The number of tokens that meet all requirements.
    pub(super) left: usize,
    /// The fastest group.
    pub(super) choices: Vec<Choice>,
    /// The excluded subjects.
    pub(super) out: Vec<Out>,
}

/// A kind of token with its remaining candidates: a list for each requested language, or one list.
struct Token<'a> {
    name: &'a str,
    groups: BTreeMap<&'a str, Vec<&'a Candidate<'a>>>,
}

/// The key of the single list if no language was requested.
const ANY: &str = "";

pub(super) fn choose(result: &RunResult, requirements: &Requirements, attacks: &Attacks) -> Found {
    let (noise, weight) = (&result.noise_floor, requirements.weight);
    let all = candidates(&result.rows.measured);
    let mut names: Vec<&str> = all.iter().map(|c| c.token.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut gone = Vec::new();
    let mut left: Vec<Token<'_>> = Vec::new();
    for candidate in &all {
        if let Some(why) = refusal(candidate, requirements, attacks) {
            gone.push(out(candidate, why));
            continue;
        }
        let name = candidate.token.as_str();
        let index = left
            .iter()
            .position(|token| token.name == name)
            .unwrap_or_else(|| {
                let groups = BTreeMap::new();
                left.push(Token { name, groups });
                left.len() - 1
            });
        let is_any = requirements.languages.is_empty();
        let group = if is_any {
            ANY
        } else {
            candidate.subject.language.as_str()
        };
        left[index].groups.entry(group).or_default().push(candidate);
    }
    left.retain(|token| {
        let missing = token.lacks(requirements);
        gone.extend(missing.into_iter().flat_map(|language| {
            let why = format!("no remaining library offers this token in {language}");
            let candidates = token.groups.values().flatten();
            candidates.map(move |candidate| out(candidate, (Rule::Languages, why.clone())))
        }));
        missing.is_none()
    });
    let scored = left
        .iter()
        .filter_map(|token| Some((token, token.score(weight)?)));
    let (left, weights): (Vec<&Token<'_>>, Vec<Scored>) = scored.unzip();
    let chosen = first_group(&weights.iter().collect::<Vec<_>>(), weight, noise).into_iter();
    let mut choices: Vec<Choice> = chosen
        .map(|index| left[index].choice(weight, noise))
        .collect();
    // The order inside the group has no meaning; the shortest token comes first.
    choices.sort_by(|a, b| (a.token_bytes, &a.token).cmp(&(b.token_bytes, &b.token)));
    gone.sort_by(|a, b| (a.rule, &a.token, &a.subject).cmp(&(b.rule, &b.token, &b.subject)));
    Found {
        tokens: names.len(),
        left: left.len(),
        choices,
        out: gone,
    }
}

impl Token<'_> {
    /// Returns the first requested language without a library for the token.
    fn lacks<'r>(&self, requirements: &'r Requirements) -> Option<&'r String> {
        let mut languages = requirements.languages.iter();
        languages.find(|language| !self.groups.contains_key(language.as_str()))
    }

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
        let picked = self.groups.values().flat_map(|libraries| {
            let scored = libraries
                .iter()
                .filter_map(|c| Some((*c, c.scored(weight)?)));
            let (libraries, weights): (Vec<&Candidate<'_>>, Vec<Scored>) = scored.unzip();
            let group = first_group(&weights.iter().collect::<Vec<_>>(), weight, noise).into_iter();
            group.map(move |index| libraries[index]).collect::<Vec<_>>()
        });
        let picked: Vec<&Candidate<'_>> = picked.collect();
        Choice {
            token: self.name.to_owned(),
            token_bytes: picked.iter().filter_map(|c| c.token_bytes).max(),
            picks: picked.into_iter().map(pick).collect(),
        }
    }
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

/// The requirements of the kind of token, which a user may add.
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
    let tokens =
        |choices: &[Choice]| -> Vec<String> { choices.iter().map(|c| c.token.clone()).collect() };
    let ask = |requirements: &Requirements| tokens(&choose(result, requirements, attacks).choices);
    let mut told = Vec::new();
    if found.choices.is_empty() {
        for name in given.iter().map(|one| name_of(one)) {
            let then = ask(&changed(&name, None));
            if !then.is_empty() {
                told.push(format!("Without {name}: {}.", units::list(&then)));
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
                told.push(format!("With {more}: {}.", units::list(&then)));
            }
        }
    }
    if requirements.languages.is_empty() {
        told.push("Languages, for example languages=go+node: only libraries of these count, and a token must have one in each.".into());
    }
    if *attacks == Attacks::NotRun {
        told.push("Attack results, which may exclude libraries: run `jeton-lab attack --out attack`, and merge its results.json with this one by `jeton-lab merge`.".into());
    }
    if found.choices.len() > 1 || found.choices.iter().any(|c| c.picks.len() > 1) {
        told.push("More rounds on a quieter machine, which may split the fastest group.".into());
    }
    told
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::sample;

    /// The choice among these verified tokens: language, library, format, algorithm and nanoseconds.
    fn found(rows: &[(&str, &str, &str, &str, f64)], requirements: &str) -> Found {
        let requirements = Requirements::parse(&["weight=verify", requirements]).unwrap();
        let rows = rows.iter().map(|(language, library, format, alg, ns)| {
            sample::row(language, library, format, alg, "verify", *ns)
        });
        let result = sample::result(rows.collect(), 0.0);
        choose(&result, &requirements, &Attacks::NotRun)
    }

    fn tokens(found: &Found) -> Vec<&str> {
        found.choices.iter().map(|c| c.token.as_str()).collect()
    }

    /// HS256 and v4.local in two languages each, ES256 in one.
    const ROWS: [(&str, &str, &str, &str, f64); 4] = [
        ("go", "golang-jwt", "jwt", "HS256", 6000.0),
        ("node", "fast-jwt", "jwt", "HS256", 6100.0),
        ("go", "go-paseto", "v4.local", "-", 1000.0),
        ("rust", "jeton", "jwt", "ES256", 50_000.0),
    ];

    #[test]
    fn choose_token_requires_library_in_every_language() {
        let any = found(&ROWS, "");
        assert_eq!(tokens(&any), ["PASETO v4.local"]);
        assert_eq!((any.tokens, any.left), (3, 3));
        let both = found(&ROWS, "languages=go+node");
        assert_eq!(tokens(&both), ["JWT HS256"]);
        let picks = both.choices[0].picks.iter().map(|p| p.library.as_str());
        assert_eq!(picks.collect::<Vec<_>>(), ["golang-jwt", "fast-jwt"]);
        let paseto = both.out.iter().find(|o| o.subject.contains("go-paseto"));
        assert_eq!(paseto.map(|o| o.rule), Some(Rule::Languages));
    }

    #[test]
    fn languages_weigh_together() {
        // Each is fast in one language, and the sum decides.
        let rows = [
            ("go", "a", "jwt", "HS256", 1000.0),
            ("node", "a", "jwt", "HS256", 9000.0),
            ("go", "a", "jwt", "ES256", 4000.0),
            ("node", "a", "jwt", "ES256", 4000.0),
        ];
        assert_eq!(tokens(&found(&rows, "languages=go+node")), ["JWT ES256"]);
        assert_eq!(tokens(&found(&rows, "")), ["JWT HS256"]);
    }

    #[test]
    fn choose_indistinguishable_tokens_together() {
        let rows = [
            ("go", "a", "jwt", "HS256", 1000.0),
            ("go", "b", "jwt", "HS256", 1004.0),
            ("go", "c", "jwt", "HS256", 1500.0),
            ("go", "a", "jwt", "HS512", 1002.0),
        ];
        let found = found(&rows, "");
        assert_eq!(tokens(&found), ["JWT HS256", "JWT HS512"]);
        assert_eq!(found.choices[0].picks.len(), 2);
    }

    #[test]
    fn choose_from_nothing_is_empty() {
        assert!(found(&[], "").choices.is_empty());
        let found = found(&ROWS, "confidentiality,verify-by-third-parties");
        assert_eq!(
            (found.left, found.choices.len(), found.out.len()),
            (0, 0, 4)
        );
    }
}
