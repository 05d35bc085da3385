//! Numbers that JavaScript would round.

/// The length of the shortest whole number above 2^53 - 1.
const DIGITS: usize = 16;

/// Returns whether the text has `DIGITS` adjacent digits or an exponent. JavaScript then checks the numbers.
pub(crate) fn may_be_rounded(json: &str) -> bool {
    let bytes = json.as_bytes();
    // A run of `DIGITS` digits covers one of the positions that this loop visits.
    let mut at = DIGITS - 1;
    while let Some(byte) = bytes.get(at) {
        if is_digit(*byte) {
            let before = bytes[..at].iter().rev();
            let after = bytes[at..].iter();
            let before = before.take_while(|byte| is_digit(**byte)).count();
            let after = after.take_while(|byte| is_digit(**byte)).count();
            if before + after >= DIGITS {
                return true;
            }
        }
        at += DIGITS;
    }
    has_exponent(bytes)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Returns whether a digit precedes an `e`: a short number with an exponent may be too large. The loop does not stop
/// early, so that the compiler can vectorise it.
fn has_exponent(bytes: &[u8]) -> bool {
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    pairs.fold(false, |found, (first, second)| {
        found | (is_digit(*first) & (*second | 0x20 == b'e'))
    })
}
