//! What would change the answer: the same rules with one need more, less or other.

use crate::result::RunResult;

use super::attacks::Attacks;
use super::choice::{Found, choose};
use super::{Choice, Needs, Weight};
use crate::report::units;

/// What changes with each need, a sentence each; only changes are told.
pub(super) fn changes(
    result: &RunResult,
    needs: &Needs,
    attacks: &Attacks,
    found: &Found,
) -> Vec<String> {
    let ask = |needs: &Needs| choose(&result.rows.measured, &result.noise_floor, needs, attacks);
    let mut told = Vec::new();
    let more = [
        (
            "confidentiality",
            other(needs, |n| n.confidentiality = true),
        ),
        (
            "verify-by-third-parties",
            other(needs, |n| n.third_parties = true),
        ),
        ("fips", other(needs, |n| n.fips = true)),
        ("post-quantum", other(needs, |n| n.post_quantum = true)),
    ];
    let weights = Weight::ALL
        .map(|weight| (weight, other(needs, |n| n.weight = weight)))
        .map(|(weight, needs)| (format!("weight={}", weight.name()), needs));
    if found.choices.is_empty() {
        told.extend(without(needs, &ask));
    } else {
        let more = more.map(|(name, needs)| (name.to_owned(), needs));
        for (name, changed) in more.into_iter().chain(weights) {
            if changed == *needs {
                continue;
            }
            let then = ask(&changed).choices;
            if then.is_empty() {
                told.push(format!(
                    "With {name} nothing that was measured would be left."
                ));
            } else if tokens(&then) != tokens(&found.choices) {
                told.push(format!("With {name}: {}.", units::list(&tokens(&then))));
            }
        }
    }
    if needs.languages.is_empty() {
        told.push("Languages, named with languages=go+node: only libraries of these would count, and a token must have one in each.".into());
    }
    for missing in &found.unmeasured {
        told.push(format!(
            "A measurement of what this run has no rows of: {missing}."
        ));
    }
    if *attacks == Attacks::NotRun {
        told.push(
            "A library that somebody without a key gets past would be out, and the attacks were not run: `jeton lab attack --out attack`, and `jeton lab merge` of its results.json and this one."
                .into(),
        );
    }
    if found.choices.len() > 1 || found.choices.iter().any(|c| c.picks.len() > 1) {
        told.push(
            "More rounds on a quieter machine may part what shares the first tier now.".into(),
        );
    }
    told
}

/// Which single need, if it were dropped, would leave a choice.
fn without(needs: &Needs, ask: &impl Fn(&Needs) -> Found) -> Vec<String> {
    let less = [
        (
            "confidentiality",
            other(needs, |n| n.confidentiality = false),
        ),
        (
            "verify-by-third-parties",
            other(needs, |n| n.third_parties = false),
        ),
        ("fips", other(needs, |n| n.fips = false)),
        ("post-quantum", other(needs, |n| n.post_quantum = false)),
        ("header-budget", other(needs, |n| n.header_budget = None)),
        ("cookie-budget", other(needs, |n| n.cookie_budget = None)),
        ("languages", other(needs, |n| n.languages.clear())),
        ("weight", other(needs, |n| n.weight = Weight::default())),
    ];
    let less = less.into_iter().filter(|(_, changed)| changed != needs);
    let told = less.filter_map(|(name, changed)| {
        let then = ask(&changed).choices;
        (!then.is_empty()).then(|| format!("Without {name}: {}.", units::list(&tokens(&then))))
    });
    told.collect()
}

fn other(needs: &Needs, change: impl FnOnce(&mut Needs)) -> Needs {
    let mut needs = needs.clone();
    change(&mut needs);
    needs
}

fn tokens(choices: &[Choice]) -> Vec<&str> {
    choices.iter().map(|c| c.token.as_str()).collect()
}
