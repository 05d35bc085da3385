//! Tokens of outside issuers.

use base64ct::Encoding as _;
use serde_json::{Value, json};

use super::outside_issuer::{Behaviour, OutsideIssuer};
use super::{
    ACCESS_TOKEN, EXCHANGE, JWT, JWT_BEARER, OAuth, access_token, assert_error, claims_of, merge,
};
use crate::harness::ISS;
use crate::raw_http::Response;

/// Trust in a GitHub-shaped and a Kubernetes-shaped issuer.
pub(super) fn trust(github: &OutsideIssuer, kubernetes: &OutsideIssuer, more: &str) -> String {
    format!(
        r#"
[[trust]]
name = "github"
issuer = "{ISS}"
iss = "{}"
audience = "{ISS}"
claims = {{sub = "repo:acme/*:ref:refs/heads/main", repository_owner_id = "1234"}}
copy_claims = {{repository = "repository"}}
tokens = [{{profile = "access", scopes = ["deploy"]}}]
maximum_lifetime_seconds = 600
{more}

[[trust]]
name = "kubernetes"
issuer = "{ISS}"
iss = "{}"
audience = "{ISS}"
claims = {{"/kubernetes.io/namespace" = "prod", sub = "system:serviceaccount:prod:*"}}
subject = "k8s:{{/kubernetes.io/namespace}}:{{/kubernetes.io/serviceaccount/name}}"
tokens = [{{profile = "access", scopes = ["read"]}}]
maximum_lifetime_seconds = 300
"#,
        github.iss(),
        kubernetes.iss()
    )
}

pub(super) fn github_claims(oauth: &OAuth, changes: &Value) -> Value {
    let mut claims = json!({
        "sub": "repo:acme/app:ref:refs/heads/main",
        "aud": ISS,
        "jti": "1f0c9d5e-7c2c-4b0c-9d7c-000000000001",
        "repository": "acme/app",
        "repository_owner": "acme",
        "repository_owner_id": "1234",
        "ref": "refs/heads/main",
        "run_id": "1001",
        "nbf": oauth.now() - 5,
        "iat": oauth.now(),
        "exp": oauth.now() + 300,
    });
    merge(&mut claims, changes);
    claims
}

fn kubernetes_claims(oauth: &OAuth) -> Value {
    json!({
        "sub": "system:serviceaccount:prod:billing",
        "aud": [ISS],
        "kubernetes.io": {
            "namespace": "prod",
            "pod": {"name": "billing-7", "uid": "0e3b"},
            "serviceaccount": {"name": "billing", "uid": "f00d"},
        },
        "nbf": oauth.now(),
        "iat": oauth.now(),
        "exp": oauth.now() + 3600,
    })
}

pub(super) fn bearer(oauth: &OAuth, assertion: &str, more: &[(&str, &str)]) -> Response {
    let mut form = vec![("grant_type", JWT_BEARER), ("assertion", assertion)];
    form.extend(more);
    oauth.post(&[], &form)
}

pub(super) fn exchange_outside(oauth: &OAuth, token: &str, more: &[(&str, &str)]) -> Response {
    let mut form = vec![
        ("grant_type", EXCHANGE),
        ("subject_token", token),
        ("subject_token_type", JWT),
    ];
    form.extend(more);
    oauth.post(&[], &form)
}

