//! The sections about the run itself: what is missing, its quality, its machine, and its raw data.

use std::collections::BTreeMap;

use base64_simd::STANDARD;
use maud::{Markup, html};

use jeton_lab_model::names;
use jeton_lab_model::result::{AaPair, Row, RunResult, RuntimeUsed, Status, to_packed_bytes};
use jeton_lab_model::units;
use jeton_lab_stats::verdict::{MAX_EQUIVALENCE, PRACTICAL_DIFFERENCE, UNMEASURED_FLOOR};

use crate::comparison::{reason, time};
use crate::grouped::grouped;
use crate::lines::sweep;
use crate::section::{Kind, Section};
use crate::sentences;
use crate::table::{self, PAGE, Table, Value, columns};

/// A larger result is not embedded, because the page is sent by mail and opened on phones.
const LINK_BYTES_MAX: usize = 500_000;

pub(crate) fn gaps(result: &RunResult) -> Section {
    let rows = result.rows.measured.iter();
    let missing = rows.filter(|row| row.status != Status::Ok || time(row).is_none());
    let gaps = grouped(missing.map(|row| {
        let subject = &row.subject;
        let library = (&subject.language, &subject.library, &subject.version);
        ((library, row.status.name(), &row.reason), row)
    }));
    let gaps: Vec<Vec<&Row>> = gaps.into_iter().map(|(_, rows)| rows).collect();
    let total = gaps.iter().map(Vec::len).sum();
    let section = Section::new("Missing and disturbed").id("gaps");
    if gaps.is_empty() {
        return section.say("Every row was measured.");
    }
    let library = |row: &Row| {
        let (subject, language) = (&row.subject, names::language(&row.subject));
        let (library, version) = (&subject.library, &subject.version);
        let shown = html! { (library) " " span.muted { (version) " · " (language) } };
        Value::text(format!("{library} {version} ({language})")).on_page(shown)
    };
    let affected = |gap: &[&Row]| {
        let lines = affected(gap);
        Value::text(lines.join("; ")).on_page(html! { @for line in lines { div { (line) } } })
    };
    let columns = columns![Vec<&Row>:
        text("subject") |gap| library(gap[0]);
        text("status") |gap| Value::text(gap[0].status.name()).on_page(table::status(gap[0].status));
        text("reason") |gap| Value::text(reason(gap[0])), .class("reason");
        text("no conclusion about") |gap| affected(gap), .class("affected");
    ];
    section
        .say(format!(
            "{} not ok. Failed rows are not compared. Disturbed rows were measured while something disturbed the \
             machine. Rows of one library with the same reason are combined. A library without a time has no group; \
             groups then cover the other libraries.",
            units::count(total, "row is", "rows are")
        ))
        .table(Table::named("Rows that are not ok, with reasons", &columns, &gaps).class("gaps"))
}

/// Returns a line such as "libraries, sign: HS256, ES256" for each suite and operation.
fn affected(rows: &[&Row]) -> Vec<String> {
    let rows = rows.iter();
    let places = grouped(rows.map(|row| {
        let place = format!("{}, {}", row.suite, row.operation);
        (place, names::algorithm(&row.subject))
    }));
    let places = places.into_iter();
    let lines = places.map(|(place, algorithms)| format!("{place}: {}", algorithms.join(", ")));
    lines.collect()
}

pub(crate) fn quality(result: &RunResult) -> Section {
    Section::new("Measurement quality")
        .id("trust")
        .parts([machine_quality(result), noise_floor(result)])
}

