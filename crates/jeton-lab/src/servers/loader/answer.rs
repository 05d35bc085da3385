//! What came back: one gRPC message with a token and its subject.

/// The most bytes of an answer that are kept: no token of the report has a hundredth of it.
pub(super) const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// `jwt.services.GenerateJwtResponse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    pub(crate) jwt: &'a str,
    pub(crate) sub: &'a str,
}

impl<'a> Answer<'a> {
    /// The answer in the body of a response; `None` if it is not exactly one whole message with a
    /// token in it.
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        let (&[compressed, a, b, c, d], message) = body.split_first_chunk::<5>()?;
        let length = u32::from_be_bytes([a, b, c, d]);
        if compressed != 0 || usize::try_from(length).ok()? != message.len() {
            return None;
        }
        let mut answer = Answer { jwt: "", sub: "" };
        let mut rest = message;
        while !rest.is_empty() {
            let field = Field::take(&mut rest)?;
            match field {
                Field::Bytes(1, bytes) => answer.jwt = std::str::from_utf8(bytes).ok()?,
                Field::Bytes(2, bytes) => answer.sub = std::str::from_utf8(bytes).ok()?,
                _ => {}
            }
        }
        (!answer.jwt.is_empty()).then_some(answer)
    }
}

/// A field of a protobuf message. What the loader has no use for is passed over.
enum Field<'a> {
    Bytes(u64, &'a [u8]),
    Other,
}

impl<'a> Field<'a> {
    fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let tag = varint(rest)?;
        match tag & 7 {
            0 => varint(rest).map(|_| Self::Other),
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
    use super::*;

    #[test]
    fn an_answer_is_one_whole_message_with_a_token() {
        let whole = b"\0\0\0\0\x08\x0a\x03a.b\x12\x01s";
        let read = Answer::read(whole).map(|a| (a.jwt, a.sub));
        assert_eq!(read, Some(("a.b", "s")));
        // A field that a later server adds changes nothing.
        let more = b"\0\0\0\0\x0a\x0a\x03a.b\x12\x01s\x18\x07";
        assert_eq!(Answer::read(more).map(|a| a.jwt), Some("a.b"));
    }

    #[test]
    fn anything_else_is_no_answer() {
        for garbage in [
            &b""[..],
            b"\0\0\0\0",
            b"\0\0\0\0\0",
            b"\x01\0\0\0\x05\x0a\x03a.b",
            b"\0\0\0\0\x06\x0a\x03a.b",
            b"\0\0\0\0\x04\x0a\x03a.",
            b"\0\0\0\0\x02\x0a\xff",
            b"\0\0\0\0\x03\x12\x01s",
            b"\0\0\0\0\x05\x0a\x03\xff\xff\xff",
            b"\0\0\0\0\x01\x0b",
            b"<html>",
        ] {
            assert_eq!(Answer::read(garbage), None, "{garbage:?}");
        }
    }
}
