//! The cost of rejecting a token, and its limits.

use std::time::Duration;

use super::session::Reply;

/// A rejection that takes longer is over the limit, if the control takes less than a tenth.
const REFUSAL_LIMIT: Duration = Duration::from_secs(1);

/// The memory that a rejection may use for each byte of the token, beyond that for random text of
/// the same length. Parts may be copied, and the copies may be in both halves of a collector's
/// heap.
const MEMORY_PER_BYTE: u64 = 10;

/// Below this many bytes, only the runtime's own allocations are visible.
const MEMORY_LEAST: u64 = 24_000_000;

/// The cost of one rejection.
pub(super) struct Cost {
    pub(super) reply: Reply,
    pub(super) took: Duration,
    /// The time for random text of the same length.
    pub(super) usual: Duration,
    /// How much the process grew, where the system reports it.
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

    /// Returns the cheaper of the two. A reply other than a rejection is worse than any cost.
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

/// Returns whether a rejection took too long, compared with the usual time.
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
    fn cost_over_limit_only_once_is_not_a_finding() {
        assert!(cost(1500, 0).is_refused_at_a_cost());
        assert!(cost(20, 50_000_000).is_refused_at_a_cost());
        assert!(!cost(900, 30_000_000).is_refused_at_a_cost());
        // Slow the first time and large the second: neither limit is exceeded twice.
        assert!(!cost(1500, 0).min(cost(20, 50_000_000)).is_over());
        assert!(cost(1500, 0).min(cost(1200, 0)).is_over());
    }

    #[test]
    fn accepted_token_is_worse_than_any_cost() {
        let accepted = Cost {
            reply: Reply::Accepted,
            ..cost(20, 0)
        };
        assert_eq!(cost(1500, 0).min(accepted).reply, Reply::Accepted);
    }
}
