//! Changes keys and asks several libraries to read them. `cargo xtask soak --only readers` runs it.
//!
//! `key-readers FORMAT --seconds N [--seed N]` runs; FORMAT is pem, der or jwk. `key-readers FORMAT --case N
//! [--seed N]` repeats one case. Exit codes: 0 done, 1 jeton has a finding, 2 the call was wrong or a tool is
//! missing.

mod case;
mod der_changes;
mod jwk_changes;
mod pem_changes;
mod random;
mod readers;
mod reasons;
mod seeds;
mod signed;
mod study;
#[cfg(test)]
mod tests;
mod tlv;

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use readers::Format;

/// How many classes of a kind the log shows.
const SHOWN: usize = 40;

/// Where the last panic was.
static PANIC: Mutex<String> = Mutex::new(String::new());

enum Job {
    Run { seconds: u64 },
    Case(u64),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A panic in a library is an answer. One of this program is told at the end.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = place.unwrap_or_default();
    }));
    let done = std::panic::catch_unwind(|| run(&arguments)).unwrap_or_else(|_| {
        let place = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        Err(format!("a panic at {place}"))
    });
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(why) => {
            eprintln!("key-readers: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns the number of findings.
fn run(arguments: &[String]) -> Result<u64, String> {
    let (format, seed, job) = parse(arguments)?;
    match job {
        Job::Case(number) => study::show(format, seed, number).map(|()| 0),
        Job::Run { seconds } => {
            let limits = study::Limits {
                time: Duration::from_secs(seconds),
                cases: u64::MAX,
            };
            let outcome = study::run(format, seed, limits)?;
            print!("{}", outcome.log(SHOWN));
            Ok(outcome.findings())
        }
    }
}

fn parse(arguments: &[String]) -> Result<(Format, u64, Job), String> {
    let usage = "usage: key-readers pem|der|jwk (--seconds N | --case N) [--seed N]";
    let (format, options) = arguments.split_first().ok_or(usage)?;
    let format = Format::ALL.into_iter().find(|one| one.name() == format);
    let (mut seed, mut job) = (1, None);
    for option in options.chunks(2) {
        let [name, value] = option else {
            return Err(usage.into());
        };
        let value: u64 = value.parse().map_err(|_| usage)?;
        match name.as_str() {
            "--seed" => seed = value,
            "--seconds" => job = Some(Job::Run { seconds: value }),
            "--case" => job = Some(Job::Case(value)),
            _ => return Err(usage.into()),
        }
    }
    Ok((format.ok_or(usage)?, seed, job.ok_or(usage)?))
}
