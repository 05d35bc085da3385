//! Any revocation form (RFC 7009) and content type: a valid token is revoked, and the response for an invalid one
//! is the same.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, AUDIENCE, Form};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: seeds::write(Form::seeds),
    |data: &[u8]| service::with(|service| {
        let Some(form) = Form::of(data) else {
            return;
        };
        let answer = service.http(form.request("/tenant/revoke"));
        match answer.status().as_u16() {
            200 => {
                assert_eq!(&answer.body()[..], b"{}");
                let token = form.only_token().expect("it was answered");
                assert!(service.verify("", AUDIENCE, &token).is_none());
                if service.tokens.contains(&token) {
                    service.has_changed();
                }
            }
            400 => assert!(form.only_token().is_none()),
            other => panic!("{other}"),
        }
    })
);
