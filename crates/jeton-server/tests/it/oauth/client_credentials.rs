//! Client credentials, and how clients authenticate.

use jeton_proto::v1::ListIssuersRequest;
use jeton_proto::v1::admin_service_client::AdminServiceClient;
use jeton_server::ClientSecret;
use serde_json::json;
use tonic::{Code, Request};

use super::{OAUTH_ISSUER, OAuth, access_token, assert_error, basic, claims_of, encode, header_of};
use crate::harness::{ISS, TestServer};
use crate::raw_http::{get, send};

#[test]
fn access_token_has_the_claims_of_rfc_9068() {
    let oauth = OAuth::with("");
    let answer = oauth.client_credentials(&[("scope", "read")]);
    let token = access_token(&answer);
    let body = answer.json();
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 900);
    assert_eq!(body["scope"], "read");
    assert_eq!(header_of(&token)["typ"], "at+jwt");
    let claims = claims_of(&token);
    for (name, value) in [
        ("iss", json!(ISS)),
        ("sub", json!("ci")),
        ("client_id", json!("ci")),
        ("aud", json!("api")),
        ("scope", json!("read")),
        ("iat", json!(oauth.now())),
        ("exp", json!(oauth.now() + 900)),
    ] {
        assert_eq!(claims[name], value, "{name}");
    }
    assert!(claims["jti"].is_string());
    let introspected = oauth.introspect(&token);
    assert_eq!(introspected["active"], true);
    assert_eq!(introspected["scope"], "read");
}

#[test]
fn scope_and_resource_choose_the_profile() {
    let oauth = OAuth::with("");
    let get = |more: &[(&str, &str)]| claims_of(&access_token(&oauth.client_credentials(more)));
    assert_eq!(get(&[])["scope"], "read list");
    let written = get(&[("scope", "write")]);
    assert_eq!(
        (&written["aud"], &written["scope"]),
        (&json!("admin-api"), &json!("write"))
    );
    assert_eq!(get(&[("audience", "admin-api")])["scope"], "write");
    let resource = [("resource", "https://api.example/v1")];
    assert_eq!(get(&resource)["aud"], "https://api.example/v1");
    for (more, error) in [
        (vec![("scope", "delete")], "invalid_scope"),
        (vec![("scope", "read write")], "invalid_scope"),
        (vec![("scope", "read\u{e9}")], "invalid_scope"),
        (
            vec![("scope", "read"), ("audience", "admin-api")],
            "invalid_target",
        ),
        (
            vec![("resource", "https://other.example")],
            "invalid_target",
        ),
        (
            vec![("resource", "api"), ("audience", "api")],
            "invalid_target",
        ),
    ] {
        assert_error(
            &oauth.client_credentials(&more),
            400,
            error,
            &format!("{more:?}"),
        );
    }
}

#[test]
fn client_with_a_secret_introspects_and_revokes() {
    let oauth = OAuth::with("");
    let token = access_token(&oauth.client_credentials(&[]));
    let header = basic("ci", &oauth.secret);
    let headers = [("authorization", header.as_str())];
    let revoked = oauth.post_to("/tenant/revoke", &headers, &[("token", &token)]);
    assert_eq!(revoked.status, 200);
    assert_eq!(oauth.introspect(&token)["active"], false);
    // A client without the permission, and a wrong secret.
    let reader = basic("reader", &oauth.secret);
    let headers = [("authorization", reader.as_str())];
    let refused = oauth.post_to("/tenant/revoke", &headers, &[("token", &token)]);
    assert_error(&refused, 403, "unauthorized_client", "reader");
    let refused = oauth.post_to(
        "/tenant/introspect",
        &[("authorization", &basic("ci", "wrong"))],
        &[("token", &token)],
    );
    assert_error(&refused, 401, "invalid_client", "wrong secret");
    let refused = oauth.post_to("/tenant/introspect", &[], &[("token", &token)]);
    assert_error(&refused, 401, "invalid_client", "no credentials");
}

#[test]
fn failed_authentication_does_not_say_whether_a_client_exists() {
    let oauth = OAuth::with("");
    let form = [("grant_type", "client_credentials")];
    let header = basic("ci", "wrong");
    let known = oauth.post(&[("authorization", &header)], &form);
    assert_error(&known, 401, "invalid_client", "known");
    assert!(known.headers.contains_key("www-authenticate"));
    for header in [
        basic("nobody", "wrong"),
        basic("signer", &oauth.secret),
        basic("", ""),
        "Basic !".to_owned(),
        "Basic ".to_owned(),
        "Bearer abc".to_owned(),
        "Negotiate abc".to_owned(),
    ] {
        let unknown = oauth.post(&[("authorization", &header)], &form);
        assert_eq!(
            (unknown.status, unknown.body),
            (401, known.body.clone()),
            "{header}"
        );
    }
    // The positive control.
    access_token(&oauth.post_as("ci", &form));
}

