//! Custom claims: valid ones are signed unchanged, and invalid ones are an error.

use jeton::Issue as _;
use jeton_proto::v1::{
    ImportKeyRequest, IssueBatchRequest, IssueItem, IssueRequest, issue_outcome,
};
use tokio_stream::StreamExt as _;
use tonic::{Code, Status};

use crate::harness::{ISS, ISSUER, TestServer, reason};
use crate::raw_http::post_form;

const PROFILES: [&str; 3] = ["access", "mac", "paseto"];

/// Issues a token with these claims by each of the three issuing calls.
fn by_each_call(fixture: &TestServer, profile: &str, claims: &str) -> Vec<(&'static str, Outcome)> {
    let request = IssueRequest {
        profile: profile.to_owned(),
        subject: "alice".to_owned(),
        claims_json: claims.to_owned(),
        ..IssueRequest::default()
    };
    let batch = IssueBatchRequest {
        profile: profile.to_owned(),
        items: vec![IssueItem {
            subject: "alice".to_owned(),
            claims_json: claims.to_owned(),
        }],
        ..IssueBatchRequest::default()
    };
    let mut tokens = fixture.tokens();
    fixture.runtime.block_on(async {
        let one = tokens.issue(request.clone()).await;
        let one = one.map(|issued| issued.into_inner().token);
        let many = tokens.issue_batch(batch).await.unwrap().into_inner();
        let stream = tokens.issue_stream(tokio_stream::iter([request])).await;
        let streamed: Vec<_> = stream.unwrap().into_inner().collect().await;
        let outcome = |outcome: jeton_proto::v1::IssueOutcome| match outcome.outcome.unwrap() {
            issue_outcome::Outcome::Issued(issued) => Ok(issued.token),
            issue_outcome::Outcome::Error(error) => Err((error.code, error.message)),
        };
        vec![
            (
                "Issue",
                one.map_err(|status| (status.code() as i32, status.message().to_owned())),
            ),
            ("IssueBatch", outcome(many.outcomes[0].clone())),
            ("IssueStream", outcome(streamed[0].clone().unwrap())),
        ]
    })
}

type Outcome = Result<String, (i32, String)>;

fn assert_invalid(status: &(i32, String), message: &str, call: &str) {
    assert_eq!(status.0, Code::InvalidArgument as i32, "{call}: {status:?}");
    assert!(status.1.contains("`claims_json`"), "{call}: {status:?}");
    assert!(status.1.contains(message), "{call}: {status:?}");
}

