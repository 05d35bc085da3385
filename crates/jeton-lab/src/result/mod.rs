//! One result file: everything a run saw. The terminal table, the page and every export are
//! functions of it.
//!
//! The schema is versioned by [`SCHEMA`] and published as JSON Schema in
//! `docs/result.schema.json`. Members that a reader does not know are ignored; members that the
//! schema does not require read as empty when they are absent.

mod attack;
mod check;
mod file;
mod interop;
mod published_comparison;
mod reading;
mod rows;
mod servers;

pub use attack::{AttackOutcome, AttackRow, Evidence, Practice};
pub use file::{FileError, OutDir, PAGE, to_bytes, to_packed_bytes, write_whole};
pub use interop::{Interop, InteropRow, KeyExchange, Party, Reader};
pub use published_comparison::{
    Answer, ClaimAnswered, PublishedFigure, PublishedRow, PublishedTable, Quantity, RowId,
};
pub use reading::{RESULT_BYTES_MAX, read, read_from};
pub use rows::{ATTACK, INTEROP, Rows, SERVERS};
pub(crate) use servers::latency_ms;
pub use servers::{Repetition, ServerLoad, ServerRow, ServerSubject};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::driver::RUNTIME_MARK;
use crate::recommendation::Recommendation;

/// The version of the result file's schema.
pub const SCHEMA: u32 = 1;

/// Everything one lab run saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`] when the file was written.
    pub schema: u32,
    /// The command that made it, and that repeats it.
    pub command: String,
    /// The seed of the order in which subjects ran.
    pub seed: u64,
    /// Where it ran, and what else happened there.
    pub environment: Environment,
    /// What two identical subjects differed by.
    pub noise_floor: NoiseFloor,
    /// The reports' tables as they were published, each figure beside the measured one.
    #[serde(default)]
    pub published: Vec<PublishedTable>,
    /// What each comparison came to.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
    /// The published conclusions, each with its answer.
    #[serde(default)]
    pub claims_answered: Vec<ClaimAnswered>,
    /// What is recommended to who has the needs that the run was given, or why nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
    /// The runs that were merged into it; empty for a result of one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<MergedRun>,
    /// What was seen, by its kind.
    pub rows: Rows,
}

impl RunResult {
    /// A result of rows that are not timed against each other: it has no noise floor, and no verdict is
    /// drawn from it.
    pub(crate) fn without_verdicts(
        command: String,
        seed: u64,
        environment: Environment,
        rows: Rows,
    ) -> Self {
        Self {
            schema: SCHEMA,
            command,
            seed,
            environment,
            noise_floor: NoiseFloor::default(),
            published: Vec::new(),
            verdicts: Vec::new(),
            claims_answered: Vec::new(),
            recommendation: None,
            runs: Vec::new(),
            rows,
        }
    }
}

/// One of the runs that a merged result is made of, in the order of its rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergedRun {
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// The command that repeats it.
    pub command: String,
    /// The seed of its order.
    pub seed: u64,
    /// How many of each row's rounds are its own; none of attacks and interop.
    pub rounds: u32,
}

/// Where a run happened, and what the machine witnessed while it did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// How long it took once the drivers were built, seconds.
    pub elapsed_s: f64,
    /// `false` if the run was ended before its last round (Ctrl-C).
    pub complete: bool,
    /// Rounds planned, whatever the budget had time for.
    pub rounds_planned: u32,
    /// Rounds that every row has.
    pub rounds_finished: u32,
    /// CPU model name.
    pub cpu: String,
    /// Logical CPUs this process may use.
    pub cores: usize,
    /// CPU flags that matter for cryptography, as the kernel calls them.
    pub flags: Vec<String>,
    /// What the CPU says of itself beyond its name; `None` in a file of an older lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Processor>,
    /// Operating system and kernel release.
    pub kernel: String,
    /// The hypervisor, if the machine says that it has one.
    pub hypervisor: Option<String>,
    /// CPU frequency governor, if known.
    pub governor: Option<String>,
    /// Version of jeton.
    pub jeton: String,
    /// Runtime versions, by language.
    pub runtimes: BTreeMap<String, String>,
    /// The runtimes that the drivers were started with, and whether they still get fixes; empty in a
    /// file of an older lab.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes_used: Vec<RuntimeUsed>,
    /// SHA-256 of each driver's sources and lockfile, by driver.
    pub drivers: BTreeMap<String, String>,
    /// Whether something disturbed the run, and what the machine said.
    #[serde(rename = "taint")]
    pub disturbance: Disturbance,
}

