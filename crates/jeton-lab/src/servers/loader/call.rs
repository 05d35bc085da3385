//! What is called: the method's path and the request, made once.

use bytes::{BufMut, Bytes, BytesMut};

use crate::servers::Algorithm;

/// One unary call: sent again and again as it is.
#[derive(Debug, Clone)]
pub struct Call {
    pub(super) path: &'static str,
    pub(super) frame: Bytes,
    pub(super) algorithm: String,
}

impl Call {
    /// `jwt.services.JwtService/GenerateJwt`: a token is signed and verified.
    #[must_use]
    pub fn generate_jwt(algorithm: Algorithm) -> Self {
        Self::generate_jwt_with(algorithm.name())
    }

    /// The same with any word for the algorithm, to see what a server makes of it.
    pub(crate) fn generate_jwt_with(algorithm: &str) -> Self {
        Self {
            path: "/jwt.services.JwtService/GenerateJwt",
            frame: frame(&text_field(1, algorithm)),
            algorithm: algorithm.to_owned(),
        }
    }
}

/// A message as gRPC sends it: nothing is compressed, four bytes of length, the message.
fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(5 + message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    frame.put_slice(message);
    frame.freeze()
}

/// A field of protobuf's second kind: its number, its length, its bytes.
fn text_field(number: u8, value: &str) -> Vec<u8> {
    // Names of algorithms are far shorter than the 128 bytes that one byte of length stands for.
    let value = &value.as_bytes()[..value.len().min(127)];
    let length = u8::try_from(value.len()).unwrap_or(127);
    [&[number << 3 | 2, length], value].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_its_length_and_its_message() {
        let call = Call::generate_jwt(Algorithm::Hs256);
        assert_eq!(&call.frame[..], b"\0\0\0\0\x07\x0a\x05HS256");
    }
}
