use std::sync::Arc;

use super::Members;
use crate::error::KeyError;

/// What a JWK says of its key's use, and is said again when the key is written: `use`, `key_ops` and `x5c`
/// (RFC 7517, sections 4.2, 4.3 and 4.7). A certificate is kept and not looked at; nothing trusts it.
#[derive(Clone, Default)]
pub(crate) struct Metadata {
    pub(super) has_use: bool,
    pub(super) has_operations: bool,
    /// The texts of the certificates, as JSON has them.
    pub(super) certificates: Option<Arc<str>>,
}

impl Metadata {
    /// Of a JWK whose `use` and `key_ops` have been found to permit what the key is read for.
    pub(crate) fn of(members: &Members<'_>) -> Result<Metadata, KeyError> {
        Ok(Metadata {
            has_use: members.has("use"),
            has_operations: members.has("key_ops"),
            certificates: members.strings("x5c")?.map(Arc::from),
        })
    }
}
