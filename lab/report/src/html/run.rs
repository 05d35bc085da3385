//! The sections about the run itself: what is missing, its quality, its machine, and its raw data.

use std::collections::BTreeMap;

use base64_simd::STANDARD;
use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::result::{AaPair, Row, RunResult, RuntimeUsed, Status, to_packed_bytes};
use jeton_lab_model::units;
use jeton_lab_stats::verdict::{MAX_EQUIVALENCE, PRACTICAL_DIFFERENCE, UNMEASURED_FLOOR};

use crate::comparison::{reason, time};
use crate::section::{Kind, Section};
use crate::sentences;
use crate::table::{self, Column, Table, Value};

/// A larger result is not embedded, because the page is sent by mail and opened on phones.
const LINK_BYTES_MAX: usize = 500_000;

/// The failed rows, what cannot be concluded without them, and what the run did not measure.
pub(super) fn gaps(result: &RunResult) -> Section {
    let gaps = grouped(&result.rows.measured);
    let total: usize = gaps.iter().map(Vec::len).sum();
    let section = Section::new("Missing and disturbed").id("gaps");
    let section = if gaps.is_empty() {
        section.say("Every row was measured.")
    } else {
        let columns = gap_columns();
        section
            .say(format!(
                "{} not ok. Failed rows are not compared. Disturbed rows were measured while something disturbed the \
                 machine. Rows of one library with the same reason are combined. A library without a time has no group; \
                 groups then cover the other libraries.",
                units::count(total, "row is", "rows are")
            ))
            .table(
                Table::new("Rows that are not ok, with reasons", "Rows that are not ok, table", &columns, &gaps)
                    .class("gaps"),
            )
    };
    section.parts([not_requested(result)])
}

/// What the run did not measure, with the commands that do.
fn not_requested(result: &RunResult) -> Section {
    let rows = &result.rows;
    let has_sizes = super::lines::has_sizes(&rows.measured);
    let has_threads = rows.measured.iter().any(|row| row.threads > 1);
    let all = [
        (
            has_sizes,
            "how time grows with the payload (`jeton-lab run --sweep`)",
        ),
        (
            has_threads,
            "how time changes with several threads (`jeton-lab run --threads 1,2`)",
        ),
        (
            !rows.interop.is_empty(),
            "which libraries verify each other's tokens (`jeton-lab interop`)",
        ),
        (
            !rows.servers.is_empty(),
            "the cost of issuing tokens over gRPC (`jeton-lab servers`)",
        ),
        (
            !rows.attack.is_empty(),
            "which libraries accept tokens that must be rejected (`jeton-lab attack`)",
        ),
    ];
    let missing = all.into_iter().filter(|(measured, _)| !measured);
    Section::new("Not measured")
        .say("This run did not measure:")
        .items(missing.map(|(_, what)| what))
}

/// Rows of one library with the same reason; never empty.
type Gap<'a> = Vec<&'a Row>;

fn gap_columns<'a>() -> [Column<'a, Gap<'a>>; 4] {
    [
        Column::text("subject", |gap: &Gap<'_>| {
            let subject = &gap[0].subject;
            let language = names::language(subject);
            Value::text(&subject.library).on_page(
                html! { (subject.library) " " span.muted { (subject.version) " · " (language) } },
            )
        }),
        Column::text("status", |gap: &Gap<'_>| {
            Value::text(gap[0].status.name()).on_page(table::status(gap[0].status))
        }),
        Column::text("reason", |gap: &Gap<'_>| Value::text(reason(gap[0]))).class("reason"),
        Column::text("affected", |gap: &Gap<'_>| {
            let lines = affected(gap);
            Value::text(lines.join("; ")).on_page(html! { @for line in &lines { div { (line) } } })
        })
        .titled("no conclusion about")
        .class("affected"),
    ]
}

fn grouped(rows: &[Row]) -> Vec<Gap<'_>> {
    let mut gaps: Vec<Gap<'_>> = Vec::new();
    let is_gap = |row: &&Row| row.status != Status::Ok || time(row).is_none();
    let what = |row: &Row| {
        let subject = row.subject.clone();
        (
            subject.language,
            subject.library,
            subject.version,
            row.status.name(),
            row.reason.clone(),
        )
    };
    for row in rows.iter().filter(is_gap) {
        match gaps.iter_mut().find(|gap| what(gap[0]) == what(row)) {
            Some(gap) => gap.push(row),
            None => gaps.push(vec![row]),
        }
    }
    gaps
}

/// Returns a line such as "libraries, sign: HS256, ES256" for each suite and operation.
fn affected(rows: &[&Row]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let place = format!("{}, {}", row.suite, row.operation);
        let algorithm = names::algorithm(&row.subject);
        match lines.iter_mut().find(|(known, _)| *known == place) {
            Some((_, algorithms)) => algorithms.push(algorithm),
            None => lines.push((place, vec![algorithm])),
        }
    }
    let line =
        |(place, algorithms): (String, Vec<String>)| format!("{place}: {}", algorithms.join(", "));
    lines.into_iter().map(line).collect()
}

