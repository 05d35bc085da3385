//! The differences between the machines of two runs.

use std::fmt;

use serde::Serialize;

use jeton_lab_model::result::{Environment, RunResult};

/// One fact that differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The name of the fact: `CPU`, `kernel`, `go`.
    pub what: String,
    pub before: String,
    pub after: String,
}

impl Difference {
    pub(super) fn of<T: ToString + PartialEq>(
        what: impl Into<String>,
        before: T,
        after: T,
    ) -> Option<Self> {
        (before != after).then(|| Self {
            what: what.into(),
            before: before.to_string(),
            after: after.to_string(),
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, before, after) = (&self.what, &self.before, &self.after);
        write!(f, "{what}: {before} / {after}")
    }
}

pub(crate) fn joined(differences: &[Difference]) -> String {
    let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
    list.join("; ")
}

/// Returns the differences that mean another machine. A ratio across machines does not describe a subject.
/// A fact that only one result contains is not a difference.
pub(super) fn machine(before: &Environment, after: &Environment) -> Vec<Difference> {
    let known = identity(before).into_iter().zip(identity(after));
    let known = known.map(|((what, own), (_, other))| Difference::of(what, own?, other?));
    let first = [Difference::of("CPU", &before.cpu, &after.cpu)];
    let last = [
        flags(before, after),
        Difference::of("cores", before.cores, after.cores),
        hypervisor(before, after),
    ];
    let all = first.into_iter().chain(known).chain(last);
    all.flatten().collect()
}

/// Returns what a processor says of itself.
fn identity(environment: &Environment) -> [(&'static str, Option<&String>); 4] {
    let own = &environment.processor;
    [
        ("CPU vendor", own.vendor.as_ref()),
        ("CPU family", own.family.as_ref()),
        ("CPU model", own.model.as_ref()),
        ("CPU stepping", own.stepping.as_ref()),
    ]
}

/// A hypervisor that reports no kind.
const OF_UNKNOWN_KIND: &str = "yes, of unknown kind";

/// Returns the difference between the hypervisors. One of unknown kind can be any.
fn hypervisor(before: &Environment, after: &Environment) -> Option<Difference> {
    let both = [before, after].map(|e| e.hypervisor.as_deref());
    let is_open = both.iter().all(Option::is_some) && both.contains(&Some(OF_UNKNOWN_KIND));
    let [before, after] = both.map(known);
    Difference::of("hypervisor", before, after).filter(|_| !is_open)
}

/// Whether two runs are of one machine, as far as their files tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Machines {
    Differ,
    /// They name no difference of the machine. One lacks facts about it, or these settings differ.
    NoDifferenceNamed(Vec<Difference>),
    /// Both name all facts, and the settings too are the same.
    Same,
}

pub(crate) fn machines(one: &RunResult, other: &RunResult) -> Machines {
    let (one, other) = (&one.environment, &other.environment);
    let is_identified = |e: &Environment| identity(e).iter().all(|(_, fact)| fact.is_some());
    let settings = system(one, other);
    if !machine(one, other).is_empty() {
        Machines::Differ
    } else if settings.is_empty() && is_identified(one) && is_identified(other) {
        Machines::Same
    } else {
        Machines::NoDifferenceNamed(settings)
    }
}

/// Returns the flags that only one of the two has, of those that both looked for.
fn flags(before: &Environment, after: &Environment) -> Option<Difference> {
    let looked_for = |e: &Environment, flag: &String| e.processor.flags_looked_for.contains(flag);
    let only = |one: &Environment, other: &Environment| {
        let flags = one.flags.iter().filter(|flag| {
            !other.flags.contains(flag) && looked_for(one, flag) && looked_for(other, flag)
        });
        let flags: Vec<&str> = flags.map(String::as_str).collect();
        if flags.is_empty() {
            "none of these".to_owned()
        } else {
            flags.join(" ")
        }
    };
    Difference::of("CPU flags", only(before, after), only(after, before))
}

/// The settings that may differ on the same machine.
pub(super) fn system(before: &Environment, after: &Environment) -> Vec<Difference> {
    let [own, other] =
        [before, after].map(|e| (&e.processor.microcode, known(e.governor.as_deref())));
    let microcode = own.0.as_ref().zip(other.0.as_ref());
    let all = [
        microcode.and_then(|(own, other)| Difference::of("microcode", own, other)),
        Difference::of("kernel", &before.kernel, &after.kernel),
        Difference::of("governor", own.1, other.1),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the settings that differ on the same machine, as possible causes of a ratio.
pub(super) fn settings(before: &Environment, after: &Environment) -> Vec<Difference> {
    // A language that only one run used is no difference.
    let runtimes = before.runtimes.iter();
    let runtimes = runtimes.filter_map(|(language, version)| {
        Difference::of(language, version, after.runtimes.get(language)?)
    });
    system(before, after).into_iter().chain(runtimes).collect()
}

fn known(fact: Option<&str>) -> &str {
    fact.unwrap_or("unknown")
}
