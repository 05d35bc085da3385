//! `WatchRevocationsRequest`: the stream starts with all revocations, with an empty message, or with an error.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, ISS, framed};
use jeton_proto::v1::{RevocationUpdate, WatchRevocationsRequest};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| ["", ISS, "nobody"].map(|issuer| {
        service::seed(&WatchRevocationsRequest { issuer: issuer.to_owned() })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let method = "jeton.v1.TokenService/WatchRevocations";
        let answer = service.begin(method, framed(data));
        answer.check::<WatchRevocationsRequest>(data, |other| service.begin(method, framed(other)));
        if let Some(first) = answer.messages.into_iter().next() {
            let first = RevocationUpdate::decode(first).expect("an update");
            // Without revocations, the first message may be empty.
            assert!(first.is_snapshot || first.tokens.is_empty() && first.rules.is_empty());
        }
    })
);