fn machine_quality(result: &RunResult) -> Section {
    let (e, disturbance) = (&result.environment, &result.environment.disturbance);
    let rounds = format!("{} of {}", e.rounds_finished, e.rounds_planned);
    let mut section = Section::new("The machine");
    section = if disturbance.disturbed {
        let text = "**The run was disturbed.** The figures include this disturbance; do not base decisions on them.";
        section.callout("bad", text).items(&disturbance.reasons)
    } else {
        let text =
            "**No disturbance detected.** All checks of the machine were within their limits.";
        section.callout("good", text)
    };
    let wider = "so the intervals are wider.";
    if !e.complete {
        let text =
            format!("**The run is not complete.** {rounds} planned rounds finished, {wider}");
        section = section.callout("bad", text);
    }
    if e.is_cut_by_budget() {
        let text = format!("{rounds} rounds: the time limit was reached, {wider}");
        section = section.callout("warn", text);
    }
    if let Some(ended) = e.out_of_support() {
        let text = format!("**Out of support:** {ended}. A newer runtime may give other figures.");
        section = section.callout("bad", text);
    }
    let facts = [
        (
            "CPU time stolen by the hypervisor",
            disturbance.steal.map(units::percent),
        ),
        (
            "Cores used by other processes, on average",
            disturbance.load.map(|load| units::fixed(load, 2)),
        ),
        (
            "Measured time in which another virtual machine shared the drivers' core (excluded if a round has other measurements)",
            disturbance.shared.map(units::percent),
        ),
    ];
    let facts = facts.into_iter();
    section =
        section.items(facts.filter_map(|(what, figure)| Some(format!("{what}: {}", figure?))));
    if !disturbance.unwatched.is_empty() {
        let unwatched = disturbance.unwatched.join(" ");
        section = section.say(format!("Not checked on this machine: {unwatched}"));
    }
    section
}

fn noise_floor(result: &RunResult) -> Section {
    let floor = &result.noise_floor;
    let bands = sentences::bands_in_words(floor, units::percent);
    // No interval is equivalent that reaches farther, however wide the band is.
    let (compiled, managed) = sentences::bands(floor);
    let widest = managed.unwrap_or(compiled);
    let measured = match floor.floor {
        Some(share) => {
            let managed = floor.wider_managed().map_or_else(String::new, |managed| {
                let managed = units::percent(managed);
                format!(", those with a managed runtime (Node, Java, Python) by **{managed}**")
            });
            let of_threads = floor.threads.iter().map(|own| {
                let (threads, floor) = (own.threads, units::percent(own.floor));
                format!(", those on {threads} threads by **{floor}**")
            });
            format!(
                "By the A/A pairs (identical subjects, measured twice), identical subjects can differ by **{}** in this \
                 run{managed}{}. The noise band is ±{bands}: the noise floor, but at least {}.",
                units::percent(share),
                of_threads.collect::<String>(),
                units::percent(PRACTICAL_DIFFERENCE)
            )
        }
        None => format!(
            "**No noise floor was measured.** Less than {}× the time is undecided.",
            units::times(1.0 + UNMEASURED_FLOOR)
        ),
    };
    let within = if widest > MAX_EQUIVALENCE {
        format!(", and within ±{}", units::percent(MAX_EQUIVALENCE))
    } else {
        String::new()
    };
    let section = Section::new("The noise floor").say(measured).say(format!(
        "A subject is faster or slower if its whole interval is on one side of 1 and its ratio is beyond the noise band. \
         It is equivalent if the whole interval is within the noise band{within}. Otherwise it is undecided."
    ));
    if floor.pairs.is_empty() {
        return section;
    }
    let columns = columns![AaPair:
        text("subject") |pair| Value::text(&pair.subject), .class("id");
        text("operation") |pair| Value::text(&pair.operation);
        number("threads") |pair| Value::count(u64::from(pair.threads));
        range("ratio") |pair| Value::interval(pair.ratio, pair.interval, units::ratio);
        text("verdict") |pair| Value::verdict(pair.verdict);
    ];
    let caption = "A/A pairs: each should be equivalent";
    let table = Table::named(caption, &columns, &floor.pairs).figures();
    section.table(table.on(PAGE))
}

