//! The parts of gRPC that the lab needs: message fields (Protocol Buffers, "Encoding") and the
//! five-byte prefix of a message ("gRPC over HTTP/2", Length-Prefixed-Message). The messages are few
//! and small, so no schema is compiled.

use bytes::{BufMut as _, Bytes, BytesMut};

/// The length of the prefix: a compression flag and the message length.
const PREFIX_BYTES: usize = 5;

/// Frames a message: not compressed, four bytes of length, the message.
pub fn framed(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("messages of the lab are far below 4 GiB");
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    framed.put_u8(0);
    framed.put_u32(length);
    framed.put_slice(message);
    framed.freeze()
}

/// Returns the length of the first frame, including its prefix, if the prefix is complete.
pub fn framed_bytes(bytes: &[u8]) -> Option<usize> {
    let (&[_, a, b, c, d], _) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
    PREFIX_BYTES.checked_add(length)
}

/// Returns the message of a body with exactly one complete, uncompressed frame.
pub fn unframed(body: &[u8]) -> Option<&[u8]> {
    let (&[compressed, a, b, c, d], message) = body.split_first_chunk::<PREFIX_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
    (compressed == 0 && length == message.len()).then_some(message)
}

/// Appends a string field.
pub fn put_text(message: &mut Vec<u8>, number: u32, text: &str) {
    put_bytes(message, number, text.as_bytes());
}

/// Appends a bytes or message field.
pub fn put_bytes(message: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(message, u64::from(number) << 3 | 2);
    put_varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

fn put_varint(message: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        message.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

/// A decoded field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// A string, bytes or message field, with its number.
    Bytes(u64, &'a [u8]),
    /// A number, with its field number.
    Number(u64, u64),
    /// A field that the lab ignores.
    Other,
}

impl<'a> Field<'a> {
    /// Removes the next field from a message; returns `None` if the field is incomplete.
    pub fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let tag = varint(rest)?;
        match tag & 7 {
            0 => varint(rest).map(|value| Self::Number(tag >> 3, value)),
            1 => bytes(rest, 8).map(|_| Self::Other),
            2 => {
                let length = usize::try_from(varint(rest)?).ok()?;
                bytes(rest, length).map(|bytes| Self::Bytes(tag >> 3, bytes))
            }
            5 => bytes(rest, 4).map(|_| Self::Other),
            _ => None,
        }
    }
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn bytes<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn put_matches_protocol_buffers_encoding() {
        let mut message = Vec::new();
        put_text(&mut message, 2, "api");
        put_bytes(&mut message, 16, b"");
        assert_eq!(message, b"\x12\x03api\x82\x01\0");
        let framed = framed(&message);
        assert_eq!(&framed[..], b"\0\0\0\0\x08\x12\x03api\x82\x01\0");
        assert_eq!(unframed(&framed), Some(&message[..]));
        assert_eq!(framed_bytes(&framed), Some(framed.len()));
        assert_eq!(framed_bytes(&framed[..5]), Some(framed.len()));
        assert_eq!(framed_bytes(&framed[..4]), None);
    }

    #[test]
    fn take_reads_fields_of_any_length() {
        for length in [0, 1, 127, 128, 300, 16_383, 16_384, 100_000] {
            let text = "x".repeat(length);
            let mut message = Vec::new();
            put_text(&mut message, 1, &text);
            put_text(&mut message, (1 << 29) - 1, "last");
            let mut rest = &message[..];
            let first = Field::take(&mut rest).unwrap();
            assert_eq!(first, Field::Bytes(1, text.as_bytes()), "{length}");
            let second = Field::take(&mut rest).unwrap();
            assert_eq!(second, Field::Bytes((1 << 29) - 1, b"last"));
            assert!(rest.is_empty());
        }
        assert_eq!(
            Field::take(&mut &b"\x08\x96\x01"[..]),
            Some(Field::Number(1, 150))
        );
        let mut message = Vec::new();
        put_varint(&mut message, u64::MAX);
        assert_eq!(varint(&mut &message[..]), Some(u64::MAX));
    }

    #[test]
    fn take_incomplete_field_is_none() {
        for body in [&b""[..], b"\0\0\0\0", b"\x01\0\0\0\0", b"\0\0\0\0\x02x"] {
            assert_eq!(unframed(body), None, "{body:?}");
        }
        for message in [&b"\x0a"[..], b"\x0a\x02x", b"\x0b", b"\x09x", b"\xff"] {
            assert_eq!(Field::take(&mut &message[..]), None, "{message:?}");
        }
        let endless = [0xff; 11];
        assert_eq!(varint(&mut &endless[..]), None);
    }
}
