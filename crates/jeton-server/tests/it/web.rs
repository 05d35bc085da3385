//! The HTTP endpoints: key sets, metadata, introspection, revocation, health and metrics.

use crate::harness::{ISS, ISSUER, TestServer, is_soon};
use crate::raw_http::{get, post_form, send};

#[test]
fn key_set_is_not_modified_until_a_key_changes() {
    let fixture = TestServer::plain();
    let path = "/tenant/.well-known/jwks.json";
    let first = get(fixture.address(), path, &[]);
    assert_eq!(first.status, 200);
    assert_eq!(first.headers["content-type"], "application/jwk-set+json");
    assert_eq!(first.json()["keys"].as_array().unwrap().len(), 1);
    let control = &first.headers["cache-control"];
    let age = control.strip_prefix("public, max-age=").unwrap();
    let age: i64 = age.parse().unwrap();
    assert!((270..=300).contains(&age), "{control}");

    let etag = first.headers["etag"].clone();
    let again = get(fixture.address(), path, &[("if-none-match", &etag)]);
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert_eq!(again.headers["etag"], etag);

    let mut admin = fixture.admin();
    let rotate = jeton_proto::v1::RotateKeyRequest {
        issuer: ISS.to_owned(),
        kind: "ES256".to_owned(),
    };
    fixture.runtime.block_on(admin.rotate_key(rotate)).unwrap();
    let changed = get(fixture.address(), path, &[("if-none-match", &etag)]);
    assert_eq!(changed.status, 200);
    assert_eq!(changed.json()["keys"].as_array().unwrap().len(), 2);
    assert_ne!(changed.headers["etag"], etag);

    let head = send(fixture.address(), "HEAD", path, &[], "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let paserks = get(fixture.address(), "/tenant/.well-known/paserks.json", &[]);
    assert!(
        paserks.json()["keys"][0]
            .as_str()
            .unwrap()
            .starts_with("k4.public.")
    );
}

/// A verifier may have fetched the set just before a new key was published, from another node. With the longest
/// allowed caching, it still fetches the new key before that key signs.
#[test]
fn key_set_cache_ends_before_a_new_key_signs() {
    use jeton_issuer::limits::{
        CLOCK_SKEW_SECONDS, PROPAGATION_SECONDS, PUBLISH_BEFORE_USE_SECONDS_MIN,
    };
    let times = format!(
        "publish_before_use_seconds = {PUBLISH_BEFORE_USE_SECONDS_MIN}\nmax_age_seconds = {}\nprofiles",
        PUBLISH_BEFORE_USE_SECONDS_MIN / 2
    );
    let fixture = TestServer::with(&ISSUER.replacen("profiles", &times, 1));
    for path in ["jwks.json", "paserks.json"] {
        let path = format!("/tenant/.well-known/{path}");
        // The age differs between responses.
        for _ in 0..50 {
            let control = &get(fixture.address(), &path, &[]).headers["cache-control"];
            let used: i64 = (control.split(',').filter_map(|part| part.split_once('=')))
                .map(|(_, seconds)| seconds.parse::<i64>().unwrap())
                .sum();
            let longest = used + CLOCK_SKEW_SECONDS + PROPAGATION_SECONDS;
            assert!(
                longest <= PUBLISH_BEFORE_USE_SECONDS_MIN,
                "{longest}: {control}"
            );
        }
    }
}

#[test]
fn metadata_names_the_endpoints() {
    let fixture = TestServer::plain();
    let metadata = get(
        fixture.address(),
        "/.well-known/oauth-authorization-server/tenant",
        &[],
    );
    assert_eq!(metadata.status, 200);
    let metadata = metadata.json();
    assert_eq!(metadata["issuer"], ISS);
    assert_eq!(metadata["jwks_uri"], format!("{ISS}/.well-known/jwks.json"));
    assert_eq!(
        metadata["introspection_endpoint"],
        format!("{ISS}/introspect")
    );
    assert!(metadata["response_types_supported"].is_array());
    let openid = get(
        fixture.address(),
        "/tenant/.well-known/openid-configuration",
        &[],
    )
    .json();
    assert_eq!(openid["issuer"], ISS);
    assert_eq!(
        openid["id_token_signing_alg_values_supported"],
        serde_json::json!(["ES256"])
    );
    assert_eq!(
        get(fixture.address(), "/other/.well-known/jwks.json", &[]).status,
        404
    );
    assert_eq!(get(fixture.address(), "/nothing", &[]).status, 404);
}

#[test]
fn host_selects_the_issuer_of_a_shared_path() {
    let other = ISSUER.replace("id.example", "login.example");
    let fixture = TestServer::with(&format!("{ISSUER}\n{other}"));
    let of = |host: &str| {
        let path = "/tenant/.well-known/openid-configuration";
        let answer = get(fixture.address(), path, &[("host", host)]);
        (answer.status == 200).then(|| answer.json()["issuer"].clone())
    };
    assert_eq!(of("id.example").unwrap(), ISS);
    assert_eq!(of("login.example").unwrap(), "https://login.example/tenant");
    assert_eq!(of("other.example"), None);
}

#[test]
fn introspection_of_a_revoked_token_is_inactive() {
    let fixture = TestServer::plain();
    let issued = fixture.issue("access", "alice");
    let introspect = |token: &str| {
        let answer = post_form(
            fixture.address(),
            "/tenant/introspect",
            &format!("token={token}"),
        );
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.headers["cache-control"], "no-store");
        answer.json()
    };
    let good = introspect(&issued.token);
    assert_eq!(good["active"], true);
    assert_eq!(good["sub"], "alice");
    assert_eq!(good["iss"], ISS);
    // Whole seconds, even if the token has text (RFC 7662, section 2.2).
    let paseto = fixture.issue("paseto", "alice");
    let good = introspect(&paseto.token);
    assert_eq!(good["active"], true);
    assert_eq!(good["exp"], paseto.expires_at);
    assert_eq!(good["iat"], paseto.expires_at - 900);
    assert_eq!(
        introspect("no.token.atall"),
        serde_json::json!({"active": false})
    );

    let form = format!("token={}&token_type_hint=access_token", issued.token);
    assert_eq!(
        post_form(fixture.address(), "/tenant/revoke", &form).status,
        200
    );
    assert!(is_soon(
        || introspect(&issued.token) == serde_json::json!({"active": false})
    ));
    assert!(fixture.verify(&issued.token).is_err());
    // An invalid token is no error (RFC 7009, section 2.2).
    assert_eq!(
        post_form(fixture.address(), "/tenant/revoke", "token=x").status,
        200
    );
}

