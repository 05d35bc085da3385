//! `GetIssuerRequest`: the response contains the keys of the issuer, but no private key.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, ISS};
use jeton_proto::v1::{GetIssuerRequest, Issuer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| ["", ISS, "nobody"].map(|issuer| {
        service::seed(&GetIssuerRequest { issuer: issuer.to_owned() })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<GetIssuerRequest, _>("jeton.v1.AdminService/GetIssuer", data);
        let answer: Option<Issuer> = answer;
        if let Some(issuer) = answer {
            assert!(!issuer.keys.is_empty());
            assert!(issuer.keys.iter().all(|key| !key.kid.is_empty()));
        }
    })
);
