//! Pauses after conflicts with other nodes.

use std::thread;

use crate::limits::{PAUSE_FIRST, PAUSE_LAST};

/// Pauses before an attempt, unless it is the first (0).
pub(crate) fn pause(attempt: usize) {
    if attempt > 0 {
        let doublings = u32::try_from(attempt - 1).unwrap_or(u32::MAX).min(16);
        let longest = PAUSE_FIRST.saturating_mul(1 << doublings).min(PAUSE_LAST);
        thread::sleep(longest.mul_f64(rand::random()));
    }
}
