//! Key sets that the program fetches: the schedule requests, and the test responds.

use jeton_ffi::*;
use serde_json::Value;

use crate::api::{self, Keys, Owned};

const POLICY: &str = r#"{"issuer":"https://id.example","audience":"api"}"#;
const ISSUER: &str = r#"{"issuer":"https://id.example","audience":"api","lifetime":900}"#;

fn remote(options: &str) -> api::Result<Owned<JetonRemoteKeys>> {
    // SAFETY: texts and handles live until each call ends, in all functions below.
    api::create(|out, reason| unsafe {
        jeton_remote_keys_new(options.as_ptr(), options.len(), out, reason)
    })
}

fn next(keys: &Owned<JetonRemoteKeys>) -> Option<Value> {
    // SAFETY: as above.
    let text = api::buffer(|out, reason| unsafe { jeton_remote_keys_next(keys.0, out, reason) });
    let text = String::from_utf8(text.unwrap()).unwrap();
    (!text.is_empty()).then(|| serde_json::from_str(&text).unwrap())
}

fn ready(keys: &Owned<JetonRemoteKeys>) -> Option<String> {
    // SAFETY: as above.
    let ready = api::call(|reason| unsafe { jeton_remote_keys_ready(keys.0, reason) });
    ready.err().map(|failure| failure.code)
}

fn respond(
    keys: &Owned<JetonRemoteKeys>,
    request: &Value,
    status: u32,
    headers: &str,
    body: &str,
) -> api::Result<()> {
    let id = request["id"].as_u64().unwrap();
    // SAFETY: as above.
    api::call(|reason| unsafe {
        jeton_remote_keys_respond(
            keys.0,
            id,
            status,
            headers.as_ptr(),
            headers.len(),
            body.as_ptr(),
            body.len(),
            reason,
        )
    })
}

fn verifier(keys: &Owned<JetonRemoteKeys>) -> Owned<JetonVerifier> {
    let keys = Keys {
        remote: Some(keys),
        ..Keys::default()
    };
    api::verifier(keys, POLICY).unwrap()
}

