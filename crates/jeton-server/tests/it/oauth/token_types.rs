//! Types (`typ`) of tokens and uses (`use`) of keys that standards register, and those that a trust entry names.

use std::fs;
use std::sync::Arc;

use jeton::jws::JwsSigner;
use jeton::key::{SigAlg, SigningKey};
use serde_json::{Value, json};

use super::federation::bearer;
use super::{ACCESS_TOKEN, EXCHANGE, JWT, OAuth, access_token, assert_error, key_set, merge, sign};
use crate::harness::ISS;
use crate::log_lines::refusals_of;
use crate::raw_http::Response;

const OUTSIDE: &str = "https://outside.example";

/// Signs claims with a type in the header.
fn typed(key: &SigningKey, typ: Option<&str>, claims: &Value) -> String {
    let signer = JwsSigner::new(key);
    let signer = match typ {
        Some(typ) => signer.typ(typ.to_owned()),
        None => signer,
    };
    signer.sign(claims.to_string().as_bytes()).unwrap()
}

#[test]
fn assertion_of_its_registered_type_is_accepted() {
    let oauth = OAuth::with("");
    let post = |typ: Option<&str>| {
        let claims = super::claims_of(&oauth.assertion(&json!({})));
        oauth.post_assertion(&typed(&oauth.signer, typ, &claims), &[])
    };
    for typ in [
        Some("client-authentication+jwt"),
        Some("application/client-authentication+JWT"),
        Some("JWT"),
        Some("JOSE"),
        None,
    ] {
        let answer = post(typ);
        assert_eq!(answer.status, 200, "{typ:?}: {}", answer.body);
    }
    for typ in ["at+jwt", "logout+jwt", "dpop+jwt", "JOSE+JSON", "x"] {
        assert_error(&post(Some(typ)), 401, "invalid_client", typ);
    }
}

/// An outside issuer with a key set in a file.
struct Outside {
    oauth: OAuth,
    key: Arc<SigningKey>,
    _folder: tempfile::TempDir,
}

impl Outside {
    /// Starts a server with a trust entry of this name and further settings.
    fn new(name: &str, more: &str) -> Outside {
        let key = SigningKey::generate(SigAlg::ES256).unwrap();
        let key = key.with_key_id("one").unwrap();
        Outside::with_set(name, more, &key_set(&[&key]), Arc::new(key)).unwrap()
    }

    fn with_set(
        name: &str,
        more: &str,
        set: &str,
        key: Arc<SigningKey>,
    ) -> Result<Outside, jeton_server::Error> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.json");
        fs::write(&file, set).unwrap();
        let entry = format!(
            "[[trust]]\nname = '{name}'\nissuer = '{ISS}'\niss = '{OUTSIDE}'\nkeys_file = '{}'\n\
             audience = '{ISS}'\nclaims = {{sub = 'workload'}}\ntokens = [{{profile = 'access'}}]\n\
             maximum_lifetime_seconds = 600\n{more}\n",
            file.display()
        );
        let config = format!("{}{entry}", super::OAUTH_ISSUER);
        jeton_server::Config::from_toml(&config)?.check()?;
        Ok(Outside {
            oauth: OAuth::with(&entry),
            key,
            _folder: folder,
        })
    }

    fn token(&self, typ: Option<&str>) -> String {
        let now = self.oauth.now();
        let claims = json!({
            "iss": OUTSIDE, "aud": ISS, "sub": "workload", "iat": now, "exp": now + 300,
            "client_id": "web", "jti": "7",
        });
        typed(&self.key, typ, &claims)
    }

    fn exchange(&self, token: &str, typ: &str) -> Response {
        let form = [
            ("grant_type", EXCHANGE),
            ("subject_token", token),
            ("subject_token_type", typ),
        ];
        self.oauth.post(&[], &form)
    }
}

#[test]
fn access_token_is_a_subject_token_only_as_access_token() {
    let outside = Outside::new("at-default", "");
    let token = outside.token(Some("at+jwt"));
    access_token(&outside.exchange(&token, ACCESS_TOKEN));
    assert_error(
        &outside.exchange(&token, JWT),
        400,
        "invalid_request",
        "as JWT",
    );
    assert_error(
        &bearer(&outside.oauth, &token, &[]),
        400,
        "invalid_grant",
        "assertion",
    );
    let lines = refusals_of("at-default");
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        assert_eq!(
            (&line["rule"], &line["member"]),
            (&json!("types"), &json!("typ"))
        );
    }
    // Other types, in each way.
    for typ in [None, Some("JWT"), Some("JOSE")] {
        access_token(&outside.exchange(&outside.token(typ), ACCESS_TOKEN));
        access_token(&bearer(&outside.oauth, &outside.token(typ), &[]));
    }
    for typ in ["logout+jwt", "secevent+jwt", "x"] {
        let token = outside.token(Some(typ));
        assert_error(
            &outside.exchange(&token, ACCESS_TOKEN),
            400,
            "invalid_request",
            typ,
        );
    }
}

