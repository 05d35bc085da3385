//! Algorithm names on the command line. They are exact, and `none` is not one.

use std::str::FromStr;

use jeton::key::{Alg, MacAlg, SigAlg};

/// An algorithm by its name in a header's `alg`.
pub(crate) fn algorithm(name: &str) -> Result<Alg, String> {
    if let Ok(alg) = Alg::from_str(name) {
        return Ok(alg);
    }
    let all = names();
    match all.iter().find(|known| known.eq_ignore_ascii_case(name)) {
        Some(known) => Err(format!("names are exact: did you mean {known}?")),
        None => Err(format!("not supported; choose one of {}", all.join(", "))),
    }
}

/// Every name that is supported.
fn names() -> Vec<&'static str> {
    let macs = MacAlg::ALL.into_iter().map(MacAlg::name);
    macs.chain(SigAlg::ALL.into_iter().map(SigAlg::name))
        .collect()
}