#[test]
fn remote_key_set_is_for_signed_jwts_only() {
    let remote = remote(r#"{"address":"https://id.example/jwks.json"}"#).unwrap();
    let key = api::generate("dir", r#"{"enc":"A128GCM"}"#).unwrap();
    let decryption = api::new_set(&[&key]).unwrap();
    let message = |decryption, options| {
        let keys = Keys {
            remote: Some(&remote),
            decryption,
            ..Keys::default()
        };
        api::verifier(keys, options).unwrap_err().message
    };
    assert_eq!(
        message(None, r#"{"format":"jws"}"#),
        "a remote key set verifies JWTs only"
    );
    let why = "not used with a remote key set";
    assert_eq!(
        message(Some(&decryption), POLICY),
        format!("option `decryption`: {why}")
    );
    let with_cache = POLICY.replace('}', r#","cache":10}"#);
    assert_eq!(message(None, &with_cache), format!("option `cache`: {why}"));
}

/// A set with a new key of this id, and a token signed with the key.
fn signed(kid: &str) -> (String, String) {
    let key = api::generate("ES256", &format!(r#"{{"kid":"{kid}"}}"#)).unwrap();
    let set = api::export_set(&api::new_set(&[&key]).unwrap(), "jwks").unwrap();
    let issuer = api::issuer(Some(&key), None, None, ISSUER).unwrap();
    (set, api::issue(&issuer, "{}").unwrap())
}

#[test]
fn keys_are_fetched_when_a_token_needs_them() {
    let (set, token) = signed("a");
    let keys = remote(r#"{"address":"https://id.example/jwks.json"}"#).unwrap();
    let verifier = verifier(&keys);
    let code = || api::verify(&verifier, token.as_bytes()).map_err(|failure| failure.code);
    assert_eq!(code().unwrap_err(), "KEY_SET_TO_FETCH");
    let request = next(&keys).unwrap();
    assert_eq!(request["url"], "https://id.example/jwks.json");
    assert_eq!(
        (&request["etag"], &request["no_cache"]),
        (&Value::Null, &Value::Bool(false))
    );
    assert!(next(&keys).is_none(), "one request at a time");
    assert_eq!(code().unwrap_err(), "KEY_SET_TO_FETCH");
    respond(
        &keys,
        &request,
        200,
        "ETag: \"1\"\nCache-Control: max-age=300",
        &set,
    )
    .unwrap();
    assert!(code().is_ok());
    assert_eq!(ready(&keys), None);
    assert!(next(&keys).is_none(), "the keys are fresh");
    assert_eq!(
        respond(&keys, &request, 200, "", &set).unwrap_err().code,
        "INVALID_OPTION"
    );

    // A new key causes one request that bypasses the caches of proxies. Then the cooldown applies.
    let (both, of_new) = signed("b");
    let unknown = || api::verify(&verifier, of_new.as_bytes()).map_err(|failure| failure.code);
    assert_eq!(unknown().unwrap_err(), "KEY_SET_TO_FETCH");
    let request = next(&keys).unwrap();
    assert_eq!(
        (request["etag"].as_str(), &request["no_cache"]),
        (Some("\"1\""), &Value::Bool(true))
    );
    respond(&keys, &request, 200, "", &both).unwrap();
    assert!(unknown().is_ok());
    let (_, of_attacker) = signed("c");
    let failure = api::verify(&verifier, of_attacker.as_bytes()).unwrap_err();
    assert_eq!(failure.code, "TOKEN_UNKNOWN_KEY");
    assert!(
        next(&keys).is_none(),
        "an invented key id causes no request in the cooldown"
    );
}

/// Without a cooldown, each verification may cause a fetch. The same verification after that fetch causes no other.
#[test]
fn verification_without_a_cooldown_fetches_once() {
    let (set, token) = signed("a");
    let (new_set, of_new) = signed("b");
    let options = r#"{"address":"https://id.example/jwks.json","cooldown":0}"#;
    let keys = remote(options).unwrap();
    let of_keys = verifier(&keys);
    let code = |token: &str| {
        let verified = api::verify(&of_keys, token.as_bytes());
        verified.map_or_else(|failure| failure.code, |_| String::new())
    };
    // Without keys, the first response may come from the cache of a proxy.
    for no_cache in [false, true] {
        assert_eq!(code(&of_new), "KEY_SET_TO_FETCH");
        let request = next(&keys).unwrap();
        assert_eq!(request["no_cache"], no_cache);
        respond(&keys, &request, 200, "", &set).unwrap();
    }
    assert_eq!(code(&of_new), "TOKEN_UNKNOWN_KEY");
    assert_eq!(code(&token), "");
    for _ in 0..3 {
        assert_eq!(code(&of_new), "KEY_SET_TO_FETCH");
        let request = next(&keys).unwrap();
        assert_eq!(request["no_cache"], true);
        respond(&keys, &request, 200, "", &set).unwrap();
        assert!(next(&keys).is_none(), "the fetch is over");
        assert_eq!(code(&of_new), "TOKEN_UNKNOWN_KEY");
    }
    // A fetch that fails says nothing about the key. The cached keys decide.
    assert_eq!(code(&of_new), "KEY_SET_TO_FETCH");
    respond(&keys, &next(&keys).unwrap(), 503, "", "").unwrap();
    assert!(next(&keys).is_none(), "the fetch is over");
    assert_eq!(code(&of_new), "TOKEN_UNKNOWN_KEY");
    assert_eq!(code(&of_new), "KEY_SET_TO_FETCH");
    // The response is stale at once.
    let stale = "Cache-Control: max-age=0";
    respond(&keys, &next(&keys).unwrap(), 200, stale, &new_set).unwrap();
    assert!(next(&keys).is_none(), "the fetch is over");
    assert_eq!(code(&of_new), "");
}

#[test]
fn failure_without_a_cooldown_is_reported_after_one_fetch() {
    let (set, token) = signed("a");
    let options = r#"{"address":"https://id.example/jwks.json","cooldown":0}"#;
    let keys = remote(options).unwrap();
    let verifier = verifier(&keys);
    let code = || api::verify(&verifier, token.as_bytes()).map_err(|failure| failure.code);
    for status in [0, 503, 0, 503] {
        assert_eq!(code().unwrap_err(), "KEY_SET_TO_FETCH");
        respond(&keys, &next(&keys).unwrap(), status, "", "").unwrap();
        assert_eq!(code().unwrap_err(), "KEY_SET_UNREACHABLE", "{status}");
    }
    assert_eq!(ready(&keys).as_deref(), Some("KEY_SET_TO_FETCH"));
    respond(&keys, &next(&keys).unwrap(), 503, "", "").unwrap();
    assert_eq!(ready(&keys).as_deref(), Some("KEY_SET_UNREACHABLE"));
    assert_eq!(code().unwrap_err(), "KEY_SET_TO_FETCH");
    respond(&keys, &next(&keys).unwrap(), 200, "", &set).unwrap();
    assert!(code().is_ok());
}

#[test]
fn failed_fetch_is_reported_and_not_repeated_at_once() {
    let (_, token) = signed("a");
    for (status, body, expected) in [
        (0, "", "KEY_SET_UNREACHABLE"),
        (503, "", "KEY_SET_UNREACHABLE"),
        (200, "<html>", "KEY_MALFORMED"),
        (200, r#"{"keys":[]}"#, "KEY_SET_EMPTY"),
    ] {
        let keys = remote(r#"{"address":"https://id.example/jwks.json"}"#).unwrap();
        let verifier = verifier(&keys);
        let request = next(&keys).unwrap();
        assert_eq!(ready(&keys).as_deref(), Some("KEY_SET_TO_FETCH"));
        respond(&keys, &request, status, "", body).unwrap();
        assert_eq!(ready(&keys).as_deref(), Some(expected), "{status} {body}");
        let failure = api::verify(&verifier, token.as_bytes()).unwrap_err();
        assert_eq!(failure.code, expected, "{status} {body}");
        assert!(next(&keys).is_none());
    }
}

#[test]
fn address_of_an_issuer_is_discovered() {
    let (set, token) = signed("a");
    let keys = remote(r#"{"issuer":"https://id.example"}"#).unwrap();
    let verifier = verifier(&keys);
    let document = next(&keys).unwrap();
    assert_eq!(
        document["url"],
        "https://id.example/.well-known/openid-configuration"
    );
    let body = r#"{"issuer":"https://id.example","jwks_uri":"https://keys.example/jwks"}"#;
    respond(&keys, &document, 200, "", body).unwrap();
    let request = next(&keys).unwrap();
    assert_eq!(request["url"], "https://keys.example/jwks");
    assert_eq!(request["public_only"], true);
    respond(&keys, &request, 200, "", &set).unwrap();
    assert!(api::verify(&verifier, token.as_bytes()).is_ok());
}

#[test]
fn discovered_private_address_is_explained() {
    let (_, token) = signed("a");
    let keys = remote(r#"{"issuer":"https://id.example"}"#).unwrap();
    let verifier = verifier(&keys);
    let document = next(&keys).unwrap();
    let body = r#"{"issuer":"https://id.example","jwks_uri":"https://10.0.0.1/jwks"}"#;
    respond(&keys, &document, 200, "", body).unwrap();
    let failure = api::verify(&verifier, token.as_bytes()).unwrap_err();
    assert_eq!(failure.code, "KEY_SET_ADDRESS");
    assert_eq!(
        failure.message,
        "discovery: `jwks_uri`: the URL has a private IP address, and is not on the host of the issuer: \
         allow private addresses if you trust the issuer"
    );
}

#[test]
fn wrong_settings_of_a_remote_key_set_are_errors() {
    for (options, code) in [
        ("{}", "INVALID_OPTION"),
        (
            r#"{"address":"https://a","issuer":"https://a"}"#,
            "INVALID_OPTION",
        ),
        (r#"{"address":"http://id.example/jwks"}"#, "KEY_SET_ADDRESS"),
        (
            r#"{"address":"https://a","default_alg":"HS256"}"#,
            "INVALID_OPTION",
        ),
        (r#"{"url":"https://a"}"#, "INVALID_OPTION"),
    ] {
        assert_eq!(remote(options).unwrap_err().code, code, "{options}");
    }
    let keys = remote(r#"{"address":"https://id.example/jwks.json"}"#).unwrap();
    let both = Keys {
        remote: Some(&keys),
        key: Some(&api::generate("ES256", "{}").unwrap()),
        ..Keys::default()
    };
    assert_eq!(
        api::verifier(both, POLICY).unwrap_err().code,
        "INVALID_OPTION"
    );
}

/// Each token with an unknown key locks the key set. A thread that does not get the lock must not fetch.
#[test]
fn threads_that_look_for_keys_at_once_do_not_fetch() {
    let (set, _) = signed("a");
    let keys = remote(r#"{"address":"https://id.example/jwks.json"}"#).unwrap();
    let verifier = verifier(&keys);
    let (_, of_attacker) = signed("c");
    for _ in 0..2 {
        let code = api::verify(&verifier, of_attacker.as_bytes()).map(drop);
        assert_eq!(code.unwrap_err().code, "KEY_SET_TO_FETCH");
        respond(&keys, &next(&keys).unwrap(), 200, "", &set).unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let failure = api::verify(&verifier, of_attacker.as_bytes()).unwrap_err();
                    assert_eq!(failure.code, "TOKEN_UNKNOWN_KEY");
                }
            });
        }
    });
}
