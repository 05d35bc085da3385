//! The outcome of a load, as a file that can be merged with others.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::load::{Load, Pace};
use super::tally::{End, Tally};
use jeton_lab_model::servers::Call;
use jeton_lab_model::servers::Latencies;

/// A loader that used this share of its core was the bottleneck: the measurement is of the loader.
const FULL: f64 = 0.95;

/// The outcome of one loader, or of several in parallel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loaded {
    /// The version of this format: [`Loaded::VERSION`].
    pub load: u32,
    /// The call.
    #[serde(default)]
    pub call: Call,
    /// The algorithm of the tokens.
    pub algorithm: String,
    /// Connections of each loader.
    pub connections: u32,
    /// Calls in flight on each connection.
    pub in_flight: u32,
    /// Calls per second of each loader's open loop; none for a closed loop.
    pub rate: Option<f64>,
    /// The measured time in seconds.
    pub seconds: f64,
    /// The number of parallel loaders.
    pub loaders: u32,
    /// The number of calls by outcome. `OK` has everything that was requested; all others are
    /// errors.
    pub statuses: BTreeMap<String, u64>,
    /// Latencies of calls that ended `OK`; in an open loop from when each was due.
    pub latencies: Latencies,
    /// The number of verified tokens. The status of every answer is checked.
    pub verified: u64,
    /// What was wrong with the first token that did not verify.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_token: Option<String>,
    /// CPU time of the loaders during the measurement in seconds, if the system reports it.
    pub cpu_s: Option<f64>,
    /// Whether a loader's core was fully used: the server could then have done more.
    pub client_bound: Option<bool>,
}

impl Loaded {
    /// The version that is written and read.
    pub const VERSION: u32 = 1;

    pub(super) fn of(load: &Load, tally: Tally, cpu: Option<Duration>) -> Self {
        let seconds = load.measured.as_secs_f64();
        let cpu_s = cpu.map(|cpu| cpu.as_secs_f64());
        let named = tally.ends.into_iter().map(|(end, n)| (end.name(), n));
        Self {
            load: Self::VERSION,
            call: load.request.call,
            algorithm: load.request.algorithm.clone(),
            connections: load.connections,
            in_flight: load.in_flight,
            rate: match load.pace {
                Pace::Closed => None,
                Pace::Open { per_second } => Some(per_second),
            },
            seconds,
            loaders: 1,
            statuses: named.collect(),
            latencies: tally.latencies,
            verified: tally.verified,
            wrong_token: tally.wrong_token,
            cpu_s,
            client_bound: cpu_s.map(|cpu| cpu >= FULL * seconds),
        }
    }

    /// Returns the number of calls that were answered as requested.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.statuses.get(&End::OK.name()).copied().unwrap_or(0)
    }

    /// Returns the number of tokens in the answers: a batch has many.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.answers() * u64::from(self.call.tokens())
    }

    /// Returns the number of failed calls.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.statuses.values().sum::<u64>() - self.answers()
    }

    /// Returns the tokens per second, without errors.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub fn per_second(&self) -> f64 {
        self.tokens() as f64 / self.seconds
    }

    /// Merges outcomes of parallel loaders, as if there were one: histograms and counts are added.
    ///
    /// # Errors
    ///
    /// If the list is empty, or the loads differ.
    pub fn merge(all: &[Self]) -> Result<Self, String> {
        let (first, rest) = all.split_first().ok_or("no load files to merge")?;
        let mut merged = first.clone();
        for (i, one) in rest.iter().enumerate() {
            if let Some(member) = first.differs(one) {
                let number = i + 2;
                return Err(format!(
                    "load file {number} differs from the first: `{member}`"
                ));
            }
            merged.loaders += one.loaders;
            for (status, times) in &one.statuses {
                *merged.statuses.entry(status.clone()).or_default() += times;
            }
            merged.latencies.add(&one.latencies);
            merged.verified += one.verified;
            merged.wrong_token = merged.wrong_token.or_else(|| one.wrong_token.clone());
            merged.cpu_s = merged.cpu_s.zip(one.cpu_s).map(|(a, b)| a + b);
            // One loader at its limit is enough.
            merged.client_bound = match (merged.client_bound, one.client_bound) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        Ok(merged)
    }

    fn differs(&self, other: &Self) -> Option<&'static str> {
        let same = [
            ("load", self.load == other.load),
            ("call", self.call == other.call),
            ("algorithm", self.algorithm == other.algorithm),
            ("connections", self.connections == other.connections),
            ("in_flight", self.in_flight == other.in_flight),
            ("rate", self.rate == other.rate),
            ("seconds", self.seconds.to_bits() == other.seconds.to_bits()),
        ];
        same.into_iter().find(|(_, same)| !same).map(|(m, _)| m)
    }

    /// Reads an outcome that [`serde`] wrote.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let loaded: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if loaded.load != Self::VERSION {
            return Err(format!(
                "load: version {} is not supported, this jeton reads version {}",
                loaded.load,
                Self::VERSION
            ));
        }
        if !(loaded.seconds.is_finite() && loaded.seconds > 0.0) {
            return Err("seconds: must be above zero".to_owned());
        }
        if loaded.answers() != loaded.latencies.count() {
            return Err(
                "latencies: the number of calls differs from those that ended OK".to_owned(),
            );
        }
        Ok(loaded)
    }
}
