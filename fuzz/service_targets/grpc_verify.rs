//! `VerifyRequest`: only issued tokens are verified.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, AUDIENCE};
use jeton_proto::v1::{VerifyRequest, VerifyResponse};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| service::with(|service| {
        let all = service.tokens.iter().map(|token| VerifyRequest {
            audience: AUDIENCE.to_owned(),
            token: token.clone(),
            ..VerifyRequest::default()
        });
        all.map(|request| service::seed(&request)).collect::<Vec<_>>()
    })),
    |data: &[u8]| service::with(|service| {
        let verified = service.call::<VerifyRequest, _>("jeton.v1.TokenService/Verify", data);
        let Some(verified): Option<VerifyResponse> = verified else {
            return;
        };
        let request = VerifyRequest::decode(data).expect("it was answered");
        assert!(service.tokens.contains(&request.token), "it was never issued");
        assert_eq!(verified.subject, "alice");
    })
);
