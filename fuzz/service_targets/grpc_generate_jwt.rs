//! `GenerateJwtRequest` of the gRPC report: only its two algorithms are accepted.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service;
use jeton_proto::report::{GenerateJwtRequest, GenerateJwtResponse};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| ["HS256", "ES256", "none", "RS256"].map(|algorithm| {
        service::seed(&GenerateJwtRequest { algorithm: algorithm.to_owned() })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let method = "jwt.services.JwtService/GenerateJwt";
        let generated = service.call::<GenerateJwtRequest, _>(method, data);
        let generated: Option<GenerateJwtResponse> = generated;
        if let Ok(request) = GenerateJwtRequest::decode(data) {
            let is_known = ["HS256", "ES256"].contains(&&*request.algorithm);
            assert_eq!(generated.is_some(), is_known);
        }
    })
);
