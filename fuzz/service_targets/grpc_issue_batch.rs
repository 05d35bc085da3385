//! `IssueBatchRequest`: one outcome per item, and issued tokens verify.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, AUDIENCE};
use jeton_proto::v1::issue_outcome::Outcome;
use jeton_proto::v1::{IssueBatchRequest, IssueBatchResponse, IssueItem};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| ["", r#"{"n":1}"#, r#"{"n":"#].map(|claims| {
        service::seed(&IssueBatchRequest {
            profile: "mac".to_owned(),
            audience: AUDIENCE.to_owned(),
            items: ["a", "b"].map(|subject| IssueItem {
                subject: subject.to_owned(),
                claims_json: claims.to_owned(),
            }).into(),
            ..IssueBatchRequest::default()
        })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<IssueBatchRequest, _>("jeton.v1.TokenService/IssueBatch", data);
        let Some(answer): Option<IssueBatchResponse> = answer else {
            return;
        };
        let request = IssueBatchRequest::decode(data).expect("it was answered");
        assert_eq!(answer.outcomes.len(), request.items.len());
        let audience = match request.audience.is_empty() {
            true => AUDIENCE,
            false => &request.audience,
        };
        // Only a few are checked, because an input may contain thousands.
        for (outcome, item) in answer.outcomes.iter().zip(&request.items).take(4) {
            if let Some(Outcome::Issued(issued)) = &outcome.outcome {
                let verified = service.verify(&request.issuer, audience, &issued.token);
                assert_eq!(verified.expect("what is issued is good").subject, item.subject);
            }
        }
    })
);
