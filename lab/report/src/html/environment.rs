//! The environment section: machine, runtimes and drivers.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::table::{Column, Page, Value};
use jeton_lab_model::result::{RunResult, RuntimeUsed};

use super::units;

pub(super) fn section(result: &RunResult) -> Markup {
    let e = &result.environment;
    let unknown = || "unknown".to_owned();
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
        ("Governor", e.governor.clone().unwrap_or_else(unknown)),
        ("jeton", e.jeton.clone()),
        ("Started", e.started.clone()),
        ("Elapsed", format!("{} s", units::fixed(e.elapsed_s, 1))),
        ("Seed of the random order", result.seed.to_string()),
        ("Result schema", result.schema.to_string()),
    ];
    let facts = facts.map(|(name, value)| {
        if value.trim().is_empty() {
            (name.to_owned(), unknown())
        } else {
            (name.to_owned(), value)
        }
    });
    html! {
        (pairs("Machine and run", "Machine, table", ["Fact", "Value"], &facts, false))
        (runtimes(&e.runtimes_used))
        (map("Runtimes", ["Language", "Version"], &e.runtimes, false))
        (map("Drivers, with the SHA-256 of their sources and lockfile", ["Driver", "SHA-256"], &e.drivers, true))
    }
}

fn runtimes(used: &[RuntimeUsed]) -> Markup {
    let columns = [
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
    let caption = "Runtimes and their support on the day of the run";
    html! {
        @if !used.is_empty() {
            (Page::new(caption, "Runtimes and their support, table").class("pairs").table(&columns, used))
        }
    }
}

fn map(caption: &str, titles: [&str; 2], map: &BTreeMap<String, String>, is_code: bool) -> Markup {
    let rows: Vec<(String, String)> = map.clone().into_iter().collect();
    html! {
        @if !map.is_empty() {
            (pairs(caption, &format!("{caption}, table"), titles, &rows, is_code))
        }
    }
}

/// Renders a table of names and values.
fn pairs(
    caption: &str,
    label: &str,
    [name, value]: [&str; 2],
    rows: &[(String, String)],
    is_code: bool,
) -> Markup {
    let columns = [
        Column::text(name, |(name, _): &(String, String)| Value::text(name)),
        Column::text(value, move |(_, text): &(String, String)| {
            let value = Value::text(text);
            if is_code {
                value.on_page(html! { code.hash { (text) } })
            } else {
                value
            }
        }),
    ];
    Page::new(caption, label)
        .class("pairs")
        .table(&columns, rows)
}
