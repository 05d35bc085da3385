//! `ReportCompromisedKeyRequest`: the key is removed, and another one signs.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, ISS};
use jeton_proto::v1::{Issuer, ReportCompromisedKeyRequest};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| service::with(|service| {
        let kids = service.kids();
        let request = |kid: String| ReportCompromisedKeyRequest { issuer: ISS.to_owned(), kid };
        kids.into_iter().map(|kid| service::seed(&request(kid))).collect::<Vec<_>>()
    })),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<ReportCompromisedKeyRequest, _>("jeton.v1.AdminService/ReportCompromisedKey", data);
        let answer: Option<Issuer> = answer;
        if let Some(issuer) = answer {
            service.has_changed();
            let request = ReportCompromisedKeyRequest::decode(data).expect("it was answered");
            assert!(issuer.keys.iter().all(|key| key.kid != request.kid));
        }
    })
);
