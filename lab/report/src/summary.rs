//! The head of the page, the summary of all verdicts, and the groups.

use itertools::Itertools as _;
use maud::{Markup, html};

use jeton_lab_model::result::{NoiseFloor, RunResult};
use jeton_lab_model::{names, units};

use crate::comparison::{Comparison, of_set, sets, time};
use crate::section::{Fold, Kind, Section};
use crate::sentences;

const COMMIT_CHARS: usize = 12;
/// With more claims sets than this, only their number is shown.
const CLAIMS_NAMED_MAX: usize = 3;

pub(crate) fn facts(result: &RunResult) -> Markup {
    let environment = &result.environment;
    let measured = &result.rows.measured;
    let took = match environment.elapsed_s {
        seconds if seconds < 120.0 => format!("{}\u{a0}s", units::fixed(seconds, 0)),
        seconds => format!("{}\u{a0}min", units::fixed(seconds / 60.0, 0)),
    };
    let date = environment.started.split_once('T');
    let mut facts: Vec<String> = date.map(|(date, _)| date.to_owned()).into_iter().collect();
    facts.extend([took, format!("jeton {}", environment.jeton)]);
    let commit = environment.commit.iter();
    facts.extend(commit.map(|commit| format!("commit {commit:.COMMIT_CHARS$}")));
    facts.push(cpu(result));
    if environment.cores > 0 {
        facts.push(units::count(environment.cores, "core", "cores"));
    }
    if environment.hypervisor.is_some() {
        let disturbance = &environment.disturbance;
        let shares = [disturbance.shared, disturbance.steal];
        let is_shared = shares.into_iter().flatten().any(|share| share > 0.0);
        let shared = if is_shared { ", shared" } else { "" };
        facts.push(format!("virtual{shared}"));
    }
    if !measured.is_empty() {
        let timed = measured.iter().filter(|row| time(row).is_some()).count();
        let [timed, all] = [timed, measured.len()].map(|count| units::whole(count as u64));
        let (finished, planned) = (environment.rounds_finished, environment.rounds_planned);
        facts.push(format!("{timed} of {all} rows"));
        facts.push(format!("{finished} of {planned} rounds"));
        facts.push(format!("noise floor {}", noise_floor(&result.noise_floor)));
    }
    html! {
        p.facts { @for (index, fact) in facts.iter().enumerate() { @if index > 0 { " · " } (fact) } }
    }
}

/// Names the CPU with its model: names of virtual machines often have none.
fn cpu(result: &RunResult) -> String {
    let (cpu, processor) = (&result.environment.cpu, &result.environment.processor);
    match (cpu.as_str(), &processor.family, &processor.model) {
        ("", ..) => "unknown CPU".to_owned(),
        (cpu, Some(family), Some(model)) => format!("{cpu} (family {family}, model {model})"),
        (cpu, ..) => cpu.to_owned(),
    }
}

fn asked(result: &RunResult) -> String {
    let rows = || result.rows.measured.iter();
    let own = rows().filter(|row| !row.reference);
    let libraries = own.map(|row| (&row.subject.language, &row.subject.library));
    let algorithms = rows().map(|row| names::algorithm(&row.subject));
    format!(
        "{}, {}, {}, on {}.",
        units::count(libraries.unique().count(), "library", "libraries"),
        units::count(algorithms.unique().count(), "algorithm", "algorithms"),
        units::list(rows().map(|row| &row.operation).unique()),
        claims(result)
    )
}

fn claims(result: &RunResult) -> String {
    let sets = || result.rows.measured.iter().map(|row| &row.claims);
    let names: Vec<&String> = sets().map(|set| &set.name).unique().collect();
    let least = sets().map(|set| set.bytes).min().unwrap_or_default();
    let most = sets().map(|set| set.bytes).max().unwrap_or_default();
    let bytes = if least == most {
        format!("{}\u{a0}B", units::whole(least))
    } else {
        format!("{} to {}\u{a0}B", units::whole(least), units::whole(most))
    };
    match names.as_slice() {
        [one] => format!("the claims set {one} ({bytes})"),
        few if few.len() <= CLAIMS_NAMED_MAX => {
            format!("the claims sets {} ({bytes})", units::list(few))
        }
        many => format!("{} claims sets ({bytes})", many.len()),
    }
}

/// What the run measured, then a summary of every comparison.
pub(crate) fn section(result: &RunResult, comparisons: &[Comparison<'_>]) -> Section {
    let environment = &result.environment;
    let mut section = Section::new("Verdicts").id("summary");
    let why = match (environment.disturbance.disturbed, environment.complete) {
        (true, true) => "the run was disturbed.",
        (true, false) => "the run was disturbed and ended early.",
        (false, false) => "the run ended early.",
        (false, true) => "",
    };
    if !why.is_empty() {
        let care = html! { strong { "Read the verdicts with care: " } (why) " " a href="#trust" { "See measurement quality" } "." };
        section = section.markup(Kind::Callout("bad"), care);
    }
    if comparisons.is_empty() {
        let why = match result.rows.measured.len() {
            0 => "The result has no rows.".to_owned(),
            rows => format!(
                "None of the {} was measured.",
                units::count(rows, "row", "rows")
            ),
        };
        return section.callout("bad", format!("**No verdict.** {why}"));
    }
    section = section.say(asked(result));
    let sets = sets(comparisons);
    let sets = sets.map(|set| {
        of_set(set)
            .fold(Fold::Closed)
            .markup(Kind::Block, said(set))
    });
    section
        .note(
            "“3 × faster” means one third of the time per operation. In brackets: the 95 % interval, simultaneous over all \
             subjects of one comparison.",
        )
        .parts(sets)
}

fn said(set: &[Comparison<'_>]) -> Markup {
    html! {
        dl.verdicts {
            @for comparison in set {
                dt { a href={ "#" (comparison.anchor) } { (comparison.title) } }
                dd {
                    @if comparison.confounded { p.confounded { (sentences::factors(&[comparison]).unwrap_or_default()) } }
                    p {
                        @if let Some(first) = sentences::first_group(comparison) { strong { (first) } " " }
                        @for sentence in sentences::verdicts(comparison) { (sentence) " " }
                    }
                }
            }
        }
    }
}

/// Formats the noise floor; from that of compiled to that of managed subjects, if they differ.
fn noise_floor(noise: &NoiseFloor) -> String {
    match (noise.floor, noise.wider_managed()) {
        (None, _) => "unknown".to_owned(),
        (Some(floor), None) => units::percent(floor),
        (Some(floor), Some(managed)) => format!(
            "{} to {}",
            units::fixed(floor * 100.0, 1),
            units::percent(managed)
        ),
    }
}
