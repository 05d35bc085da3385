//! `cargo xtask audit`: known vulnerabilities in the dependencies.
//!
//! Not a part of `test`: the answer depends on the day, and the database on the network.

use crate::command::{Error, Workspace};
use crate::setup::cargo_deny_path;

/// Asks the advisory database. "Undecided" is a result, and never counts as success.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let cargo_deny = cargo_deny_path(workspace).ok_or_else(|| {
        Error::Usage("cargo-deny is not installed: run `cargo xtask setup`".into())
    })?;
    eprintln!("audit: asking the advisory database");
    let output = workspace
        .command(cargo_deny)
        .args(["--color", "never", "check", "advisories"])
        .output()
        .map_err(|error| Error::Usage(format!("cargo-deny did not start: {error}")))?;
    let mut talk = String::from_utf8_lossy(&output.stdout).into_owned();
    talk.push_str(&String::from_utf8_lossy(&output.stderr));
    eprint!("{talk}");
    match verdict(output.status.success(), &talk) {
        Verdict::Clean => {
            eprintln!("audit: no known advisory");
            Ok(())
        }
        Verdict::Advisories => Err(Error::Failed("audit: see the advisories above".into())),
        Verdict::Undecided => Err(Error::Usage(
            "audit: undecided: the advisory database could not be read. \
             Run it again with network access"
                .into(),
        )),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Clean,
    Advisories,
    Undecided,
}

/// A finding is only what cargo-deny reports as such; any other failure means that nothing was
/// learned.
fn verdict(success: bool, talk: &str) -> Verdict {
    if success {
        Verdict::Clean
    } else if talk.contains("advisories FAILED") {
        Verdict::Advisories
    } else {
        Verdict::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audit_without_network_is_undecided() {
        let talk = "[ERROR] failed to fetch advisory database";
        assert_eq!(verdict(false, talk), Verdict::Undecided);
    }

    #[test]
    fn audit_with_finding_fails() {
        assert_eq!(verdict(false, "advisories FAILED"), Verdict::Advisories);
    }
}
