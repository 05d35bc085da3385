//! The log line of each refusal: the operator learns the reason, the caller does not.

use jeton::jws::JwsSigner;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use serde_json::{Value, json};

use super::federation::{bearer, exchange_outside, github_claims};
use super::outside_issuer::OutsideIssuer;
use super::{
    ACCESS_TOKEN, ASSERTION, EXCHANGE, OAuth, access_token, assert_error, basic, merge, sign,
    write_keys,
};
use crate::access::TestCertificates;
use crate::harness::{ISS, TestServer};
use crate::log_lines::{refusals_of, refusals_with};
use crate::raw_http::Response;

/// A client with a key, whose name no other test has.
pub(super) struct Signer {
    pub(super) oauth: OAuth,
    pub(super) name: &'static str,
    pub(super) key: SigningKey,
    _folder: tempfile::TempDir,
}

impl Signer {
    pub(super) fn new(name: &'static str, more: &str) -> Signer {
        let folder = tempfile::tempdir().unwrap();
        let key = SigningKey::generate(SigAlg::ES256).unwrap();
        let key = key.with_key_id("one").unwrap();
        let file = folder.path().join("keys.json");
        write_keys(&file, &[&key]);
        let oauth = OAuth::with(&format!(
            "[[client]]\nname = '{name}'\nkeys_file = '{}'\nmay = ['token', 'verify', 'revoke']\n\
             issuers = ['{ISS}']\ntokens = [{{profile = 'access'}}]\n{more}",
            file.display()
        ));
        Signer {
            oauth,
            name,
            key,
            _folder: folder,
        }
    }

    pub(super) fn claims(&self, changes: &Value) -> Value {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut claims = json!({
            "iss": self.name, "sub": self.name, "aud": ISS, "jti": format!("r-{number}"),
            "exp": self.oauth.now() + 60,
        });
        merge(&mut claims, changes);
        claims
    }

    fn assertion(&self, changes: &Value) -> String {
        sign(&self.key, &self.claims(changes))
    }
}

/// The rule and the claim, header member or parameter of a line.
pub(super) fn rule_and_name(fields: &Value) -> (String, Option<String>) {
    let text = |name: &str| fields[name].as_str().map(str::to_owned);
    let name = text("claim").or(text("member")).or(text("parameter"));
    (text("rule").unwrap(), name)
}

