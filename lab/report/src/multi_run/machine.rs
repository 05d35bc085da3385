//! The differences between the machines of two runs.

use std::fmt;

use serde::Serialize;

use jeton_lab_model::result::{Environment, Processor, RunResult};

/// One fact that differs between two environments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The name of the fact: `CPU`, `kernel`, `go`.
    pub what: String,
    /// The value in the earlier run.
    pub before: String,
    /// The value in the later run.
    pub after: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, before, after) = (&self.what, &self.before, &self.after);
        write!(f, "{what}: {before} / {after}")
    }
}

/// Returns the differences that mean another machine. A ratio across machines does not describe a subject.
/// A fact that only one result contains is not a difference.
pub(super) fn machine(before: &Environment, after: &Environment) -> Vec<Difference> {
    let mut found = differences([("CPU", before.cpu.clone(), after.cpu.clone())]);
    found.extend(known_differences(before, after, |p| {
        vec![
            ("CPU vendor", p.vendor.clone()),
            ("CPU family", p.family.clone()),
            ("CPU model", p.model.clone()),
            ("CPU stepping", p.stepping.clone()),
        ]
    }));
    found.extend(flags(before, after));
    found.extend(differences([(
        "cores",
        before.cores.to_string(),
        after.cores.to_string(),
    )]));
    found.extend(hypervisor(before, after));
    found
}

/// A hypervisor that reports no kind.
const OF_UNKNOWN_KIND: &str = "yes, of unknown kind";

/// Returns the difference between the hypervisors. One of unknown kind can be any.
fn hypervisor(before: &Environment, after: &Environment) -> Option<Difference> {
    let both = [before, after].map(|e| e.hypervisor.as_deref());
    if both.iter().all(Option::is_some) && both.contains(&Some(OF_UNKNOWN_KIND)) {
        return None;
    }
    let [before, after] = both.map(known);
    differences([("hypervisor", before, after)]).pop()
}

/// Whether two runs are of one machine, as far as their files tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Machines {
    /// They name a difference of the machine.
    Differ,
    /// They name no difference of the machine. One lacks facts about it, or these settings differ.
    NoDifferenceNamed(Vec<Difference>),
    /// Both name all facts, and the settings too are the same.
    Same,
}

/// Compares the machines of two runs.
#[must_use]
pub(crate) fn machines(one: &RunResult, other: &RunResult) -> Machines {
    let (one, other) = (&one.environment, &other.environment);
    if !machine(one, other).is_empty() {
        return Machines::Differ;
    }
    let is_identified = |e: &&Environment| {
        let p = &e.processor;
        let facts = [&p.vendor, &p.family, &p.model, &p.stepping];
        facts.into_iter().all(Option::is_some)
    };
    let settings = system(one, other);
    if settings.is_empty() && [one, other].iter().all(is_identified) {
        Machines::Same
    } else {
        Machines::NoDifferenceNamed(settings)
    }
}

/// Returns the flags that only one of the two has, of those that both looked for.
fn flags(before: &Environment, after: &Environment) -> Option<Difference> {
    let only = |one: &Environment, other: &Environment| -> Vec<String> {
        let flags = one.flags.iter().filter(|flag| {
            !other.flags.contains(flag) && looked_for(one, flag) && looked_for(other, flag)
        });
        flags.cloned().collect()
    };
    let (in_before, in_after) = (only(before, after), only(after, before));
    let said = |flags: &[String]| match flags {
        [] => "none of these".to_owned(),
        flags => flags.join(" "),
    };
    (!in_before.is_empty() || !in_after.is_empty()).then(|| Difference {
        what: "CPU flags".to_owned(),
        before: said(&in_before),
        after: said(&in_after),
    })
}

fn looked_for(environment: &Environment, flag: &str) -> bool {
    let flags = &environment.processor.flags_looked_for;
    flags.iter().any(|known| known == flag)
}

/// The name of a fact, and its value if known.
type Fact = (&'static str, Option<String>);

/// Returns the facts of the CPU that both know and that differ.
fn known_differences(
    before: &Environment,
    after: &Environment,
    facts: fn(&Processor) -> Vec<Fact>,
) -> Vec<Difference> {
    let both = (facts(&before.processor).into_iter()).zip(facts(&after.processor));
    let differ = both.filter_map(|((what, before), (_, after))| {
        let (before, after) = (before?, after?);
        (before != after).then(|| Difference {
            what: what.to_owned(),
            before,
            after,
        })
    });
    differ.collect()
}

/// The settings that may differ on the same machine.
pub(super) fn system(before: &Environment, after: &Environment) -> Vec<Difference> {
    let mut found = known_differences(before, after, |p| vec![("microcode", p.microcode.clone())]);
    found.extend(differences([
        ("kernel", before.kernel.clone(), after.kernel.clone()),
        (
            "governor",
            known(before.governor.as_deref()),
            known(after.governor.as_deref()),
        ),
    ]));
    found
}

/// Returns the settings that differ on the same machine, as possible causes of a ratio.
pub(super) fn settings(before: &Environment, after: &Environment) -> Vec<Difference> {
    let mut found = system(before, after);
    // A language that only one run used is no difference.
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
    fact.unwrap_or("unknown").to_owned()
}
