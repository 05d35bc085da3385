use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::codes::{self, Code};

/// How a [remote](crate::remote) signer failed.
///
/// Two [`NotSigned`](RemoteError::NotSigned) are equal if one is a clone of the other.
///
/// ```
/// use std::error::Error as _;
///
/// use jeton::error::RemoteError;
///
/// let error = RemoteError::not_signed("the session has expired");
/// assert_eq!(error.to_string(), "the signer returned no signature");
/// assert_eq!(error.source().unwrap().to_string(), "the session has expired");
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum RemoteError {
    /// The signer returned no signature: it was not reachable, refused, or failed.
    /// [`not_signed`](RemoteError::not_signed) creates it.
    #[non_exhaustive]
    NotSigned {
        /// The error of the signer. It is the [`source`](std::error::Error::source).
        cause: Arc<dyn StdError + Send + Sync>,
    },
    /// The signature does not have the encoding or the length that the algorithm requires.
    SignatureForm,
    /// The signature does not verify: it was made with another key, hash or padding, or with a PSS salt
    /// of another length.
    Signature,
}

impl RemoteError {
    /// Creates a [`NotSigned`](RemoteError::NotSigned) with the error of the signer, or with a text.
    ///
    /// The cause must not contain secrets: programs log it.
    ///
    /// ```
    /// use std::error::Error as _;
    /// use std::io;
    /// use jeton::Error;
    /// use jeton::error::RemoteError;
    ///
    ///
    /// let error = Error::from(RemoteError::not_signed(io::Error::from(io::ErrorKind::TimedOut)));
    /// assert_eq!(error.code(), "SIGNER_FAILED");
    /// assert!(error.source().unwrap().is::<io::Error>());
    /// ```
    pub fn not_signed(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> RemoteError {
        RemoteError::NotSigned {
            cause: cause.into().into(),
        }
    }

    /// Returns the stable code, for programs. [`codes`](super::codes) lists all codes.
    pub fn code(&self) -> &'static str {
        self.entry().name()
    }

    pub(super) fn entry(&self) -> &'static Code {
        match self {
            RemoteError::NotSigned { .. } => &codes::SIGNER_FAILED,
            RemoteError::SignatureForm => &codes::SIGNER_SIGNATURE_FORM,
            RemoteError::Signature => &codes::SIGNER_SIGNATURE_INVALID,
        }
    }

    pub(super) fn write_debug(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        match self {
            RemoteError::NotSigned { cause } => {
                write!(f, "{name}({}: \"{self}\", cause: {cause:?})", self.code())
            }
            _ => super::write_debug(f, name, self.code(), self),
        }
    }
}

impl PartialEq for RemoteError {
    fn eq(&self, other: &RemoteError) -> bool {
        match (self, other) {
            (RemoteError::NotSigned { cause }, RemoteError::NotSigned { cause: other }) => {
                Arc::ptr_eq(cause, other)
            }
            (RemoteError::SignatureForm, RemoteError::SignatureForm)
            | (RemoteError::Signature, RemoteError::Signature) => true,
            _ => false,
        }
    }
}

impl Eq for RemoteError {}

impl fmt::Display for RemoteError {
    /// Writes the error without its cause, which is the [`source`](std::error::Error::source).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RemoteError::NotSigned { .. } => "the signer returned no signature",
            RemoteError::SignatureForm => {
                "the signature has the wrong encoding or length for its algorithm: state whether it is DER or fixed"
            }
            RemoteError::Signature => {
                "the signature does not verify with the public key: check the key, the hash, the padding and the salt length"
            }
        })
    }
}

impl fmt::Debug for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_debug(f, "RemoteError")
    }
}

impl StdError for RemoteError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            RemoteError::NotSigned { cause } => Some(&**cause),
            _ => None,
        }
    }
}