#[test]
fn each_fault_of_an_assertion_is_one_log_line() {
    let signer = Signer::new("faulty-signer", "");
    let oauth = &signer.oauth;
    let now = oauth.now();
    let with = |changes: Value| signer.assertion(&changes);
    let of_key = |key: &SigningKey| sign(key, &signer.claims(&json!({})));
    let new_key = |kid: &str| {
        let key = SigningKey::generate(SigAlg::ES256).unwrap();
        key.with_key_id(kid).unwrap()
    };
    let typed = |typ: &str| {
        let claims = signer.claims(&json!({})).to_string();
        let signer = JwsSigner::new(&signer.key).typ(typ.to_owned());
        signer.sign(claims.as_bytes()).unwrap()
    };
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let mac = mac.with_key_id("one").unwrap();
    let mac = JwsSigner::new(&mac).sign(signer.claims(&json!({})).to_string().as_bytes());
    let once = with(json!({}));
    access_token(&oauth.post_assertion(&once, &[]));
    let control = oauth.post_as("nobody", &[("grant_type", "client_credentials")]);
    for (assertion, rule, name) in [
        (
            with(json!({"aud": "https://other.example"})),
            "audience",
            "aud",
        ),
        (
            with(json!({"aud": [ISS, "https://other.example"]})),
            "audience",
            "aud",
        ),
        (with(json!({"aud": null})), "audience", "aud"),
        (with(json!({"sub": "ci"})), "subject", "sub"),
        (with(json!({"sub": null})), "subject", "sub"),
        (with(json!({"jti": null})), "once", "jti"),
        (with(json!({"jti": "a".repeat(2000)})), "once", "jti"),
        (with(json!({"exp": null})), "TOKEN_INVALID_CLAIMS", "exp"),
        (with(json!({"exp": now - 100})), "TOKEN_EXPIRED", "exp"),
        (with(json!({"exp": now + 86_400})), "lifetime", "exp"),
        (
            with(json!({"nbf": now + 1000})),
            "TOKEN_NOT_YET_VALID",
            "nbf",
        ),
        (
            with(json!({"iat": now + 1000})),
            "TOKEN_NOT_YET_VALID",
            "iat",
        ),
        (typed("at+jwt"), "TOKEN_TYPE_MISMATCH", "typ"),
        (typed("logout+jwt"), "TOKEN_TYPE_MISMATCH", "typ"),
        (of_key(&new_key("one")), "TOKEN_INVALID_SIGNATURE", ""),
        (of_key(&new_key("two")), "TOKEN_UNKNOWN_KEY", "kid"),
        (mac.unwrap(), "TOKEN_UNKNOWN_KEY", "kid"),
        (once, "once", "jti"),
    ] {
        let before = refusals_of(signer.name).len();
        let refused = oauth.post_assertion(&assertion, &[]);
        assert_error(&refused, 401, "invalid_client", rule);
        assert_eq!(refused.body, control.body, "{rule} {name}");
        let lines = refusals_of(signer.name);
        assert_eq!(lines.len(), before + 1, "{rule} {name}: {lines:?}");
        let line = &lines[before];
        let expected = (!name.is_empty()).then(|| name.to_owned());
        assert_eq!(rule_and_name(line), (rule.to_owned(), expected), "{line}");
        assert_eq!(line["issuer"], ISS, "{line}");
        assert!(line.get("value").is_none(), "{line}");
    }
    let before = refusals_of(signer.name).len();
    let mixed = oauth.post_assertion(&with(json!({})), &[("client_id", "ci")]);
    assert_error(&mixed, 401, "invalid_client", "client_id");
    let line = &refusals_of(signer.name)[before];
    assert_eq!(
        rule_and_name(line),
        ("client".to_owned(), Some("client_id".to_owned()))
    );
}

/// The client of such an assertion is unknown. With `log.claims`, the line has the value.
#[test]
fn assertion_of_no_client_is_logged_with_its_issuer() {
    let signer = Signer::new("signer-of-claims", "[log]\nclaims = true\n");
    let of = |iss: &str| signer.assertion(&json!({"iss": iss, "sub": iss}));
    for (iss, what) in [
        ("refusal-of-no-client", "names no client"),
        ("ci", "`secrets`"),
    ] {
        let before = refusals_with(iss).len();
        let refused = signer.oauth.post_assertion(&of(iss), &[]);
        assert_error(&refused, 401, "invalid_client", iss);
        let lines: Vec<Value> = refusals_with(iss);
        let lines: Vec<&Value> = lines
            .iter()
            .filter(|line| line["value"] == format!("\"{iss}\""))
            .collect();
        assert!(lines.len() <= before + 1 && !lines.is_empty(), "{lines:?}");
        let line = lines[lines.len() - 1];
        assert_eq!(
            rule_and_name(line),
            ("client".to_owned(), Some("iss".to_owned()))
        );
        assert!(line["why"].as_str().unwrap().contains(what), "{line}");
    }
    // Personal data of a known client.
    let other = signer.assertion(&json!({"sub": "refused-subject-7"}));
    signer.oauth.post_assertion(&other, &[]);
    let lines = refusals_with("refused-subject-7");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["claim"], "sub");
}

pub(super) fn trust(name: &str, iss: &str, sub: &str) -> String {
    format!(
        "[[trust]]\nname = '{name}'\nissuer = '{ISS}'\niss = '{iss}'\naudience = '{ISS}'\n\
         claims = {{sub = '{sub}', repository_owner_id = '1234'}}\ntokens = [{{profile = 'access'}}]\n\
         maximum_lifetime_seconds = 600\n"
    )
}

