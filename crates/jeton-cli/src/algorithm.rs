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
        None if is_planned(name) => Err(format!(
            "not supported yet; choose one of {}",
            all.join(", ")
        )),
        None => Err(format!(
            "not an algorithm that jeton knows; choose one of {}",
            all.join(", ")
        )),
    }
}

/// Whether it is a JOSE algorithm that jeton will have.
fn is_planned(name: &str) -> bool {
    const FAMILIES: [&str; 7] = [
        "A128", "A192", "A256", "RSA-OAEP", "ECDH-ES", "dir", "Ed448",
    ];
    FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Every name that is supported.
fn names() -> Vec<&'static str> {
    let macs = MacAlg::ALL.into_iter().map(MacAlg::name);
    macs.chain(SigAlg::ALL.into_iter().map(SigAlg::name))
        .collect()
}
