//! The recommendation in short; the HTML page has all of it.

use jeton_lab_model::recommendation::{Choice, Pick};
use jeton_lab_model::result::RunResult;
use jeton_lab_model::units::list;

use super::BOLD;
use crate::recommendation::{Case, cases_of, recommendation_of};
use crate::section::Section;
use crate::words::microseconds;

pub(super) fn section(result: &RunResult) -> Section {
    let advice = recommendation_of(result);
    let asked = match advice.requirements.as_slice() {
        [] => String::new(),
        requirements => format!(" for {}", requirements.join(", ")),
    };
    let cases = cases_of(result, &advice);
    let title = match (cases.as_slice(), advice.choices.as_slice()) {
        ([], []) => format!("No recommendation{asked}"),
        ([], _) => format!("Recommended{asked}"),
        _ => "Recommended, by case".to_owned(),
    };
    let because: &[String] = if cases.is_empty() {
        &advice.because
    } else {
        &[]
    };
    let choices = if cases.is_empty() {
        advice.choices.as_slice()
    } else {
        &[]
    };
    let rest = format!(
        "The page lists what it does not cover ({}).",
        advice.not_covered.len()
    );
    let changes = (!advice.would_change.is_empty())
        .then(|| Section::new("What would change it").items(&advice.would_change));
    Section::new(title)
        .items(cases.iter().map(of_case))
        .items(choices.iter().map(one))
        .items(because)
        .items([rest])
        .parts(changes)
}

fn of_case(case: &Case) -> String {
    let title = case.title;
    match (&case.choice, &case.measured) {
        (Some(choice), Some(measured)) => {
            let choice = format!("{title}: {BOLD}{choice}{BOLD:#}, {measured}.");
            let lines = [choice].into_iter().chain(case.trade_offs.iter().cloned());
            lines.collect::<Vec<_>>().join(" ")
        }
        _ => format!("{title}: no token of this kind was measured."),
    }
}

fn one(choice: &Choice) -> String {
    let bytes = choice.token_bytes.map(|bytes| format!(", {bytes} bytes"));
    let picks: Vec<String> = choice.picks.iter().map(pick).collect();
    let (token, bytes) = (&choice.token, bytes.unwrap_or_default());
    format!("{BOLD}{token}{BOLD:#}{bytes}: {}", picks.join("; "))
}

fn pick(pick: &Pick) -> String {
    let [issues, accepts] = pick.verbs();
    let times = [(issues, pick.make_ns), (accepts, pick.open_ns)].into_iter();
    let times = times.filter_map(|(verb, ns)| Some(format!("{verb} in {} µs", microseconds(ns?))));
    let times = list(&times.collect::<Vec<_>>());
    let comma = if times.is_empty() { "" } else { ", " };
    let platform = pick.runtime.as_ref().unwrap_or(&pick.language);
    format!(
        "{} {} ({platform}){comma}{times}",
        pick.library, pick.version
    )
}
