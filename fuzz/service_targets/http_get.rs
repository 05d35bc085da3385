//! Any path, host and ETag: the status is valid, and a key set is complete.
#![no_main]

use bytes::Bytes;
use http::{HeaderValue, Request, Uri};
use http_body_util::Full;
use jeton::jwk::KeySet;
use jeton_fuzz::{seeds, service};
use libfuzzer_sys::fuzz_target;

const PATHS: [&str; 8] = [
    "/tenant/.well-known/jwks.json",
    "/tenant/.well-known/paserks.json",
    "/tenant/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/tenant",
    "/livez",
    "/readyz",
    "/metrics",
    "/tenant/introspect?token=x",
];

fuzz_target!(
    init: seeds::write(|| PATHS.map(|path| {
        format!("http://id.example{path}\nGET\nid.example\nW/\"tag\", *")
    }).to_vec()),
    |data: &[u8]| {
        let mut lines = data.split(|byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let (Ok(uri), method) = (Uri::try_from(line()), line()) else {
            return;
        };
        let (Ok(host), Ok(tag)) = (HeaderValue::from_bytes(line()), HeaderValue::from_bytes(line()))
        else {
            return;
        };
        // Only requests that an HTTP/2 client can send.
        if uri.scheme().is_none() || uri.authority().is_none() || method == b"CONNECT" {
            return;
        }
        let request = Request::builder().uri(&uri).method(method);
        let request = request.header("host", host).header("if-none-match", tag);
        let Ok(request) = request.body(Full::new(Bytes::new())) else {
            return;
        };
        let is_get = request.method() == "GET";
        service::with(|service| {
            let answer = service.http(request);
            let status = answer.status().as_u16();
            assert!([200, 304, 400, 404, 405, 415, 421].contains(&status), "{status}");
            if status == 200 && is_get && uri.path().ends_with("/jwks.json") {
                let text = std::str::from_utf8(answer.body()).expect("text");
                assert!(KeySet::from_json(text).is_ok_and(|set| !set.is_empty()));
            }
        });
    }
);
