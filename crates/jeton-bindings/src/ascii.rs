//! Checks whether bytes are ASCII.

const HIGH_BITS: u128 = u128::from_ne_bytes([0x80; 16]);

/// Returns whether all bytes are ASCII. Unlike the standard library, it does not check the last bytes one by one.
#[inline]
#[must_use]
pub fn is_ascii(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<16>();
    // The last block overlaps the one before.
    let rest = bytes.last_chunk::<16>().map_or(rest, |last| last);
    let mut all = 0;
    for block in blocks {
        all |= u128::from_ne_bytes(*block);
    }
    all & HIGH_BITS == 0 && rest.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::is_ascii;

    #[test]
    fn every_byte_is_looked_at() {
        for length in 0..100 {
            let mut bytes = vec![b'a'; length];
            assert!(is_ascii(&bytes));
            for at in 0..length {
                bytes[at] = 0x80;
                assert!(!is_ascii(&bytes), "{at} of {length}");
                bytes[at] = b'a';
            }
        }
    }
}