#[test]
fn workload_token_gives_what_its_trust_entry_allows() {
    let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let oauth = OAuth::with(&trust(&github, &kubernetes, ""));
    let token = github.token(&github_claims(&oauth, &json!({})));
    let answer = bearer(&oauth, &token, &[]);
    let claims = claims_of(&access_token(&answer));
    assert_eq!(claims["sub"], "github:repo:acme/app:ref:refs/heads/main");
    assert_eq!(claims["client_id"], "github");
    assert_eq!(claims["scope"], "deploy");
    assert_eq!(claims["repository"], "acme/app");
    assert_eq!(claims["exp"], oauth.now() + 600);
    assert!(claims.get("ref").is_none(), "{claims}");
    assert_eq!(answer.json()["scope"], "deploy");

    let token = kubernetes.token(&kubernetes_claims(&oauth));
    let answer = exchange_outside(&oauth, &token, &[("scope", "read"), ("audience", "api")]);
    assert_eq!(answer.json()["issued_token_type"], ACCESS_TOKEN);
    let claims = claims_of(&access_token(&answer));
    assert_eq!(claims["sub"], "k8s:prod:billing");
    assert_eq!(claims["exp"], oauth.now() + 300);
    // A token within the leeway cannot be exchanged: the new one would have ended.
    let token = github.token(&github_claims(&oauth, &json!({"exp": oauth.now() - 30})));
    access_token(&bearer(&oauth, &token, &[]));
    let answer = exchange_outside(&oauth, &token, &[]);
    assert_error(&answer, 400, "invalid_request", "ended");
    assert!(
        answer.body.contains("`subject_token`: has expired"),
        "{}",
        answer.body
    );
    // An exchanged token ends with the subject token, an assertion only starts a session.
    let token = github.token(&github_claims(&oauth, &json!({"exp": oauth.now() + 30})));
    let exchanged = claims_of(&access_token(&exchange_outside(&oauth, &token, &[])));
    assert_eq!(exchanged["exp"], oauth.now() + 30);
}

/// Exchanges tokens through a rotation and an outage of one hour, by the clock of the service.
fn exchange_through_rotation_and_outage(
    oauth: &OAuth,
    issuer: &mut OutsideIssuer,
    exchange: impl Fn(&str) -> Response,
    claims: impl Fn() -> Value,
) {
    let check = |token: &str, about: &str| {
        let seconds = claims_of(token)["exp"].as_i64().unwrap() - oauth.now();
        let answer = exchange(token);
        match seconds {
            1.. => assert_eq!(answer.status, 200, "{about}: {}", answer.body),
            // An assertion has a leeway, and a token that is exchanged has none.
            -60..=0 => {}
            _ => assert_eq!(answer.status, 400, "{about}: {}", answer.body),
        }
    };
    let before = issuer.token(&claims());
    check(&before, "before the rotation");
    issuer.rotate("two");
    let after = issuer.token(&claims());
    // The unknown key is fetched, and the old one is still published.
    check(&after, "after the rotation");
    check(&before, "of the former key");
    issuer.set(Behaviour::IsDown);
    for minutes in (0..=70).step_by(10) {
        for token in [&before, &after, &issuer.token(&claims())] {
            check(token, &format!("{minutes} minutes into the outage"));
        }
        oauth.clock.forward(600);
    }
    // A forged token stays one, during the outage and after it.
    let stranger = OutsideIssuer::start();
    let mut forged = claims();
    merge(&mut forged, &json!({"iss": issuer.iss()}));
    let forged = super::sign(&stranger.key, &forged);
    assert_eq!(exchange(&forged).status, 400);
    issuer.set(Behaviour::Works);
    assert_eq!(exchange(&forged).status, 400);
    check(&issuer.token(&claims()), "after the outage");
}

