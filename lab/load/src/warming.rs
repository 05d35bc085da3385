//! The warm-up after the start: a server is loaded until it stops becoming faster.
//!
//! A runtime with a just-in-time compiler has compiled little after one second. So a server is
//! loaded in slices, each of its calls in turn, until none becomes cheaper or the time limit is
//! reached. A server compiled ahead of time needs three slices of each call.

use std::time::Duration;

use super::loader::Loaded;

/// The number of consecutive slices that must be alike.
const SLICES_ALIKE: usize = 3;
/// The relative difference up to which slices are alike.
const MAX_DIFFERENCE: f64 = 0.05;
/// The longest slice.
const SLICE_MAX: Duration = Duration::from_secs(1);
/// The shortest slice: the minimum load of the loader.
const SLICE_MIN: Duration = Duration::from_millis(100);

/// Returns the length of each slice when this many calls share the time: each call gets twice as
/// many slices as it needs.
pub(super) fn slice(most: Duration, calls: usize) -> Duration {
    let slices = u32::try_from(2 * SLICES_ALIKE * calls).unwrap_or(u32::MAX);
    (most / slices.max(1)).clamp(SLICE_MIN, SLICE_MAX)
}

/// The cost of a call, slice after slice.
#[derive(Debug, Default)]
pub(super) struct WarmUpHistory(Vec<f64>);

impl WarmUpHistory {
    /// Adds a slice: CPU time per token where the system reports it, otherwise elapsed time per
    /// token. Returns false for a slice without a token: there is nothing to warm up.
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub(super) fn add(&mut self, loaded: &Loaded, cpu: Option<Duration>) -> bool {
        let tokens = loaded.tokens();
        if tokens > 0 {
            let seconds = cpu.map_or(loaded.seconds, |cpu| cpu.as_secs_f64());
            self.0.push(seconds / tokens as f64);
        }
        tokens > 0
    }

    /// Returns whether the last slices are alike.
    pub(super) fn is_flat(&self) -> bool {
        let Some(last) = self.0.last_chunk::<SLICES_ALIKE>() else {
            return false;
        };
        let least = last.iter().copied().fold(f64::INFINITY, f64::min);
        last.iter()
            .all(|cost| *cost <= least * (1.0 + MAX_DIFFERENCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn course_is_flat_when_last_slices_are_alike() {
        let flat = |costs: &[f64]| WarmUpHistory(costs.to_vec()).is_flat();
        assert!(flat(&[10.0, 10.4, 10.2]));
        assert!(!flat(&[10.0, 10.0]));
        // Still becoming cheaper, slowly.
        assert!(!flat(&[30.0, 20.0, 15.0]));
        assert!(!flat(&[10.8, 10.4, 10.0]));
        assert!(flat(&[30.0, 20.0, 10.1, 10.0, 10.3]));
        assert!(!flat(&[10.0, 10.0, 10.0, 14.0]));
    }

    #[test]
    fn slices_fit_into_the_warm_up() {
        let most = Duration::from_secs(20);
        assert_eq!(slice(most, 2), Duration::from_secs(1));
        assert!(slice(most, 23) * 23 * 6 <= most);
        assert_eq!(slice(most, 1000), SLICE_MIN);
        assert_eq!(slice(Duration::from_millis(500), 1), SLICE_MIN);
    }
}