/// Repositories created after 2026-07-15 have the ids of owner and repository in `sub`.
#[test]
fn github_subject_of_a_new_repository_is_logged_and_accepted() {
    let github = OutsideIssuer::start();
    let old = trust(
        "gh-old-form",
        &github.iss(),
        "repo:acme/*:ref:refs/heads/main",
    );
    let new = trust(
        "gh-new-form",
        &github.iss(),
        "repo:acme@1234/*:ref:refs/heads/main",
    );
    let subject = json!({"sub": "repo:acme@1234/app@5678:ref:refs/heads/main"});
    let oauth = OAuth::with(&old);
    let token = github.token(&github_claims(&oauth, &subject));
    let refused = bearer(&oauth, &token, &[]);
    assert_error(&refused, 400, "invalid_grant", "old form");
    assert!(!refused.body.contains("sub"), "{}", refused.body);
    let lines = refusals_of("gh-old-form");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(
        rule_and_name(&lines[0]),
        ("claims".to_owned(), Some("sub".to_owned()))
    );
    assert!(!lines[0].to_string().contains("acme@1234"), "{lines:?}");
    // As the guide has them.
    let oauth = OAuth::with(&format!("{old}{new}"));
    for sub in [
        "repo:acme@1234/app@5678:ref:refs/heads/main",
        "repo:acme/app:ref:refs/heads/main",
    ] {
        let token = github.token(&github_claims(&oauth, &json!({"sub": sub})));
        access_token(&bearer(&oauth, &token, &[]));
    }
    assert_eq!(refusals_of("gh-new-form").len(), 0);
    // One line for both entries, of the one that fits best.
    for sub in [
        "repo:acme@1234/app@5678:ref:refs/heads/dev",
        "repo:acme@9/app@5678:ref:refs/heads/main",
        "repo:evil@1234/app@5678:ref:refs/heads/main",
    ] {
        let before = refusals_of("gh-old-form").len();
        let token = github.token(&github_claims(&oauth, &json!({"sub": sub})));
        assert_error(&bearer(&oauth, &token, &[]), 400, "invalid_grant", sub);
        let lines = refusals_of("gh-old-form");
        assert_eq!(lines.len(), before + 1, "{lines:?}");
        let why = lines[before]["why"].as_str().unwrap();
        assert!(why.contains("entry `gh-new-form`: `sub`"), "{why}");
    }
}

