//! Numbers that JavaScript would round.

/// The length of the shortest whole number above 2^53 - 1.
const DIGITS: usize = 16;

/// Whether the text has so many characters of a number beside each other. JavaScript then looks closer.
pub(crate) fn may_be_rounded(json: &str) -> bool {
    let bytes = json.as_bytes();
    // So many characters beside each other include one of those at multiples of their number.
    let mut at = DIGITS - 1;
    while let Some(byte) = bytes.get(at) {
        if is_of_number(*byte) {
            let before = bytes[..at].iter().rev();
            let after = bytes[at..].iter();
            let before = before.take_while(|byte| is_of_number(**byte)).count();
            let after = after.take_while(|byte| is_of_number(**byte)).count();
            if before + after >= DIGITS {
                return true;
            }
        }
        at += DIGITS;
    }
    has_exponent(bytes)
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Whether a digit is before an `e`: a short number may be too large.
fn has_exponent(bytes: &[u8]) -> bool {
    bytes
        .windows(2)
        .any(|pair| pair[0].is_ascii_digit() && pair[1] | 0x20 == b'e')
}