/// A runtime that drivers were started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeUsed {
    /// The language of those drivers.
    pub language: String,
    /// Its name and version, as in the subjects: `JDK 25.0.3`.
    pub name: String,
    /// Where the lab found it: `PATH`, `pyenv`.
    pub found: String,
    /// Whether it still got fixes on the day of the run.
    pub support: SupportState,
    /// Until when it gets fixes, or since when it gets none: a day, or a month that is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support_ends: Option<String>,
}

/// Whether a runtime still gets fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupportState {
    /// It does.
    Supported,
    /// Not any more.
    Ended,
    /// The lab's table does not say: it is newer than the table, for one.
    Unknown,
}

impl RuntimeUsed {
    /// `Node 20.20.2 (out of support since 2026-04-30)`.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!("{} ({})", self.name, self.support_in_words())
    }

    /// `out of support since 2026-04-30`; a month is one that is expected.
    #[must_use]
    pub fn support_in_words(&self) -> String {
        match (self.support, self.support_ends.as_deref()) {
            (SupportState::Supported, Some(month)) if month.len() == "2026-01".len() => {
                format!("supported until {month}, expected")
            }
            (SupportState::Supported, Some(day)) => format!("supported until {day}"),
            (SupportState::Supported, None) => "supported".to_owned(),
            (SupportState::Ended, Some(day)) => format!("out of support since {day}"),
            (SupportState::Ended, None) => "out of support".to_owned(),
            (SupportState::Unknown, _) => "support unknown".to_owned(),
        }
    }
}

impl Environment {
    /// The runtimes that got no fixes any more, in words: a figure of theirs is not that of a current one.
    #[must_use]
    pub fn out_of_support(&self) -> Option<String> {
        let used = self.runtimes_used.iter();
        let ended: Vec<String> = used
            .filter(|r| r.support == SupportState::Ended)
            .map(|r| match &r.support_ends {
                Some(end) => format!("{} (since {end})", r.name),
                None => r.name.clone(),
            })
            .collect();
        (!ended.is_empty()).then(|| ended.join(", "))
    }
}

/// What the CPU says of itself beyond its name, as the kernel writes it. What it does not say is
/// absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processor {
    /// The vendor; on aarch64 the implementer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The CPU family; on aarch64 the architecture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// The model; on aarch64 the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The stepping; on aarch64 variant and revision, as in `r1p2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stepping: Option<String>,
    /// The microcode's revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// The flags that were looked for: of others, `flags` says nothing.
    #[serde(default)]
    pub flags_looked_for: Vec<String>,
}

impl Environment {
    /// The CPU's name, and what else it says of itself:
    /// `AMD EPYC (family 25, model 17, stepping 1, microcode 0x1000065)`.
    #[must_use]
    pub fn cpu_in_full(&self) -> String {
        let processor = self.processor.clone().unwrap_or_default();
        // The kernel has no name for a CPU of aarch64: its implementer is what tells its part.
        let vendor = processor.vendor.filter(|v| v.starts_with("0x"));
        let known: Vec<String> = [
            ("implementer", vendor),
            ("family", processor.family),
            ("model", processor.model),
            ("stepping", processor.stepping),
            ("microcode", processor.microcode),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value?)))
        .collect();
        match known.as_slice() {
            [] => self.cpu.clone(),
            known => format!("{} ({})", self.cpu, known.join(", ")),
        }
    }

    /// Whether the run ended by itself with fewer rounds than were planned: its budget had time for no
    /// more.
    #[must_use]
    pub fn is_cut_by_budget(&self) -> bool {
        self.complete && self.rounds_finished < self.rounds_planned
    }
}

