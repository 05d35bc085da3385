//! `RotateKeyRequest`: adds a key until the limit is reached.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, ISS};
use jeton_proto::v1::{Issuer, RotateKeyRequest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| ["ES256", "HS256", "v4.public", "v4.local", "none"].map(|kind| {
        service::seed(&RotateKeyRequest { issuer: ISS.to_owned(), kind: kind.to_owned() })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<RotateKeyRequest, _>("jeton.v1.AdminService/RotateKey", data);
        let answer: Option<Issuer> = answer;
        if let Some(issuer) = answer {
            service.has_changed();
            assert!(issuer.keys.len() <= jeton_issuer::limits::KEYS_PER_ISSUER);
        }
    })
);