#[test]
fn types_of_a_trust_entry_are_those_that_it_accepts() {
    let outside = Outside::new("at-named", "types = ['at+jwt', 'workload+jwt']");
    for typ in ["at+jwt", "AT+JWT", "application/workload+jwt"] {
        let token = outside.token(Some(typ));
        access_token(&bearer(&outside.oauth, &token, &[]));
        access_token(&outside.exchange(&token, JWT));
    }
    for typ in [None, Some("JWT"), Some("logout+jwt"), Some("JOSE")] {
        let refused = bearer(&outside.oauth, &outside.token(typ), &[]);
        assert_error(&refused, 400, "invalid_grant", "other types");
    }
    // Never as the authentication of a client.
    let mut claims = super::claims_of(&outside.oauth.assertion(&json!({})));
    merge(&mut claims, &json!({"client_id": "signer"}));
    let assertion = typed(&outside.oauth.signer, Some("at+jwt"), &claims);
    let refused = outside.oauth.post_assertion(&assertion, &[]);
    assert_error(&refused, 401, "invalid_client", "client authentication");
}

/// Two services set up by the guide: the access token of one is exchanged at the other.
#[test]
fn access_token_of_another_service_is_exchanged() {
    let other = OAuth::with("");
    let token = access_token(&other.client_credentials(&[("scope", "read")]));
    let set = crate::raw_http::get(
        other.fixture.address(),
        "/tenant/.well-known/jwks.json",
        &[],
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    fs::write(&file, &set.body).unwrap();
    let own = "https://own.example";
    let config = format!(
        "{}[[trust]]\nname = 'other-service'\nissuer = '{own}'\niss = '{ISS}'\nkeys_file = '{}'\n\
         audience = 'api'\nclaims = {{client_id = 'ci'}}\ntokens = [{{profile = 'access'}}]\n\
         maximum_lifetime_seconds = 600\n",
        super::OAUTH_ISSUER.replace(ISS, own),
        file.display()
    );
    let clock = Arc::new(other.clock.clone());
    let fixture = crate::harness::TestServer::with_clock(&config, clock).unwrap();
    let form = super::encode(&[
        ("grant_type", EXCHANGE),
        ("subject_token", &token),
        ("subject_token_type", ACCESS_TOKEN),
    ]);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let address = fixture.address();
    let answer = crate::raw_http::send(address, "POST", "/token", &headers, &form);
    let claims = super::claims_of(&access_token(&answer));
    assert_eq!(claims["sub"], "other-service:ci");
}

/// A SPIFFE bundle: keys of tokens and of certificates, each with its `use`.
#[test]
fn spiffe_bundle_is_used_with_its_use() {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let key = Arc::new(key.with_key_id("one").unwrap());
    let x509 = SigningKey::generate(SigAlg::ES256).unwrap();
    let x509 = x509.with_key_id("x").unwrap();
    let mut bundle: Value = serde_json::from_str(&key_set(&[&key, &x509])).unwrap();
    merge(&mut bundle["keys"][0], &json!({"use": "jwt-svid"}));
    merge(&mut bundle["keys"][1], &json!({"use": "x509-svid"}));
    merge(
        &mut bundle,
        &json!({"spiffe_sequence": 12, "spiffe_refresh_hint": 300}),
    );
    let bundle = bundle.to_string();
    let start = |more: &str| Outside::with_set("spiffe", more, &bundle, key.clone());
    let outside = start("use = 'jwt-svid'").unwrap();
    access_token(&bearer(&outside.oauth, &outside.token(Some("JOSE")), &[]));
    access_token(&outside.exchange(&outside.token(None), JWT));
    let forged = sign(&x509, &super::claims_of(&outside.token(None)));
    assert_error(
        &bearer(&outside.oauth, &forged, &[]),
        400,
        "invalid_grant",
        "x509-svid",
    );
    let error = start("").err().unwrap().to_string();
    assert!(error.contains("jwt-svid"), "{error}");
    for (more, what) in [
        ("use = 'enc'", "keys for encryption"),
        ("use = ''", "must not be empty"),
        ("use = 'sig'", "no usable public key"),
        ("types = []", "requires at least one type"),
        ("types = ['a b']", "types[0]"),
    ] {
        let error = start(more).err().unwrap().to_string();
        assert!(error.contains(what), "{more}: {error}");
    }
}
