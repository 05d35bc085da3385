//! The environment section: machine, runtimes and drivers.

use std::collections::BTreeMap;

use maud::{Markup, html};

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
    html! {
        div.scroll tabindex="0" role="region" aria-label="Machine, table" {
            table.pairs {
                caption { "Machine and run" }
                tbody {
                    @for (name, value) in &facts {
                        tr {
                            th scope="row" { (name) }
                            td { (if value.trim().is_empty() { "unknown" } else { value }) }
                        }
                    }
                }
            }
        }
        (runtimes(&e.runtimes_used))
        (map("Runtimes", "Language", "Version", &e.runtimes, false))
        (map("Drivers, with the SHA-256 of their sources and lockfile", "Driver", "SHA-256", &e.drivers, true))
    }
}

fn runtimes(used: &[RuntimeUsed]) -> Markup {
    html! {
        @if !used.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Runtimes and their support, table" {
                table.pairs {
                    caption { "Runtimes and their support on the day of the run" }
                    thead { tr { th scope="col" { "Runtime" } th scope="col" { "Location" } th scope="col" { "Support" } } }
                    tbody {
                        @for runtime in used {
                            tr {
                                th scope="row" { (runtime.name) }
                                td { (runtime.found) }
                                td { (runtime.support_in_words()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn map(
    caption: &str,
    key: &str,
    value: &str,
    map: &BTreeMap<String, String>,
    code: bool,
) -> Markup {
    html! {
        @if !map.is_empty() {
            div.scroll tabindex="0" role="region" aria-label={ (caption) ", table" } {
                table.pairs {
                    caption { (caption) }
                    thead { tr { th scope="col" { (key) } th scope="col" { (value) } } }
                    tbody {
                        @for (name, text) in map {
                            tr {
                                th scope="row" { (name) }
                                td { @if code { code.hash { (text) } } @else { (text) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
