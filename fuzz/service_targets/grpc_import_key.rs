//! `ImportKeyRequest` with a private key in any form: no response contains it.
#![no_main]

use jeton::key::MacAlg;
use jeton::paseto::v4::V4;
use jeton_fuzz::service::{self, ISS};
use jeton_fuzz::{keys, seeds};
use jeton_proto::v1::{ImportKeyRequest, Issuer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| {
        let mut all = vec![("v4.public", keys::paseto::<V4>().secret.to_paserk().expect("written").to_string())];
        all.push(("v4.local", keys::paseto::<V4>().local.to_paserk().to_string()));
        all.extend(["ES256", "HS256", "Ed25519"].map(|alg| {
            let key = match alg {
                "HS256" => keys::mac(MacAlg::HS256).to_jwk().to_string(),
                "ES256" => keys::jwk("EC", "P-256"),
                _ => keys::jwk("OKP", "Ed25519"),
            };
            (alg, key)
        }));
        let request = |(kind, private_key): (&str, String)| ImportKeyRequest {
            issuer: ISS.to_owned(),
            kind: kind.to_owned(),
            private_key,
        };
        all.into_iter().map(|one| service::seed(&request(one))).collect::<Vec<_>>()
    }),
    |data: &[u8]| service::with(|service| {
        let answer = service.call::<ImportKeyRequest, _>("jeton.v1.AdminService/ImportKey", data);
        let answer: Option<Issuer> = answer;
        if answer.is_some() {
            service.has_changed();
        }
    })
);
