//! How the calls of a run follow each other, and the rates that come of a peak.

use super::Scenario;

/// The parts of the lowest peak at which an open loop asks: half of what the slowest server can do,
/// and nearly all of it.
pub(super) const PARTS_OF_PEAK: [f64; 3] = [0.5, 0.7, 0.9];

/// How the calls of a run follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pacing {
    /// Each after the answer to the one before: the peak.
    Closed,
    /// So many a second are due, whatever the server does.
    Rate(f64),
    /// Closed first, and then at 50, 70 and 90 % of the lowest peak of each scenario.
    Full,
}

impl Pacing {
    /// How often each server is loaded in each scenario, in each repetition.
    #[must_use]
    pub fn loads(self) -> usize {
        match self {
            Self::Closed | Self::Rate(_) => 1,
            Self::Full => 1 + PARTS_OF_PEAK.len(),
        }
    }

    /// The calls a second with which it begins; none for a closed loop.
    pub(super) fn first(self) -> Option<f64> {
        match self {
            Self::Closed | Self::Full => None,
            Self::Rate(rate) => Some(rate),
        }
    }
}

/// What every server is loaded with in turn: a scenario, at a rate or closed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Planned {
    pub(super) scenario: Scenario,
    pub(super) rate: Option<f64>,
}

impl Planned {
    /// As in `1 core, 5×50, HS256, 4830 calls a second`.
    pub(super) fn name(&self) -> String {
        let scenario = self.scenario.name();
        self.rate.map_or(scenario.clone(), |rate| {
            format!("{scenario}, {rate} calls a second")
        })
    }
}

/// What a server answered in a closed loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Peak {
    pub(super) calls_per_s: f64,
    /// Nothing is wrong with it.
    pub(super) is_sound: bool,
}

/// The rates of a scenario's open loops, whole calls a second. All servers have the same, so that
/// their latencies compare; the slowest sets them, so that none is asked for more than it can do. A
/// server with findings does not count: it does other work. It is loaded all the same, and where the
/// rate is beyond it, its row says how many calls were not sent.
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
    fn the_slowest_sound_server_sets_the_rates() {
        let peaks = [peak(40_000.0, true), peak(1001.0, true), peak(300.0, false)];
        assert_eq!(rates(&peaks), [500.0, 700.0, 900.0]);
        assert_eq!(rates(&peaks[2..]), [150.0, 210.0, 270.0]);
    }

    #[test]
    fn no_rate_is_there_twice_and_none_without_a_peak() {
        assert_eq!(rates(&[peak(2.0, true)]), [1.0]);
        assert!(rates(&[]).is_empty());
    }
}
