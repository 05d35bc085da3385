//! What a gRPC call was answered with, and what every answer must be.

use std::hash::{BuildHasher as _, RandomState};

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
    pub fn check<Q: Message + Default>(&self, message: &[u8]) {
        let is_message = Q::decode(message).is_ok();
        let expected = match self.code {
            Code::Ok => is_message,
            Code::Internal => !is_message && self.words.contains("decode"),
            code => is_message && REFUSALS.contains(&code),
        };
        assert!(expected, "{:?}: {}", self.code, self.words);
        self.check_words(message);
    }

    /// What was sent is not in the words of the refusal. Compared by their hashes: a fuzzer that sees the
    /// words compared learns them, and sends them.
    pub fn check_words(&self, sent: &[u8]) {
        let hasher = RandomState::new();
        let words = self.words.as_bytes().windows(ECHO_BYTES);
        let words: Vec<u64> = words.map(|window| hasher.hash_one(window)).collect();
        let is_repeated = |part: &[u8]| words.contains(&hasher.hash_one(part));
        let mut parts = sent.chunks_exact(ECHO_BYTES);
        assert!(
            !parts.any(is_repeated),
            "it repeats what was sent: {}",
            self.words
        );
    }
}
