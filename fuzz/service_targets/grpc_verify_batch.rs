//! `VerifyBatchRequest`: one outcome per token, and only issued tokens are verified.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, AUDIENCE};
use jeton_proto::v1::verify_outcome::Outcome;
use jeton_proto::v1::{VerifyBatchRequest, VerifyBatchResponse};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| service::with(|service| {
        let whole = VerifyBatchRequest {
            audience: AUDIENCE.to_owned(),
            tokens: service.tokens.clone(),
            ..VerifyBatchRequest::default()
        };
        let one = VerifyBatchRequest {
            tokens: vec![service.tokens[0].clone(), "x".to_owned(), String::new()],
            ..whole.clone()
        };
        vec![service::seed(&whole), service::seed(&one)]
    })),
    |data: &[u8]| service::with(|service| {
        let method = "jeton.v1.TokenService/VerifyBatch";
        let answer = service.call::<VerifyBatchRequest, _>(method, data);
        let Some(answer): Option<VerifyBatchResponse> = answer else {
            return;
        };
        let request = VerifyBatchRequest::decode(data).expect("it was answered");
        assert_eq!(answer.outcomes.len(), request.tokens.len());
        for (outcome, token) in answer.outcomes.iter().zip(&request.tokens) {
            if let Some(Outcome::Verified(_)) = outcome.outcome {
                assert!(service.tokens.contains(token), "it was never issued");
            }
        }
    })
);
