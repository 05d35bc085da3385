//! As much of gRPC as the lab speaks: the fields of a message (Protocol Buffers, "Encoding"), and
//! the five bytes that a message has before it ("gRPC over HTTP/2", Length-Prefixed-Message).
//!
//! The messages are few and small and are made once: no schema is compiled for them.

use bytes::{BufMut as _, Bytes, BytesMut};

/// The bytes before a message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// A message as it is sent: nothing is compressed, four bytes of length, the message.
pub(crate) fn framed(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("what the lab sends is far below 4 GiB");
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    framed.put_u8(0);
    framed.put_u32(length);
    framed.put_slice(message);
    framed.freeze()
}

/// How many bytes the first message of these is long with what stands before it, as far as they say.
pub(crate) fn framed_bytes(bytes: &[u8]) -> Option<usize> {
    let (&[_, a, b, c, d], _) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
    PREFIX_BYTES.checked_add(length)
}

/// The message of a body that has exactly one whole one, not compressed.
pub(crate) fn unframed(body: &[u8]) -> Option<&[u8]> {
    let (&[compressed, a, b, c, d], message) = body.split_first_chunk::<PREFIX_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
    (compressed == 0 && length == message.len()).then_some(message)
}

/// Appends a field of characters.
pub(crate) fn put_text(message: &mut Vec<u8>, number: u32, text: &str) {
    put_bytes(message, number, text.as_bytes());
}

/// Appends a field of bytes, or of a message within the message.
pub(crate) fn put_bytes(message: &mut Vec<u8>, number: u32, bytes: &[u8]) {
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

/// A field that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// Characters, bytes or a message, and the field's number.
    Bytes(u64, &'a [u8]),
    /// A number, and the field's.
    Number(u64, u64),
    /// What the lab has no use for.
    Other,
}

impl<'a> Field<'a> {
    /// Takes the next field off a message; none if it is not whole.
    pub(crate) fn take(rest: &mut &'a [u8]) -> Option<Self> {
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
    fn a_message_is_what_protocol_buffers_say() {
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
    fn what_is_written_is_read_whatever_its_length() {
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
    fn what_is_not_whole_is_nothing() {
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
