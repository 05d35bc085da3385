use crate::key::Keys;

/// The result of checking a signature over bytes that the caller chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureCheck {
    /// The signature is valid for the key.
    Valid,
    /// The signature is not valid for the key.
    Invalid,
    /// The signature does not have the length that the algorithm requires.
    WrongLength {
        /// The actual length.
        bytes: usize,
        /// The required length.
        wanted: usize,
    },
}

/// Checks a signature or MAC over exactly these bytes, ignoring any header. Returns `None` for a key set;
/// call it for each key separately.
///
/// The result must not be used to accept a token: the bytes can be anything, such as parts with padding.
///
/// ```
/// use jeton::__private::{SignatureCheck, check_signature};
/// use jeton::jws::JwsSigner;
/// use jeton::key::{Keys, SigAlg, SigningKey};
///
/// let key = SigningKey::generate(SigAlg::EdDSA)?;
/// let token = JwsSigner::new(&key).sign(b"x")?;
/// let (input, _) = token.rsplit_once('.').unwrap();
/// let keys = Keys::from(key.verifying_key());
/// let short = SignatureCheck::WrongLength { bytes: 3, wanted: 64 };
/// assert_eq!(check_signature(&keys, input.as_bytes(), b"abc"), Some(short));
/// # Ok::<(), jeton::Error>(())
/// ```
pub fn check_signature(
    keys: &Keys,
    signing_input: &[u8],
    signature: &[u8],
) -> Option<SignatureCheck> {
    let key = keys.only()?;
    let (bytes, wanted) = (signature.len(), key.signature_bytes());
    if bytes != wanted {
        return Some(SignatureCheck::WrongLength { bytes, wanted });
    }
    Some(if key.verify_bytes(signing_input, signature) {
        SignatureCheck::Valid
    } else {
        SignatureCheck::Invalid
    })
}
