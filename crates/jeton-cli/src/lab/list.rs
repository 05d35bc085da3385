//! `jeton lab list`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::driver::Driver;
use jeton_lab::suite::Suite;

use super::Drivers;

/// Show the suites and the subjects, without building anything
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    drivers: Drivers,
}

impl List {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let drivers = self.drivers.find()?;
        let mut text = String::from("Suites\n");
        for suite in Suite::ALL {
            let _ = writeln!(text, "  {:<12} {}", suite.name(), suite.question());
        }
        text.push_str("\nDrivers\n");
        for driver in &drivers {
            describe(driver, &mut text);
        }
        let _ = anstream::stdout().write_all(text.as_bytes());
        Ok(ExitCode::SUCCESS)
    }
}

fn describe(driver: &Driver, text: &mut String) {
    let m = &driver.manifest;
    let missing = driver
        .missing_command()
        .map(|need| format!("  (needs `{need}`, which is not on PATH)"))
        .unwrap_or_default();
    let _ = writeln!(
        text,
        "  {:<20} {} {}{missing}",
        driver.id, m.library, m.version
    );
    for offer in &m.offers {
        if offer.format.is_none() {
            continue;
        }
        let contracts: Vec<_> = offer.contracts.iter().map(|c| c.name()).collect();
        let mut keys: Vec<_> = offer.key_handling.iter().map(|k| k.name()).collect();
        keys.extend(offer.key_text.iter().map(|f| f.name()));
        let algs = if offer.algs.is_empty() {
            String::new()
        } else {
            format!(" {}", offer.algs.join(" "))
        };
        let encs = if offer.encs.is_empty() {
            String::new()
        } else {
            format!(", each with {}", offer.encs.join(" "))
        };
        let _ = writeln!(text, "      {}{algs}{encs}", offer.format_name);
        let _ = writeln!(
            text,
            "        {}; keys {}",
            contracts.join(", "),
            keys.join(", ")
        );
    }
    for word in driver.unknown() {
        let _ = writeln!(text, "      not known to this lab: {word}");
    }
}
