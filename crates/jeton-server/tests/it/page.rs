//! The page of the admin listener: who sees it, and what a browser may do with it.

use std::collections::HashMap;
use std::sync::Arc;

use jeton::SystemClock;
use serde_json::Value;

use crate::harness::{ISS, ISSUER, TestServer};
use crate::raw_http::{Response, get, send};

/// Asks for a link with this token.
fn link(fixture: &TestServer, token: &str) -> Response {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let admin = fixture.server().admin_address();
    send(admin, "POST", "/page-link", &headers, "")
}

fn path(answer: &Response) -> String {
    let body: Value = answer.json();
    body["path"].as_str().unwrap().to_owned()
}

/// The cookie of a response, as the browser sends it.
fn cookie(answer: &Response) -> String {
    let cookie = &answer.headers["set-cookie"];
    cookie.split(';').next().unwrap().to_owned()
}

#[track_caller]
fn is_page(answer: &Response) {
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
    assert!(answer.body.contains("<h1>State of the server</h1>"));
    assert!(!answer.body.contains("<script"));
}

#[test]
fn page_of_a_link_opens_once_and_gives_a_strict_cookie() {
    let fixture = TestServer::plain();
    let admin = fixture.server().admin_address();
    let answer = link(&fixture, &fixture.admin_token());
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.headers["cache-control"], "no-store");
    let path = path(&answer);
    // Programs that look at links first do not open it.
    assert_eq!(send(admin, "HEAD", &path, &[], "").status, 200);
    let opened = get(admin, &path, &[]);
    is_page(&opened);
    assert!(opened.body.contains(ISS));
    let set = &opened.headers["set-cookie"];
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] {
        assert!(set.contains(part), "{set}");
    }
    let again = get(admin, &path, &[]);
    assert_eq!(again.status, 403);
    assert!(again.body.contains("was opened before"), "{}", again.body);
    let cookie = cookie(&opened);
    let with = [("cookie", cookie.as_str())];
    is_page(&get(admin, "/", &with));
    // The browser loads the page again.
    is_page(&get(admin, &path, &with));
    let other = [("cookie", "jeton=AAAA")];
    assert_eq!(
        get(admin, "/", &other).headers["content-type"],
        "text/plain; charset=utf-8"
    );
    // The cookie is for this page only.
    assert_eq!(send(admin, "POST", "/page-link", &with, "").status, 401);
    assert_eq!(
        get(fixture.address(), &path, &[])
            .body
            .matches('\n')
            .count(),
        1
    );
}

#[test]
fn page_has_a_policy_without_script_and_frame() {
    let fixture = TestServer::plain();
    let token = format!("Bearer {}", fixture.admin_token());
    let admin = fixture.server().admin_address();
    let answer = get(admin, "/", &[("authorization", &token)]);
    is_page(&answer);
    let policy = &answer.headers["content-security-policy"];
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(policy.ends_with("; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"));
    let headers: HashMap<&str, &str> = HashMap::from([
        ("cache-control", "no-store"),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ]);
    for (name, value) in headers {
        assert_eq!(answer.headers[name], value, "{name}");
    }
}

/// Another site leads to the page, or asks for it with the certificate of the browser.
#[test]
fn page_opened_by_a_foreign_origin_is_refused_with_the_reason() {
    let fixture = TestServer::plain();
    let admin = fixture.server().admin_address();
    let path = path(&link(&fixture, &fixture.admin_token()));
    let token = format!("Bearer {}", fixture.admin_token());
    let credentials = ("authorization", token.as_str());
    for foreign in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        for target in ["/", &path] {
            let answer = get(admin, target, &[foreign, credentials]);
            assert_eq!(answer.status, 403, "{foreign:?}");
            let said = "opened from another site";
            assert!(answer.body.contains(said), "{}", answer.body);
        }
        let asked = send(admin, "POST", "/page-link", &[foreign, credentials], "");
        assert_eq!(asked.status, 403, "{foreign:?}");
    }
    // The link is still good.
    is_page(&get(admin, &path, &[("sec-fetch-site", "none")]));
}

#[test]
fn page_requires_the_right_of_admin_status() {
    let client = |name: &str, may: &str, issuers: &str| {
        format!(
            "[[client]]\nname = '{name}'\nbearer_subject = '{name}'\nmay = ['{may}']\nissuers = ['{issuers}']\n"
        )
    };
    let config = format!(
        "bearer = {{issuer = '{ISS}', audience = 'api'}}\n{}{}{}{ISSUER}",
        client("root", "admin", "*"),
        client("tenant", "admin", ISS),
        client("prometheus", "metrics", "*"),
    );
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let start = |config: &str| TestServer::in_folder(config, &data, Arc::new(SystemClock));
    // Without clients, the server issues for everybody.
    let mut trial = start(ISSUER);
    let names = ["root", "tenant", "prometheus", "unknown"];
    let tokens = names.map(|name| trial.issue("access", name).token);
    trial.server.take().unwrap().stop();
    let fixture = start(&config);
    let admin = fixture.server().admin_address();
    for (token, status) in tokens.iter().zip([200, 403, 403, 401]) {
        let bearer = format!("Bearer {token}");
        let page = get(admin, "/", &[("authorization", &bearer)]);
        assert_eq!(page.status, status, "{}", page.body);
        assert_eq!(link(&fixture, token).status, status);
    }
    is_page(&get(admin, &path(&link(&fixture, &tokens[0])), &[]));
    // Without credentials, everybody sees how to get some.
    let public = get(admin, "/", &[]);
    assert_eq!(public.status, 200);
    assert!(public.body.contains("jeton admin page"), "{}", public.body);
    assert!(!public.body.contains(ISS));
}
