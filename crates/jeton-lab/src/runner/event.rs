//! What a run tells while it goes on.

/// One thing that happened, for whoever shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A driver is being built.
    Building {
        /// Its id.
        driver: &'a str,
        /// Which of the stale ones it is.
        number: usize,
        /// How many are stale.
        of: usize,
    },
    /// A driver or a subject takes no part.
    Unavailable {
        /// The driver's or the subject's id.
        driver: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// Processes are started, and check each other's tokens.
    Checking {
        /// Cells started.
        done: usize,
        /// Of all.
        of: usize,
    },
    /// A process is warmed up.
    Warming {
        /// The subject's id.
        subject: &'a str,
        /// Cells that are warm.
        done: usize,
        /// Of all.
        of: usize,
    },
    /// A round is done that nobody counts.
    Rehearsing,
    /// There is time for fewer rounds than planned.
    FewerRounds {
        /// What there is time for.
        rounds: u32,
        /// What was planned.
        planned: u32,
    },
    /// A visit of a round is done.
    Round {
        /// Which round, from one.
        number: u32,
        /// Rounds planned.
        of: u32,
        /// Visits done in this round.
        visit: usize,
        /// Visits of a round.
        visits: usize,
    },
    /// The measuring is over.
    Judging,
}