#[test]
fn github_tokens_are_exchanged_through_rotation_and_outage() {
    let (mut github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let oauth = OAuth::with(&trust(&github, &kubernetes, ""));
    let claims = || github_claims(&oauth, &json!({}));
    let exchange = |token: &str| bearer(&oauth, token, &[]);
    exchange_through_rotation_and_outage(&oauth, &mut github, exchange, claims);
}

#[test]
fn kubernetes_tokens_are_exchanged_through_rotation_and_outage() {
    let (github, mut kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let oauth = OAuth::with(&trust(&github, &kubernetes, ""));
    let claims = || kubernetes_claims(&oauth);
    let exchange = |token: &str| exchange_outside(&oauth, token, &[]);
    exchange_through_rotation_and_outage(&oauth, &mut kubernetes, exchange, claims);
}

#[test]
fn outside_issuer_without_keys_is_an_outage_and_no_rejection() {
    for behaviour in [
        Behaviour::IsDown,
        Behaviour::Fails,
        Behaviour::NamesAnotherIssuer,
        Behaviour::IsHuge,
        Behaviour::IsSlow,
    ] {
        let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
        github.set(behaviour);
        let oauth = OAuth::with(&trust(&github, &kubernetes, ""));
        let token = github.token(&github_claims(&oauth, &json!({})));
        let answer = bearer(&oauth, &token, &[]);
        assert_error(
            &answer,
            503,
            "temporarily_unavailable",
            &format!("{behaviour:?}"),
        );
        // Another outside issuer and the service's own clients are not affected.
        let token = kubernetes.token(&kubernetes_claims(&oauth));
        assert_eq!(bearer(&oauth, &token, &[]).status, 200, "{behaviour:?}");
        access_token(&oauth.client_credentials(&[]));
    }
}

#[test]
fn invented_keys_cause_few_requests() {
    let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let oauth = OAuth::with(&trust(&github, &kubernetes, ""));
    let token = github.token(&github_claims(&oauth, &json!({})));
    assert_eq!(bearer(&oauth, &token, &[]).status, 200);
    let stranger = OutsideIssuer::start();
    for number in 0..20 {
        let mut claims = github_claims(&oauth, &json!({}));
        merge(&mut claims, &json!({"iss": github.iss()}));
        let key = jeton::key::SigningKey::generate(jeton::key::SigAlg::ES256).unwrap();
        let key = key.with_key_id(&format!("invented-{number}")).unwrap();
        assert_eq!(bearer(&oauth, &super::sign(&key, &claims), &[]).status, 400);
    }
    // An issuer that no entry names is asked nothing.
    let token = stranger.token(&github_claims(&oauth, &json!({})));
    assert_error(
        &bearer(&oauth, &token, &[]),
        400,
        "invalid_grant",
        "stranger",
    );
    assert_eq!(stranger.requests(), 0);
    assert!(github.requests() <= 4, "{}", github.requests());
}

#[test]
fn single_use_entry_accepts_a_token_once() {
    let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let oauth = OAuth::with(&trust(&github, &kubernetes, "single_use = true"));
    let token = github.token(&github_claims(&oauth, &json!({})));
    assert_eq!(bearer(&oauth, &token, &[]).status, 200);
    assert_error(&bearer(&oauth, &token, &[]), 400, "invalid_grant", "again");
    let without = github.token(&github_claims(&oauth, &json!({"jti": null})));
    assert_error(
        &bearer(&oauth, &without, &[]),
        400,
        "invalid_grant",
        "no jti",
    );
    // Its id would fill the store.
    let month = json!({"jti": "month", "exp": oauth.now() + 30 * 86_400});
    let answer = bearer(&oauth, &github.token(&github_claims(&oauth, &month)), &[]);
    assert_error(&answer, 400, "invalid_grant", "valid for a month");
    assert!(answer.body.contains("86400 s"), "{}", answer.body);
}

#[test]
fn trust_configuration_error_names_line_and_key() {
    let valid = "[[trust]]\nname = 'github'\nissuer = 'https://id.example'\niss = 'https://out.example'\n\
         audience = 'a'\nclaims = {sub = 'x'}\ntokens = [{profile = 'p'}]\n\
         maximum_lifetime_seconds = 600\n";
    jeton_server::Config::from_toml(valid).unwrap();
    for (from, to, expected) in [
        (
            "{sub = 'x'}",
            "{}",
            "line 6: `trust[0].claims`: requires at least one claim",
        ),
        (
            "{sub = 'x'}",
            "{sub = [1]}",
            "a string, an integer or a boolean",
        ),
        (
            "= 600",
            "= 0",
            "`trust[0].maximum_lifetime_seconds`: must be between 1",
        ),
        (
            "'https://out.example'",
            "'https://id.example'",
            "an issuer of this server",
        ),
        ("[{profile = 'p'}]", "[]", "`trust[0].tokens`"),
        ("audience = 'a'", "audience = ''", "`trust[0].audience`"),
        (
            "audience = 'a'",
            "audience = 'a'\nsubject = '{'",
            "`{` without `}`",
        ),
        (
            "audience = 'a'",
            "audience = 'a'\ncopy_claims = {scope = 'x'}",
            "`trust[0].copy_claims`",
        ),
        (
            "audience = 'a'",
            "audience = 'a'\ndefault_alg = 'HS256'",
            "a signature algorithm",
        ),
        (
            "audience = 'a'",
            "audience = 'a'\nkeys_url = 'https://x'\nkeys_file = 'y'",
            "`trust[0].keys_url`",
        ),
        (
            "audience = 'a'",
            "audience = 'a'\nunknown = 1",
            "unknown field",
        ),
    ] {
        let text = valid.replace(from, to);
        let error = jeton_server::Config::from_toml(&text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}\n{text}");
    }
    let other = valid.replace("'github'", "'other'");
    jeton_server::Config::from_toml(&format!("{valid}{other}")).unwrap();
    let other_keys = other.replace("audience", "keys_url = 'https://x'\naudience");
    let error = jeton_server::Config::from_toml(&format!("{valid}{other_keys}"));
    assert!(error.unwrap_err().to_string().contains("other keys"));
}

#[test]
fn copied_numbers_stay_as_they_were() {
    let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let trusted = trust(&github, &kubernetes, "").replace(
        "copy_claims = {repository = \"repository\"}",
        "copy_claims = {run = \"run\", share = \"share\"}",
    );
    let oauth = OAuth::with(&trusted);
    let claims = github_claims(&oauth, &json!({"run": 1, "share": 2}));
    // serde_json would write other texts.
    let text = claims.to_string();
    let text = text.replace("\"run\":1", "\"run\":12345678901234567890123");
    let text = text.replace("\"share\":2", "\"share\":1.50");
    let answer = bearer(&oauth, &github.token_of(&text), &[]);
    let token = access_token(&answer);
    let payload = token.split('.').nth(1).unwrap();
    let payload = base64ct::Base64UrlUnpadded::decode_vec(payload).unwrap();
    let payload = String::from_utf8(payload).unwrap();
    for member in ["\"run\":12345678901234567890123", "\"share\":1.50"] {
        assert!(payload.contains(member), "{payload}");
    }
}

/// A stranger with any token learns nothing about the configuration.
#[test]
fn caller_without_credentials_does_not_learn_which_issuers_are_trusted() {
    let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let oauth = OAuth::with(&trust(&github, &kubernetes, ""));
    let stranger = OutsideIssuer::start();
    let claims = |iss: &str| github_claims(&oauth, &json!({"iss": iss}));
    let trusted = stranger.token(&claims(&github.iss()));
    let unknown = stranger.token(&claims("https://unknown.example"));
    assert_eq!(
        bearer(&oauth, &trusted, &[]).body,
        bearer(&oauth, &unknown, &[]).body
    );
    let actor = [("actor_token", "a"), ("actor_token_type", JWT)];
    for more in [&[][..], &actor] {
        let exchanged = |token| exchange_outside(&oauth, token, more);
        let answers = (exchanged(&trusted), exchanged(&unknown));
        assert_eq!(answers.0.body, answers.1.body);
        assert_error(&answers.0, 400, "invalid_request", "trusted");
        assert_error(&answers.1, 400, "invalid_request", "unknown");
    }
}

#[test]
fn trust_entry_with_a_colon_in_its_name_is_an_error() {
    let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
    let named = trust(&github, &kubernetes, "").replace("name = \"github\"", "name = \"git:hub\"");
    let error = jeton_server::Config::from_toml(&named)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("trust[0].name") && error.contains("must not contain `:`"),
        "{error}"
    );
}