/// What the machine said about the time of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// True if a witness crossed its limit: the figures stand, no advice is drawn from them.
    #[serde(rename = "tainted")]
    pub disturbed: bool,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
    /// Share of CPU time stolen by the hypervisor, if known.
    pub steal: Option<f64>,
    /// Cores that other work kept busy, on average, if known.
    pub load: Option<f64>,
    /// Share of the batches around which the drivers' core was slower than it can be, because
    /// another machine had a part of it, if that was watched. A round leaves them out for a subject
    /// that has others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<f64>,
    /// What could not be watched here, a sentence each.
    pub unwatched: Vec<String>,
}

/// How far two identical subjects were apart: nothing smaller is believed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The floor as a ratio above one: 0.012 is 1.2 %. `None` until measured.
    pub floor: Option<f64>,
    /// The floor where a managed runtime (Node, Java, Python) takes part, if it has pairs of its
    /// own: collectors and compilers make other noise than compiled code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed: Option<f64>,
    /// The identical pairs it comes from.
    pub pairs: Vec<AaPair>,
}

/// One subject measured twice under two names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AaPair {
    /// The subject's id.
    pub subject: String,
    /// The contract.
    #[serde(rename = "contract")]
    pub operation: String,
    /// Second over first, geometric mean of the rounds.
    pub ratio: f64,
    /// The 95 % interval of `ratio`.
    pub interval: [f64; 2],
    /// What the verdict rule says of the pair.
    pub verdict: VerdictKind,
    /// Nanoseconds per operation by round, of the first and of the second.
    #[serde(default)]
    pub rounds: [Vec<f64>; 2],
}

/// What one comparison came to for one subject against its baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The suite.
    pub suite: String,
    /// The contract: the same for both, always.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The claims set: the same for both.
    #[serde(default = "standard_claims")]
    pub claims: String,
    /// Threads: as many for both.
    #[serde(default = "one_thread")]
    pub threads: u32,
    /// The comparison both belong to: a title for people, unique in the file.
    pub comparison: String,
    /// The one factor that differs between them, or every factor if `confounded`.
    pub factors: Vec<String>,
    /// True if more than one factor differs: the ratio stands, no cause can be named.
    pub confounded: bool,
    /// The baseline's id.
    pub baseline: String,
    /// The subject's id.
    pub subject: String,
    /// Subject over baseline: below one is faster.
    pub ratio: f64,
    /// Simultaneous 95 % interval of `ratio` over all that the comparison compares.
    pub interval: [f64; 2],
    /// The verdict.
    pub verdict: VerdictKind,
    /// 1 is the fastest tier; subjects that cannot be told apart share one.
    #[serde(rename = "tier")]
    pub group: u32,
    /// The baseline's own tier in the same comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "baseline_tier")]
    pub baseline_group: Option<u32>,
    /// How many more rounds would probably decide it, when it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_rounds: Option<u32>,
    /// Mann-Whitney p, for information: no verdict is drawn from it.
    pub p_value: f64,
}

impl Verdict {
    /// Whether a row is that of its subject, or of its baseline, whichever has this id.
    #[must_use]
    pub fn is_about(&self, row: &Row, id: &str) -> bool {
        row.subject.id == id
            && row.operation == self.operation
            && row.claims.name == self.claims
            && row.threads == self.threads
    }
}

/// What a verdict of an older lab worked on.
fn standard_claims() -> String {
    crate::suite::STANDARD.to_owned()
}

fn one_thread() -> u32 {
    1
}

/// The four verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// The whole interval is below the band of equivalence.
    Faster,
    /// The whole interval is above it.
    Slower,
    /// The whole interval is inside it.
    Equivalent,
    /// Anything else.
    #[serde(rename = "cannot-tell")]
    Undecided,
}

impl VerdictKind {
    /// The verdict as people read it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Undecided => "cannot tell",
        }
    }
}

