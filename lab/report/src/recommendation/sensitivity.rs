//! What would change a recommendation: the same rules with one requirement more, less or different.

use jeton_lab_model::result::RunResult;

use super::attacks::Attacks;
use super::choice::{Found, choose};
use jeton_lab_model::recommendation::{Choice, Requirements, Weight};
use jeton_lab_model::units;

/// Returns the changes by each requirement, one sentence each.
pub(super) fn changes(
    result: &RunResult,
    requirements: &Requirements,
    attacks: &Attacks,
    found: &Found,
) -> Vec<String> {
    let ask = |requirements: &Requirements| {
        choose(
            &result.rows.measured,
            &result.noise_floor,
            requirements,
            attacks,
        )
    };
    let mut told = Vec::new();
    let more = [
        (
            "confidentiality",
            other(requirements, |n| n.confidentiality = true),
        ),
        (
            "verify-by-third-parties",
            other(requirements, |n| n.third_parties = true),
        ),
        ("fips", other(requirements, |n| n.fips = true)),
        (
            "post-quantum",
            other(requirements, |n| n.post_quantum = true),
        ),
    ];
    let weights = Weight::ALL
        .map(|weight| (weight, other(requirements, |n| n.weight = weight)))
        .map(|(weight, requirements)| (format!("weight={}", weight.name()), requirements));
    if found.choices.is_empty() {
        told.extend(without(requirements, &ask));
    } else {
        let more = more.map(|(name, requirements)| (name.to_owned(), requirements));
        for (name, changed) in more.into_iter().chain(weights) {
            if changed == *requirements {
                continue;
            }
            let then = ask(&changed).choices;
            if then.is_empty() {
                told.push(format!("With {name}, no measured token would be left."));
            } else if tokens(&then) != tokens(&found.choices) {
                told.push(format!("With {name}: {}.", units::list(&tokens(&then))));
            }
        }
    }
    if requirements.languages.is_empty() {
        told.push("Languages, for example languages=go+node: only libraries of these count, and a token must have one in each.".into());
    }
    for missing in &found.unmeasured {
        told.push(format!(
            "Measurements of subjects without rows in this run: {missing}."
        ));
    }
    if *attacks == Attacks::NotRun {
        told.push(
            "Attack results, which may exclude libraries: run `jeton-lab attack --out attack`, and merge its results.json with this one by `jeton-lab merge`."
                .into(),
        );
    }
    if found.choices.len() > 1 || found.choices.iter().any(|c| c.picks.len() > 1) {
        told.push("More rounds on a quieter machine, which may split the fastest group.".into());
    }
    told
}

/// Finds the requirements whose removal would leave a choice.
fn without(requirements: &Requirements, ask: &impl Fn(&Requirements) -> Found) -> Vec<String> {
    let less = [
        (
            "confidentiality",
            other(requirements, |n| n.confidentiality = false),
        ),
        (
            "verify-by-third-parties",
            other(requirements, |n| n.third_parties = false),
        ),
        ("fips", other(requirements, |n| n.fips = false)),
        (
            "post-quantum",
            other(requirements, |n| n.post_quantum = false),
        ),
        (
            "header-budget",
            other(requirements, |n| n.header_budget = None),
        ),
        (
            "cookie-budget",
            other(requirements, |n| n.cookie_budget = None),
        ),
        ("languages", other(requirements, |n| n.languages.clear())),
        (
            "weight",
            other(requirements, |n| n.weight = Weight::default()),
        ),
    ];
    let less = less
        .into_iter()
        .filter(|(_, changed)| changed != requirements);
    let told = less.filter_map(|(name, changed)| {
        let then = ask(&changed).choices;
        (!then.is_empty()).then(|| format!("Without {name}: {}.", units::list(&tokens(&then))))
    });
    told.collect()
}

fn other(requirements: &Requirements, change: impl FnOnce(&mut Requirements)) -> Requirements {
    let mut requirements = requirements.clone();
    change(&mut requirements);
    requirements
}

fn tokens(choices: &[Choice]) -> Vec<&str> {
    choices.iter().map(|c| c.token.as_str()).collect()
}
