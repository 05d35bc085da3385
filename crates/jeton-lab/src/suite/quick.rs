//! Who takes part in a quick run of everything: a list by name, so that a new driver is measured
//! where it is asked for and never costs everybody's 90 seconds.

use super::{Cell, Format};

/// The drivers of a quick run of everything.
const AT_A_GLANCE: [&str; 8] = [
    "rust/jeton",
    "rust/jsonwebtoken",
    "rust/floor",
    "go/golang-jwt",
    "go/cristalhq",
    "go/pascaldekloe",
    "go/go-paseto",
    "node/fast-jwt",
];

/// One library of each other language, under the algorithm that everybody knows: a managed runtime
/// must be warmed up for seconds.
const TASTES: [&str; 2] = ["java/nimbus-jose-jwt", "python/pyjwt"];

/// What of it a quick run of everything measures. A folder of other drivers has no such choice: all
/// of them take part.
pub(super) fn at_a_glance(offered: Vec<Cell>) -> Vec<Cell> {
    let listed = |cell: &Cell| AT_A_GLANCE.contains(&cell.driver.as_str());
    let tasted = |cell: &Cell| {
        let known = cell.format == Format::Jwt && cell.alg.as_deref() == Some("HS256");
        known && TASTES.contains(&cell.driver.as_str())
    };
    if !offered.iter().any(listed) {
        return offered;
    }
    let chosen = offered.into_iter().filter(|c| listed(c) || tasted(c));
    chosen.collect()
}
