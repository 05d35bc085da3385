//! The drivers of a quick run of all suites, besides those of the reports' own pairs. The list is explicit, so that
//! a new driver does not lengthen the three minutes. It contains one managed runtime: each further one costs
//! seconds of warm-up and its own A/A pairs.

use jeton_lab_model::Case;

/// The drivers of a quick run of all suites.
const QUICK_DRIVERS: [&str; 8] = [
    "rust/jeton",
    "rust/jsonwebtoken",
    "rust/floor",
    "go/golang-jwt",
    "go/cristalhq-v5",
    "go/pascaldekloe-v1.12",
    "go/go-paseto",
    "node/fast-jwt",
];

/// Returns the drivers of a quick run of all suites. A folder with other drivers uses all of them.
pub(super) fn quick_cases(offered: Vec<Case>) -> Vec<Case> {
    let listed = |case: &Case| QUICK_DRIVERS.iter().any(|driver| case.is_of(driver));
    if !offered.iter().any(listed) {
        return offered;
    }
    offered.into_iter().filter(listed).collect()
}
