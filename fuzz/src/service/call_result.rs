//! The result of a gRPC call, and the properties that every result must have.

use bytes::{Buf as _, Bytes};
use http::HeaderMap;
use prost::Message;
use tonic::Code;

/// The messages of the response, and its status.
pub struct CallResult {
    pub messages: Vec<Bytes>,
    pub code: Code,
    /// The message of the status.
    pub words: String,
}

/// The statuses for a well-formed but invalid request.
const EXPECTED_ERRORS: [Code; 7] = [
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::ResourceExhausted,
    Code::Unavailable,
];

/// If the error message contains this many bytes of the request, it counts as an echo.
const ECHO_BYTES: usize = 24;

impl CallResult {
    pub(super) fn of(headers: &HeaderMap, trailers: &HeaderMap, mut body: Bytes) -> CallResult {
        let status = |name: &str| trailers.get(name).or(headers.get(name));
        let code = status("grpc-status").map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()));
        let words =
            status("grpc-message").map(|words| words.to_str().expect("the message is ASCII"));
        let mut messages = Vec::new();
        while !body.is_empty() {
            assert_eq!(body.get_u8(), 0, "unrequested compression");
            let length = body.get_u32();
            messages.push(body.split_to(length as usize));
        }
        CallResult {
            messages,
            code,
            words: words.unwrap_or_default().to_owned(),
        }
    }

    /// Checks that a malformed message is reported as malformed, and that every other one gets a response or a
    /// specific error. An error must not repeat the request.
    pub fn check<Q: Message + Default>(
        &self,
        message: &[u8],
        again: impl FnOnce(&[u8]) -> CallResult,
    ) {
        let is_message = Q::decode(message).is_ok();
        let expected = match self.code {
            Code::Ok => is_message,
            Code::Internal => !is_message && self.words.contains("decode"),
            code => is_message && EXPECTED_ERRORS.contains(&code),
        };
        assert!(expected, "{:?}: {}", self.code, self.words);
        self.check_words(message, again);
    }

    /// Checks that the error message does not repeat the request. A fuzzer learns the texts of errors and sends them.
    /// So a match is sent again with changed letters, and the error message must not change with it.
    pub fn check_words(&self, sent: &[u8], again: impl FnOnce(&[u8]) -> CallResult) {
        let parts = sent.chunks_exact(ECHO_BYTES);
        let Some(part) = { parts }.position(|part| self.says(part)) else {
            return;
        };
        let mut other = sent.to_vec();
        let part = part * ECHO_BYTES..(part + 1) * ECHO_BYTES;
        other[part.clone()].iter_mut().for_each(other_letter);
        if other != sent {
            let again = again(&other);
            let follows = again.says(&other[part]);
            assert!(!follows, "it repeats what was sent: {}", again.words);
        }
    }

    fn says(&self, part: &[u8]) -> bool {
        let mut windows = self.words.as_bytes().windows(part.len());
        windows.any(|window| window == part)
    }
}

/// The next letter of the alphabet; other characters stay.
fn other_letter(byte: &mut u8) {
    *byte = match *byte {
        b'z' => b'a',
        b'Z' => b'A',
        letter if letter.is_ascii_alphabetic() => letter + 1,
        other => other,
    };
}
