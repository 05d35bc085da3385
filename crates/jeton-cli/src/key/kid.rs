use clap::Args;

use crate::exit::{Failure, Outcome};
use crate::keyfile::{AnyKey, Half};

/// The key id of a new key.
#[derive(Debug, Args)]
pub(super) struct KeyIdArgs {
    /// Key id (`kid`), 1 to 1024 bytes [default: the thumbprint (RFC 7638); none for a symmetric key]
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: Option<String>,

    /// Do not set a key id
    #[arg(long, conflicts_with = "kid")]
    no_kid: bool,
}

impl KeyIdArgs {
    /// Sets the key id.
    ///
    /// A symmetric key gets none by default: its thumbprint is a hash of the secret, and the header of each token
    /// would publish it (RFC 7638, section 7).
    pub(super) fn set(&self, key: AnyKey) -> Outcome<AnyKey> {
        let kid = match &self.kid {
            Some(kid) => kid.clone(),
            None if self.no_kid || key.key_id().is_some() || key.half() == Half::Symmetric => {
                return Ok(key);
            }
            None => key.thumbprint(),
        };
        key.with_key_id(&kid)
            .map_err(|error| Failure::error(error.to_string()))
    }
}
