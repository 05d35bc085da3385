//! `VerifyStream` and its frames: one outcome per complete message, and only issued tokens are verified.
#![no_main]

use bytes::Bytes;
use http::HeaderMap;
use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, AUDIENCE, framed};
use jeton_proto::v1::verify_outcome::Outcome;
use jeton_proto::v1::{VerifyOutcome, VerifyRequest};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| service::with(|service| {
        let requests = service.tokens.iter().map(|token| VerifyRequest {
            audience: AUDIENCE.to_owned(),
            token: token.clone(),
            ..VerifyRequest::default()
        });
        let frames: Vec<_> = requests.map(|one| framed(&service::seed(&one)).to_vec()).collect();
        vec![frames.concat(), frames[0].clone(), vec![0, 0, 0, 0, 0]]
    })),
    |data: &[u8]| service::with(|service| {
        let method = "jeton.v1.TokenService/VerifyStream";
        let answer = service.stream(method, Bytes::copy_from_slice(data), &HeaderMap::new());
        let (messages, end) = service::unframed::<VerifyRequest>(data);
        assert_eq!(answer.messages.len(), messages);
        assert!(end.permits(answer.code), "{end:?}, {:?}: {}", answer.code, answer.words);
        answer.check_words(data, |other| {
            service.stream(method, Bytes::copy_from_slice(other), &HeaderMap::new())
        });
        for outcome in answer.messages {
            let outcome = VerifyOutcome::decode(outcome).expect("an outcome");
            if let Some(Outcome::Verified(_)) = outcome.outcome {
                let sent = |token: &String| data.windows(token.len()).any(|part| part == token.as_bytes());
                assert!(service.tokens.iter().any(sent), "it was never issued");
            }
        }
    })
);