#[test]
fn imported_secret_is_compared_by_argon2id() {
    let hash = jeton_server::SecretHash::of_imported("hunter2 +%").unwrap();
    let client = format!(
        "[[client]]\nname = 'legacy'\nsecrets = ['{hash}']\nmay = ['token']\nissuers = ['*']\n\
         tokens = [{{profile = 'access'}}]\n"
    );
    let oauth = OAuth::with(&client);
    let form = [("grant_type", "client_credentials")];
    let with = |client: &str, secret: &str| {
        oauth.post(&[("authorization", &basic(client, secret))], &form)
    };
    for _ in 0..3 {
        access_token(&with("legacy", "hunter2+%2B%25"));
        assert_eq!(with("legacy", "hunter3").status, 401);
        assert_eq!(with("nobody", "hunter2+%2B%25").status, 401);
        assert_eq!(with("ci", "hunter2+%2B%25").status, 401);
    }
    access_token(&with("ci", &oauth.secret));
}

/// An imported secret is replaced by another one: both are valid for some time.
#[test]
fn client_with_two_imported_secrets_may_use_both() {
    let hash = |secret: &str| jeton_server::SecretHash::of_imported(secret).unwrap();
    let client = format!(
        "[[client]]\nname = 'legacy'\nsecrets = ['{}', '{}']\nmay = ['token']\nissuers = ['*']\n\
         tokens = [{{profile = 'access'}}]\n",
        hash("old"),
        hash("new")
    );
    let oauth = OAuth::with(&client);
    let form = [("grant_type", "client_credentials")];
    let with = |secret: &str| oauth.post(&[("authorization", &basic("legacy", secret))], &form);
    for _ in 0..2 {
        access_token(&with("new"));
        access_token(&with("old"));
        assert_eq!(with("other").status, 401);
    }
}

#[test]
fn assertion_of_a_client_is_accepted_once() {
    let oauth = OAuth::with("");
    let assertion = oauth.assertion(&json!({}));
    access_token(&oauth.post_assertion(&assertion, &[]));
    let replayed = oauth.post_assertion(&assertion, &[]);
    assert_error(&replayed, 401, "invalid_client", "replayed");
    let to_endpoint = json!({"aud": format!("{ISS}/token")});
    let assertion = oauth.assertion(&to_endpoint);
    access_token(&oauth.post_assertion(&assertion, &[("client_id", "signer")]));
}

/// A client could sign its assertion again with another expiry.
#[test]
fn id_of_an_assertion_is_used_once_with_any_expiry() {
    let oauth = OAuth::with("");
    let with = |exp: i64| oauth.assertion(&json!({"jti": "one", "exp": oauth.now() + exp}));
    access_token(&oauth.post_assertion(&with(60), &[]));
    for exp in [61, 600, 3000] {
        let replayed = oauth.post_assertion(&with(exp), &[]);
        assert_error(&replayed, 401, "invalid_client", "another expiry");
    }
}

/// A server that is killed right after it has accepted an assertion does not accept it again.
#[test]
fn assertion_is_not_accepted_again_after_a_restart() {
    let mut oauth = OAuth::with("");
    let assertion = oauth.assertion(&json!({}));
    access_token(&oauth.post_assertion(&assertion, &[]));
    oauth.restart();
    let replayed = oauth.post_assertion(&assertion, &[]);
    assert_error(&replayed, 401, "invalid_client", "replayed");
    let assertion = oauth.assertion(&json!({}));
    access_token(&oauth.post_assertion(&assertion, &[]));
}

/// A token of the bearer issuer for the bearer audience is a credential of the client that its subject names.
#[test]
fn token_endpoint_gives_no_credential_of_another_client() {
    let boss = format!(
        "[bearer]\nissuer = '{ISS}'\naudience = 'admin-api'\n[[client]]\nname = 'boss'\n\
         bearer_subject = 'ci'\nmay = ['admin']\nissuers = ['*']\n"
    );
    let oauth = OAuth::with(&boss);
    access_token(&oauth.client_credentials(&[("scope", "read")]));
    let refused = oauth.client_credentials(&[("scope", "write")]);
    assert_error(&refused, 400, "unauthorized_client", "credential");
}

