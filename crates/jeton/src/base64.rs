//! base64url without padding, in its canonical encoding only (RFC 7515, section 2; RFC 4648, sections 3.5
//! and 5): no padding, no line breaks, no trailing bits, no other characters.

//!
//! Secrets have separate functions without table lookups or branches that depend on the data. They are
//! slower, so the public parts of a token do not use them.

use base64_simd::{Out, URL_SAFE_NO_PAD};
use base64ct::{Base64UrlUnpadded, Encoding};
use zeroize::Zeroizing;

/// The bytes are not canonical base64url, or do not fit into the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotBase64Url;

/// Length of the encoding of this many bytes; saturates at `usize::MAX`.
pub(crate) const fn encoded_length(bytes: usize) -> usize {
    let rest = (bytes % 3 * 4).div_ceil(3);
    (bytes / 3).saturating_mul(4).saturating_add(rest)
}

/// Appends the encoding.
pub(crate) fn encode_onto(bytes: &[u8], text: &mut String) {
    URL_SAFE_NO_PAD.encode_append(bytes, text);
}

/// Returns the encoding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode_to_string(bytes)
}

/// Appends the decoded bytes.
pub(crate) fn decode_onto(text: &[u8], bytes: &mut Vec<u8>) -> Result<(), NotBase64Url> {
    URL_SAFE_NO_PAD
        .decode_append(text, bytes)
        .map_err(|_| NotBase64Url)
}

/// Returns the decoded bytes.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<u8>, NotBase64Url> {
    URL_SAFE_NO_PAD
        .decode_to_vec(text)
        .map_err(|_| NotBase64Url)
}

/// Appends the encoding of a secret in constant time for its length. The caller has reserved capacity, so
/// that no reallocation leaves a copy in memory.
pub(crate) fn encode_secret_onto(secret: &[u8], text: &mut String) {
    // A multiple of three bytes, so that the concatenated encodings equal the encoding of the whole.
    const PIECE: usize = 48;
    let mut encoded = Zeroizing::new([0; PIECE / 3 * 4]);
    for piece in secret.chunks(PIECE) {
        let encoded = Base64UrlUnpadded::encode(piece, encoded.as_mut_slice());
        text.push_str(encoded.expect("the buffer has room for a piece"));
    }
}

/// Returns the encoding of a secret, in constant time for its length.
pub(crate) fn encode_secret(secret: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(encoded_length(secret.len())));
    encode_secret_onto(secret, &mut text);
    text
}

/// Decodes a secret in constant time for its length. If the text is malformed, the bytes decoded so far are
/// wiped.
pub(crate) fn decode_secret(text: &[u8]) -> Result<Zeroizing<Vec<u8>>, NotBase64Url> {
    let mut secret = Zeroizing::new(vec![0; text.len() / 4 * 3 + text.len() % 4 * 3 / 4]);
    let decoded = Base64UrlUnpadded::decode(text, &mut secret).map_err(|_| NotBase64Url)?;
    // A final group of one character encodes no byte and was rejected.
    debug_assert_eq!(decoded.len(), secret.len());
    Ok(secret)
}

/// Decodes into a buffer and returns the part that was filled.
pub(crate) fn decode_into<'b>(
    text: &[u8],
    buffer: &'b mut [u8],
) -> Result<&'b mut [u8], NotBase64Url> {
    if URL_SAFE_NO_PAD
        .decoded_length(text)
        .map_err(|_| NotBase64Url)?
        > buffer.len()
    {
        return Err(NotBase64Url);
    }
    URL_SAFE_NO_PAD
        .decode(text, Out::from_slice(buffer))
        .map_err(|_| NotBase64Url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_canonical_text_is_rejected() {
        for good in ["", "AA", "AAA", "AAAA", "_-8"] {
            assert!(decode(good.as_bytes()).is_ok(), "{good}");
            assert!(decode_secret(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in [
            "A", "AAAAA", "AB", "AAB", "AA==", "AA=", "A A", "AA\n", "AA\r\n", "+/8", "A?A",
            "AAA.", "é",
        ] {
            assert_eq!(decode(bad.as_bytes()), Err(NotBase64Url), "{bad:?}");
            assert_eq!(decode_secret(bad.as_bytes()), Err(NotBase64Url), "{bad:?}");
        }
    }

    #[test]
    fn encoded_length_matches_encoding() {
        for n in 0..300 {
            let bytes = vec![0xa5; n];
            let text = encode(&bytes);
            assert_eq!(text.len(), encoded_length(n));
            assert_eq!(*encode_secret(&bytes), text);
            assert_eq!(decode_secret(text.as_bytes()).as_deref(), Ok(&bytes), "{n}");
            assert_eq!(decode(text.as_bytes()), Ok(bytes));
        }
        assert_eq!(encoded_length(usize::MAX / 4), (usize::MAX - 3) / 3);
        assert_eq!(encoded_length(usize::MAX), usize::MAX);
    }

    /// Every byte at every position of a group, and every character at every position of a text.
    #[test]
    fn secret_functions_agree_with_fast_functions() {
        for byte in 0..=u8::MAX {
            for length in 1..=4 {
                for at in 0..length {
                    let mut bytes = vec![0x5a; length];
                    bytes[at] = byte;
                    assert_eq!(*encode_secret(&bytes), encode(&bytes));
                    let mut text = b"AAAA"[..length].to_vec();
                    text[at] = byte;
                    let secret = decode_secret(&text).map(|secret| secret.to_vec());
                    assert_eq!(secret, decode(&text), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn decode_into_too_small_buffer_is_an_error() {
        assert!(decode_into(b"AAAA", &mut [0; 2]).is_err());
        assert_eq!(decode_into(b"AAAA", &mut [0; 9]).map(|b| b.len()), Ok(3));
    }
}
