//! A request to end a run early, or its time limit; the run checks it between two measurements.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A stop signal. Clones share the request and the time limit.
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
    /// Requests the end of the run.
    pub fn request(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }

    /// Sets the time limit, counted from now. Later calls have no effect.
    pub fn within(&self, budget: Duration) {
        let from = Instant::now();
        self.0.until.get_or_init(|| Until { from, budget });
    }

    /// Reports whether the run must end: by request or by its time limit.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.asked() || self.out_of_time()
    }

    /// Reports whether the end was requested.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Reports whether the time limit is reached.
    #[must_use]
    pub fn out_of_time(&self) -> bool {
        self.has_less_than(Duration::from_nanos(1))
    }

    /// Reports whether less than this time is left.
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
    fn stop_by_request_or_time_limit() {
        let stop = Stop::default();
        assert!(!stop.requested() && !stop.has_less_than(Duration::MAX));
        let clone = stop.clone();
        clone.within(Duration::from_secs(3600));
        assert!(!stop.requested());
        assert!(stop.has_less_than(Duration::from_secs(3601)));
        assert!(!stop.has_less_than(Duration::from_secs(3000)));
        stop.within(Duration::ZERO);
        assert!(!clone.out_of_time(), "the limit was already set");
        clone.request();
        assert!(stop.requested() && stop.asked() && !stop.out_of_time());

        let late = Stop::default();
        late.within(Duration::ZERO);
        assert!(late.requested() && late.out_of_time() && !late.asked());
    }
}