#[test]
fn each_rule_of_a_trust_entry_is_one_log_line() {
    let outside = OutsideIssuer::start();
    let entry = trust(
        "gh-every-rule",
        &outside.iss(),
        "repo:acme/*:ref:refs/heads/main",
    );
    let entry = format!("{entry}copy_claims = {{repo = 'repository'}}\nsingle_use = true\n");
    let oauth = OAuth::with(&entry);
    let now = oauth.now();
    let new = |changes: Value| outside.token(&github_claims(&oauth, &changes));
    let used = new(json!({"jti": "used"}));
    access_token(&bearer(&oauth, &used, &[]));
    let stranger = OutsideIssuer::start();
    let forged = github_claims(&oauth, &json!({"iss": outside.iss()}));
    for (token, rule, name) in [
        (
            new(json!({"aud": "https://other.example"})),
            "audience",
            "aud",
        ),
        (
            new(json!({"repository_owner_id": "9"})),
            "claims",
            "repository_owner_id",
        ),
        (
            new(json!({"repository_owner_id": null})),
            "claims",
            "repository_owner_id",
        ),
        (new(json!({"exp": now - 100})), "TOKEN_EXPIRED", "exp"),
        (new(json!({"cnf": {"jkt": "x"}})), "cnf", "cnf"),
        (new(json!({"act": {"sub": "x"}})), "act", "act"),
        (new(json!({"may_act": {"sub": "x"}})), "may_act", "may_act"),
        (
            new(json!({"repository": ["a"]})),
            "copy_claims",
            "repository",
        ),
        (new(json!({"jti": null})), "single_use", "jti"),
        (
            new(json!({"jti": "b", "exp": now + 90_000})),
            "single_use",
            "exp",
        ),
        (sign(&stranger.key, &forged), "TOKEN_INVALID_SIGNATURE", ""),
        (used, "single_use", "jti"),
    ] {
        let before = refusals_of("gh-every-rule").len();
        assert_error(&bearer(&oauth, &token, &[]), 400, "invalid_grant", rule);
        let lines = refusals_of("gh-every-rule");
        assert_eq!(lines.len(), before + 1, "{rule} {name}: {lines:?}");
        let expected = (!name.is_empty()).then(|| name.to_owned());
        assert_eq!(rule_and_name(&lines[before]), (rule.to_owned(), expected));
    }
    // The same through an exchange, which does not take a token at its end.
    let before = refusals_of("gh-every-rule").len();
    let ended = exchange_outside(&oauth, &new(json!({"exp": now - 30, "jti": "c"})), &[]);
    assert_error(&ended, 400, "invalid_request", "ended");
    let line = &refusals_of("gh-every-rule")[before];
    assert_eq!(
        rule_and_name(line),
        ("lifetime".to_owned(), Some("exp".to_owned()))
    );
}

#[test]
fn secret_in_the_form_is_refused_with_the_ways_to_authenticate() {
    let oauth = OAuth::with("");
    let form = |more: &[(&'static str, &'static str)]| {
        let mut form = vec![("client_id", "ci"), ("client_secret", "x")];
        form.extend(more);
        form
    };
    let answers: [(&str, Response); 3] = [
        (
            "token",
            oauth.post(&[], &form(&[("grant_type", "client_credentials")])),
        ),
        (
            "introspect",
            oauth.post_to("/tenant/introspect", &[], &form(&[("token", "a")])),
        ),
        (
            "revoke",
            oauth.post_to("/tenant/revoke", &[], &form(&[("token", "a")])),
        ),
    ];
    for (about, answer) in answers {
        assert_error(&answer, 401, "invalid_client", about);
        let body = &answer.body;
        for way in ["HTTP Basic", "client_assertion", "certificate"] {
            assert!(body.contains(way), "{about}: {body}");
        }
        assert!(
            answer.headers["www-authenticate"].starts_with("Basic"),
            "{about}"
        );
    }
    // A server without clients with keys does not read the form.
    let hash = jeton_server::SecretHash::of_imported("x").unwrap();
    let fixture = TestServer::with(&format!(
        "{}[[client]]\nname = 'ci'\nsecrets = ['{hash}']\nmay = ['verify']\nissuers = ['*']\n",
        super::OAUTH_ISSUER
    ));
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let encoded = super::encode(&form(&[("token", "a")]));
    let address = fixture.address();
    let answer = crate::raw_http::send(address, "POST", "/tenant/introspect", &headers, &encoded);
    assert_error(&answer, 401, "invalid_client", "not read");
    assert!(answer.body.contains("HTTP Basic"), "{}", answer.body);
}

