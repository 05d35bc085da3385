//! Attacks on the grants. Each has a positive control: the same request without the change is accepted.

use jeton::key::{SigAlg, SigningKey};
use serde_json::{Value, json};

use super::exchange::exchange;
use super::federation::{bearer, exchange_outside, github_claims, trust};
use super::outside_issuer::OutsideIssuer;
use super::{
    ACCESS_TOKEN, EXCHANGE, JWT, JWT_BEARER, OAuth, access_token, basic, claims_of, merge, sign,
};
use crate::harness::ISS;
use crate::raw_http::Response;

/// A token endpoint with everything that the attacks need.
struct Target {
    oauth: OAuth,
    github: OutsideIssuer,
    kubernetes: OutsideIssuer,
}

/// The outcomes of all attacks, to report all that fail.
#[derive(Default)]
struct Outcomes {
    attacks: usize,
    failures: Vec<String>,
}

impl Target {
    fn new() -> Target {
        let (github, kubernetes) = (OutsideIssuer::start(), OutsideIssuer::start());
        let oauth = OAuth::with(&trust(&github, &kubernetes, ""));
        Target {
            oauth,
            github,
            kubernetes,
        }
    }

    fn subject_token(&self, scope: &str) -> String {
        let form = [("grant_type", "client_credentials"), ("scope", scope)];
        access_token(&self.oauth.post_as("issuer", &form))
    }
}

impl Outcomes {
    /// An attack must be refused, and its control accepted.
    fn check(&mut self, name: &str, control: &Response, attack: &Response) {
        self.attacks += 1;
        if control.status != 200 {
            self.failures.push(format!(
                "{name}: control: {} {}",
                control.status, control.body
            ));
        }
        if !(400..=403).contains(&attack.status) || attack.body.contains("access_token\"") {
            self.failures
                .push(format!("{name}: attack: {} {}", attack.status, attack.body));
        }
    }

    fn finish(self, least: usize) {
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
        assert!(self.attacks >= least, "{} attacks", self.attacks);
    }
}

fn other_key() -> SigningKey {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    key.with_key_id("signer-1").unwrap()
}

/// A token whose header has another `alg` or `kid`, with the rest unchanged.
fn with_header(token: &str, header: &Value) -> String {
    use base64ct::{Base64UrlUnpadded, Encoding as _};
    let (_, rest) = token.split_once('.').unwrap();
    let header = Base64UrlUnpadded::encode_string(header.to_string().as_bytes());
    format!("{header}.{rest}")
}

#[test]
fn attacks_on_client_assertions_are_refused() {
    let target = Target::new();
    let oauth = &target.oauth;
    let mut outcomes = Outcomes::default();
    let now = oauth.now();
    let post = |assertion: &str| oauth.post_assertion(assertion, &[]);
    for (name, changes) in [
        (
            "assertion for another service",
            json!({"aud": "https://other.example/token"}),
        ),
        (
            "assertion for two services",
            json!({"aud": [ISS, "https://other.example"]}),
        ),
        ("assertion without audience", json!({"aud": null})),
        (
            "assertion for a prefix of the issuer",
            json!({"aud": "https://id.example"}),
        ),
        ("assertion of another issuer", json!({"iss": "ci"})),
        ("assertion without issuer", json!({"iss": null})),
        ("assertion for another subject", json!({"sub": "ci"})),
        ("assertion without subject", json!({"sub": null})),
        ("assertion without id", json!({"jti": null})),
        (
            "assertion with a very long id",
            json!({"jti": "a".repeat(2000)}),
        ),
        ("assertion without expiry", json!({"exp": null})),
        ("assertion that has expired", json!({"exp": now - 100})),
        (
            "assertion that is valid for a day",
            json!({"exp": now + 86_400}),
        ),
        (
            "assertion that is not valid yet",
            json!({"nbf": now + 1000}),
        ),
    ] {
        let control = post(&oauth.assertion(&json!({})));
        outcomes.check(name, &control, &post(&oauth.assertion(&changes)));
    }
    let control = || post(&oauth.assertion(&json!({})));
    let once = oauth.assertion(&json!({}));
    outcomes.check("replayed assertion", &post(&once), &post(&once));
    let claims = claims_of(&oauth.assertion(&json!({})));
    outcomes.check(
        "assertion of another key",
        &control(),
        &post(&sign(&other_key(), &claims)),
    );
    let valid = oauth.assertion(&json!({}));
    let none = with_header(&valid, &json!({"alg": "none"}));
    outcomes.check("unsigned assertion", &control(), &post(&none));
    let hmac = with_header(&valid, &json!({"alg": "HS256", "kid": "signer-1"}));
    outcomes.check("assertion with a MAC algorithm", &control(), &post(&hmac));
    let with_key = with_header(
        &valid,
        &json!({"alg": "ES256", "jku": "https://evil.example"}),
    );
    outcomes.check("assertion with a key address", &control(), &post(&with_key));
    // An access token of the service is no assertion, although the client is its subject.
    let token = access_token(&control());
    outcomes.check("access token as assertion", &control(), &post(&token));
    // The assertion of one client for another `client_id`.
    let mixed = oauth.post_assertion(&oauth.assertion(&json!({})), &[("client_id", "ci")]);
    outcomes.check("assertion with another client_id", &control(), &mixed);
    // Two credentials in one request.
    let header = basic("ci", &oauth.secret);
    let both = oauth.post(
        &[("authorization", &header)],
        &[
            ("grant_type", "client_credentials"),
            ("client_assertion_type", super::ASSERTION),
            ("client_assertion", &oauth.assertion(&json!({}))),
        ],
    );
    outcomes.check("secret and assertion together", &control(), &both);
    let wrong_type = oauth.post(
        &[],
        &[
            ("grant_type", "client_credentials"),
            (
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
            ),
            ("client_assertion", &oauth.assertion(&json!({}))),
        ],
    );
    outcomes.check("assertion of another type", &control(), &wrong_type);
    outcomes.finish(23);
}

