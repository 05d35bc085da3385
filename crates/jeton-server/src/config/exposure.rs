//! What a listener needs beyond loopback.

use super::{Client, Config};
use crate::error::{Error, Result};

impl Config {
    /// Checks the settings that a non-loopback listener requires: TLS, client authentication and a
    /// configured key-encryption key.
    ///
    /// # Errors
    ///
    /// [`Error::Exposed`] with the first missing setting.
    pub fn check_exposure(&self, key_is_given: bool) -> Result<()> {
        for address in [self.listen, self.admin_listen] {
            let missing = if address.ip().is_loopback() {
                continue;
            } else if self.tls.is_none() {
                "`tls` is missing"
            } else if self.clients.is_empty() {
                "no `client` is configured"
            } else if self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_none())
                && self.bearer.is_none()
                && !self.clients.iter().any(Client::has_form_credential)
            {
                "neither `tls.client_ca` nor `bearer` is configured, and no client has `secrets` or `keys_file`"
            } else if !key_is_given {
                "`key_encryption_key_file` is missing"
            } else {
                continue;
            };
            return Err(Error::Exposed { address, missing });
        }
        Ok(())
    }
}