#[test]
fn exchange_of_a_rejected_own_token_names_the_code() {
    let oauth = OAuth::with("");
    let form = [("grant_type", "client_credentials"), ("scope", "read")];
    let token = access_token(&oauth.post_as("issuer", &form));
    oauth.clock.forward(2 * 86_400);
    let before = refusals_of("gateway").len();
    let exchange = |token: &str| {
        let form = [
            ("grant_type", EXCHANGE),
            ("subject_token", token),
            ("subject_token_type", ACCESS_TOKEN),
        ];
        oauth.post_as("gateway", &form)
    };
    let expired = exchange(&token);
    assert_error(&expired, 400, "invalid_request", "expired");
    assert!(
        expired.body.contains("rejected (TOKEN_EXPIRED)"),
        "{}",
        expired.body
    );
    let has_line = |rule: &str| {
        let lines = refusals_of("gateway");
        lines[before..].iter().any(|line| line["rule"] == rule)
    };
    assert!(has_line("TOKEN_EXPIRED"));
    let malformed = exchange("abc");
    assert!(
        malformed.body.contains("rejected (TOKEN_"),
        "{}",
        malformed.body
    );
    // Not meant for the client.
    let foreign = access_token(&oauth.client_credentials(&[]));
    assert_error(&exchange(&foreign), 400, "invalid_request", "foreign");
    assert!(has_line("exchange_audiences"));
}

/// Introspection, revocation and the decision for a proxy tell the caller nothing.
#[test]
fn rejected_token_is_logged_at_each_endpoint() {
    let hash = jeton_server::ClientSecret::generate().unwrap();
    let (secret, hash) = (hash.text().to_owned(), hash.hash());
    let oauth = OAuth::with(&format!(
        "[[client]]\nname = 'rejected-reader'\nsecrets = ['{hash}']\nmay = ['verify', 'revoke']\n\
         issuers = ['{ISS}']\n"
    ));
    let token = access_token(&oauth.client_credentials(&[]));
    // A token that another clock may still accept would be revoked.
    oauth.clock.forward(5000);
    let header = basic("rejected-reader", &secret);
    let authorization = [("authorization", header.as_str())];
    let authorization_of_token = format!("Bearer {token}");
    let post = |path: &str| oauth.post_to(path, &authorization, &[("token", &token)]);
    let statuses = [
        post("/tenant/introspect").status,
        post("/tenant/revoke").status,
        crate::raw_http::send(
            oauth.fixture.address(),
            "GET",
            "/tenant/forward-auth/api",
            &[
                ("proxy-authorization", header.as_str()),
                ("authorization", &authorization_of_token),
            ],
            "",
        )
        .status,
    ];
    assert_eq!(statuses, [200, 200, 401]);
    let lines = refusals_of("rejected-reader");
    let rules: Vec<_> = lines.iter().map(rule_and_name).collect();
    let expired = ("TOKEN_EXPIRED".to_owned(), Some("exp".to_owned()));
    assert_eq!(rules, [expired.clone(), expired.clone(), expired]);
    // Wrong secrets, for each endpoint.
    let wrong = basic("rejected-reader", "wrong");
    for path in ["/tenant/introspect", "/tenant/revoke", "/tenant/token"] {
        let before = refusals_of("rejected-reader").len();
        let answer = oauth.post_to(path, &[("authorization", &wrong)], &[("token", "a")]);
        assert_eq!(answer.status, 401, "{path}");
        let lines = refusals_of("rejected-reader");
        assert_eq!(lines.len(), before + 1, "{path}");
        assert_eq!(lines[before]["rule"], "secrets", "{path}");
    }
    // A client without the permission, and without the grant.
    let before = refusals_of("rejected-reader").len();
    let form = [("grant_type", "client_credentials")];
    let refused = oauth.post(&authorization, &form);
    assert_error(&refused, 400, "unauthorized_client", "permission");
    assert_eq!(refusals_of("rejected-reader").len(), before + 1);
}

#[test]
fn lines_about_one_client_are_limited() {
    let hash = jeton_server::ClientSecret::generate().unwrap().hash();
    let oauth = OAuth::with(&format!(
        "[[client]]\nname = 'noisy-client'\nsecrets = ['{hash}']\nmay = ['verify']\nissuers = ['*']\n"
    ));
    let wrong = basic("noisy-client", "wrong");
    let most = jeton_server::limits::LOGGED_REFUSALS_PER_MINUTE as usize;
    for _ in 0..3 * most {
        oauth.post(
            &[("authorization", &wrong)],
            &[("grant_type", "client_credentials")],
        );
    }
    let lines = refusals_of("noisy-client").len();
    // One more for each second of the requests.
    assert!((most..2 * most).contains(&lines), "{lines}");
}

