//! From candidates to the first tier: rules first, then tokens by weight, then the libraries of
//! each token.

use std::collections::BTreeMap;

use crate::result::{NoiseFloor, Row};

use super::attacks::Attacks;
use super::candidate::{Candidate, candidates};
use super::libraries;
use super::rules::{out, refusal};
use super::weigh::{Weighed, first_group, rounds, sum};
use super::{Choice, Out, Pick, Requirements, Rule, Weight};

/// What the rules left, and what the weight made of it.
pub(super) struct Found {
    /// How many tokens there were before the rules.
    pub(super) tokens: usize,
    /// How many met every need.
    pub(super) left: usize,
    /// The first tier.
    pub(super) choices: Vec<Choice>,
    /// Who is out.
    pub(super) out: Vec<Out>,
    /// Tokens that met every need but for a language, with what is known to have them there.
    pub(super) unmeasured: Vec<String>,
}

/// A kind of token with the candidates that are left: a group for each language that was asked
/// for, or one for all of them if none was.
struct Token<'a> {
    name: String,
    groups: BTreeMap<&'a str, Vec<Candidate<'a>>>,
}

/// The group of every language, when none was asked for.
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
    let (left, weights): (Vec<Token<'_>>, Vec<Weighed>) = left
        .into_iter()
        .filter_map(|token| {
            let weight = weigh(&token, requirements.weight)?;
            Some((token, weight))
        })
        .unzip();
    let chosen = first_group(&weights, requirements.weight, noise);
    let mut choices: Vec<Choice> = chosen
        .iter()
        .map(|&index| choice(&left[index], requirements.weight, noise))
        .collect();
    // Inside the tier there is no order; the shorter token stands first.
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

/// Whether a token has a library in each of the languages; if not, its candidates are out.
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
        let why = format!("no library that is left has its token in {first}");
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

/// What a token weighs: the lightest library of each group. Times of several languages add up,
/// round by round; of sizes the longest counts.
fn weigh(token: &Token<'_>, weight: Weight) -> Option<Weighed> {
    let mut whole: Option<Weighed> = None;
    for libraries in token.groups.values() {
        let all = libraries.iter().filter_map(|c| weighed(c, weight));
        let best = all.min_by(|a, b| log_sum(a).total_cmp(&log_sum(b)))?;
        whole = Some(match whole {
            None => best,
            Some(before) if weight == Weight::Size => Weighed {
                rounds: vec![before.rounds[0].max(best.rounds[0])],
                managed: false,
            },
            Some(before) => Weighed {
                managed: before.managed || best.managed,
                rounds: sum(before.rounds, &best.rounds)?,
            },
        });
    }
    whole
}

fn weighed(candidate: &Candidate<'_>, weight: Weight) -> Option<Weighed> {
    #[allow(
        clippy::cast_precision_loss,
        reason = "a token is far below 2^53 bytes"
    )]
    let rounds = match weight {
        Weight::Size => vec![candidate.token_bytes? as f64],
        weight => rounds(candidate, weight)?,
    };
    Some(Weighed {
        rounds,
        managed: candidate.subject.is_managed(),
    })
}

/// What orders by geometric mean.
fn log_sum(weighed: &Weighed) -> f64 {
    weighed.rounds.iter().map(|time| time.ln()).sum()
}

fn choice(token: &Token<'_>, weight: Weight, noise: &NoiseFloor) -> Choice {
    let mut picks = Vec::new();
    let mut token_bytes = None;
    for libraries in token.groups.values() {
        let (libraries, weights): (Vec<&Candidate<'_>>, Vec<Weighed>) = libraries
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
    use crate::recommendation::sample::row;

    fn found(rows: &[Row], requirements: &str) -> Found {
        let requirements = Requirements::parse(&[requirements]).unwrap();
        choose(
            rows,
            &NoiseFloor::default(),
            &requirements,
            &Attacks::NotRun,
        )
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
    fn the_lightest_of_any_language_leads_if_none_was_asked_for() {
        let found = found(&rows(), "");
        assert_eq!(tokens(&found), ["PASETO v4.local"]);
        assert_eq!((found.tokens, found.left), (3, 3));
    }

    #[test]
    fn a_token_needs_a_library_in_every_language() {
        let found = found(&rows(), "languages=go+node");
        assert_eq!(tokens(&found), ["JWT HS256"]);
        let picks = &found.choices[0].picks;
        let libraries: Vec<&str> = picks.iter().map(|p| p.library.as_str()).collect();
        assert_eq!(libraries, ["golang-jwt", "fast-jwt"]);
        assert_eq!(found.unmeasured, ["PASETO v4.local in node: paseto-ts"]);
        let paseto = found.out.iter().find(|o| o.subject.contains("go-paseto"));
        assert_eq!(paseto.map(|o| o.rule), Some(Rule::Languages));
    }

    #[test]
    fn languages_weigh_together() {
        // Each has one language in which it is fast, and the sum decides.
        let rows = [
            row("go", "a", "jwt", "HS256", "verify", 1000.0),
            row("node", "a", "jwt", "HS256", "verify", 9000.0),
            row("go", "a", "jwt", "ES256", "verify", 4000.0),
            row("node", "a", "jwt", "ES256", "verify", 4000.0),
        ];
        assert_eq!(tokens(&found(&rows, "languages=go+node")), ["JWT ES256"]);
        assert_eq!(tokens(&found(&rows, "")), ["JWT HS256"]);
    }

    #[test]
    fn who_cannot_be_told_apart_is_chosen_together() {
        let rows = [
            row("go", "a", "jwt", "HS256", "verify", 1000.0),
            row("go", "b", "jwt", "HS256", "verify", 1004.0),
            row("go", "c", "jwt", "HS256", "verify", 1500.0),
            row("go", "a", "jwt", "HS512", "verify", 1002.0),
        ];
        let found = found(&rows, "");
        assert_eq!(tokens(&found), ["JWT HS256", "JWT HS512"]);
        assert_eq!(found.choices[0].picks.len(), 2);
    }

    #[test]
    fn nothing_is_chosen_of_nothing() {
        assert!(found(&[], "").choices.is_empty());
        let found = found(&rows(), "confidentiality,verify-by-third-parties");
        assert_eq!(found.left, 0);
        assert!(found.choices.is_empty());
        assert_eq!(found.out.len(), 4);
    }
}
