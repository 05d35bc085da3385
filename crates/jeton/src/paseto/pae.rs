//! Pre-authentication encoding: pieces with their count and lengths, so that different lists of pieces have
//! different encodings (PASETO, "Authentication Padding").

/// Length of an encoded count or length, bytes.
pub(crate) const LENGTH_BYTES: usize = 8;

/// Encodes a count or a length with the highest bit clear.
pub(crate) fn length(n: usize) -> [u8; LENGTH_BYTES] {
    // A slice has at most isize::MAX bytes, so the highest bit is already clear.
    (n as u64).to_le_bytes()
}

/// Passes the encoding to the sink piece by piece, without copying it together.
pub(crate) fn encode(pieces: &[&[u8]], mut sink: impl FnMut(&[u8])) {
    sink(&length(pieces.len()));
    for piece in pieces {
        sink(&length(piece.len()));
        sink(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specification_examples() {
        let encoded = |pieces: &[&[u8]]| {
            let mut bytes = Vec::new();
            encode(pieces, |part| bytes.extend_from_slice(part));
            bytes
        };
        assert_eq!(encoded(&[]), b"\x00\x00\x00\x00\x00\x00\x00\x00");
        assert_eq!(
            encoded(&[b""]),
            b"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        );
        assert_eq!(
            encoded(&[b"test"]),
            b"\x01\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00test"
        );
    }
}
