use std::fmt;
#[cfg(feature = "paseto")]
use std::ops::Range;
use std::sync::Arc;

use super::{RemoteVerifier, Signature, SigningInput};
use crate::base64;
use crate::error::Result;
use crate::key::VerifyingKey;

/// A token without its signature.
///
/// Created by [`RemoteKey`](crate::remote::RemoteKey) and
/// [`paseto::PasetoRemoteKey`](crate::paseto::PasetoRemoteKey). It borrows nothing, so it can be held across an `await`.
pub struct Prepared {
    key: Arc<dyn RemoteVerifier>,
    form: Form,
}

/// Where to put the signature.
enum Form {
    /// A compact JWS: the signing input is the start of the token.
    Compact { signing_input: String },
    /// A PASETO: the signing input contains the message, which is encoded together with the signature.
    #[cfg(feature = "paseto")]
    Paseto {
        header: &'static str,
        signed: Vec<u8>,
        message: Range<usize>,
        /// The end of the token: a dot and the encoded footer, or nothing.
        encoded_footer: String,
    },
}

impl Prepared {
    pub(crate) fn compact(key: VerifyingKey, signing_input: String) -> Prepared {
        Prepared {
            key: Arc::new(key),
            form: Form::Compact { signing_input },
        }
    }

    #[cfg(feature = "paseto")]
    pub(crate) fn paseto(
        key: Arc<dyn RemoteVerifier>,
        header: &'static str,
        (signed, message): (Vec<u8>, Range<usize>),
        encoded_footer: String,
    ) -> Prepared {
        Prepared {
            key,
            form: Form::Paseto {
                header,
                signed,
                message,
                encoded_footer,
            },
        }
    }

    /// Returns the signing input.
    pub fn input(&self) -> SigningInput<'_> {
        let message = match &self.form {
            Form::Compact { signing_input } => signing_input.as_bytes(),
            #[cfg(feature = "paseto")]
            Form::Paseto { signed, .. } => signed,
        };
        SigningInput::new(self.key.alg(), message)
    }

    /// Returns the token, if the signature of the signing input is valid for the key.
    ///
    /// # Errors
    ///
    /// [`Error::Remote`](crate::Error::Remote) if the signature does not have the stated encoding, or is not
    /// valid.
    ///
    /// ```
    /// use jeton::Error;
    /// use jeton::error::RemoteError;
    /// use jeton::key::{SigAlg, SigningKey};
    /// use jeton::remote::{RemoteKey, Signature};
    ///
    /// let key = RemoteKey::new(SigningKey::generate(SigAlg::ES256)?.verifying_key());
    /// let wrong = Signature::Fixed(vec![1; 64]);
    /// let error = key.prepare_payload(b"x")?.attach(&wrong).unwrap_err();
    /// assert_eq!(error, Error::Remote(RemoteError::Signature));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn attach(self, signature: &Signature) -> Result<String> {
        let fixed = signature.checked(&*self.key, self.input().message())?;
        match self.form {
            Form::Compact {
                signing_input: mut token,
            } => {
                token.push('.');
                base64::encode_onto(&fixed, &mut token);
                Ok(token)
            }
            #[cfg(feature = "paseto")]
            Form::Paseto {
                header,
                signed,
                message,
                encoded_footer,
            } => {
                let body = [&signed[message], fixed.as_slice()].concat();
                let length =
                    header.len() + base64::encoded_length(body.len()) + encoded_footer.len();
                let mut token = String::with_capacity(length);
                token.push_str(header);
                base64::encode_onto(&body, &mut token);
                token.push_str(&encoded_footer);
                Ok(token)
            }
        }
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("alg", &self.key.alg())
            .finish_non_exhaustive()
    }
}
