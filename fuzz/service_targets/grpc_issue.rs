//! `IssueRequest`: the issued token verifies and contains the requested claims.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, AUDIENCE, ISS};
use jeton_proto::v1::{IssueRequest, IssueResponse};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| ["access", "mac", "paseto", "sealed"].map(|profile| {
        service::seed(&IssueRequest {
            issuer: ISS.to_owned(),
            profile: profile.to_owned(),
            subject: "alice".to_owned(),
            audience: AUDIENCE.to_owned(),
            claims_json: r#"{"roles":["admin"],"nonce":"n"}"#.to_owned(),
        })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let issued = service.call::<IssueRequest, _>("jeton.v1.TokenService/Issue", data);
        let Some(issued): Option<IssueResponse> = issued else {
            return;
        };
        let request = IssueRequest::decode(data).expect("it was answered");
        let audience = match request.audience.is_empty() {
            true => AUDIENCE,
            false => &request.audience,
        };
        let verified = service.verify(&request.issuer, audience, &issued.token);
        let verified = verified.expect("what is issued is good");
        assert_eq!(verified.subject, request.subject);
        assert_eq!(verified.token_id, issued.token_id);
        assert_eq!(verified.expires_at, issued.expires_at);
    })
);
