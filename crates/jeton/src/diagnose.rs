use crate::key::Keys;

/// What a signature is, over the bytes that a caller takes for what was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureCheck {
    /// It is the key's.
    Valid,
    /// It was computed, and is not the key's.
    Invalid,
    /// It does not have the length that the key's algorithm demands, and nothing was computed.
    WrongLength {
        /// How many bytes it has.
        bytes: usize,
        /// How many it must have.
        wanted: usize,
    },
}

/// Checks a signature or MAC over exactly these bytes, whatever a header says. `None` for a set: there it is
/// asked of each key alone.
///
/// A token is never accepted by this: the bytes may be anything, such as parts with their padding.
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
    Some(match key.verify_bytes(signing_input, signature) {
        true => SignatureCheck::Valid,
        false => SignatureCheck::Invalid,
    })
}
