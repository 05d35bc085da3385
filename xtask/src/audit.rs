//! `cargo xtask audit`: known vulnerabilities in the dependencies.
//!
//! Not a part of `test`: the answer depends on the day, and the database on the network.

use crate::command::{House, Stop};
use crate::setup::cargo_deny_path;

/// Asks the advisory database. "Cannot tell" is an answer of its own, never "all is well".
pub(crate) fn run(house: &House) -> Result<(), Stop> {
    let cargo_deny = cargo_deny_path(house).ok_or_else(|| {
        Stop::Misused("cargo-deny is not installed: run `cargo xtask setup`".into())
    })?;
    eprintln!("audit: asking the advisory database");
    let output = house
        .command(cargo_deny)
        .args(["--color", "never", "check", "advisories"])
        .output()
        .map_err(|error| Stop::Misused(format!("cargo-deny did not start: {error}")))?;
    let mut talk = String::from_utf8_lossy(&output.stdout).into_owned();
    talk.push_str(&String::from_utf8_lossy(&output.stderr));
    eprint!("{talk}");
    match verdict(output.status.success(), &talk) {
        Verdict::Clean => {
            eprintln!("audit: no known advisory");
            Ok(())
        }
        Verdict::Advisories => Err(Stop::Failed("audit: see the advisories above".into())),
        Verdict::CannotTell => Err(Stop::Misused(
            "audit: cannot tell: the advisory database could not be read. \
             Run it again with the network at hand"
                .into(),
        )),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Clean,
    Advisories,
    CannotTell,
}

/// A finding is only what cargo-deny reports as such; any other failure means that nothing was
/// learned.
fn verdict(success: bool, talk: &str) -> Verdict {
    if success {
        Verdict::Clean
    } else if talk.contains("advisories FAILED") {
        Verdict::Advisories
    } else {
        Verdict::CannotTell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_database_is_cannot_tell() {
        let talk = "[ERROR] failed to fetch advisory database";
        assert_eq!(verdict(false, talk), Verdict::CannotTell);
    }

    #[test]
    fn a_finding_is_a_failure() {
        assert_eq!(verdict(false, "advisories FAILED"), Verdict::Advisories);
    }
}
