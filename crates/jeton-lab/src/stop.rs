//! A wish to end early, made from anywhere and honoured between two measurements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says whether the run was asked to end. Clones share one wish.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the run to end.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