/// Members keep their text and order, after the registered claims.
#[test]
fn custom_claims_are_signed_byte_for_byte() {
    let fixture = TestServer::plain();
    let deepest = format!("{}1{}", "[".repeat(31), "]".repeat(31));
    for members in [
        r#""z":18446744073709551617,"a":-9223372036854775809"#,
        r#""price":0.10000000000000000000001,"zero":-0,"exact":1.10"#,
        r#""tiny":1e-999,"huge":1E+999,"small":1e-7"#,
        r#""raw":{"$serde_json::private::RawValue":"1"}"#,
        r#""raw":{"$serde_json::private::Number":"1"},"$serde_json::private::RawValue":"{}""#,
        r#""z":1,"y":2,"x":{"b":1,"a":2},"a":3"#,
        r#""spaces":[ 1 , 2 ],"text":"\u00e9\/\n","\u006eame":"é""#,
        r#""client_id":"c","scope":"read write","username":"a""#,
        &format!(r#""deep":{deepest}"#),
        "",
    ] {
        for profile in PROFILES {
            let claims = format!("{{{members}}}");
            for (call, issued) in by_each_call(&fixture, profile, &claims) {
                let token = issued.unwrap_or_else(|refused| panic!("{call} {claims}: {refused:?}"));
                let json = fixture.verify(&token).unwrap().claims_json;
                assert!(json.ends_with(&format!("{members}}}")), "{call}: {json}");
                assert!(json.starts_with(r#"{"iss":"#), "{call}: {json}");
                let form = format!("token={token}");
                let answer = post_form(fixture.address(), "/tenant/introspect", &form).body;
                for member in [members, r#""active":true"#] {
                    assert!(answer.contains(member), "{call}: {answer}");
                }
            }
        }
    }
}

#[test]
fn ambiguous_claims_are_invalid_in_every_call() {
    let fixture = TestServer::plain();
    let deep = format!(r#"{{"deep":{}1{}}}"#, "[".repeat(32), "]".repeat(32));
    for (claims, said) in [
        (r#"{"a":1,"a":2}"#, "line 1, column"),
        (r#"{"a":1,"\u0061":2}"#, "line 1, column"),
        (r#"{"b":[{"a":1,"a":1}]}"#, "line 1, column"),
        (&*deep, "33 levels, the limit is 32"),
        (r#"{"a":1} {}"#, "line 1, column"),
        (r#"{"a":"\ud800"}"#, "line 1, column"),
        ("{\"a\":1,\n\"b\":01}", "line 2, column"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
    ] {
        for profile in ["access", "paseto"] {
            for (call, issued) in by_each_call(&fixture, profile, claims) {
                let status = issued.expect_err(claims);
                assert_invalid(&status, said, &format!("{call} {claims}"));
            }
        }
    }
}

#[test]
fn registered_claims_are_invalid_in_every_spelling() {
    let fixture = TestServer::plain();
    for (claims, name) in [
        (r#"{"exp":1}"#, "exp"),
        (r#"{"a":1,"\u0065xp":1}"#, "exp"),
        (r#"{"\u0069\u0061\u0074":1}"#, "iat"),
        (r#"{"is\u0073":"a"}"#, "iss"),
        (r#"{"sub":"a"}"#, "sub"),
        (r#"{"aud":"a"}"#, "aud"),
        (r#"{"nbf":1}"#, "nbf"),
        (r#"{"j\u0074i":"a"}"#, "jti"),
    ] {
        for (call, issued) in by_each_call(&fixture, "access", claims) {
            assert_invalid(
                &issued.expect_err(claims),
                name,
                &format!("{call} {claims}"),
            );
        }
    }
    // Names are compared exactly.
    for claims in [r#"{"EXP":1}"#, r#"{"exp ":1}"#, r#"{"nested":{"exp":1}}"#] {
        for (call, issued) in by_each_call(&fixture, "access", claims) {
            assert!(issued.is_ok(), "{call} {claims}");
        }
    }
}

#[test]
fn claims_reserved_for_introspection_are_invalid() {
    let fixture = TestServer::plain();
    for (claims, said) in [
        (r#"{"active":true}"#, "active"),
        (r#"{"\u0061ctive":false}"#, "active"),
        (r#"{"token_type":"Bearer"}"#, "token_type"),
        (r#"{"token\u005ftype":"Bearer"}"#, "token_type"),
        // RFC 7662 requires strings.
        (r#"{"client_id":7}"#, "client_id"),
        (r#"{"scope":["read"]}"#, "scope"),
        (r#"{"username":null}"#, "username"),
        // No revocation could name these.
        (r#"{"client_id":""}"#, "client_id"),
        (r#"{"client_id":"a\u0000"}"#, "client_id"),
        (
            &format!(r#"{{"client_id":"{}"}}"#, "c".repeat(1025)),
            "1025 bytes",
        ),
    ] {
        for (call, issued) in by_each_call(&fixture, "mac", claims) {
            assert_invalid(
                &issued.expect_err(claims),
                said,
                &format!("{call} {claims}"),
            );
        }
    }
}

/// A token that was issued elsewhere with an imported key.
#[test]
fn introspection_omits_reserved_members_of_a_token() {
    use jeton::key::{MacAlg, MacKey};
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let key = key.with_key_id("elsewhere").unwrap();
    let fixture = TestServer::plain();
    let import = ImportKeyRequest {
        issuer: ISS.to_owned(),
        kind: "HS256".to_owned(),
        private_key: key.to_jwk().to_string(),
    };
    fixture
        .runtime
        .block_on(fixture.admin().import_key(import))
        .unwrap();
    let header = r#"{"alg":"HS256","kid":"elsewhere","typ":"JWT"}"#;
    let under = jeton::danger::RawHeaderSigner::new(&key, header).unwrap();
    let claims = serde_json::json!({
        "active": false,
        "token_type": "N_A",
        "client_id": "c",
        "number": 1,
        "ac\u{74}ive2": 0,
    });
    let claims = jeton::Claims::new(claims)
        .issuer(ISS)
        .audience("api")
        .token_id("id")
        .subject("alice")
        .expires_in(std::time::Duration::from_mins(5));
    let token = under.issue(&claims).unwrap();
    assert!(
        fixture
            .verify(&token)
            .unwrap()
            .claims_json
            .contains(r#""active":false"#)
    );
    let answer = post_form(
        fixture.address(),
        "/tenant/introspect",
        &format!("token={token}"),
    )
    .body;
    assert_eq!(answer.matches("\"active\"").count(), 1, "{answer}");
    assert!(answer.contains(r#""active":true"#), "{answer}");
    assert!(!answer.contains("token_type"), "{answer}");
    assert!(answer.contains(r#""client_id":"c""#), "{answer}");
}

/// Every issued token can be revoked, so a subject that no revocation could name is invalid.
#[test]
fn subject_that_cannot_be_revoked_is_invalid() {
    let fixture = TestServer::plain();
    let issue = |subject: &str, claims: &str| -> Result<(), Status> {
        let request = IssueRequest {
            profile: "mac".to_owned(),
            subject: subject.to_owned(),
            claims_json: claims.to_owned(),
            ..IssueRequest::default()
        };
        fixture
            .runtime
            .block_on(fixture.tokens().issue(request))
            .map(drop)
    };
    for (subject, said) in [
        ("a\0b".to_owned(), "control character"),
        ("a\u{85}".to_owned(), "control character"),
        ("a".repeat(1025), "1025 bytes"),
        ("é".repeat(513), "1026 bytes"),
    ] {
        let status = issue(&subject, "").unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert!(status.message().contains("`subject`"), "{status:?}");
        assert!(status.message().contains(said), "{status:?}");
        assert!(!status.message().contains("aaa"), "{status:?}");
    }
    issue(&"a".repeat(1024), "").unwrap();
    issue(&"/".repeat(1024), "").unwrap();
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(4_000_000));
    let status = issue("a", &large).unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    assert!(status.message().contains("262144"), "{status:?}");
}

/// The longest issued token can be verified, introspected and revoked.
#[test]
fn longest_token_is_accepted_by_every_call() {
    for (config, longest) in [
        (String::new(), 262_144),
        ("[limits]\ntoken_bytes = 2000000\n".to_owned(), 2_000_000),
        ("[limits]\nmessage_bytes = 4096\n".to_owned(), 4096 - 2080),
    ] {
        let fixture = TestServer::with(&format!("{config}{ISSUER}"));
        for profile in PROFILES {
            let issue = |bytes: usize| {
                let claims = format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes));
                by_each_call(&fixture, profile, &claims).remove(0).1
            };
            let short = issue(0).unwrap().len();
            let mut most = (longest - short) / 4 * 3;
            while issue(most + 1).is_ok() {
                most += 1;
            }
            let token = issue(most).unwrap();
            assert!(
                token.len() <= longest && token.len() > longest - 4,
                "{}",
                token.len()
            );
            let refusal = issue(most + 1).unwrap_err();
            assert!(refusal.1.contains(&longest.to_string()), "{refusal:?}");
            fixture.verify(&token).unwrap();
            let form = format!("token_type_hint=access_token&token={token}");
            let answer = post_form(fixture.address(), "/tenant/introspect", &form);
            assert!(
                answer.body.starts_with(r#"{"active":true,"#),
                "{}",
                answer.status
            );
            assert_eq!(
                post_form(fixture.address(), "/tenant/revoke", &form).status,
                200
            );
            assert_eq!(
                reason(&fixture.verify(&token).unwrap_err()),
                "TOKEN_REVOKED"
            );
        }
    }
}

#[test]
fn token_limit_beyond_the_request_limit_is_an_error() {
    for (limits, said) in [
        ("message_bytes = 4096\ntoken_bytes = 4096", "4096 > 2016"),
        (
            "token_bytes = 1023",
            "must be between 1024 and 2097152, got 1023",
        ),
        (
            "token_bytes = 2097153",
            "must be between 1024 and 2097152, got 2097153",
        ),
        (
            "message_bytes = 4095",
            "must be between 4096 and 67108864, got 4095",
        ),
    ] {
        let refused = TestServer::try_with(&format!("[limits]\n{limits}\n{ISSUER}"));
        let refused = refused.err().unwrap().to_string();
        assert!(refused.contains(said), "{refused}");
    }
}
