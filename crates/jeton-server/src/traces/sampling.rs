//! Which requests are sampled.
//!
//! Every caller can set the sampled flag of `traceparent`, also one without credentials. So the flag selects a bounded
//! number of requests only, and the share of the other requests is a random number that no caller knows.

use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry_sdk::trace::{IdGenerator as _, RandomIdGenerator};

use super::parent::Parent;
use crate::config::Traces;
use crate::rate_limit::RateLimit;

#[derive(Debug)]
pub(super) struct Sampling {
    ratio: f64,
    /// `None`: the parent's flag selects no request.
    sampled_parents: Option<RateLimit>,
    /// Requests that are not sampled because of `sampled_parents`.
    pub(super) limited: AtomicU64,
}

impl Sampling {
    pub(super) fn new(traces: &Traces) -> Sampling {
        let per_minute = traces.sampled_parents_per_minute;
        Sampling {
            ratio: traces.sample_ratio,
            sampled_parents: (per_minute > 0).then(|| RateLimit::new(per_minute)),
            limited: AtomicU64::new(0),
        }
    }

    /// Decides about a request. Allocates nothing.
    pub(super) fn is_sampled(&self, parent: Option<Parent>) -> bool {
        match (parent, &self.sampled_parents) {
            (Some(parent), _) if !parent.is_sampled => false,
            (Some(_), Some(limit)) => {
                let is_sampled = limit.take().is_ok();
                if !is_sampled {
                    self.limited.fetch_add(1, Ordering::Relaxed);
                }
                is_sampled
            }
            _ => self.is_drawn(),
        }
    }

    fn is_drawn(&self) -> bool {
        if self.ratio <= 0.0 || self.ratio >= 1.0 {
            return self.ratio >= 1.0;
        }
        // An id of the SDK is a random number. The trace id of the parent would let a caller choose.
        let drawn = u64::from_be_bytes(RandomIdGenerator::default().new_span_id().to_bytes());
        (drawn as f64) < self.ratio * u64::MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanId, TraceId};

    use super::*;

    fn sampling(ratio: f64, per_minute: u32) -> Sampling {
        let config = format!(
            "[traces]\nendpoint = 'http://127.0.0.1:4318'\nsample_ratio = {ratio:?}\n\
             sampled_parents_per_minute = {per_minute}"
        );
        let config = crate::Config::from_toml(&config).expect("valid");
        Sampling::new(&config.traces.expect("set"))
    }

    fn parent(is_sampled: bool) -> Option<Parent> {
        Some(Parent {
            trace_id: TraceId::from_bytes([1; 16]),
            span_id: SpanId::from_bytes([1; 8]),
            is_sampled,
        })
    }

    fn count(sampling: &Sampling, parent: Option<Parent>, requests: usize) -> usize {
        let sampled = (0..requests).filter(|_| sampling.is_sampled(parent));
        sampled.count()
    }

    #[test]
    fn sampled_parents_are_followed_up_to_the_limit() {
        let sampling = sampling(0.0, 20);
        assert_eq!(count(&sampling, parent(true), 100), 20);
        assert_eq!(sampling.limited.load(Ordering::Relaxed), 80);
        assert_eq!(count(&sampling, None, 100), 0);
    }

    #[test]
    fn unsampled_parents_are_not_sampled() {
        let sampling = sampling(1.0, 20);
        assert_eq!(count(&sampling, parent(false), 100), 0);
        assert_eq!(count(&sampling, None, 100), 100);
    }

    #[test]
    fn flag_without_effect_leaves_the_ratio() {
        assert_eq!(count(&sampling(0.0, 0), parent(true), 100), 0);
        assert_eq!(count(&sampling(1.0, 0), parent(true), 100), 100);
        assert_eq!(count(&sampling(1.0, 0), parent(false), 100), 0);
    }

    #[test]
    fn ratio_is_the_share_of_sampled_requests() {
        let sampled = count(&sampling(0.25, 0), None, 10_000);
        // Six standard deviations.
        assert!((2240..2760).contains(&sampled), "{sampled}");
    }
}
