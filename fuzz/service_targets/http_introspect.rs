//! Any introspection form (RFC 7662) and content type: only issued tokens are active, and the response is JSON
//! that must not be stored.
#![no_main]

use jeton_fuzz::seeds;
use jeton_fuzz::service::{self, Form};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(
    init: seeds::write(Form::seeds),
    |data: &[u8]| service::with(|service| {
        let Some(form) = Form::of(data) else {
            return;
        };
        let answer = service.http(form.request("/tenant/introspect"));
        match answer.status().as_u16() {
            200 => {
                let answer: Value = serde_json::from_slice(answer.body()).expect("JSON");
                let token = form.only_token().expect("it was answered");
                let is_active = answer["active"].as_bool().expect("it says so");
                assert_eq!(is_active, service.tokens.contains(&token));
                // The response for an inactive token contains nothing else.
                assert!(is_active || answer.as_object().is_some_and(|members| members.len() == 1));
            }
            400 => assert!(form.only_token().is_none()),
            other => panic!("{other}"),
        }
    })
);
