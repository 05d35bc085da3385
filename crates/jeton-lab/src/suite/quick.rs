//! Who takes part in a quick run of everything: a list by name, so that a new driver is measured
//! where it is asked for and never costs everybody's 90 seconds. One managed runtime is among them:
//! each further one costs seconds of warm-up and identical pairs of its own.

use super::Case;

/// The drivers of a quick run of everything.
const AT_A_GLANCE: [&str; 8] = [
    "rust/jeton",
    "rust/jsonwebtoken",
    "rust/floor",
    "go/golang-jwt",
    "go/cristalhq-v5",
    "go/pascaldekloe-v1.12",
    "go/go-paseto",
    "node/fast-jwt",
];

/// What of it a quick run of everything measures. A folder of other drivers has no such choice: all
/// of them take part.
pub(super) fn at_a_glance(offered: Vec<Case>) -> Vec<Case> {
    let listed = |case: &Case| AT_A_GLANCE.iter().any(|driver| case.is_of(driver));
    if !offered.iter().any(listed) {
        return offered;
    }
    offered.into_iter().filter(listed).collect()
}
