//! `ListIssuersRequest` has no fields, so every valid message gets a response.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, ISS};
use jeton_proto::v1::{ListIssuersRequest, ListIssuersResponse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| vec![service::seed(&ListIssuersRequest {})]),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<ListIssuersRequest, _>("jeton.v1.AdminService/ListIssuers", data);
        let answer: Option<ListIssuersResponse> = answer;
        if let Some(answer) = answer {
            assert!(answer.issuers.iter().any(|iss| iss == ISS));
        }
    })
);
