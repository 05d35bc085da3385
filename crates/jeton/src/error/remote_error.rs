use std::fmt;

/// How a [remote](crate::remote) signer failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteError {
    /// The signer returned no signature: it was not reachable, refused, or failed.
    NotSigned,
    /// The signature does not have the encoding or the length that the algorithm requires.
    SignatureForm,
    /// The signature does not verify: it was made with another key, hash or padding, or with a PSS salt
    /// of another length.
    Signature,
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RemoteError::NotSigned => "the remote signer returned no signature",
            RemoteError::SignatureForm => {
                "the remote signature has the wrong encoding or length for its algorithm"
            }
            RemoteError::Signature => {
                "the remote signature does not verify: check the key, the hash, the padding and the salt length"
            }
        })
    }
}
