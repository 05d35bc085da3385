//! What is not the same about where two runs happened.

use std::fmt;

use serde::Serialize;

use crate::result::Environment;

/// One fact that two environments do not share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it is about: `CPU`, `kernel`, `go`.
    pub what: String,
    /// In the earlier run.
    pub before: String,
    /// In the later run.
    pub after: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, before, after) = (&self.what, &self.before, &self.after);
        write!(f, "{what}: {before} / {after}")
    }
}

/// What makes it another machine: no ratio between them is a subject's doing.
pub(super) fn machine(before: &Environment, after: &Environment) -> Vec<Difference> {
    differences([
        ("CPU", before.cpu.clone(), after.cpu.clone()),
        ("cores", before.cores.to_string(), after.cores.to_string()),
        ("CPU flags", before.flags.join(" "), after.flags.join(" ")),
        (
            "hypervisor",
            known(before.hypervisor.as_deref()),
            known(after.hypervisor.as_deref()),
        ),
    ])
}

/// What is set differently below all subjects of the same machine.
pub(super) fn system(before: &Environment, after: &Environment) -> Vec<Difference> {
    differences([
        ("kernel", before.kernel.clone(), after.kernel.clone()),
        (
            "governor",
            known(before.governor.as_deref()),
            known(after.governor.as_deref()),
        ),
    ])
}

/// What is set differently on the same machine: one of the causes that a ratio may have.
pub(super) fn settings(before: &Environment, after: &Environment) -> Vec<Difference> {
    let mut found = system(before, after);
    // A language that only one run used is no difference between the two.
    for (language, version) in &before.runtimes {
        if let Some(later) = after.runtimes.get(language).filter(|v| *v != version) {
            found.push(Difference {
                what: language.clone(),
                before: version.clone(),
                after: later.clone(),
            });
        }
    }
    found
}

fn differences<const N: usize>(facts: [(&str, String, String); N]) -> Vec<Difference> {
    let differ = facts
        .into_iter()
        .filter(|(_, before, after)| before != after);
    differ
        .map(|(what, before, after)| Difference {
            what: what.to_owned(),
            before,
            after,
        })
        .collect()
}

fn known(fact: Option<&str>) -> String {
    fact.unwrap_or("not known").to_owned()
}
