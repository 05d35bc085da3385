//! From candidates to the recommended tokens: rules first, then tokens by weight, then the libraries of
//! each token.

use std::collections::BTreeMap;

use jeton_lab_model::result::{NoiseFloor, Row};

use super::attacks::Attacks;
use super::candidate::{Candidate, candidates};
use super::libraries;
use super::ranking::{Scored, first_group, rounds, sum};
use super::rules::{out, refusal};
use jeton_lab_model::recommendation::{Choice, Out, Pick, Requirements, Rule, Weight};

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
    /// Tokens that only lack a language, with the libraries known to have them in it.
    pub(super) unmeasured: Vec<String>,
}

/// A kind of token with its remaining candidates: a list for each requested language, or one list.
struct Token<'a> {
    name: String,
    groups: BTreeMap<&'a str, Vec<Candidate<'a>>>,
}

/// The key of the single list if no language was requested.
const ANY: &str = "";

pub(super) fn choose(
    rows: &[Row],
    noise: &NoiseFloor,
    requirements: &Requirements,
    attacks: &Attacks,
) -> Found {
    let all = candidates(rows);
    let mut names: Vec<&str> = all.iter().map(|c| c.token.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let tokens = names.len();
    let mut gone = Vec::new();
    let mut left: Vec<Token<'_>> = Vec::new();
    for candidate in &all {
        match refusal(candidate, requirements, attacks) {
            Some(why) => gone.push(out(candidate, why)),
            None => add(&mut left, candidate.clone(), requirements),
        }
    }
    let mut unmeasured = Vec::new();
    left.retain(|token| has_every_language(token, requirements, &mut gone, &mut unmeasured));
    let (left, weights): (Vec<Token<'_>>, Vec<Scored>) = left
        .into_iter()
        .filter_map(|token| {
            let weight = score(&token, requirements.weight)?;
            Some((token, weight))
        })
        .unzip();
    let chosen = first_group(&weights, requirements.weight, noise);
    let mut choices: Vec<Choice> = chosen
        .iter()
        .map(|&index| choice(&left[index], requirements.weight, noise))
        .collect();
    // The order inside the group has no meaning; the shortest token comes first.
    choices.sort_by(|a, b| (a.token_bytes, &a.token).cmp(&(b.token_bytes, &b.token)));
    gone.sort_by(|a, b| (a.rule, &a.token, &a.subject).cmp(&(b.rule, &b.token, &b.subject)));
    Found {
        tokens,
        left: left.len(),
        choices,
        out: gone,
        unmeasured,
    }
}

fn add<'a>(tokens: &mut Vec<Token<'a>>, candidate: Candidate<'a>, requirements: &Requirements) {
    let index = tokens
        .iter()
        .position(|token| token.name == candidate.token)
        .unwrap_or_else(|| {
            tokens.push(Token {
                name: candidate.token.clone(),
                groups: BTreeMap::new(),
            });
            tokens.len() - 1
        });
    let group = if requirements.languages.is_empty() {
        ANY
    } else {
        candidate.subject.language.as_str()
    };
    let groups = &mut tokens[index].groups;
    groups.entry(group).or_default().push(candidate);
}

/// Reports whether a token has a library in each language; otherwise excludes its candidates.
fn has_every_language(
    token: &Token<'_>,
    requirements: &Requirements,
    gone: &mut Vec<Out>,
    unmeasured: &mut Vec<String>,
) -> bool {
    let lacks = |language: &&String| !token.groups.contains_key(language.as_str());
    let missing: Vec<&String> = requirements.languages.iter().filter(lacks).collect();
    let Some(first) = missing.first() else {
        return true;
    };
    for candidate in token.groups.values().flatten() {
        let why = format!("no remaining library offers this token in {first}");
        gone.push(out(candidate, (Rule::Languages, why)));
    }
    let format = token.groups.values().flatten().next();
    let format = format.map_or("", |candidate| candidate.subject.format.as_str());
    for language in missing {
        let known = libraries::with(language, format);
        if !known.is_empty() {
            unmeasured.push(format!(
                "{} in {language}: {}",
                token.name,
                known.join(", ")
            ));
        }
    }
    false
}

/// Returns the weight of a token from the best library of each list. Times of several languages are
/// added round by round; of sizes the largest counts.
fn score(token: &Token<'_>, weight: Weight) -> Option<Scored> {
    let mut whole: Option<Scored> = None;
    for libraries in token.groups.values() {
        let all = libraries.iter().filter_map(|c| weighed(c, weight));
        let best = all.min_by(|a, b| log_sum(a).total_cmp(&log_sum(b)))?;
        whole = Some(match whole {
            None => best,
            Some(before) if weight == Weight::Size => Scored {
                rounds: vec![before.rounds[0].max(best.rounds[0])],
                managed: false,
            },
            Some(before) => Scored {
                managed: before.managed || best.managed,
                rounds: sum(before.rounds, &best.rounds)?,
            },
        });
    }
    whole
}

fn weighed(candidate: &Candidate<'_>, weight: Weight) -> Option<Scored> {
    #[allow(
        clippy::cast_precision_loss,
        reason = "a token is far below 2^53 bytes"
    )]
    let rounds = match weight {
        Weight::Size => vec![candidate.token_bytes? as f64],
        weight => rounds(candidate, weight)?,
    };
    Some(Scored {
        rounds,
        managed: candidate.subject.is_managed(),
    })
}

