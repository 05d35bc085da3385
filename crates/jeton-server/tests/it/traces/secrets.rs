//! No secret of a request is in any byte that is exported.

use base64ct::{Base64, Encoding as _};
use http_body_util::Empty;
use jeton_proto::v1::{IssueRequest, RevokeRequest, revoke_request};
use tonic::Request;

use super::collector::TestCollector;
use super::stop;
use crate::harness::{ISSUER, TestServer};
use crate::oauth::OAuth;
use crate::raw_http::{get, post_form, send};

const SUBJECT: &str = "subject-4711";

/// Asserts that the spans have these names, and that none of the secrets was exported.
fn assert_exported(collector: &TestCollector, names: &[&str], secrets: &[&str]) {
    let spans = collector.spans();
    for name in names {
        assert!(
            spans.iter().any(|span| span.name == *name),
            "{name}: {spans:#?}"
        );
    }
    let bytes: Vec<u8> = collector
        .received()
        .iter()
        .flat_map(|one| one.body.clone())
        .collect();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("http.route") && text.contains("rpc.method"));
    for secret in secrets {
        assert!(
            secret.len() > 4 && !text.contains(secret),
            "{secret} was exported"
        );
    }
}

#[test]
fn no_token_subject_or_path_is_exported() {
    let collector = TestCollector::start();
    let fixture = TestServer::with(&format!("{ISSUER}{}", collector.config()));
    let mut request = Request::new(IssueRequest {
        profile: "access".to_owned(),
        subject: SUBJECT.to_owned(),
        claims_json: r#"{"role":"claim-4711"}"#.into(),
        ..IssueRequest::default()
    });
    let metadata = request.metadata_mut();
    metadata.insert("x-header", "header-4711".parse().unwrap());
    metadata.insert("baggage", "key=baggage-4711".parse().unwrap());
    let mut tokens = fixture.tokens();
    let issued = fixture
        .runtime
        .block_on(tokens.issue(request))
        .unwrap()
        .into_inner();
    fixture.verify(&issued.token).unwrap();
    let form = format!("token={}", issued.token);
    assert_eq!(
        post_form(fixture.address(), "/tenant/introspect", &form).status,
        200
    );
    let bearer = format!("Bearer {}", issued.token);
    let headers = [("authorization", &*bearer)];
    let paths = [
        "/tenant/forward-auth/api/path-4711?query=query-4711".to_owned(),
        format!("/tenant/{}", issued.token),
        format!("/tenant/forward-auth/{}", issued.token),
        format!("/{}/.well-known/jwks.json", issued.token),
    ];
    for path in &paths {
        get(fixture.address(), path, &headers);
    }
    crate::raw_grpc::call(
        &fixture,
        "jeton.v1.TokenService/method-4711",
        &[],
        Empty::new(),
    );
    crate::raw_grpc::call(&fixture, "service-4711/Issue", &[], Empty::new());
    send(fixture.address(), "VERB-4711", "/livez", &[], "");
    let revoke = RevokeRequest {
        what: Some(revoke_request::What::Token(issued.token.clone())),
        ..RevokeRequest::default()
    };
    fixture.runtime.block_on(tokens.revoke(revoke)).unwrap();
    assert!(fixture.verify(&issued.token).is_err());
    let mut admin = fixture.admin();
    let status = admin.status(jeton_proto::v1::StatusRequest::default());
    fixture.runtime.block_on(status).unwrap();
    let admin_token = fixture.admin_token();
    stop(fixture);
    let payload = issued.token.split('.').nth(1).unwrap();
    assert_exported(
        &collector,
        &[
            "jeton.v1.TokenService/Issue",
            "jeton.v1.TokenService/Revoke",
            "jeton.v1.AdminService/Status",
            "POST {issuer}/introspect",
            "GET {issuer}/forward-auth/{audience}",
            "jeton.v1.TokenService/_OTHER",
        ],
        &[
            &issued.token,
            payload,
            &issued.token_id,
            SUBJECT,
            &admin_token,
            "-4711",
            "tenant",
        ],
    );
}

#[test]
fn no_secret_of_a_client_is_exported() {
    let collector = TestCollector::start();
    let oauth = OAuth::with(&collector.config());
    let credentials = Base64::encode_string(format!("ci:{}", oauth.secret).as_bytes());
    let basic = format!("Basic {credentials}");
    let address = oauth.fixture.address();
    let headers = [
        ("authorization", &*basic),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let form = "grant_type=client_credentials";
    let issued = send(address, "POST", "/tenant/token", &headers, form);
    assert_eq!(issued.status, 200, "{}", issued.body);
    let token = issued.json()["access_token"].as_str().unwrap().to_owned();
    let introspected = format!("token={token}");
    send(
        address,
        "POST",
        "/tenant/introspect",
        &headers,
        &introspected,
    );
    send(address, "POST", "/tenant/revoke", &headers, &introspected);
    let keys = "/tenant/.well-known/jwks.json";
    assert_eq!(get(address, keys, &[]).status, 200);
    // A name that only gRPC has, so that both kinds are among the spans.
    crate::raw_grpc::call(
        &oauth.fixture,
        "jeton.v1.TokenService/Keys",
        &[],
        Empty::new(),
    );
    let secret = oauth.secret.clone();
    stop(oauth.fixture);
    assert_exported(
        &collector,
        &["POST {issuer}/token", "POST {issuer}/introspect"],
        &[&secret, &credentials, &token, "tenant"],
    );
}
