//! PASETOs that contain bytes.

use jeton::Limits;
use jeton::error::Rejection;

use crate::fault::Fault;
use crate::key::Key;
use crate::key_set::wrong_use;

/// Verifies or decrypts PASETOs that contain bytes, with one key.
pub(crate) struct PasetoBytes {
    pub(crate) key: Key,
    /// If it is not set, any footer is accepted.
    pub(crate) footer: Option<String>,
    pub(crate) implicit_assertion: String,
    pub(crate) limits: Limits,
}

impl PasetoBytes {
    pub(crate) fn verify(&self, token: &str) -> Result<Vec<u8>, Fault> {
        let (limits, assertion) = (&self.limits, self.implicit_assertion.as_bytes());
        let message = match &self.key {
            Key::V3Local(key) => key.decrypt_with_limits(token, assertion, limits)?,
            Key::V3Public(key) => key.verify_with_limits(token, assertion, limits)?,
            Key::V4Local(key) => key.decrypt_with_limits(token, assertion, limits)?,
            Key::V4Public(key) => key.verify_with_limits(token, assertion, limits)?,
            key => return Err(wrong_use(key, "a PASETO key")),
        };
        match &self.footer {
            Some(footer) if footer.as_bytes() != message.footer() => {
                Err(Rejection::FooterMismatch.into())
            }
            _ => Ok(message.into_message()),
        }
    }
}
