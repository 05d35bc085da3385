//! Which clocks of the running nodes agree.
//!
//! Nobody knows which clock is right, so the majority decides. Of two clocks that differ, none is the majority.

use crate::limits::CLOCK_SKEW_SECONDS;

/// A difference that is measured may be this much too large: both times are whole seconds, and a record takes a while
/// to arrive.
const MEASURED: i64 = 2;

/// What the clocks of all running nodes say about the clock of this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    /// No other clock is known.
    Alone,
    /// The clock agrees with the majority, whose latest clock is ahead by so much.
    WithMajority {
        /// Seconds.
        latest: i64,
    },
    /// The majority agrees, and this clock is ahead of it by so much, or behind.
    Apart {
        /// Seconds.
        ahead: i64,
        /// Nodes of the majority.
        majority: usize,
        /// All nodes.
        nodes: usize,
    },
    /// No majority agrees.
    Split {
        /// The largest difference to this clock, seconds.
        ahead: i64,
        /// All nodes.
        nodes: usize,
    },
}

/// Compares the clocks, given how far each other clock is ahead of this one.
pub(super) fn agreement(others: &[i64]) -> Agreement {
    if others.is_empty() {
        return Agreement::Alone;
    }
    let allowed = CLOCK_SKEW_SECONDS + MEASURED;
    let mut clocks: Vec<i64> = others.iter().copied().chain([0]).collect();
    clocks.sort_unstable();
    let nodes = clocks.len();
    // The largest set of clocks of which none is too far from the first. If there are two, the one with this clock.
    let set_from = |first: &i64| {
        let set = clocks
            .iter()
            .filter(|clock| (*first..=first.saturating_add(allowed)).contains(clock));
        let set: Vec<i64> = set.copied().collect();
        (set.len(), set.contains(&0), set)
    };
    let largest = clocks.iter().map(set_from).max();
    let (majority, has_own, set) = largest.unwrap_or_default();
    let (earliest, latest) = (
        set.first().copied().unwrap_or(0),
        set.last().copied().unwrap_or(0),
    );
    if 2 * majority <= nodes {
        let farthest = clocks.iter().map(|clock| clock.saturating_neg());
        let ahead = farthest.max_by_key(|by| by.abs()).unwrap_or(0);
        return Agreement::Split { ahead, nodes };
    }
    // A clock between the sets is near enough to the majority.
    let ahead = if earliest > 0 {
        earliest.saturating_neg()
    } else {
        latest.saturating_neg()
    };
    if has_own || ahead.abs() <= allowed {
        return Agreement::WithMajority {
            latest: latest.max(0),
        };
    }
    Agreement::Apart {
        ahead,
        majority,
        nodes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn majority_of_clocks_decides() {
        use Agreement::{Alone, Apart, Split, WithMajority};
        let apart = |ahead, majority, nodes| Apart {
            ahead,
            majority,
            nodes,
        };
        for (others, expected) in [
            (&[][..], Alone),
            (&[0], WithMajority { latest: 0 }),
            (&[-60], WithMajority { latest: 0 }),
            (&[60], WithMajority { latest: 60 }),
            // Two that differ: none is right.
            (
                &[300],
                Split {
                    ahead: -300,
                    nodes: 2,
                },
            ),
            (
                &[-300],
                Split {
                    ahead: 300,
                    nodes: 2,
                },
            ),
            // This one is ahead of two, or behind two.
            (&[-300, -310], apart(300, 2, 3)),
            (&[7200, 7230], apart(-7200, 2, 3)),
            // Another one is apart.
            (&[0, 300], WithMajority { latest: 0 }),
            (&[20, -7200], WithMajority { latest: 20 }),
            // Two and two.
            (
                &[0, 300, 300],
                Split {
                    ahead: -300,
                    nodes: 4,
                },
            ),
            // All three differ.
            (
                &[300, -300],
                Split {
                    ahead: -300,
                    nodes: 3,
                },
            ),
            // The majority has a clock at each side of what is allowed.
            (&[-50, -100, -110], WithMajority { latest: 0 }),
            (
                &[i64::MAX, i64::MIN + 1],
                Split {
                    ahead: -i64::MAX,
                    nodes: 3,
                },
            ),
        ] {
            assert_eq!(agreement(others), expected, "{others:?}");
        }
    }
}