#[test]
fn attacks_on_token_exchange_are_refused() {
    let target = Target::new();
    let oauth = &target.oauth;
    let mut outcomes = Outcomes::default();
    let token = target.subject_token("read");
    let control = || exchange(oauth, &token, &[]);
    // A token for another audience: of a client that was never given to this one.
    let foreign = access_token(&oauth.client_credentials(&[]));
    outcomes.check(
        "token for another audience",
        &control(),
        &exchange(oauth, &foreign, &[]),
    );
    let more = exchange(oauth, &token, &[("scope", "read list")]);
    outcomes.check("more scope than the subject token", &control(), &more);
    let unknown = exchange(oauth, &token, &[("scope", "read write")]);
    outcomes.check("scope of another client", &control(), &unknown);
    let other = exchange(oauth, &token, &[("audience", "admin-api")]);
    outcomes.check("audience of another profile", &control(), &other);
    let two = exchange(oauth, &token, &[("audience", "api"), ("resource", "api")]);
    outcomes.check("two targets", &control(), &two);
    let form = |client: &str| {
        oauth.post_as(
            client,
            &[
                ("grant_type", EXCHANGE),
                ("subject_token", &token),
                ("subject_token_type", ACCESS_TOKEN),
            ],
        )
    };
    outcomes.check("client without the grant", &control(), &form("issuer"));
    outcomes.check("client without the permission", &control(), &form("reader"));
    let anonymous = oauth.post(
        &[],
        &[
            ("grant_type", EXCHANGE),
            ("subject_token", &token),
            ("subject_token_type", ACCESS_TOKEN),
        ],
    );
    outcomes.check("exchange without a client", &control(), &anonymous);
    let actor = exchange(
        oauth,
        &token,
        &[
            ("actor_token", &foreign),
            ("actor_token_type", ACCESS_TOKEN),
        ],
    );
    outcomes.check("actor token for another audience", &control(), &actor);
    let forged = with_header(&token, &json!({"alg": "none"}));
    let actor = exchange(
        oauth,
        &token,
        &[("actor_token", &forged), ("actor_token_type", ACCESS_TOKEN)],
    );
    outcomes.check("unsigned actor token", &control(), &actor);
    let actor = exchange(oauth, &token, &[("actor_token", &token)]);
    outcomes.check("actor token without type", &control(), &actor);
    let actor = exchange(oauth, &token, &[("actor_token_type", ACCESS_TOKEN)]);
    outcomes.check("actor type without token", &control(), &actor);
    // A chain of actors that the attacker invents, with a key that the service does not have.
    let mut claims = claims_of(&token);
    merge(
        &mut claims,
        &json!({"act": {"sub": "administrator"}, "scope": "read list"}),
    );
    let forged = sign(&other_key(), &claims);
    outcomes.check(
        "forged actor chain",
        &control(),
        &exchange(oauth, &forged, &[]),
    );
    let id_type = "urn:ietf:params:oauth:token-type:saml2";
    let wrong = oauth.post_as(
        "gateway",
        &[
            ("grant_type", EXCHANGE),
            ("subject_token", &token),
            ("subject_token_type", id_type),
        ],
    );
    outcomes.check("subject token of another type", &control(), &wrong);
    let refresh = "urn:ietf:params:oauth:token-type:refresh_token";
    let wrong = exchange(oauth, &token, &[("requested_token_type", refresh)]);
    outcomes.check("refresh token requested", &control(), &wrong);
    let cut = &token[..token.len() - 2];
    outcomes.check(
        "shortened signature",
        &control(),
        &exchange(oauth, cut, &[]),
    );
    outcomes.finish(16);
}