/// One subject under one contract, timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The suite that asked for it.
    pub suite: String,
    /// The contract.
    #[serde(rename = "contract")]
    pub operation: String,
    /// What became of it.
    pub status: Status,
    /// Why it is not `ok`, one line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was measured.
    pub subject: Subject,
    /// True for a reference line (the bare primitive): drawn, and never compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// The claims it worked on.
    pub claims: ClaimsSet,
    /// Exact size of its own token, from a token really made.
    pub token_bytes: Option<u64>,
    /// Threads.
    pub threads: u32,
    /// Time: of all threads together, divided by all their operations.
    pub ns_per_op: Option<Timing>,
    /// Bytes allocated per operation, where the runtime counts exactly.
    pub bytes_per_op: Option<f64>,
    /// Allocations per operation, where the runtime counts exactly.
    pub allocs_per_op: Option<f64>,
    /// Peak resident memory of the driver's process.
    pub peak_rss_bytes: Option<u64>,
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Measured.
    Ok,
    /// The driver cannot be built or started here, or does not offer it.
    Unavailable,
    /// It did something wrong before timing: it is not timed.
    FailedPreflight,
    /// Its process died, or answered nonsense.
    Crashed,
    /// It did not answer in time.
    TimedOut,
    /// Measured, while something disturbed the machine.
    #[serde(rename = "tainted")]
    Disturbed,
}

impl Status {
    /// The file's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unavailable => "unavailable",
            Self::FailedPreflight => "failed-preflight",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed-out",
            Self::Disturbed => "tainted",
        }
    }
}

/// Driver × format × algorithm × key handling: one row of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subject {
    /// `go/golang-jwt:jwt:HS256:prepared`; JWE adds its `enc` behind the alg, joined by `+`, and
    /// an RSA key of another size than the usual its bits, joined by `@`. A driver that runs on several
    /// runtimes has the version behind its own id on all but the one on `PATH`:
    /// `java/nimbus-jose-jwt@25.0.3:jwt:HS256:prepared`.
    pub id: String,
    /// The library's name.
    pub library: String,
    /// The library's version, as linked.
    pub version: String,
    /// The driver's language.
    pub language: String,
    /// The runtime of that language, if it is known: `JDK 25.0.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The day on which the library's version was released, if that is known: `2026-01-28`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
    /// The driver of a newer version of the library, if this one is kept because a published report
    /// measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// `jwt`, `jwe`, `v1.local` … `v4.public`, `bare`, `none`.
    pub format: String,
    /// The JOSE algorithm, or none for PASETO.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// The size of an RSA key in bits, where it is not [`RSA_BITS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<u32>,
    /// `prepared` or `parsed-per-call`; for `load-key` the form of the text.
    pub key_handling: String,
}

/// The size of an RSA key that is not said: 2,048 bits, today's minimum.
pub const RSA_BITS: u32 = 2048;

impl Subject {
    /// Whether its key is under today's minimum: measured because a report did, and no choice.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.key_bits.is_some_and(|bits| bits < RSA_BITS)
    }

    /// Whether its language compiles while it runs: its noise is of another kind.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        is_managed(&self.language)
    }

    /// Its runtime, if the run measured its driver on several and this is not the one on `PATH`.
    #[must_use]
    pub fn own_runtime(&self) -> Option<&str> {
        let has_its_own = self.driver().contains(RUNTIME_MARK);
        self.runtime.as_deref().filter(|_| has_its_own)
    }

    /// What is to be known of its version beside its number, for a table: the runtime where there are
    /// several, and that it is an older one.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let runtime = self.own_runtime().map(str::to_owned);
        runtime.into_iter().chain(self.older_version()).collect()
    }

    /// That its version is an older one, and when it was released; `None` for the newest.
    #[must_use]
    pub fn older_version(&self) -> Option<String> {
        self.superseded_by.as_ref()?;
        Some(match &self.released {
            Some(day) => format!("older version, released {day}"),
            None => "older version".to_owned(),
        })
    }

    /// The id of its driver.
    #[must_use]
    pub fn driver(&self) -> &str {
        self.id.split(':').next().unwrap_or_default()
    }
}

/// Whether a language compiles while it runs.
pub(crate) fn is_managed(language: &str) -> bool {
    matches!(language, "node" | "java" | "python")
}

/// The claims that a row worked on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimsSet {
    /// Its name.
    pub name: String,
    /// Its compact JSON's length.
    pub bytes: u64,
}

/// Time per operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The median of the rounds.
    pub median: f64,
    /// The 95 % interval of the median.
    pub interval: [f64; 2],
    /// Each round's value, in the order of the rounds.
    pub rounds: Vec<f64>,
    /// Rounds beyond the outer fences: counted, kept.
    #[serde(default)]
    pub outliers: u32,
    /// True if the runtime never settled while warming up.
    #[serde(default)]
    pub unsettled: bool,
}
