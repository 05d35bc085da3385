//! Decisions for a proxy.

use super::{OAuth, access_token, basic};
use crate::raw_http::{Response, send};

fn ask(oauth: &OAuth, method: &str, path: &str, more: &[(&str, &str)]) -> Response {
    let path = format!("/tenant/forward-auth/{path}");
    send(oauth.fixture.address(), method, &path, more, "")
}

#[test]
fn proxy_lets_a_request_with_a_valid_token_pass() {
    let oauth = OAuth::with("");
    let token = access_token(&oauth.client_credentials(&[("scope", "read list")]));
    let (token, proxy) = (format!("Bearer {token}"), basic("reader", &oauth.secret));
    let headers = [
        ("authorization", token.as_str()),
        ("proxy-authorization", proxy.as_str()),
    ];
    // nginx asks with GET. Envoy sends the method and appends the path of the request.
    for (method, path) in [
        ("GET", "api"),
        ("POST", "api/token"),
        ("DELETE", "api/a/forward-auth/x"),
    ] {
        let answer = ask(&oauth, method, path, &headers);
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
        assert_eq!(answer.headers["x-auth-subject"], "ci");
        assert_eq!(answer.headers["x-auth-client-id"], "ci");
        assert_eq!(answer.headers["x-auth-scope"], "read list");
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
    // For another audience, with another token, without one, and with two.
    assert_eq!(ask(&oauth, "GET", "admin-api", &headers).status, 401);
    for authorization in ["Bearer abc", "Basic abc", "Bearer", ""] {
        let headers = [("authorization", authorization), headers[1]];
        let answer = ask(&oauth, "GET", "api", &headers);
        assert_eq!(answer.status, 401, "{authorization}");
        assert!(answer.headers["www-authenticate"].contains("invalid_token"));
    }
    let answer = ask(&oauth, "GET", "api", &headers[1..]);
    assert_eq!(
        (answer.status, &*answer.headers["www-authenticate"]),
        (401, "Bearer")
    );
    let twice = [headers[0], headers[0], headers[1]];
    assert_eq!(ask(&oauth, "GET", "api", &twice).status, 401);
}

#[test]
fn request_without_a_known_proxy_is_forbidden() {
    let oauth = OAuth::with("");
    let token = access_token(&oauth.client_credentials(&[]));
    let token = format!("Bearer {token}");
    let reader = basic("reader", &oauth.secret);
    let control = [
        ("authorization", token.as_str()),
        ("proxy-authorization", reader.as_str()),
    ];
    assert_eq!(ask(&oauth, "GET", "api", &control).status, 200);
    for proxy in [
        basic("reader", "wrong"),
        basic("slow", &oauth.secret),
        "Bearer x".to_owned(),
    ] {
        let headers = [control[0], ("proxy-authorization", proxy.as_str())];
        let answer = ask(&oauth, "GET", "api", &headers);
        // Not 401: that would blame the client of the proxy.
        assert_eq!(answer.status, 403, "{proxy}");
        assert!(!answer.headers.contains_key("www-authenticate"));
    }
    assert_eq!(ask(&oauth, "GET", "api", &control[..1]).status, 403);
    let twice = [control[0], control[1], control[1]];
    assert_eq!(ask(&oauth, "GET", "api", &twice).status, 403);
}

#[test]
fn audience_in_the_path_may_be_a_url() {
    let oauth = OAuth::with("");
    let resource = [("resource", "https://api.example/v1")];
    let token = format!(
        "Bearer {}",
        access_token(&oauth.client_credentials(&resource))
    );
    let proxy = basic("reader", &oauth.secret);
    let headers = [
        ("authorization", token.as_str()),
        ("proxy-authorization", proxy.as_str()),
    ];
    let path = "https:%2F%2Fapi.example%2Fv1";
    assert_eq!(ask(&oauth, "GET", path, &headers).status, 200);
    assert_eq!(ask(&oauth, "GET", "api", &headers).status, 401);
}
