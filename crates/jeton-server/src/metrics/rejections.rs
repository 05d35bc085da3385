//! Rejected tokens by reason.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use jeton::error::codes::{self, Cause};

/// A counter for each error code.
#[derive(Debug)]
pub(crate) struct Rejections(Box<[AtomicU64]>);

impl Default for Rejections {
    fn default() -> Self {
        let counters = codes::ALL.iter().map(|_| AtomicU64::new(0));
        Rejections(counters.collect())
    }
}

impl Rejections {
    /// Counts a rejected token. The reason is the name of a code.
    pub(crate) fn count(&self, reason: &str) {
        let at = codes::ALL.iter().position(|code| code.name() == reason);
        if let Some(counter) = at.and_then(|at| self.0.get(at)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes every reason that a token can have, also those without a rejection: an alert on a missing series
    /// never fires.
    pub(super) fn write(&self, text: &mut String) {
        text.push_str(
            "# HELP jeton_tokens_rejected Rejected tokens by reason.\n\
             # TYPE jeton_tokens_rejected counter\n",
        );
        for (code, counter) in codes::ALL.iter().zip(&self.0) {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 || code.cause() == Cause::TokenSender {
                let reason = code.name();
                let _ = writeln!(
                    text,
                    "jeton_tokens_rejected_total{{reason=\"{reason}\"}} {count}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejection_is_counted_by_its_reason() {
        let rejections = Rejections::default();
        rejections.count(codes::TOKEN_REVOKED.name());
        rejections.count("no such reason");
        let mut text = String::new();
        rejections.write(&mut text);
        assert!(text.contains("jeton_tokens_rejected_total{reason=\"TOKEN_REVOKED\"} 1\n"));
        assert!(text.contains("jeton_tokens_rejected_total{reason=\"TOKEN_EXPIRED\"} 0\n"));
        assert_eq!(text.matches("} 1\n").count(), 1, "{text}");
    }
}
