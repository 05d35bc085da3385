//! A setting has an effect, or it is an error: for every kind of key and format.

use jeton_ffi::*;

use crate::api::{self, Keys, Owned};

const ISSUER: &str = r#"{"issuer":"https://id.example","audience":"api","lifetime":900"#;
const POLICY: &str = r#"{"issuer":"https://id.example","audience":"api""#;
const ACCESS: &str = r#"{"sub":"user-7","client_id":"web","jti":"1"}"#;

fn with(start: &str, more: &str) -> String {
    format!("{start}{more}}}")
}

fn prepared(issuer: &Owned<JetonIssuer>, claims: &str) -> api::Result<String> {
    let prepared = api::prepare_at(issuer, claims, JETON_USE_CLOCK)?;
    // SAFETY: texts and handles live until the call ends.
    let message = api::buffer(|out, reason| unsafe {
        jeton_prepared_input(prepared.0, b"message".as_ptr(), 7, out, reason)
    })?;
    let message = String::from_utf8(message).unwrap();
    Ok(message.split('.').next().unwrap().to_owned())
}

#[test]
fn setting_that_the_key_does_not_use_is_an_error() {
    let (hs, es) = (
        api::generate("HS256", "").unwrap(),
        api::generate("ES256", "").unwrap(),
    );
    let public = api::public(&es).unwrap();
    let direct = api::generate("dir", r#"{"enc":"A128GCM"}"#).unwrap();
    let paseto = api::generate("v4.public", "").unwrap();
    for (key, options) in [
        (&hs, r#"{"lifetime":1,"enc":"A128GCM"}"#),
        (&hs, r#"{"format":"jws","enc":"A128GCM"}"#),
        (&direct, r#"{"lifetime":1,"typ":"at+jwt"}"#),
        (&direct, r#"{"lifetime":1,"access_tokens":true}"#),
        (&direct, r#"{"lifetime":1,"enc":"A256GCM"}"#),
        (&public, r#"{"lifetime":1,"enc":"A256GCM"}"#),
        (&public, r#"{"format":"jws","detached":true}"#),
        (&public, r#"{"format":"jws","unencoded":true}"#),
        (&public, r#"{"format":"jws","cty":"text/plain"}"#),
        (&public, r#"{"format":"jws","serialization":"flattened"}"#),
        (
            &paseto,
            r#"{"format":"paseto","lifetime":1,"enc":"A256GCM"}"#,
        ),
        (&paseto, r#"{"format":"paseto","lifetime":1,"typ":"JWT"}"#),
    ] {
        let failure = api::issuer(Some(key), None, None, options).unwrap_err();
        assert_eq!(failure.code, "INVALID_OPTION", "{options}");
    }
    let accepted = r#"{"lifetime":1,"enc":"A128GCM"}"#;
    assert!(api::issuer(Some(&direct), None, None, accepted).is_ok());

    let paseto = api::public(&paseto).unwrap();
    for (key, more) in [
        (&hs, r#","enc":"A128GCM""#),
        (&hs, r#","serialization":"general""#),
        (&direct, r#","enc":"A256GCM""#),
        (&paseto, r#","format":"paseto","typ":"at+jwt""#),
        (&paseto, r#","format":"paseto","access_tokens":true"#),
        (&paseto, r#","format":"paseto","enc":"A256GCM""#),
        (&paseto, r#","format":"paseto","serialization":"general""#),
    ] {
        let keys = Keys {
            key: Some(key),
            ..Keys::default()
        };
        let failure = api::verifier(keys, &with(POLICY, more)).unwrap_err();
        assert_eq!(failure.code, "INVALID_OPTION", "{more}");
    }
    let jws = Keys {
        key: Some(&hs),
        ..Keys::default()
    };
    let failure = api::verifier(jws, r#"{"format":"jws","enc":"A128GCM"}"#).unwrap_err();
    assert_eq!(failure.code, "INVALID_OPTION");
}

fn issuer_message(key: &Owned<JetonKey>, options: &str) -> String {
    let failure = api::issuer(Some(key), None, None, options).unwrap_err();
    assert_eq!(failure.code, "INVALID_OPTION", "{options}");
    failure.message
}

fn verifier_message(keys: Keys<'_>, options: &str) -> String {
    let failure = api::verifier(keys, options).unwrap_err();
    assert_eq!(failure.code, "INVALID_OPTION", "{options}");
    failure.message
}

#[test]
fn message_names_the_setting_of_another_format() {
    let key = api::generate("HS256", "").unwrap();
    let paseto = api::generate("v4.local", "").unwrap();
    let of = |key| Keys {
        key: Some(key),
        ..Keys::default()
    };
    for (options, expected) in [
        (
            r#"{"format":"jws","lifetime":60}"#,
            "option `lifetime`: does not apply to a JWS",
        ),
        (
            r#"{"lifetime":60,"serialization":"general"}"#,
            "option `serialization`: a JWT has only `compact`; JSON serializations need the format `jws` or `jwe`",
        ),
        (
            r#"{"lifetime":60,"without_expiry":true}"#,
            "option `lifetime`: contradicts `without_expiry`: set only one of them",
        ),
        (r#"{"format":"paseto"}"#, "a PASETO requires a PASETO key"),
        (
            r#"{"lifetime":"60"}"#,
            "option `lifetime`: must be a whole number of seconds, 0 or more",
        ),
    ] {
        assert_eq!(issuer_message(&key, options), expected, "{options}");
    }
    for (options, expected) in [
        ("{}", "a PASETO key cannot sign a JWT"),
        (r#"{"format":"jws"}"#, "a PASETO key cannot sign a JWS"),
        (
            r#"{"format":"paseto-bytes","audience":"a"}"#,
            "option `audience`: does not apply to a PASETO with bytes",
        ),
    ] {
        assert_eq!(issuer_message(&paseto, options), expected, "{options}");
    }
    for (options, expected) in [
        (
            r#"{"format":"jws","any_issuer":true}"#,
            "option `any_issuer`: does not apply to a JWS",
        ),
        (
            r#"{"format":"jws","enc":"A128GCM"}"#,
            "option `enc`: does not apply to a JWS",
        ),
        (
            r#"{"issuer":"i","audience":"a","serialization":"flattened"}"#,
            "option `serialization`: a JWT has only `compact`; JSON serializations need the format `jws` or `jwe`",
        ),
        (
            r#"{"issuer":"i"}"#,
            "option `audience`: required unless `any_audience` is set",
        ),
    ] {
        assert_eq!(verifier_message(of(&key), options), expected, "{options}");
    }
    let message = verifier_message(of(&paseto), r#"{"format":"jws"}"#);
    assert_eq!(message, "a PASETO key cannot verify a JWS");
}

/// Both together are an error: neither option takes precedence.
#[test]
fn expected_value_and_any_value_contradict() {
    let key = api::generate("HS256", "").unwrap();
    for more in [r#","any_issuer":true"#, r#","any_audience":true"#] {
        let keys = Keys {
            key: Some(&key),
            ..Keys::default()
        };
        let failure = api::verifier(keys, &with(POLICY, more)).unwrap_err();
        assert!(
            failure.message.contains("contradicts"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn nested_token_has_the_type_of_the_settings() {
    let (author, reader) = (
        api::generate("ES256", "").unwrap(),
        api::generate("ECDH-ES", "").unwrap(),
    );
    let decryption = api::new_set(&[&reader]).unwrap();
    for (settings, policy) in [
        (r#","typ":"at+jwt""#, r#","typ":"at+jwt""#),
        (r#","access_tokens":true"#, r#","access_tokens":true"#),
    ] {
        let issuer = api::issuer(Some(&author), Some(&reader), None, &with(ISSUER, settings));
        let token = api::issue(&issuer.unwrap(), ACCESS).unwrap();
        let verified = |more: &str| {
            let keys = Keys {
                key: Some(&author),
                decryption: Some(&decryption),
                ..Keys::default()
            };
            let verifier = api::verifier(keys, &with(POLICY, more)).unwrap();
            api::verify(&verifier, token.as_bytes()).map(|_| ())
        };
        assert!(verified(policy).is_ok(), "{settings}");
        assert_eq!(verified("").unwrap_err().code, "TOKEN_TYPE_MISMATCH");
    }
    let issuer = api::issuer(
        Some(&author),
        Some(&reader),
        None,
        &with(ISSUER, r#","access_tokens":true"#),
    );
    let failure = api::issue(&issuer.unwrap(), r#"{"sub":"user-7"}"#).unwrap_err();
    assert_eq!(failure.code, "ACCESS_TOKEN_CLAIM_MISSING");
    let public = api::public(&author).unwrap();
    let failure = api::issuer(Some(&public), Some(&reader), None, &with(ISSUER, ""));
    assert_eq!(failure.unwrap_err().code, "KEY_IS_PUBLIC");
}

#[test]
fn prepared_access_token_is_checked() {
    let public = api::public(&api::generate("ES256", "").unwrap()).unwrap();
    let settings = with(ISSUER, r#","access_tokens":true"#);
    let issuer = api::issuer(Some(&public), None, None, &settings).unwrap();
    // {"alg":"ES256","typ":"at+jwt"}
    let header = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9";
    assert_eq!(prepared(&issuer, ACCESS).unwrap(), header);
    let failure = prepared(&issuer, "{}").unwrap_err();
    assert_eq!(failure.code, "ACCESS_TOKEN_CLAIM_MISSING");
    let settings = with(ISSUER, r#","access_tokens":true,"typ":"JWT""#);
    let failure = api::issuer(Some(&public), None, None, &settings).unwrap_err();
    assert_eq!(failure.code, "INVALID_TYPE");
}

#[test]
fn lifetime_of_zero_is_refused() {
    let key = api::generate("HS256", "").unwrap();
    let paseto = api::generate("v4.local", "").unwrap();
    let expected = "option `lifetime`: must be 1 second or more, not 0";
    assert_eq!(issuer_message(&key, r#"{"lifetime":0}"#), expected);
    let options = r#"{"format":"paseto","lifetime":0}"#;
    assert_eq!(issuer_message(&paseto, options), expected);
}

/// Each token would be expired when it is issued.
#[test]
fn lifetime_that_ends_before_now_is_refused() {
    let key = api::generate("HS256", "").unwrap();
    for (lifetime, ago) in [(60, 60), (60, 3600)] {
        let expected = format!(
            "option `lifetime`: must be longer than `issued_ago`, {ago} seconds, not {lifetime}: `exp` counts from `iat`"
        );
        let options = format!(r#"{{"lifetime":{lifetime},"issued_ago":{ago}}}"#);
        assert_eq!(issuer_message(&key, &options), expected);
    }
    let accepted = r#"{"lifetime":61,"issued_ago":60}"#;
    assert!(api::issuer(Some(&key), None, None, accepted).is_ok());
}

#[test]
fn several_issuers_share_keys_only_if_the_settings_say_so() {
    let key = api::generate("HS256", "").unwrap();
    let paseto = api::generate("v4.local", "").unwrap();
    let of = |key| Keys {
        key: Some(key),
        ..Keys::default()
    };
    let refused = "option `shared_keys`: required for several issuers, because a key of one can sign for another: \
                   set it, or use MultiIssuerVerifier";
    for (key, options, expected) in [
        (&key, r#"{"issuer":["a","b"],"audience":"api"}"#, refused),
        (
            &paseto,
            r#"{"format":"paseto","issuer":["a","b"],"audience":"api"}"#,
            refused,
        ),
        (
            &key,
            r#"{"issuer":["a"],"audience":"api","shared_keys":true}"#,
            "option `shared_keys`: requires several issuers",
        ),
        (
            &key,
            r#"{"any_issuer":true,"audience":"api","shared_keys":true}"#,
            "option `shared_keys`: requires several issuers",
        ),
        (
            &key,
            r#"{"format":"jws","shared_keys":true}"#,
            "option `shared_keys`: does not apply to a JWS",
        ),
    ] {
        assert_eq!(verifier_message(of(key), options), expected, "{options}");
    }
    let shared = r#"{"issuer":["a","b"],"audience":"api","shared_keys":true}"#;
    assert!(api::verifier(of(&key), shared).is_ok());

    // A remote key set is one source, too.
    let address = r#"{"address":"https://id.example/keys"}"#;
    // SAFETY: the text lives until the call ends.
    let remote = api::create(|out, reason| unsafe {
        jeton_remote_keys_new(address.as_ptr(), address.len(), out, reason)
    })
    .unwrap();
    let of_remote = || Keys {
        remote: Some(&remote),
        ..Keys::default()
    };
    let two = r#"{"issuer":["a","b"],"audience":"api"}"#;
    assert_eq!(verifier_message(of_remote(), two), refused);
    assert!(api::verifier(of_remote(), shared).is_ok());
}

#[test]
fn message_names_the_member_of_the_header() {
    let key = api::generate("HS256", "").unwrap();
    for (options, expected) in [
        (
            r#"{"headers":{"x5t":"a","alg":"none"}}"#,
            "option `headers`: \"alg\" cannot be added: the algorithm of the key decides it",
        ),
        (
            r#"{"format":"jws","headers":{"b64":false}}"#,
            "option `headers`: \"b64\" cannot be added: the setting for an unencoded payload decides it",
        ),
        (
            r#"{"headers":{"own":1,"own":2}}"#,
            "option `headers`: a header member of this name is already set, or set by the library",
        ),
        (
            r#"{"headers":{"jwk":"text"}}"#,
            "option `headers`: `jwk` of the header is not a public key: it must have no private member",
        ),
        (
            r#"{"headers":["x5t"]}"#,
            "option `headers`: must be an object",
        ),
    ] {
        assert_eq!(issuer_message(&key, options), expected, "{options}");
    }
    let paseto = api::generate("v4.local", "").unwrap();
    let message = issuer_message(&paseto, r#"{"format":"paseto","headers":{"x5t":"a"}}"#);
    assert_eq!(message, "option `headers`: does not apply to a PASETO");
}

/// The text of a header: numbers and escapes are as the caller wrote them.
const OWN: &str = r#""x5t":"dA","n":1.10,"own":{"a":["\u00e9"]}"#;

#[test]
fn members_are_in_the_header_of_every_format() {
    let signing = api::generate("ES256", "").unwrap();
    let direct = api::generate("dir", r#"{"enc":"A128GCM"}"#).unwrap();
    let reader = api::generate("ECDH-ES", "").unwrap();
    let headers = format!(r#","headers":{{{OWN}}}"#);
    let of_claims = |key, encryption: Option<&Owned<JetonKey>>, decryption| {
        let issuer = api::issuer(Some(key), encryption, None, &with(ISSUER, &headers)).unwrap();
        let token = api::issue(&issuer, "{}").unwrap();
        let keys = Keys {
            key: Some(key),
            decryption,
            ..Keys::default()
        };
        let verifier = api::verifier(keys, &with(POLICY, "")).unwrap();
        api::verify(&verifier, token.as_bytes()).unwrap();
        let outer = api::unverified(token.as_bytes()).unwrap();
        (
            api::header(&verifier, token.as_bytes()).unwrap(),
            outer.contains("x5t"),
        )
    };
    let set = api::new_set(&[&reader]).unwrap();
    // A nested token has them in its inner header only.
    for ((found, is_outside), expected) in [
        (of_claims(&signing, None, None), true),
        (of_claims(&direct, None, None), true),
        (of_claims(&signing, Some(&reader), Some(&set)), false),
    ] {
        assert!(found.ends_with(&format!(",{OWN}}}")), "{found}");
        assert_eq!(is_outside, expected, "{found}");
    }

    for (key, encryption, format) in [(Some(&signing), None, "jws"), (None, Some(&reader), "jwe")] {
        let options = format!(r#"{{"format":"{format}"{headers}}}"#);
        let issuer = api::issuer(key, encryption, None, &options).unwrap();
        let token = api::issue_bytes(&issuer, b"{}").unwrap();
        let read = api::unverified(token.as_bytes()).unwrap();
        assert!(read.contains(OWN), "{read}");
    }

    // A prepared token has them before it is signed.
    let public = api::public(&signing).unwrap();
    let issuer = api::issuer(Some(&public), None, None, &with(ISSUER, &headers)).unwrap();
    let header = prepared(&issuer, "{}").unwrap();
    let read = api::unverified(format!("{header}.e30.").as_bytes()).unwrap();
    assert!(read.contains(OWN), "{read}");
}

/// The limits are those of the verifier: a header that it accepts can be read.
#[test]
fn header_of_a_verified_token_has_the_limits_of_the_verifier() {
    let key = api::generate("HS256", "").unwrap();
    let headers = format!(r#","headers":{{"x5c":"{}"}}"#, "x".repeat(2_000));
    let issuer = api::issuer(Some(&key), None, None, &with(ISSUER, &headers)).unwrap();
    let token = api::issue(&issuer, "{}").unwrap();
    for (bytes, is_accepted) in [(1_000, false), (4_000, true)] {
        let limits = format!(r#","limits":{{"header_bytes":{bytes}}}"#);
        let keys = Keys {
            key: Some(&key),
            ..Keys::default()
        };
        let verifier = api::verifier(keys, &with(POLICY, &limits)).unwrap();
        assert_eq!(
            api::verify(&verifier, token.as_bytes()).is_ok(),
            is_accepted
        );
        assert_eq!(
            api::header(&verifier, token.as_bytes()).is_ok(),
            is_accepted
        );
    }
}
