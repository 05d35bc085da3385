//! `RevokeRequest`: an acknowledged revocation is effective.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, AUDIENCE};
use jeton_proto::v1::revoke_request::What;
use jeton_proto::v1::{RevokeRequest, RevokeResponse, TokenId};
use libfuzzer_sys::fuzz_target;
use prost::Message as _;

fuzz_target!(
    init: seeds::write(|| service::with(|service| {
        let id = |expires_at| TokenId { id: "an id".to_owned(), expires_at };
        let mut all = vec![
            What::TokenId(id(0)),
            What::TokenId(id(4_000_000_000)),
            What::Subject("alice".to_owned()),
            What::ClientId("billing".to_owned()),
            What::KeyId("a key".to_owned()),
        ];
        all.extend(service.tokens.iter().cloned().map(What::Token));
        let request = |what| RevokeRequest { what: Some(what), ..RevokeRequest::default() };
        all.into_iter().map(|what| service::seed(&request(what))).collect::<Vec<_>>()
    })),
    |data: &[u8]| service::with(|service| {
        let revoked = service.call::<RevokeRequest, _>("jeton.v1.TokenService/Revoke", data);
        let Some(revoked): Option<RevokeResponse> = revoked else {
            return;
        };
        service.has_changed();
        assert!(revoked.revision > 0);
        let request = RevokeRequest::decode(data).expect("it was answered");
        if let Some(What::Token(token)) = request.what {
            assert!(service.tokens.contains(&token), "it was never issued");
            assert!(service.verify(&request.issuer, AUDIENCE, &token).is_none());
        }
    })
);
