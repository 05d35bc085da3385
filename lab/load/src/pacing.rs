//! The pace of a run's calls, and the rates derived from a peak.

use jeton_lab_model::servers::Scenario;

/// The fractions of the lowest peak at which an open loop runs: from half of what the slowest
/// server can do to nearly all of it.
pub(super) const PARTS_OF_PEAK: [f64; 3] = [0.5, 0.7, 0.9];

/// The pace of a run's calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pacing {
    /// Each call follows the answer to the previous one, which finds the peak.
    Closed,
    /// Calls are due at this rate, independent of the server.
    Rate(f64),
    /// First closed, then at 50, 70 and 90 % of the lowest peak of each scenario.
    Full,
}

impl Pacing {
    /// Returns how often each server is loaded in each scenario and repetition.
    #[must_use]
    pub fn loads(self) -> usize {
        match self {
            Self::Closed | Self::Rate(_) => 1,
            Self::Full => 1 + PARTS_OF_PEAK.len(),
        }
    }

    /// Returns the calls per second of the first load; none for a closed loop.
    pub(super) fn first(self) -> Option<f64> {
        match self {
            Self::Closed | Self::Full => None,
            Self::Rate(rate) => Some(rate),
        }
    }
}

/// The load of one visit: a scenario, closed or at a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Planned {
    pub(super) scenario: Scenario,
    pub(super) rate: Option<f64>,
}

impl Planned {
    /// For example `1 core, 5×50, HS256, 4830 calls per second`.
    pub(super) fn name(&self) -> String {
        let scenario = self.scenario.name();
        self.rate.map_or(scenario.clone(), |rate| {
            format!("{scenario}, {rate} calls per second")
        })
    }
}

/// The peak of a server in a closed loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Peak {
    pub(super) calls_per_s: f64,
    /// Whether the server has no findings.
    pub(super) is_sound: bool,
}

/// Returns the rates of a scenario's open loops in whole calls per second. All servers have the
/// same rates, so that their latencies compare. The slowest server sets them, so that no server is
/// overloaded. A server with findings is ignored, because it does other work. It is loaded all the
/// same; if a rate is too high for it, its row shows the calls that were not sent.
pub(super) fn rates(peaks: &[Peak]) -> Vec<f64> {
    let lowest = |counts: fn(&&Peak) -> bool| {
        let counted = peaks.iter().filter(counts).map(|peak| peak.calls_per_s);
        counted.reduce(f64::min)
    };
    let Some(lowest) = lowest(|peak| peak.is_sound).or_else(|| lowest(|_| true)) else {
        return Vec::new();
    };
    let mut rates = PARTS_OF_PEAK
        .map(|part| (lowest * part).floor().max(1.0))
        .to_vec();
    rates.dedup();
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peak(calls_per_s: f64, is_sound: bool) -> Peak {
        Peak {
            calls_per_s,
            is_sound,
        }
    }

    #[test]
    fn rates_follow_the_slowest_server_without_findings() {
        let peaks = [peak(40_000.0, true), peak(1001.0, true), peak(300.0, false)];
        assert_eq!(rates(&peaks), [500.0, 700.0, 900.0]);
        assert_eq!(rates(&peaks[2..]), [150.0, 210.0, 270.0]);
    }

    #[test]
    fn rates_are_unique_and_need_a_peak() {
        assert_eq!(rates(&[peak(2.0, true)]), [1.0]);
        assert!(rates(&[]).is_empty());
    }
}
