//! The clock and the leeway of verifications outside the node.

use std::sync::Arc;
use std::time::Duration;

use jeton::{Clock, Timestamp};
use jeton_issuer::Node;

/// The same leeway as for tokens of the node.
pub(crate) const LEEWAY: Duration =
    Duration::from_secs(jeton_issuer::limits::LEEWAY_SECONDS.unsigned_abs());

/// The clock of a node.
struct NodeClock(Node);

/// Returns the clock of a node, so that every token is verified by one clock.
pub(crate) fn clock_of(node: &Node) -> Arc<dyn Clock> {
    Arc::new(NodeClock(node.clone()))
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}