/// Disturbances, completeness and noise floor.
pub(super) fn quality(result: &RunResult) -> Section {
    Section::new("Measurement quality")
        .id("trust")
        .parts([machine_quality(result), noise_floor(result)])
}

fn machine_quality(result: &RunResult) -> Section {
    let environment = &result.environment;
    let disturbance = &environment.disturbance;
    let (finished, planned) = (environment.rounds_finished, environment.rounds_planned);
    let section = Section::new("The machine");
    let mut section = if disturbance.disturbed {
        let bad = html! {
            p { strong { "The run was disturbed." } " The figures include this disturbance; do not base decisions on them." }
            ul { @for reason in &disturbance.reasons { li { (reason) } } }
        };
        section.markup(Kind::Callout("bad"), bad)
    } else {
        let good = html! { p { strong { "No disturbance detected." } " All checks of the machine were within their limits." } };
        section.markup(Kind::Callout("good"), good)
    };
    if !environment.complete {
        let ended = html! { p {
            strong { "The run is not complete." } " " (finished) " of " (planned)
            " planned rounds finished, so the intervals are wider."
        } };
        section = section.markup(Kind::Callout("bad"), ended);
    }
    if environment.is_cut_by_budget() {
        let cut = html! { p { (finished) " of " (planned) " rounds: the time limit was reached, so the intervals are wider." } };
        section = section.markup(Kind::Callout("warn"), cut);
    }
    let facts = [
        disturbance.steal.map(|share| format!("CPU time stolen by the hypervisor: {}", units::percent(share))),
        disturbance.load.map(|load| format!("Cores used by other processes, on average: {}", units::fixed(load, 2))),
        disturbance.shared.map(|share| {
            let what = "Measured time in which another virtual machine shared the drivers' core (excluded if a round has other measurements)";
            format!("{what}: {}", units::percent(share))
        }),
    ];
    section = section.items(facts.into_iter().flatten());
    if !disturbance.unwatched.is_empty() {
        section = section
            .say("Not checked on this machine:")
            .items(&disturbance.unwatched);
    }
    section
}

fn noise_floor(result: &RunResult) -> Section {
    let floor = &result.noise_floor;
    let bands = sentences::bands_in_words(floor, units::percent);
    // No interval is equivalent that reaches farther, however wide the band is.
    let (compiled, managed) = sentences::bands(floor);
    let widest = managed.unwrap_or(compiled);
    let measured = html! {
        @match floor.floor {
            Some(share) => {
                "By the A/A pairs (identical subjects, measured twice), identical subjects can differ by "
                strong { (units::percent(share)) } " in this run"
                @if let Some(managed) = floor.wider_managed() {
                    ", those with a managed runtime (Node, Java, Python) by " strong { (units::percent(managed)) }
                }
                @for own in &floor.threads { ", those on " (own.threads) " threads by " strong { (units::percent(own.floor)) } }
                ". The noise band is ±" (bands) ": the noise floor, but at least " (units::percent(PRACTICAL_DIFFERENCE)) "."
            }
            None => {
                strong { "No noise floor was measured." } " Less than " (units::times(1.0 + UNMEASURED_FLOOR))
                "× the time is undecided."
            }
        }
    };
    let within = if widest > MAX_EQUIVALENCE {
        format!(", and within ±{}", units::percent(MAX_EQUIVALENCE))
    } else {
        String::new()
    };
    let section = Section::new("The noise floor")
        .markup(Kind::Plain, measured)
        .say(format!(
            "A subject is faster or slower if its whole interval is on one side of 1 and its ratio is beyond the noise \
             band. It is equivalent if the whole interval is within the noise band{within}. Otherwise it is undecided."
        ));
    if floor.pairs.is_empty() {
        return section;
    }
    let columns = [
        Column::text("subject", |pair: &AaPair| Value::text(&pair.subject)).class("id"),
        Column::text("operation", |pair: &AaPair| Value::text(&pair.operation)),
        Column::number("threads", |pair: &AaPair| {
            Value::count(u64::from(pair.threads))
        }),
        Column::interval("ratio", ["ratio_low", "ratio_high"], |pair: &AaPair| {
            Value::interval(pair.ratio, pair.interval, units::ratio)
        }),
        Column::text("verdict", |pair: &AaPair| Value::verdict(pair.verdict)),
    ];
    section.table(
        Table::new(
            "A/A pairs: each should be equivalent",
            "A/A pairs, table",
            &columns,
            &floor.pairs,
        )
        .figures(),
    )
}

