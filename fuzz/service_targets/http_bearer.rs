//! Any `authorization` header: only the token of the client authenticates it.
#![no_main]

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};
use jeton_fuzz::{seeds, service};
use jeton_proto::v1::IssueRequest;
use libfuzzer_sys::fuzz_target;
use tonic::Code;

fuzz_target!(
    init: seeds::write(|| service::with_guarded(|service| {
        let bearers = service.tokens.iter().map(|token| format!("Bearer {token}"));
        let mut all: Vec<String> = bearers.collect();
        all.extend(["Bearer ", "Basic a:b", "bearer x.y.z"].map(str::to_owned));
        all
    })),
    |data: &[u8]| service::with_guarded(|service| {
        if HeaderValue::from_bytes(data).is_err() {
            return;
        }
        let is_client = data.split_at_checked(7).is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case(b"bearer ") && token == service.tokens[0].as_bytes()
        });
        let request = IssueRequest { profile: "mac".to_owned(), ..IssueRequest::default() };
        let body = service::framed(&service::seed(&request));
        let mut issue = |value: &[u8]| {
            let value = HeaderValue::from_bytes(value).expect("letters for letters");
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
            service.stream("jeton.v1.TokenService/Issue", body.clone(), &headers)
        };
        let answer = issue(data);
        let expected = if is_client { Code::Ok } else { Code::Unauthenticated };
        assert_eq!(answer.code, expected, "{}", answer.words);
        answer.check_words(data, issue);
    })
);