#[test]
fn invalid_form_is_rejected() {
    let fixture = TestServer::plain();
    let at = fixture.address();
    assert_eq!(post_form(at, "/tenant/introspect", "token=").status, 400);
    assert_eq!(
        post_form(at, "/tenant/introspect", "token=a&token=b").status,
        400
    );
    assert_eq!(post_form(at, "/none/introspect", "token=a").status, 404);
    let json = [("content-type", "application/json")];
    assert_eq!(
        send(at, "POST", "/tenant/introspect", &json, "{}").status,
        400
    );
    let get = get(at, "/tenant/introspect", &[]);
    assert_eq!((get.status, get.headers["allow"].as_str()), (405, "POST"));
    let long = format!("token={}", "x".repeat(300 * 1024));
    assert_eq!(post_form(at, "/tenant/introspect", &long).status, 413);
    let header = "x".repeat(64 * 1024);
    let answer = send(at, "GET", "/livez", &[("x-long", &header)], "");
    assert_eq!(answer.status, 431);
}

#[test]
fn health_is_on_both_listeners_and_metrics_on_one() {
    let fixture = TestServer::plain();
    fixture.issue("mac", "a");
    let (data, admin) = (fixture.address(), fixture.server().admin_address());
    for address in [data, admin] {
        assert_eq!(get(address, "/livez", &[]).status, 200);
        assert_eq!(get(address, "/readyz", &[]).status, 200);
    }
    assert_eq!(get(data, "/metrics", &[]).status, 404);
    let metrics = get(admin, "/metrics", &[]);
    assert!(metrics.headers["content-type"].starts_with("application/openmetrics-text"));
    assert!(
        metrics
            .body
            .contains("jeton_calls_total{call=\"issue\",outcome=\"ok\"} 1\n")
    );
    assert!(metrics.body.contains("jeton_ready 1\n"));
    assert!(metrics.body.ends_with("# EOF\n"));
    assert_eq!(get(admin, "/tenant/.well-known/jwks.json", &[]).status, 404);
}

/// A person who opens the address in a browser learns where to go on. The text names no issuer.
#[test]
fn home_of_each_listener_is_one_line_that_names_endpoints() {
    let fixture = TestServer::plain();
    let admin = fixture.server().admin_address();
    for (address, other, names) in [
        (
            fixture.address(),
            "/metrics",
            ["/readyz", "/.well-known/jwks.json"],
        ),
        (admin, "/.well-known/", ["/readyz", "/metrics"]),
    ] {
        let home = get(address, "/", &[]);
        assert_eq!(home.status, 200);
        assert_eq!(home.headers["content-type"], "text/plain; charset=utf-8");
        assert_eq!(home.body.matches('\n').count(), 1, "{}", home.body);
        for name in names {
            assert!(home.body.contains(name), "{name}: {}", home.body);
        }
        assert!(!home.body.contains(other), "{}", home.body);
        assert!(!home.body.contains("id.example"), "{}", home.body);
        assert_eq!(send(address, "POST", "/", &[], "").status, 405);
    }
}