/// Machine, runtimes and drivers.
pub(super) fn environment(result: &RunResult) -> Section {
    let e = &result.environment;
    let facts = [
        ("CPU", e.cpu_in_full()),
        ("Logical CPUs in use", units::whole(e.cores as u64)),
        ("CPU flags", e.flags.join(" ")),
        ("Kernel", e.kernel.clone()),
        (
            "Hypervisor",
            e.hypervisor
                .clone()
                .unwrap_or_else(|| "none reported".to_owned()),
        ),
        ("Governor", e.governor.clone().unwrap_or_default()),
        ("jeton", e.jeton.clone()),
        ("Started", e.started.clone()),
        ("Elapsed", format!("{} s", units::fixed(e.elapsed_s, 1))),
        ("Seed of the random order", result.seed.to_string()),
        ("Result schema", result.schema.to_string()),
    ];
    let facts = facts.map(|(name, value)| match value.trim() {
        "" => (name.to_owned(), "unknown".to_owned()),
        _ => (name.to_owned(), value),
    });
    let runtimes = [
        Column::text("runtime", |runtime: &RuntimeUsed| {
            Value::text(&runtime.name)
        }),
        Column::text("location", |runtime: &RuntimeUsed| {
            Value::text(&runtime.found)
        }),
        Column::text("support", |runtime: &RuntimeUsed| {
            Value::text(runtime.support_in_words())
        }),
    ];
    let map = |map: &BTreeMap<String, String>| -> Vec<(String, String)> {
        map.clone().into_iter().collect()
    };
    let drivers = "Drivers, with the SHA-256 of their sources and lockfile";
    let support = "Runtimes and their support on the day of the run";
    let mut section = Section::new("Environment").id("environment");
    section.tables = vec![
        pairs(
            "Machine and run",
            "Machine, table",
            ["Fact", "Value"],
            &facts,
            false,
        ),
        Table::new(
            support,
            "Runtimes and their support, table",
            &runtimes,
            &e.runtimes_used,
        )
        .class("pairs"),
        pairs(
            "Runtimes",
            "Runtimes, table",
            ["Language", "Version"],
            &map(&e.runtimes),
            false,
        ),
        pairs(
            drivers,
            &format!("{drivers}, table"),
            ["Driver", "SHA-256"],
            &map(&e.drivers),
            true,
        ),
    ];
    section.tables.retain(|table| !table.rows().is_empty());
    section
}

/// Returns a table of names and values.
fn pairs(
    caption: &str,
    label: &str,
    [name, value]: [&str; 2],
    rows: &[(String, String)],
    is_code: bool,
) -> Table {
    let columns = [
        Column::text(name, |(name, _): &(String, String)| Value::text(name)),
        Column::text(value, move |(_, text): &(String, String)| {
            if is_code {
                Value::text(text).on_page(html! { code.hash { (text) } })
            } else {
                Value::text(text)
            }
        }),
    ];
    Table::new(caption, label, &columns, rows).class("pairs")
}

/// The raw data as a download that needs no script, and the command that repeats the run.
pub(super) fn data(result: &RunResult) -> Section {
    let commands = html! {
        "This command repeats the same selection, on this machine or another:"
        pre tabindex="0" aria-label="Commands" { code {
            @if result.runs.is_empty() { (command(&result.command, result.seed)) }
            @for run in &result.runs { (command(&run.command, run.seed)) "\n" }
            @if !result.runs.is_empty() { (result.command) }
        } }
    };
    let repeat = Section::new("Repeat this run")
        .markup(Kind::Block, commands)
        .note("The seed repeats the order of measurements. Times differ from run to run by the noise floor or more.");
    let packed = to_packed_bytes(result);
    let link = format!(
        "data:application/gzip;base64,{}",
        STANDARD.encode_to_string(&packed)
    );
    let raw = Section::new("Raw data");
    let raw = if link.len() <= LINK_BYTES_MAX {
        let kilobytes = units::fixed(packed.len() as f64 / 1000.0, 1);
        let button = html! {
            a.button href=(link) download="results.json.gz" { "Save results.json.gz" }
            " " span.muted { (kilobytes) " kB, every round of every row; this page is created from it" }
        };
        raw.markup(Kind::Plain, button).note(
            "Compressed with gzip. Read it directly with `jeton-lab report results.json.gz`, or unpack it with `gunzip results.json.gz`.",
        )
    } else {
        raw.say("The result is too large for this page. Every round of every row is in `results.json`, next to this page.")
    };
    Section::new("Raw data and reproduction")
        .id("data")
        .parts([repeat, raw])
}

/// Returns the command, with its seed appended if it is missing.
fn command(command: &str, seed: u64) -> Markup {
    html! { (command) @if !command.contains("--seed") { " --seed " (seed) } }
}
