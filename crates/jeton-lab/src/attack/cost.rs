//! What a refusal costs, and when that is too much.

use std::time::Duration;

use super::session::Reply;

/// A refusal that takes longer is one that costs too much, where the control takes less than a tenth.
const REFUSAL_LIMIT: Duration = Duration::from_secs(1);

/// What a refusal may take in memory for each byte of the token, beyond what a text takes that is as
/// long and is no token: its parts may be copied, and the copies may lie in a collector's two halves.
const MEMORY_PER_BYTE: u64 = 10;

/// Below so much memory a runtime's own housekeeping is all that is seen, bytes.
const MEMORY_LEAST: u64 = 24_000_000;

/// What one refusal took.
pub(super) struct Cost {
    pub(super) reply: Reply,
    pub(super) took: Duration,
    /// What a text takes that is as long and is no token.
    pub(super) usual: Duration,
    /// How much the process grew, where the system tells.
    pub(super) more_bytes: Option<u64>,
    pub(super) length: u64,
}

impl Cost {
    pub(super) fn is_over(&self) -> bool {
        let most = (MEMORY_PER_BYTE * self.length).max(MEMORY_LEAST);
        is_slow(self.took, self.usual) || self.more_bytes.is_some_and(|more| more > most)
    }

    pub(super) fn is_refused_at_a_cost(&self) -> bool {
        matches!(self.reply, Reply::Refused(_)) && self.is_over()
    }

    /// The less costly; but whatever is no refusal is worse than any cost.
    pub(super) fn min(self, again: Self) -> Self {
        if !matches!(again.reply, Reply::Refused(_)) || !again.is_over() {
            return again;
        }
        Self {
            took: self.took.min(again.took),
            more_bytes: self.more_bytes.min(again.more_bytes),
            usual: self.usual.max(again.usual),
            ..self
        }
    }

    pub(super) fn figures(&self) -> String {
        format!(
            "{} ms (the same length without a dot: {} ms){}, for {} bytes",
            self.took.as_millis(),
            self.usual.as_millis(),
            self.more_bytes.map_or_else(String::new, |m| format!(
                " and {:.1} MB more memory",
                m as f64 / 1e6
            )),
            self.length
        )
    }
}

/// Whether a refusal took too long, for what is usual.
pub(super) fn is_slow(took: Duration, usual: Duration) -> bool {
    took > REFUSAL_LIMIT && took > usual * 10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(took_ms: u64, more_bytes: u64) -> Cost {
        Cost {
            reply: Reply::Refused("no".into()),
            took: Duration::from_millis(took_ms),
            usual: Duration::from_millis(10),
            more_bytes: Some(more_bytes),
            length: 4_000_000,
        }
    }

    #[test]
    fn what_is_over_the_limit_once_and_under_it_later_is_no_finding() {
        assert!(cost(1500, 0).is_refused_at_a_cost());
        assert!(cost(20, 50_000_000).is_refused_at_a_cost());
        assert!(!cost(900, 30_000_000).is_refused_at_a_cost());
        // Slow the first time, large the second: neither both times.
        assert!(!cost(1500, 0).min(cost(20, 50_000_000)).is_over());
        assert!(cost(1500, 0).min(cost(1200, 0)).is_over());
    }

    #[test]
    fn an_acceptance_is_worse_than_any_cost() {
        let accepted = Cost {
            reply: Reply::Accepted,
            ..cost(20, 0)
        };
        assert_eq!(cost(1500, 0).min(accepted).reply, Reply::Accepted);
    }
}