#[test]
fn attacks_on_workload_federation_are_refused() {
    let target = Target::new();
    let (oauth, github) = (&target.oauth, &target.github);
    let mut outcomes = Outcomes::default();
    let now = oauth.now();
    let new = |changes: &Value| github.token(&github_claims(oauth, changes));
    let control = || bearer(oauth, &new(&json!({})), &[]);
    for (name, changes) in [
        (
            "token for another service",
            json!({"aud": "https://other.example"}),
        ),
        (
            "token for a prefix of the audience",
            json!({"aud": "https://id.example"}),
        ),
        ("token without audience", json!({"aud": null})),
        (
            "branch of another name",
            json!({"sub": "repo:acme/app:ref:refs/heads/dev"}),
        ),
        (
            "owner that begins alike",
            json!({"sub": "repo:acme-evil/app:ref:refs/heads/main"}),
        ),
        (
            "repository name with a further part",
            json!({"sub": "repo:acme/x:environment:y:ref:refs/heads/main"}),
        ),
        (
            "repository name with a slash",
            json!({"sub": "repo:acme/x/y:ref:refs/heads/main"}),
        ),
        (
            "owner that took over a name",
            json!({"repository_owner_id": "9"}),
        ),
        ("owner id as a number", json!({"repository_owner_id": 1234})),
        (
            "owner id in a list",
            json!({"repository_owner_id": [["1234"]]}),
        ),
        (
            "token without a matched claim",
            json!({"repository_owner_id": null}),
        ),
        ("token without subject", json!({"sub": null})),
        ("token that has expired", json!({"exp": now - 100})),
        ("token without expiry", json!({"exp": null})),
        ("token that is not valid yet", json!({"nbf": now + 1000})),
        (
            "token of an unknown issuer",
            json!({"iss": "https://unknown.example"}),
        ),
        (
            "token of the other outside issuer",
            json!({"iss": target.kubernetes.iss()}),
        ),
        (
            "token that names this service as issuer",
            json!({"iss": ISS}),
        ),
        (
            "issuer with a slash",
            json!({"iss": format!("{}/", github.iss())}),
        ),
        (
            "copied claim that is a structure",
            json!({"repository": {"a": 1}}),
        ),
        (
            "party that may not act",
            json!({"may_act": {"sub": "somebody"}}),
        ),
        // The new token would hide the actor.
        ("token of an actor", json!({"act": {"sub": "somebody"}})),
    ] {
        outcomes.check(name, &control(), &bearer(oauth, &new(&changes), &[]));
    }
    let without_iss = sign(&github.key, &github_claims(oauth, &json!({})));
    let answer = bearer(oauth, &without_iss, &[]);
    outcomes.check("token without issuer", &control(), &answer);
    let claims = github_claims(oauth, &json!({"iss": github.iss()}));
    let forged = sign(&other_key(), &claims);
    outcomes.check(
        "token of another key",
        &control(),
        &bearer(oauth, &forged, &[]),
    );
    let kubernetes_key = sign(&target.kubernetes.key, &claims);
    let mixed = bearer(oauth, &kubernetes_key, &[]);
    outcomes.check("key of the other outside issuer", &control(), &mixed);
    let none = with_header(&new(&json!({})), &json!({"alg": "none"}));
    outcomes.check("unsigned token", &control(), &bearer(oauth, &none, &[]));
    let more = bearer(oauth, &new(&json!({})), &[("scope", "read")]);
    outcomes.check("scope of another entry", &control(), &more);
    let more = bearer(oauth, &new(&json!({})), &[("audience", "admin-api")]);
    outcomes.check("audience of another profile", &control(), &more);
    // A token of this service is no assertion: it would outlive its end.
    let own = access_token(&control());
    outcomes.check(
        "token of this service as assertion",
        &control(),
        &bearer(oauth, &own, &[]),
    );
    // A client that may not use the grant is not better off than a workload without a client.
    let as_ci = oauth.post_as(
        "ci",
        &[("grant_type", JWT_BEARER), ("assertion", &new(&json!({})))],
    );
    outcomes.check("client without the grant", &control(), &as_ci);
    let wrong_secret = oauth.post(
        &[("authorization", &basic("ci", "wrong"))],
        &[("grant_type", JWT_BEARER), ("assertion", &new(&json!({})))],
    );
    outcomes.check(
        "wrong secret besides a valid token",
        &control(),
        &wrong_secret,
    );
    let named = bearer(oauth, &new(&json!({})), &[("client_id", "ci")]);
    outcomes.check("name of a client without its secret", &control(), &named);
    let exchanged = exchange_outside(oauth, &new(&json!({})), &[]);
    let token = new(&json!({}));
    let actor = [("actor_token", token.as_str()), ("actor_token_type", JWT)];
    let with_actor = exchange_outside(oauth, &new(&json!({})), &actor);
    outcomes.check("actor besides an outside token", &exchanged, &with_actor);
    let with_type = exchange_outside(oauth, &new(&json!({})), &actor[1..]);
    outcomes.check(
        "type of an actor besides an outside token",
        &exchanged,
        &with_type,
    );
    let huge = new(&json!({"padding": "a".repeat(300_000)}));
    let answer = bearer(oauth, &huge, &[]);
    assert_eq!(answer.status, 413, "{}", answer.body);
    outcomes.finish(34);
}
