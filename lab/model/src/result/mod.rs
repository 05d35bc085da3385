//! The result file: everything that a run measured. The terminal tables, the page and every export are
//! functions of it.
//!
//! The schema is versioned by [`SCHEMA`] and published as JSON Schema in `docs/result.schema.json`.
//! Readers ignore unknown members; optional members read as empty when they are absent. Some members
//! keep their stored names, which differ from the names here.

mod attack;
mod check;
mod error;
mod file;
mod interop;
mod published_comparison;
mod reading;
mod rows;
mod servers;
mod subject;

pub use attack::{AttackOutcome, AttackRow, Evidence, Practice};
pub use error::RESULT_BYTES_MAX;
pub use file::{OutDir, PAGE, to_bytes, to_packed_bytes, to_text, write_whole};
pub use interop::{Interop, InteropRow, KeyExchange, Party, Reader};
pub use published_comparison::{
    Answer, ClaimAnswered, PublishedFigure, PublishedRow, PublishedTable, PublishedWork, Quantity,
    RowId,
};
pub use reading::{read, read_from, read_measured, read_measured_from};
pub use rows::{ATTACK, INTEROP, Rows, SERVERS};
pub use servers::{Repetition, ServerLoad, ServerRow, ServerSubject, latency_ms};
pub use subject::{RSA_BITS, RUNTIME_MARK, Subject, is_managed};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::name_table::named;
use crate::recommendation::Recommendation;
use crate::{Format, Operation};

/// The version of the result file's schema.
pub const SCHEMA: u32 = 1;

/// Everything that one lab run measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// The command that created the file; it repeats the run.
    pub command: String,
    /// The seed of the random order of subjects.
    pub seed: u64,
    /// The machine, and what disturbed the run.
    pub environment: Environment,
    /// The noise floor of the run.
    pub noise_floor: NoiseFloor,
    /// The tables of the reports, each published figure with the measured one.
    #[serde(default)]
    pub published: Vec<PublishedTable>,
    /// The verdicts of all comparisons.
    #[serde(default)]
    pub verdicts: Vec<Verdict>,
    /// The published conclusions with their answers.
    #[serde(default)]
    pub claims_answered: Vec<ClaimAnswered>,
    /// The recommendation for the given requirements, or the reasons why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
    /// The merged runs; empty for a single run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<MergedRun>,
    /// The rows, by kind.
    pub rows: Rows,
}

impl RunResult {
    /// Creates a result of rows without comparisons: it has no noise floor and no verdicts.
    #[must_use]
    pub fn without_verdicts(
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

/// One of the runs in a merged result, in the order of its rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MergedRun {
    /// The start of the run, RFC 3339, UTC.
    pub started: String,
    /// The command that repeats the run.
    pub command: String,
    /// The seed of its random order.
    pub seed: u64,
    /// The number of rounds of each row from this run; 0 for attacks and interop.
    pub rounds: u32,
}

/// The machine of a run, and what happened on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The start of the run, RFC 3339, UTC.
    pub started: String,
    /// The duration without building drivers, in seconds.
    pub elapsed_s: f64,
    /// `false` if the run ended before its last round (Ctrl-C).
    pub complete: bool,
    /// The planned rounds, without regard to the time limit.
    pub rounds_planned: u32,
    /// The rounds that every row has.
    pub rounds_finished: u32,
    /// CPU model name.
    pub cpu: String,
    /// The number of logical CPUs available to this process.
    pub cores: usize,
    /// CPU flags that matter for cryptography, with the kernel's names.
    pub flags: Vec<String>,
    /// Further identification of the CPU.
    pub processor: Processor,
    /// Operating system and kernel release.
    pub kernel: String,
    /// The hypervisor, if the machine reports one.
    pub hypervisor: Option<String>,
    /// CPU frequency governor, if known.
    pub governor: Option<String>,
    /// The version of jeton.
    pub jeton: String,
    /// The commit of the checkout that the lab was built from, with `-dirty` if files were changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The runtime versions, by language.
    pub runtimes: BTreeMap<String, String>,
    /// The runtimes of the drivers with their support state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes_used: Vec<RuntimeUsed>,
    /// The SHA-256 of each driver's sources and lockfile, by driver.
    pub drivers: BTreeMap<String, String>,
    /// What disturbed the run.
    #[serde(rename = "taint")]
    pub disturbance: Disturbance,
}

/// A runtime of the drivers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeUsed {
    /// The language of the drivers.
    pub language: String,
    /// Name and version, as in the subjects: `JDK 25.0.3`.
    pub name: String,
    /// Where the lab found the runtime: `PATH`, `pyenv`.
    pub found: String,
    /// Whether the runtime was supported on the day of the run.
    pub support: SupportState,
    /// The last day of support, or the first day without it; an expected date is a month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support_ends: Option<String>,
}

