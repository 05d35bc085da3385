//! `StatusRequest` has no fields, so every valid message gets a response.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self};
use jeton_proto::v1::{StatusRequest, StatusResponse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| vec![service::seed(&StatusRequest {})]),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<StatusRequest, _>("jeton.v1.AdminService/Status", data);
        let answer: Option<StatusResponse> = answer;
        if let Some(status) = answer {
            assert!(status.is_ready, "{}", status.fault);
        }
    })
);
