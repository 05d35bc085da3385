//! `KeysRequest`: the response is a valid key set.
#![no_main]

use jeton::jwk::KeySet;
use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, ISS};
use jeton_proto::v1::{KeysRequest, KeysResponse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(|| ["", ISS, "nobody"].map(|issuer| {
        service::seed(&KeysRequest { issuer: issuer.to_owned() })
    }).to_vec()),
    |data: &[u8]| service::with(|service| {
        let keys = service.call::<KeysRequest, _>("jeton.v1.TokenService/Keys", data);
        let keys: Option<KeysResponse> = keys;
        if let Some(keys) = keys {
            assert!(KeySet::from_json(&keys.jwk_set).is_ok_and(|set| !set.is_empty()));
            assert_eq!(keys.paserks.len(), 1);
        }
    })
);
