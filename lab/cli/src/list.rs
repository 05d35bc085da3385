//! `jeton-lab list`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_harness::driver::Driver;
use jeton_lab_harness::suite::Suite;
use serde::Serialize;

use super::Drivers;
use super::destination::written;

/// List the suites and drivers, without building anything
///
/// Shows for each driver its library and version, the formats, algorithms and operations that it offers,
/// and why it is unavailable on this machine. A subject is a driver with a format, an algorithm and a
/// key handling. `jeton-lab run --subject` filters by any part of a subject id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab list
  jeton-lab list --json | jq -r '.drivers[] | select(.unavailable) | .id'")]
pub(super) struct List {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    drivers: Drivers,
}

#[derive(Debug, Serialize)]
struct Listed {
    suites: Vec<ListedSuite>,
    drivers: Vec<ListedDriver>,
}

#[derive(Debug, Serialize)]
struct ListedSuite {
    name: &'static str,
    question: &'static str,
}

#[derive(Debug, Serialize)]
struct ListedDriver {
    id: String,
    language: String,
    library: String,
    version: String,
    /// The reason why the driver cannot be built here, if it cannot.
    unavailable: Option<String>,
    offers: Vec<ListedOffer>,
    /// Names in the manifest that this lab does not know; it ignores them.
    unknown: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListedOffer {
    format: String,
    algs: Vec<String>,
    /// The content encryptions of a JWE, each with each algorithm.
    encs: Vec<String>,
    #[serde(rename = "contracts")]
    operations: Vec<&'static str>,
    key_handling: Vec<&'static str>,
    /// The key text formats that the driver reads.
    key_text: Vec<&'static str>,
}

impl List {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let drivers = self.drivers.find()?;
        let suite = |suite: Suite| ListedSuite {
            name: suite.name(),
            question: suite.question(),
        };
        let listed = Listed {
            suites: Suite::ALL.into_iter().map(suite).collect(),
            drivers: drivers.iter().map(listed).collect(),
        };
        if self.json {
            return super::json(&listed);
        }
        written(anstream::stdout().write_all(listed.text().as_bytes()))
    }
}

fn listed(driver: &Driver) -> ListedDriver {
    let m = &driver.manifest;
    let known = m.offers.iter().filter(|offer| offer.format.is_some());
    let offers = known.map(|offer| ListedOffer {
        format: offer.format_name.clone(),
        algs: offer.algs.clone(),
        encs: offer.encs.clone(),
        operations: offer.operations.iter().map(|c| c.name()).collect(),
        key_handling: offer.key_handling.iter().map(|k| k.name()).collect(),
        key_text: offer.key_text.iter().map(|form| form.name()).collect(),
    });
    ListedDriver {
        id: driver.id.clone(),
        language: m.language.clone(),
        library: m.library.clone(),
        version: m.version.clone(),
        unavailable: driver.unmet(),
        offers: offers.collect(),
        unknown: driver.unknown().into_iter().map(str::to_owned).collect(),
    }
}

impl Listed {
    fn text(&self) -> String {
        let mut text = String::from("Suites\n");
        for suite in &self.suites {
            let _ = writeln!(text, "  {:<12} {}", suite.name, suite.question);
        }
        text.push_str("\nDrivers\n");
        for driver in &self.drivers {
            driver.describe(&mut text);
        }
        let missing = self.drivers.iter().filter(|d| d.unavailable.is_some());
        let (count, missing) = (self.drivers.len(), missing.count());
        let mut languages: Vec<&str> = self.drivers.iter().map(|d| d.language.as_str()).collect();
        languages.dedup();
        let _ = writeln!(
            text,
            "\n{count} drivers in {}; {missing} unavailable on this machine. Run `jeton-lab doctor` to see what is missing.",
            languages.join(", ")
        );
        text
    }
}

impl ListedDriver {
    fn describe(&self, text: &mut String) {
        let missing = self.unavailable.as_ref();
        let missing = missing.map_or_else(String::new, |why| format!("  ({why})"));
        let (id, library, version) = (&self.id, &self.library, &self.version);
        let _ = writeln!(text, "  {id:<20} {library} {version}{missing}");
        for offer in &self.offers {
            let mut line = offer.format.clone();
            if !offer.algs.is_empty() {
                line.push(' ');
                line.push_str(&offer.algs.join(" "));
            }
            if !offer.encs.is_empty() {
                line.push_str(", each with ");
                line.push_str(&offer.encs.join(" "));
            }
            let keys = [offer.key_handling.as_slice(), offer.key_text.as_slice()].concat();
            let _ = writeln!(text, "      {line}");
            let _ = writeln!(
                text,
                "        {}; keys {}",
                offer.operations.join(", "),
                keys.join(", ")
            );
        }
        for word in &self.unknown {
            let _ = writeln!(text, "      unknown to this lab: {word}");
        }
    }
}
