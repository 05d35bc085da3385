//! The schedule of an open loop's calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// The shortest sleep: calls that are due within it are released together. The added delay is part
/// of the latency, because a latency counts from when its call was due.
const STEP: Duration = Duration::from_micros(100);

/// Releases one call each time one is due. The runtime's timers have a resolution of milliseconds,
/// a sleeping thread of tens of microseconds. So this is a thread of its own.
#[derive(Debug)]
pub(super) struct Pacer {
    due: Arc<Semaphore>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pacer {
    pub(super) fn start(schedule: Schedule, until: Instant) -> Self {
        let due = Arc::new(Semaphore::new(0));
        let ended = Arc::new(AtomicBool::new(false));
        let (permits, stop) = (due.clone(), ended.clone());
        let thread = thread::spawn(move || {
            let mut let_go = 0;
            while !stop.load(Ordering::Relaxed) {
                let now = Instant::now();
                let by_now = schedule.due_by(now.min(until));
                permits.add_permits(usize::try_from(by_now - let_go).unwrap_or(usize::MAX));
                let_go = by_now;
                if now >= until {
                    // No call waits any more; remaining due calls are taken without a permit.
                    permits.close();
                    break;
                }
                let next = schedule
                    .at(let_go)
                    .saturating_duration_since(Instant::now());
                thread::sleep(next.max(STEP));
            }
        });
        Self {
            due,
            ended,
            thread: Some(thread),
        }
    }

    /// Waits until a due call is available, or until no more calls are due.
    pub(super) async fn next(&self) {
        if let Ok(permit) = self.due.acquire().await {
            permit.forget();
        }
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread cannot panic: it only counts and sleeps.
            let _ = thread.join();
        }
    }
}

/// The first call is due at the beginning; the others follow at equal intervals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    pub(super) began: Instant,
    pub(super) per_second: f64,
}

impl Schedule {
    /// Returns when the call with that number is due, counted from 0.
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    pub(super) fn at(&self, number: u64) -> Instant {
        self.began + Duration::from_secs_f64(number as f64 / self.per_second)
    }

    /// Returns how many calls are due before that time.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and far below 2^53"
    )]
    pub(super) fn due_by(&self, time: Instant) -> u64 {
        let passed = time.saturating_duration_since(self.began).as_secs_f64();
        (passed * self.per_second).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_calls_are_due_at_the_rate() {
        let began = Instant::now();
        let schedule = Schedule {
            began,
            per_second: 200.0,
        };
        assert_eq!(schedule.at(0), began);
        assert_eq!(schedule.at(100), began + Duration::from_millis(500));
        assert_eq!(schedule.due_by(began), 0);
        assert_eq!(schedule.due_by(began + Duration::from_millis(1)), 1);
        assert_eq!(schedule.due_by(began + Duration::from_secs(2)), 400);
    }
}
