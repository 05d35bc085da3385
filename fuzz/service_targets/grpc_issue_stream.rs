//! `IssueStream` and its frames: one outcome per complete message, until a malformed one.
#![no_main]

use bytes::Bytes;
use http::HeaderMap;
use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, framed};
use jeton_proto::v1::{IssueOutcome, IssueRequest};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| {
        let frames = ["access", "mac", "none"].map(|profile| {
            let request = IssueRequest { profile: profile.to_owned(), ..IssueRequest::default() };
            framed(&service::seed(&request)).to_vec()
        });
        vec![frames.concat(), frames[0].clone(), vec![1, 0, 0, 0, 0]]
    }),
    |data: &[u8]| service::with(|service| {
        let method = "jeton.v1.TokenService/IssueStream";
        let answer = service.stream(method, Bytes::copy_from_slice(data), &HeaderMap::new());
        let (messages, end) = service::unframed::<IssueRequest>(data);
        assert_eq!(answer.messages.len(), messages);
        assert!(end.permits(answer.code), "{end:?}, {:?}: {}", answer.code, answer.words);
        answer.check_words(data, |other| {
            service.stream(method, Bytes::copy_from_slice(other), &HeaderMap::new())
        });
        for outcome in answer.messages {
            let outcome = IssueOutcome::decode(outcome).expect("an outcome");
            assert!(outcome.outcome.is_some());
        }
    })
);
