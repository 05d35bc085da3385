//! Permissions of clients.

use std::fmt;

use serde::Deserialize;

/// A permission of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Issue tokens.
    Issue,
    /// Get tokens for itself from the token endpoint.
    Token,
    /// Verify tokens and follow revocations.
    Verify,
    /// Revoke tokens.
    Revoke,
    /// Administer issuers. Status and backups require it for all issuers.
    Admin,
    /// Read the metrics. They are of all issuers, so the permission must be too.
    Metrics,
}

impl Permission {
    /// Its bit in a set of permissions.
    pub(crate) fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Permission::Issue => "issue",
            Permission::Token => "get tokens",
            Permission::Verify => "verify",
            Permission::Revoke => "revoke",
            Permission::Admin => "admin",
            Permission::Metrics => "read the metrics",
        })
    }
}
