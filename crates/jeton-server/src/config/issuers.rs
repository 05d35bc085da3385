//! Issuers, and the profiles that the gRPC benchmark uses.

use std::collections::HashSet;

use jeton_issuer::IssuerSettings;
use serde::Deserialize;

use super::problem::Problem;

/// The service of the gRPC benchmark, for an issuer with an HS256 profile and an ES256 profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateJwt {
    /// The issuer's `iss`.
    pub issuer: String,
    /// The name of its HS256 profile.
    pub hs256: String,
    /// The name of its ES256 profile.
    pub es256: String,
}

impl GenerateJwt {
    /// The profile for that algorithm, empty for any other one.
    pub(crate) fn profile(&self, algorithm: &str) -> &str {
        match algorithm {
            "HS256" => &self.hs256,
            "ES256" => &self.es256,
            _ => "",
        }
    }
}

pub(super) fn problem(issuers: &[IssuerSettings]) -> Option<Problem> {
    let max = jeton_issuer::limits::ISSUERS;
    if issuers.len() > max {
        let what = format!("{} issuers, maximum {max}", issuers.len());
        return Some(Problem::new("issuer", what));
    }
    let mut names = HashSet::new();
    let duplicate = issuers
        .iter()
        .position(|issuer| !names.insert(issuer.iss()));
    duplicate.map(|index| {
        let key = format!("issuer[{index}].iss");
        Problem::new(key, "another issuer has this name")
    })
}
