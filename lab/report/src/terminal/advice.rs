//! The recommendation in short; the HTML page has all of it.

use std::fmt::{self, Write};

use jeton_lab_model::recommendation::{Choice, Pick, Recommendation};
use jeton_lab_model::result::RunResult;
use jeton_terminal::width::wrapped;

use crate::recommendation::{Case, cases_of, recommendation_of};
use crate::words::microseconds;
use jeton_lab_model::units::list;

use super::{BOLD, DIM};

pub(super) fn write(result: &RunResult, columns: usize, out: &mut String) -> fmt::Result {
    let advice = recommendation_of(result);
    let asked = match advice.requirements.as_slice() {
        [] => String::new(),
        requirements => format!(" for {}", requirements.join(", ")),
    };
    let cases = cases_of(result, &advice);
    if !cases.is_empty() {
        writeln!(out, "\n{BOLD}Recommended, by case{BOLD:#}")?;
        for case in &cases {
            three(case, columns, out)?;
        }
        return changes(&advice, columns, out);
    }
    if advice.choices.is_empty() {
        let why = advice.because.join(" ");
        let text = format!("{BOLD}No recommendation{asked}{BOLD:#}: {why}");
        out.push('\n');
        lines(&text, "", columns, out)?;
        return changes(&advice, columns, out);
    }
    writeln!(out, "\n{BOLD}Recommended{asked}{BOLD:#}")?;
    for choice in &advice.choices {
        lines(&one(choice), "  ", columns, out)?;
    }
    for why in &advice.because {
        lines(&format!("{DIM}{why}{DIM:#}"), "  ", columns, out)?;
    }
    changes(&advice, columns, out)
}

/// Writes what would change the recommendation, as the page does.
fn changes(advice: &Recommendation, columns: usize, out: &mut String) -> fmt::Result {
    if !advice.would_change.is_empty() {
        lines("What would change it:", "  ", columns, out)?;
        for change in &advice.would_change {
            lines(&format!("- {change}"), "  ", columns, out)?;
        }
    }
    let rest = format!(
        "{DIM}The page lists what it does not cover ({}).{DIM:#}",
        advice.not_covered.len()
    );
    lines(&rest, "  ", columns, out)
}

fn three(case: &Case, columns: usize, out: &mut String) -> fmt::Result {
    let (Some(choice), Some(measured)) = (&case.choice, &case.measured) else {
        let text = format!("{}: no token of this kind was measured.", case.title);
        return lines(&text, "  ", columns, out);
    };
    let text = format!("{}: {BOLD}{choice}{BOLD:#}, {measured}.", case.title);
    lines(&text, "  ", columns, out)?;
    for line in &case.trade_offs {
        lines(&format!("{DIM}{line}{DIM:#}"), "    ", columns, out)?;
    }
    Ok(())
}

fn one(choice: &Choice) -> String {
    let bytes = choice
        .token_bytes
        .map_or_else(String::new, |bytes| format!(", {bytes} bytes"));
    let picks: Vec<String> = choice.picks.iter().map(pick).collect();
    format!(
        "{BOLD}{}{BOLD:#}{bytes}: {}",
        choice.token,
        picks.join("; ")
    )
}

fn pick(pick: &Pick) -> String {
    let [issues, accepts] = pick.verbs();
    let times = [(issues, pick.make_ns), (accepts, pick.open_ns)];
    let times: Vec<String> = times
        .into_iter()
        .filter_map(|(verb, ns)| Some(format!("{verb} in {} µs", microseconds(ns?))))
        .collect();
    let times = match list(&times) {
        none if none.is_empty() => none,
        some => format!(", {some}"),
    };
    let platform = pick.runtime.as_ref().unwrap_or(&pick.language);
    format!("{} {} ({platform}){times}", pick.library, pick.version)
}

fn lines(text: &str, indent: &str, columns: usize, out: &mut String) -> fmt::Result {
    let room = columns.saturating_sub(indent.len() + 2);
    for (index, line) in wrapped(text, room).iter().enumerate() {
        let more = if index == 0 { "" } else { "  " };
        writeln!(out, "{indent}{more}{line}")?;
    }
    Ok(())
}
