use std::fmt;

use super::{Signature, SigningInput};
use crate::error::Result;
use crate::jws::attach;
use crate::key::VerifyingKey;

/// A token that lacks nothing but its signature.
///
/// Made by [`RemoteKey`](super::RemoteKey) and by the public keys of
/// [`paseto`](crate::paseto). It owns what it needs, so it can cross an `await`.
pub struct Prepared {
    key: VerifyingKey,
    form: Form,
}

/// Where the signature goes.
enum Form {
    /// A compact JWS: what is signed stands at the token's beginning.
    Compact { signing_input: String },
}

impl Prepared {
    pub(crate) fn compact(key: VerifyingKey, signing_input: String) -> Prepared {
        Prepared {
            key,
            form: Form::Compact { signing_input },
        }
    }

    /// What the signer signs.
    pub fn input(&self) -> SigningInput<'_> {
        let message = match &self.form {
            Form::Compact { signing_input } => signing_input.as_bytes(),
        };
        SigningInput::new(self.key.alg(), message)
    }

    /// The token, if this is the key's signature over the input.
    ///
    /// # Errors
    ///
    /// [`Error::Remote`](crate::Error::Remote): the signature does not have the form that it is said
    /// to have, or is not this key's over this input.
    ///
    /// ```
    /// use jeton::Error;
    /// use jeton::key::{SigAlg, SigningKey};
    /// use jeton::remote::{RemoteFault, RemoteKey, Signature};
    ///
    /// let key = RemoteKey::new(SigningKey::generate(SigAlg::ES256)?.verifying_key());
    /// let wrong = Signature::Fixed(vec![1; 64]);
    /// let error = key.prepare_payload(b"x")?.attach(&wrong).unwrap_err();
    /// assert_eq!(error, Error::Remote(RemoteFault::Signature));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn attach(self, signature: &Signature) -> Result<String> {
        let fixed = signature.checked(&self.key, self.input().message())?;
        match self.form {
            Form::Compact { signing_input } => Ok(attach(signing_input, &fixed)),
        }
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
