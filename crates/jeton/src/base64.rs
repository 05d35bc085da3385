//! base64url without padding, in its one canonical encoding (RFC 7515, section 2; RFC 4648,
//! sections 3.5 and 5): no padding, no line ends, no trailing bits, nothing but the alphabet.

//!
//! Secrets have functions of their own, which look nothing up by a secret byte and branch on none. They are
//! slower, and so the parts of a token, which are no secrets, are not theirs.

use base64_simd::{Out, URL_SAFE_NO_PAD};
use base64ct::{Base64UrlUnpadded, Encoding};
use zeroize::Zeroizing;

/// The bytes are not base64url in its one canonical encoding, or do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotBase64Url;

/// Length of the encoding of that many bytes, or of as many as there are lengths for.
pub(crate) const fn encoded_length(bytes: usize) -> usize {
    let rest = (bytes % 3 * 4).div_ceil(3);
    (bytes / 3).saturating_mul(4).saturating_add(rest)
}

/// Appends the encoding.
pub(crate) fn encode_onto(bytes: &[u8], text: &mut String) {
    URL_SAFE_NO_PAD.encode_append(bytes, text);
}

/// The encoding as a text of its own.
pub(crate) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode_to_string(bytes)
}

/// Appends the decoded bytes.
pub(crate) fn decode_onto(text: &[u8], bytes: &mut Vec<u8>) -> Result<(), NotBase64Url> {
    URL_SAFE_NO_PAD
        .decode_append(text, bytes)
        .map_err(|_| NotBase64Url)
}

/// The decoded bytes.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<u8>, NotBase64Url> {
    URL_SAFE_NO_PAD
        .decode_to_vec(text)
        .map_err(|_| NotBase64Url)
}

/// Appends the encoding of a secret, in constant time for its length. The caller has made room for it, so
/// that no copy stays behind.
pub(crate) fn encode_secret_onto(secret: &[u8], text: &mut String) {
    // Whole groups of three bytes, so that the encodings of the pieces are that of all.
    const PIECE: usize = 48;
    let mut encoded = Zeroizing::new([0; PIECE / 3 * 4]);
    for piece in secret.chunks(PIECE) {
        let encoded = Base64UrlUnpadded::encode(piece, encoded.as_mut_slice());
        text.push_str(encoded.expect("the buffer has room for a piece"));
    }
}

/// The encoding of a secret as a text of its own, in constant time for its length.
pub(crate) fn encode_secret(secret: &[u8]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(encoded_length(secret.len())));
    encode_secret_onto(secret, &mut text);
    text
}

/// The decoded bytes of a secret, in constant time for its length. What was decoded of a text that turns out
/// to be malformed is wiped.
pub(crate) fn decode_secret(text: &[u8]) -> Result<Zeroizing<Vec<u8>>, NotBase64Url> {
    let mut secret = Zeroizing::new(vec![0; text.len() / 4 * 3 + text.len() % 4 * 3 / 4]);
    let decoded = Base64UrlUnpadded::decode(text, &mut secret).map_err(|_| NotBase64Url)?;
    // A group of one character has no bytes, and was refused.
    debug_assert_eq!(decoded.len(), secret.len());
    Ok(secret)
}

/// Decodes into a buffer that the caller has; the part that was filled.
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
    fn one_encoding_only() {
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
    fn lengths_agree() {
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

    /// Every byte in every place of a group, and every character in every place of a text.
    #[test]
    fn secrets_have_the_same_encoding_as_everything() {
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
    fn a_buffer_too_small_is_refused() {
        assert!(decode_into(b"AAAA", &mut [0; 2]).is_err());
        assert_eq!(decode_into(b"AAAA", &mut [0; 9]).map(|b| b.len()), Ok(3));
    }
}
