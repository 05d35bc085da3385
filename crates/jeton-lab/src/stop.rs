//! A wish to end early, made from anywhere and honoured between two measurements; or a time by which a run
//! is to be over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Says whether the run is to end. Clones share one wish and one time.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Wish>);

#[derive(Debug, Default)]
struct Wish {
    asked: AtomicBool,
    until: OnceLock<Until>,
}

#[derive(Debug)]
struct Until {
    from: Instant,
    budget: Duration,
}

impl Stop {
    /// Asks the run to end.
    pub fn request(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }

    /// Gives the run so much time from now on. It is given once: another time it stays as it was.
    pub fn within(&self, budget: Duration) {
        let from = Instant::now();
        self.0.until.get_or_init(|| Until { from, budget });
    }

    /// Whether the run is to end: it was asked to, or its time is over.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.asked() || self.out_of_time()
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Whether its time is over.
    #[must_use]
    pub fn out_of_time(&self) -> bool {
        self.has_less_than(Duration::from_nanos(1))
    }

    /// Whether less time than this is left.
    #[must_use]
    pub fn has_less_than(&self, needed: Duration) -> bool {
        let left = |until: &Until| until.budget.saturating_sub(until.from.elapsed());
        self.0.until.get().is_some_and(|until| left(until) < needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_when_it_is_asked_to_or_when_its_time_is_over() {
        let stop = Stop::default();
        assert!(!stop.requested() && !stop.has_less_than(Duration::MAX));
        let clone = stop.clone();
        clone.within(Duration::from_secs(3600));
        assert!(!stop.requested());
        assert!(stop.has_less_than(Duration::from_secs(3601)));
        assert!(!stop.has_less_than(Duration::from_secs(3000)));
        stop.within(Duration::ZERO);
        assert!(!clone.out_of_time(), "it had its time already");
        clone.request();
        assert!(stop.requested() && stop.asked() && !stop.out_of_time());

        let late = Stop::default();
        late.within(Duration::ZERO);
        assert!(late.requested() && late.out_of_time() && !late.asked());
    }
}