/// A client with a secret administers with the tokens that it gets for itself.
#[test]
fn client_with_secrets_administers_with_its_own_token() {
    let secret = ClientSecret::generate().unwrap();
    let more = format!(
        "[bearer]\nissuer = '{ISS}'\naudience = 'admin-api'\n[[client]]\nname = 'operator'\n\
         secrets = ['{}']\nbearer_subject = 'operator'\nmay = ['token', 'admin']\nissuers = ['*']\n\
         tokens = [{{profile = 'admin', audiences = ['admin-api']}}]\n",
        secret.hash()
    );
    let oauth = OAuth::with(&more);
    let header = basic("operator", secret.text());
    let form = [("grant_type", "client_credentials")];
    let token = access_token(&oauth.post(&[("authorization", &header)], &form));
    let channel = oauth
        .fixture
        .channel(oauth.fixture.server().admin_address());
    let list = |token: Option<&str>| {
        let mut request = Request::new(ListIssuersRequest {});
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().unwrap();
            request.metadata_mut().insert("authorization", value);
        }
        let mut admin = AdminServiceClient::new(channel.clone());
        oauth.fixture.runtime.block_on(admin.list_issuers(request))
    };
    assert_eq!(list(Some(&token)).unwrap().into_inner().issuers, [ISS]);
    assert_eq!(list(None).unwrap_err().code(), Code::Unauthenticated);
    // Without `bearer_subject`, the tokens of a client are no credential, and it gets none for this audience.
    let refused = oauth.client_credentials(&[("scope", "write")]);
    assert_error(&refused, 400, "unauthorized_client", "credential");
    let other = access_token(&oauth.client_credentials(&[("scope", "read")]));
    assert_eq!(
        list(Some(&other)).unwrap_err().code(),
        Code::Unauthenticated
    );
}

#[test]
fn client_beyond_its_rate_is_told_to_wait() {
    let oauth = OAuth::with("");
    let get = || oauth.post_as("slow", &[("grant_type", "client_credentials")]);
    access_token(&get());
    access_token(&get());
    let refused = get();
    assert_error(&refused, 429, "temporarily_unavailable", "third");
    let wait: u64 = refused.headers["retry-after"].parse().unwrap();
    assert!((1..=31).contains(&wait), "{wait}");
    assert!(refused.body.contains("2 per minute"), "{}", refused.body);
    // Another client is not affected.
    access_token(&oauth.client_credentials(&[]));
}