/// Orders by geometric mean.
fn log_sum(weighed: &Scored) -> f64 {
    weighed.rounds.iter().map(|time| time.ln()).sum()
}

fn choice(token: &Token<'_>, weight: Weight, noise: &NoiseFloor) -> Choice {
    let mut picks = Vec::new();
    let mut token_bytes = None;
    for libraries in token.groups.values() {
        let (libraries, weights): (Vec<&Candidate<'_>>, Vec<Scored>) = libraries
            .iter()
            .filter_map(|c| Some((c, weighed(c, weight)?)))
            .unzip();
        for index in first_group(&weights, weight, noise) {
            let candidate = libraries[index];
            token_bytes = token_bytes.max(candidate.token_bytes);
            picks.push(pick(candidate));
        }
    }
    Choice {
        token: token.name.clone(),
        token_bytes,
        picks,
    }
}

fn pick(candidate: &Candidate<'_>) -> Pick {
    let median = |row: Option<&Row>| Some(row?.ns_per_op.as_ref()?.median);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::recommendation::sample::{quiet, row};

    fn found(rows: &[Row], requirements: &str) -> Found {
        let requirements = Requirements::parse(&[requirements]).unwrap();
        choose(rows, &quiet(), &requirements, &Attacks::NotRun)
    }

    fn tokens(found: &Found) -> Vec<&str> {
        found.choices.iter().map(|c| c.token.as_str()).collect()
    }

    /// HS256 and v4.local in two languages each, ES256 in one.
    fn rows() -> Vec<Row> {
        vec![
            row("go", "golang-jwt", "jwt", "HS256", "verify", 6000.0),
            row("node", "fast-jwt", "jwt", "HS256", "verify", 6100.0),
            row("go", "go-paseto", "v4.local", "-", "verify", 1000.0),
            row("rust", "jeton", "jwt", "ES256", "verify", 50_000.0),
        ]
    }

    #[test]
    fn choose_best_of_any_language_without_requirement() {
        let found = found(&rows(), "weight=verify");
        assert_eq!(tokens(&found), ["PASETO v4.local"]);
        assert_eq!((found.tokens, found.left), (3, 3));
    }

    #[test]
    fn choose_token_requires_library_in_every_language() {
        let found = found(&rows(), "languages=go+node,weight=verify");
        assert_eq!(tokens(&found), ["JWT HS256"]);
        let picks = &found.choices[0].picks;
        let libraries: Vec<&str> = picks.iter().map(|p| p.library.as_str()).collect();
        assert_eq!(libraries, ["golang-jwt", "fast-jwt"]);
        assert_eq!(
            found.unmeasured,
            ["PASETO v4.local in node: jeton, paseto-ts"]
        );
        let paseto = found.out.iter().find(|o| o.subject.contains("go-paseto"));
        assert_eq!(paseto.map(|o| o.rule), Some(Rule::Languages));
    }

    #[test]
    fn languages_weigh_together() {
        // Each is fast in one language, and the sum decides.
        let rows = [
            row("go", "a", "jwt", "HS256", "verify", 1000.0),
            row("node", "a", "jwt", "HS256", "verify", 9000.0),
            row("go", "a", "jwt", "ES256", "verify", 4000.0),
            row("node", "a", "jwt", "ES256", "verify", 4000.0),
        ];
        assert_eq!(
            tokens(&found(&rows, "languages=go+node,weight=verify")),
            ["JWT ES256"]
        );
        assert_eq!(tokens(&found(&rows, "weight=verify")), ["JWT HS256"]);
    }

    #[test]
    fn choose_indistinguishable_tokens_together() {
        let rows = [
            row("go", "a", "jwt", "HS256", "verify", 1000.0),
            row("go", "b", "jwt", "HS256", "verify", 1004.0),
            row("go", "c", "jwt", "HS256", "verify", 1500.0),
            row("go", "a", "jwt", "HS512", "verify", 1002.0),
        ];
        let found = found(&rows, "weight=verify");
        assert_eq!(tokens(&found), ["JWT HS256", "JWT HS512"]);
        assert_eq!(found.choices[0].picks.len(), 2);
    }

    #[test]
    fn choose_from_nothing_is_empty() {
        assert!(found(&[], "").choices.is_empty());
        let found = found(&rows(), "confidentiality,verify-by-third-parties");
        assert_eq!(found.left, 0);
        assert!(found.choices.is_empty());
        assert_eq!(found.out.len(), 4);
    }
}
