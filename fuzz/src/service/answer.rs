//! What a gRPC call was answered with, and what every answer must be.

use bytes::{Buf as _, Bytes};
use http::HeaderMap;
use prost::Message;
use tonic::Code;

/// The messages, and how it ended.
pub struct Answer {
    pub messages: Vec<Bytes>,
    pub code: Code,
    /// For people.
    pub words: String,
}

/// What may be wrong with a request that is a message of its kind.
const REFUSALS: [Code; 7] = [
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::ResourceExhausted,
    Code::Unavailable,
];

/// So much of a request in the words of its refusal is an echo.
const ECHO_BYTES: usize = 24;

impl Answer {
    pub(super) fn of(headers: &HeaderMap, trailers: &HeaderMap, mut body: Bytes) -> Answer {
        let status = |name: &str| trailers.get(name).or(headers.get(name));
        let code = status("grpc-status").map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()));
        let words = status("grpc-message").map(|words| words.to_str().expect("it is encoded"));
        let mut messages = Vec::new();
        while !body.is_empty() {
            assert_eq!(
                body.get_u8(),
                0,
                "nothing is compressed that was not asked for"
            );
            let length = body.get_u32();
            messages.push(body.split_to(length as usize));
        }
        Answer {
            messages,
            code,
            words: words.unwrap_or_default().to_owned(),
        }
    }

    /// What is no message is told so, and only that; what is one is answered or refused for a reason
    /// of its own. A refusal does not repeat what it refuses.
    pub fn check<Q: Message + Default>(&self, message: &[u8], again: impl FnOnce(&[u8]) -> Answer) {
        let is_message = Q::decode(message).is_ok();
        let expected = match self.code {
            Code::Ok => is_message,
            Code::Internal => !is_message && self.words.contains("decode"),
            code => is_message && REFUSALS.contains(&code),
        };
        assert!(expected, "{:?}: {}", self.code, self.words);
        self.check_words(message, again);
    }

    /// What was sent is not repeated in the words of the refusal. A fuzzer learns those words, and sends
    /// them: so what is found in them is sent again as something else, and they must not follow.
    pub fn check_words(&self, sent: &[u8], again: impl FnOnce(&[u8]) -> Answer) {
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

/// The next letter of the alphabet, and for what is none itself.
fn other_letter(byte: &mut u8) {
    *byte = match *byte {
        b'z' => b'a',
        b'Z' => b'A',
        letter if letter.is_ascii_alphabetic() => letter + 1,
        other => other,
    };
}