#[test]
fn malformed_form_is_an_error_that_names_the_parameter() {
    let oauth = OAuth::with("");
    let header = basic("ci", &oauth.secret);
    let post = |path: &str, content_type: &str, form: &str| {
        let headers = [
            ("content-type", content_type),
            ("authorization", header.as_str()),
        ];
        send(oauth.fixture.address(), "POST", path, &headers, form)
    };
    let form = "application/x-www-form-urlencoded";
    let valid = "grant_type=client_credentials";
    assert_eq!(post("/tenant/token", form, valid).status, 200);
    let many: String = (0..40).map(|number| format!("&p{number}=1")).collect();
    let many = format!("{valid}{many}");
    for (path, content_type, text, error, names) in [
        (
            "/tenant/token",
            form,
            "scope=read",
            "invalid_request",
            "grant_type",
        ),
        (
            "/tenant/token",
            form,
            "grant_type=",
            "invalid_request",
            "grant_type",
        ),
        (
            "/tenant/token",
            form,
            "grant_type=password",
            "unsupported_grant_type",
            "grant_type",
        ),
        (
            "/tenant/token",
            form,
            "grant_type=client_credentials&scope=read&scope=read",
            "invalid_request",
            "scope",
        ),
        (
            "/tenant/token",
            form,
            "grant_type=client_credentials&grant_type=client_credentials",
            "invalid_request",
            "grant_type",
        ),
        (
            "/tenant/token",
            form,
            "grant_type=client_credentials&resource=api&resource=api",
            "invalid_request",
            "resource",
        ),
        (
            "/tenant/token?client_secret=x",
            form,
            valid,
            "invalid_request",
            "query",
        ),
        ("/tenant/token?", form, valid, "invalid_request", "query"),
        (
            "/tenant/token",
            form,
            "grant_type=client_credentials&scope=%ff",
            "invalid_request",
            "scope",
        ),
        (
            "/tenant/token",
            "application/json",
            "{}",
            "invalid_request",
            "content-type",
        ),
        (
            "/tenant/token",
            form,
            many.as_str(),
            "invalid_request",
            "32",
        ),
    ] {
        let answer = post(path, content_type, text);
        assert_error(&answer, 400, error, text);
        let description = answer.json()["error_description"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(description.contains(names), "{text}: {description}");
    }
    assert_eq!(
        get(oauth.fixture.address(), "/tenant/token", &[]).status,
        405
    );
    let large = format!("{valid}&scope={}", "a".repeat(1 << 20));
    assert_eq!(post("/tenant/token", form, &large).status, 413);
}

#[test]
fn page_of_another_site_gets_no_token() {
    let fixture = TestServer::with(OAUTH_ISSUER);
    let form = encode(&[("grant_type", "client_credentials")]);
    let post = |more: &[(&str, &str)]| {
        let mut headers = vec![("content-type", "application/x-www-form-urlencoded")];
        headers.extend(more);
        send(fixture.address(), "POST", "/tenant/token", &headers, &form).status
    };
    // Trial mode: every local process gets a token.
    assert_eq!(post(&[]), 200);
    assert_eq!(post(&[("origin", "https://evil.example")]), 403);
    assert_eq!(post(&[("origin", "null")]), 403);
    assert_eq!(post(&[("sec-fetch-site", "cross-site")]), 403);
    assert_eq!(post(&[("host", "evil.example")]), 421);
}

#[test]
fn metadata_lists_grants_and_client_authentication() {
    let oauth = OAuth::with("");
    let path = "/.well-known/oauth-authorization-server/tenant";
    let metadata = get(oauth.fixture.address(), path, &[]).json();
    assert_eq!(metadata["token_endpoint"], format!("{ISS}/token"));
    let grants = metadata["grant_types_supported"].as_array().unwrap();
    assert_eq!(grants.len(), 3);
    let methods = &metadata["token_endpoint_auth_methods_supported"];
    for method in ["client_secret_basic", "private_key_jwt", "tls_client_auth"] {
        assert!(
            methods.as_array().unwrap().contains(&json!(method)),
            "{method}"
        );
    }
    // RFC 8414, section 2: required for `private_key_jwt`, at each endpoint.
    for endpoint in ["token", "introspection", "revocation"] {
        let name = format!("{endpoint}_endpoint_auth_signing_alg_values_supported");
        let algorithms = metadata[&name].as_array().unwrap();
        assert!(algorithms.contains(&json!("ES256")), "{name}");
        // An assertion is signed: a client has no shared key.
        assert!(!algorithms.contains(&json!("HS256")), "{name}");
    }
}

#[test]
fn configuration_error_names_line_and_key() {
    let error = |text: &str| {
        jeton_server::Config::from_toml(text)
            .unwrap_err()
            .to_string()
    };
    let client = "[[client]]\nname = 'ci'\nmay = ['token']\nissuers = ['*']\n";
    let hash = format!("sha256:{}", "0".repeat(64));
    let secrets = format!("secrets = ['{hash}']\n");
    let tokens = "tokens = [{profile = 'access', scopes = ['read']}]\n";
    let valid = format!("{client}{secrets}{tokens}");
    jeton_server::Config::from_toml(&valid).unwrap();
    let bearer = "[bearer]\nissuer = 'i'\naudience = 'a'\n";
    let own = format!("{valid}bearer_subject = 'ci'\n{bearer}");
    jeton_server::Config::from_toml(&own).unwrap();
    for (text, expected) in [
        (format!("{client}{secrets}"), "`client[0].tokens`"),
        (
            own.replace(bearer, ""),
            "`client[0].bearer_subject`: requires `bearer`",
        ),
        (
            own.replace("bearer_subject = 'ci'", "bearer_subject = 'other'"),
            "line 7: `client[0].bearer_subject`: must be the name of a client",
        ),
        (
            format!(
                "{own}[[client]]\nname = 'x'\nbearer_subject = 'ci'\nmay = ['verify']\nissuers = ['*']\n"
            ),
            "another client has the same credential",
        ),
        (format!("{client}{tokens}"), "requires exactly one of"),
        (
            format!("{client}secrets = ['hunter2']\n{tokens}"),
            "line 5: `secrets`: must be `sha256:`",
        ),
        (
            valid.replace("'read'", "'a b'"),
            "line 6: `client[0].tokens`: scopes[0]",
        ),
        (
            valid.replace("'ci'", "'c i'"),
            "line 2: `client[0].name`: is a `client_id`",
        ),
        (
            format!("{valid}{}", valid.replace("'access'", "'x'")),
            "another client has this name",
        ),
        (
            format!("{valid}requests_per_minute = 0\n"),
            "between 1 and 1000000, got 0",
        ),
        (format!("{valid}grants = []\n"), "`client[0].grants`"),
        (format!("{valid}grants = ['password']\n"), "unknown variant"),
        (
            format!("{OAUTH_ISSUER}{}", valid.replace("'access'", "'nope'")),
            "no such profile",
        ),
        (
            format!(
                "{OAUTH_ISSUER}{}",
                valid.replace("['read']", "['read'], audiences = ['x']")
            ),
            "one of the audiences",
        ),
    ] {
        let found = error(&text);
        assert!(found.contains(expected), "{found}\n{text}");
        assert!(!found.contains("hunter2"), "{found}");
    }
}
