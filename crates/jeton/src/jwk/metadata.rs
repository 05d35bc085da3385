use std::sync::Arc;

use super::Members;
use crate::error::KeyError;

/// The members of a JWK that are kept and written again: `use`, `key_ops` and `x5c` (RFC 7517, sections 4.2,
/// 4.3 and 4.7). The certificates are neither validated nor trusted.
#[derive(Clone, Default)]
pub(crate) struct Metadata {
    pub(super) has_use: bool,
    pub(super) has_operations: bool,
    /// The certificates as JSON text.
    pub(super) certificates: Option<Arc<str>>,
}

impl Metadata {
    /// Reads the metadata of a JWK whose `use` and `key_ops` were already checked.
    pub(crate) fn of(members: &Members<'_>) -> Result<Metadata, KeyError> {
        Ok(Metadata {
            has_use: members.has("use"),
            has_operations: members.has("key_ops"),
            certificates: members.strings("x5c")?.map(Arc::from),
        })
    }
}