/// Whether a runtime is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupportState {
    /// The runtime gets fixes.
    Supported,
    /// The runtime gets no more fixes.
    Ended,
    /// Unknown, for example because the runtime is newer than the lab's table.
    Unknown,
}

impl RuntimeUsed {
    /// Returns a description: `Node 20.20.2 (out of support since 2026-04-30)`.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!("{} ({})", self.name, self.support_in_words())
    }

    /// Returns the support state: `out of support since 2026-04-30`.
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
    /// Returns the runtimes that were out of support, if any.
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

/// Further identification of the CPU, as the kernel reports it. Unreported values are absent.
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
    /// The stepping; on aarch64 variant and revision, for example `r1p2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stepping: Option<String>,
    /// The microcode revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// The flags that the lab looked for; `flags` gives no information about others.
    pub flags_looked_for: Vec<String>,
}

impl Environment {
    /// Returns the CPU's name with its further identification: `AMD EPYC (family 25, model 17, stepping
    /// 1, microcode 0x1000065)`.
    #[must_use]
    pub fn cpu_in_full(&self) -> String {
        let processor = self.processor.clone();
        // On aarch64 the kernel reports no CPU name; the implementer distinguishes the parts.
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

    /// Reports whether the run completed fewer rounds than planned because of its time limit.
    #[must_use]
    pub fn is_cut_by_budget(&self) -> bool {
        self.complete && self.rounds_finished < self.rounds_planned
    }
}

/// What disturbed a run, and what was checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// True if a check exceeded its limit: the figures remain, but there is no recommendation.
    #[serde(rename = "tainted")]
    pub disturbed: bool,
    /// The reasons, one sentence each.
    pub reasons: Vec<String>,
    /// The share of CPU time stolen by the hypervisor, if known.
    pub steal: Option<f64>,
    /// The average number of cores used by other processes, if known.
    pub load: Option<f64>,
    /// The share of batches during which the drivers' core was slower because another virtual machine
    /// shared it, if known. A round excludes these batches for a subject that has others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<f64>,
    /// The share of the time in which work waited for a free core, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// How often the CPU was throttled because of heat, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
    /// What could not be checked on this machine, one sentence each.
    pub unwatched: Vec<String>,
}

/// How far A/A pairs differ: smaller differences do not count.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// The floor as a ratio minus one: 0.012 is 1.2 %. `None` until measured.
    pub floor: Option<f64>,
    /// The floor for managed runtimes (Node, Java, Python), if they have their own pairs: garbage
    /// collectors and compilers cause different noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed: Option<f64>,
    /// The floors for more threads than those of `floor`, from pairs with the same number of threads.
    /// Threads that share cores are noisier than one thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadsFloor>,
    /// The A/A pairs.
    pub pairs: Vec<AaPair>,
}

/// The noise floor of operations on several threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThreadsFloor {
    /// The number of threads.
    pub threads: u32,
    /// The floor as a ratio minus one.
    pub floor: f64,
}

impl NoiseFloor {
    /// Returns the floor for managed runtimes if it is the wider one. A pair with a managed runtime has the
    /// wider of both.
    #[must_use]
    pub fn wider_managed(&self) -> Option<f64> {
        self.managed
            .filter(|managed| self.floor.is_none_or(|floor| *managed > floor))
    }

    /// Returns the number of threads that `floor` and `managed` are for: the fewest of all A/A pairs.
    #[must_use]
    pub fn fewest_threads(&self) -> u32 {
        let threads = self.pairs.iter().map(|pair| pair.threads);
        threads.min().unwrap_or(1)
    }
}

/// An A/A pair: one subject measured twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AaPair {
    /// The subject's id.
    pub subject: String,
    /// The operation.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The number of threads.
    pub threads: u32,
    /// The ratio of the second to the first, geometric mean of the rounds.
    pub ratio: f64,
    /// The 95 % interval of `ratio`.
    pub interval: [f64; 2],
    /// The verdict on the pair.
    pub verdict: VerdictKind,
    /// Nanoseconds per operation by round, of the first and the second measurement.
    pub rounds: [Vec<f64>; 2],
}