#[test]
fn certificate_of_no_client_is_logged() {
    let certificates = TestCertificates::new();
    let fixture = TestServer::with(&format!(
        "{}[[client]]\nname = 'mtls-client'\ncertificate_name = 'billing.example'\nmay = ['token']\n\
         issuers = ['{ISS}']\ntokens = [{{profile = 'access'}}]\n{}",
        certificates.tls(),
        super::OAUTH_ISSUER
    ));
    let count = || refusals_with("belongs to no client").len();
    let before = count();
    let file = |name: &str| certificates.path(name).display().to_string();
    let output = std::process::Command::new("curl")
        .args(["--silent", "--cacert", &file("ca.pem")])
        .args([
            "--cert",
            &file("stranger.pem"),
            "--key",
            &file("stranger.key"),
        ])
        .args(["-d", "grant_type=client_credentials"])
        .arg(format!("https://{}/tenant/token", fixture.address()))
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: this machine has no curl");
        return;
    };
    let body = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(body.contains("invalid_client"), "{body}");
    assert!(count() > before);
}

/// `openssl rand -base64` makes such secrets. curl and Authlib do not encode them.
#[test]
fn secret_of_another_alphabet_matches_encoded_and_as_it_is() {
    let quick = "kq3b/+9WnM0rTz4c%2Bx==";
    let slow = "a+b/c%3D&d=";
    let sha256 = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, quick.as_bytes());
    let hex: String = sha256
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let imported = jeton_server::SecretHash::of_imported(slow).unwrap();
    let client = |name: &str, hash: &str| {
        format!(
            "[[client]]\nname = '{name}'\nsecrets = ['{hash}']\nmay = ['token']\nissuers = ['*']\n\
             tokens = [{{profile = 'access'}}]\n"
        )
    };
    let oauth = OAuth::with(&format!(
        "{}{}",
        client("quick-client", &format!("sha256:{hex}")),
        client("slow-client", &imported.to_string())
    ));
    let form = [("grant_type", "client_credentials")];
    let post = |client: &str, secret: &str| {
        oauth.post(&[("authorization", &basic(client, secret))], &form)
    };
    let encoded = |secret: &str| {
        let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        encoded
    };
    for (client, secret) in [("quick-client", quick), ("slow-client", slow)] {
        for _ in 0..2 {
            access_token(&post(client, secret));
            access_token(&post(client, &encoded(secret)));
            // Decoded twice, and shortened.
            assert_eq!(post(client, &encoded(&encoded(secret))).status, 401);
            assert_eq!(post(client, &secret[1..]).status, 401);
        }
    }
    // curl sends it as it is.
    let output = std::process::Command::new("curl")
        .args(["--silent", "--user", &format!("quick-client:{quick}")])
        .args(["-d", "grant_type=client_credentials"])
        .arg(format!("http://{}/tenant/token", oauth.fixture.address()))
        .output();
    if let Ok(output) = output {
        let body = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(body.contains("access_token"), "{body}");
    }
}

#[test]
fn assertion_type_is_logged_by_its_parameter() {
    let signer = Signer::new("wrong-assertion-type", "");
    let assertion = signer.assertion(&json!({}));
    let count = || refusals_with("client_assertion_type").len();
    let before = count();
    let form = [
        ("grant_type", "client_credentials"),
        (
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
        ),
        ("client_assertion", &assertion),
    ];
    assert_error(
        &signer.oauth.post(&[], &form),
        400,
        "invalid_request",
        "type",
    );
    assert!(count() > before);
    let form = [
        ("grant_type", "client_credentials"),
        ("client_assertion_type", ASSERTION),
        ("client_assertion", &assertion),
    ];
    access_token(&signer.oauth.post(&[], &form));
}
