//! Hexadecimal digits, in lower case.

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = vec![0; 2 * bytes.len()];
    hex_into(bytes, &mut digits);
    String::from_utf8(digits).expect("digits are ASCII")
}

/// Writes two digits per byte. Called for the id of every token.
pub(crate) fn hex_into(bytes: &[u8], digits: &mut [u8]) {
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
    }
}

const DIGITS: [u8; 16] = *b"0123456789abcdef";

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; text.len() / 2];
    unhex_into(text, &mut bytes)?;
    Some(bytes)
}

/// Decodes exactly `bytes.len()` bytes, and copies them nowhere else: they may be a secret.
pub(crate) fn unhex_into(text: &str, bytes: &mut [u8]) -> Option<()> {
    if text.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(())
}

fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}