/// The verdict on one subject against the baseline of its comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The suite.
    pub suite: String,
    /// The operation, the same for both.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The claims set, the same for both.
    pub claims: String,
    /// The number of threads, the same for both.
    pub threads: u32,
    /// The title of the comparison, unique in the file.
    pub comparison: String,
    /// The factor that differs, or all factors if `confounded`.
    pub factors: Vec<String>,
    /// True if more than one factor differs: the ratio then has no single cause.
    pub confounded: bool,
    /// The baseline's id.
    pub baseline: String,
    /// The subject's id.
    pub subject: String,
    /// The ratio of subject to baseline: below one is faster.
    pub ratio: f64,
    /// The simultaneous 95 % interval of `ratio` over all subjects of the comparison.
    pub interval: [f64; 2],
    /// The verdict.
    pub verdict: VerdictKind,
    /// The number of the group; 1 is the fastest. Subjects of a group cannot be distinguished.
    #[serde(rename = "tier")]
    pub group: u32,
    /// The baseline's group in the same comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "baseline_tier")]
    pub baseline_group: Option<u32>,
    /// The number of further rounds that would probably decide an undecided verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_rounds: Option<u32>,
    /// Mann-Whitney p, for information only; no verdict uses it.
    pub p_value: f64,
}

impl Verdict {
    /// Reports whether a row belongs to the subject or baseline with this id.
    #[must_use]
    pub fn is_about(&self, row: &Row, id: &str) -> bool {
        row.subject.id == id
            && row.operation == self.operation
            && row.claims.name == self.claims
            && row.threads == self.threads
    }
}

/// The four verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// The whole interval is below the equivalence band.
    Faster,
    /// The whole interval is above the equivalence band.
    Slower,
    /// The whole interval is inside the equivalence band.
    Equivalent,
    /// Any other interval.
    #[serde(rename = "cannot-tell")]
    Undecided,
}

impl VerdictKind {
    /// Returns the verdict for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }
}

/// The beginning of the reason of a row whose driver does not offer the operation.
pub const NOT_OFFERED: &str = "does not offer it";

/// One timed subject and operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The suite of the row.
    pub suite: String,
    /// The operation.
    #[serde(rename = "contract")]
    pub operation: String,
    /// The status.
    pub status: Status,
    /// The reason if the status is not `ok`, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The measured subject.
    pub subject: Subject,
    /// True for a reference (the bare primitive): drawn, but not compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
    /// The claims set.
    pub claims: ClaimsSet,
    /// The exact size of the subject's token.
    pub token_bytes: Option<u64>,
    /// The number of threads.
    pub threads: u32,
    /// The time of all threads together, divided by all their operations.
    pub ns_per_op: Option<Timing>,
    /// Bytes allocated per operation, if the runtime counts exactly.
    pub bytes_per_op: Option<f64>,
    /// Allocations per operation, if the runtime counts exactly.
    pub allocs_per_op: Option<f64>,
    /// Peak resident memory of the driver's process.
    pub peak_rss_bytes: Option<u64>,
    /// Wrong keys that the library loaded without an error, as a remark says it: it does less than others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads_wrong_keys: Vec<String>,
}

impl Row {
    /// Reports whether the row has no time because its driver does not offer the operation.
    #[must_use]
    pub fn is_not_offered(&self) -> bool {
        let reason = self.reason.as_deref().unwrap_or_default();
        self.status == Status::Unavailable && reason.starts_with(NOT_OFFERED)
    }

    /// Reports whether subject and operation make the row a reference.
    #[must_use]
    pub fn is_reference_work(&self) -> bool {
        let format = Format::named(&self.subject.format);
        let no_token = matches!(
            format,
            Some(Format::Bare | Format::Unsecured | Format::Opaque)
        );
        no_token || self.operation == Operation::VerifyParsed.name()
    }
}

named! {
    /// The status of a row.
    Status {
        /// Measured.
        Ok = "ok",
        /// The driver cannot be built or started here, or does not offer the operation.
        Unavailable = "unavailable",
        /// The subject failed a preflight check and is not timed.
        FailedPreflight = "failed-preflight",
        /// The process exited, or sent invalid answers.
        Crashed = "crashed",
        /// The driver did not answer in time.
        TimedOut = "timed-out",
        /// Measured, while something disturbed the machine.
        Disturbed = "tainted",
    }
}

/// The claims of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimsSet {
    /// The name of the set.
    pub name: String,
    /// The length of the compact JSON.
    pub bytes: u64,
}

/// Time per operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The median of the rounds.
    pub median: f64,
    /// The 95 % interval of the median.
    pub interval: [f64; 2],
    /// The value of each round, in order.
    pub rounds: Vec<f64>,
    /// Rounds beyond the outer fences: counted, kept.
    pub outliers: u32,
    /// True if the runtime did not settle during warm-up.
    pub unsettled: bool,
}