pub(crate) fn environment(result: &RunResult) -> Section {
    let e = &result.environment;
    let hypervisor = e.hypervisor.as_deref().unwrap_or("none reported");
    let facts = [
        ("CPU", e.cpu_in_full()),
        ("Logical CPUs in use", units::whole(e.cores as u64)),
        ("CPU flags", e.flags.join(" ")),
        ("Kernel", e.kernel.clone()),
        ("Hypervisor", hypervisor.to_owned()),
        ("Governor", e.governor.clone().unwrap_or_default()),
        ("jeton", e.jeton.clone()),
        ("Commit", e.commit.clone().unwrap_or_default()),
        ("Started", e.started.clone()),
        ("Elapsed", format!("{} s", units::fixed(e.elapsed_s, 1))),
        ("Seed of the random order", result.seed.to_string()),
        ("Result schema", result.schema.to_string()),
    ];
    let facts = facts.map(|(name, value)| match value.trim() {
        "" => (name.to_owned(), "unknown".to_owned()),
        _ => (name.to_owned(), value),
    });
    let runtimes = columns![RuntimeUsed:
        text("runtime") |runtime| Value::text(&runtime.name);
        text("location") |runtime| Value::text(&runtime.found);
        text("support") |runtime| Value::text(runtime.support_in_words());
    ];
    let support = "Runtimes and their support on the day of the run";
    let used = Table::named(support, &runtimes, &e.runtimes_used).class("pairs");
    let map = |map: &BTreeMap<String, String>| map.clone().into_iter().collect::<Vec<_>>();
    let text = |text: &str| Value::text(text);
    let hash = |hash: &str| Value::text(hash).on_page(html! { code.hash { (hash) } });
    let drivers = "Drivers, with the SHA-256 of their sources and lockfile";
    let mut section = Section::new("Environment").id("environment");
    section.tables = vec![
        pairs("Machine and run", ["fact", "value"], &facts, text),
        used,
        pairs("Runtimes", ["language", "version"], &map(&e.runtimes), text).on(PAGE),
        pairs(drivers, ["driver", "SHA-256"], &map(&e.drivers), hash).on(PAGE),
    ];
    section.tables.retain(|table| !table.rows().is_empty());
    section
}

fn pairs(
    caption: &str,
    [name, value]: [&str; 2],
    rows: &[(String, String)],
    shown: impl Fn(&str) -> Value,
) -> Table {
    let columns = columns![(String, String):
        text(name) |(name, _)| Value::text(name);
        text(value) |(_, value)| shown(value);
    ];
    Table::named(caption, &columns, rows).class("pairs")
}

pub(crate) fn not_requested(result: &RunResult) -> Section {
    let rows = &result.rows;
    let has_sizes = sweep(&rows.measured).is_some();
    let has_threads = rows.measured.iter().any(|row| row.threads > 1);
    let (has_interop, has_servers) = (!rows.interop.is_empty(), !rows.servers.is_empty());
    #[rustfmt::skip]
    let all = [
        (has_sizes, "how time grows with the payload (`jeton-lab run --sweep`)"),
        (has_threads, "how time changes with several threads (`jeton-lab run --threads 1,2`)"),
        (has_interop, "which libraries verify each other's tokens (`jeton-lab interop`)"),
        (has_servers, "the cost of issuing tokens over gRPC (`jeton-lab servers`)"),
        (!rows.attack.is_empty(), "which libraries accept tokens that must be rejected (`jeton-lab attack`)"),
    ];
    let missing = all.into_iter().filter(|(measured, _)| !measured);
    Section::new("Not measured")
        .say("This run did not measure:")
        .items(missing.map(|(_, what)| what))
}

/// The raw data as a download that needs no script, and the command that repeats the run.
pub(crate) fn data(result: &RunResult) -> Section {
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
    let (kilobytes, packed) = (
        packed.len() as f64 / 1000.0,
        STANDARD.encode_to_string(&packed),
    );
    let link = format!("data:application/gzip;base64,{packed}");
    let raw = Section::new("Raw data");
    let raw = if link.len() <= LINK_BYTES_MAX {
        let button = html! {
            a.button href=(link) download="results.json.gz" { "Save results.json.gz" }
            " " span.muted { (units::fixed(kilobytes, 1)) " kB, every round of every row; this page is created from it" }
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

fn command(command: &str, seed: u64) -> Markup {
    html! { (command) @if !command.contains("--seed") { " --seed " (seed) } }
}
