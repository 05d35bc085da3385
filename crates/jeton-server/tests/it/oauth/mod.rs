//! The token endpoint: grants, client authentication and outside issuers.

mod attacks;
mod client_credentials;
mod curl;
mod exchange;
mod federation;
mod forward_auth;
mod libraries;
mod malformed_claims;
mod outside_issuer;
mod outside_shapes;
mod proxy;
mod refusals;
mod token_types;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64ct::{Base64, Encoding as _};
use jeton::key::{SigAlg, SigningKey};
use jeton::{Clock, SystemClock};
use jeton_server::ClientSecret;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use outside_issuer::{key_set, merge, sign};

use crate::harness::{ISS, TestServer};
use crate::manual_clock::ManualClock;
use crate::raw_http::{Response, send};

pub(crate) const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub(crate) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
pub(crate) const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
pub(crate) const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The issuer in these tests.
pub(crate) const OAUTH_ISSUER: &str = r#"
[[issuer]]
iss = "https://id.example/tenant"
profiles = [
    {name = "access", alg = "ES256", typ = "at+jwt", lifetime_seconds = 900, audiences = ["api", "https://api.example/v1"]},
    {name = "admin", alg = "ES256", typ = "at+jwt", lifetime_seconds = 60, audiences = ["admin-api"]},
    {name = "long", alg = "EdDSA", lifetime_seconds = 86400, audiences = ["gateway", "api"]},
]
"#;

/// A server with OAuth clients, and their secrets.
pub(crate) struct OAuth {
    pub(crate) fixture: TestServer,
    pub(crate) clock: ManualClock,
    pub(crate) secret: String,
    pub(crate) signer: SigningKey,
    config: String,
    /// The files of the configuration.
    folder: TempDir,
}

impl OAuth {
    /// Starts a server with clients, and with more configuration.
    pub(crate) fn with(more: &str) -> OAuth {
        let clock = ManualClock::new();
        let started = OAuth::start(more, Arc::new(clock.clone()));
        OAuth { clock, ..started }
    }

    /// Starts a server by the clock of the system.
    pub(crate) fn by_system_clock() -> OAuth {
        OAuth::start("", Arc::new(SystemClock))
    }

    fn start(more: &str, server_clock: Arc<dyn Clock>) -> OAuth {
        let folder = tempfile::tempdir().unwrap();
        let secret = ClientSecret::generate().unwrap();
        let signer = SigningKey::generate(SigAlg::ES256).unwrap();
        let signer = signer.with_key_id("signer-1").unwrap();
        write_keys(&folder.path().join("signer.json"), &[&signer]);
        let config = format!(
            "{OAUTH_ISSUER}{}{more}",
            clients(&secret.hash().to_string(), folder.path())
        );
        OAuth {
            fixture: TestServer::with_clock(&config, server_clock).unwrap(),
            clock: ManualClock::new(),
            secret: secret.text().to_owned(),
            signer,
            config,
            folder,
        }
    }

    /// Stops the server, and starts it with the same data.
    pub(crate) fn restart(&mut self) {
        let data = self.fixture.folder().join("data");
        if let Some(server) = self.fixture.server.take() {
            server.stop();
        }
        let copy = self.path("data");
        std::fs::rename(data, &copy).unwrap();
        self.fixture = TestServer::in_folder(&self.config, &copy, Arc::new(self.clock.clone()));
    }

    /// A file in the folder of the configuration.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Posts a form to the token endpoint, with further headers.
    pub(crate) fn post(&self, headers: &[(&str, &str)], form: &[(&str, &str)]) -> Response {
        self.post_to("/tenant/token", headers, form)
    }

    pub(crate) fn post_to(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        form: &[(&str, &str)],
    ) -> Response {
        let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
        all.extend(headers);
        send(self.fixture.address(), "POST", path, &all, &encode(form))
    }

    /// Posts a form as a client with a secret.
    pub(crate) fn post_as(&self, client: &str, form: &[(&str, &str)]) -> Response {
        let header = basic(client, &self.secret);
        self.post(&[("authorization", &header)], form)
    }

    /// Gets a token as the client `ci`, with more parameters.
    pub(crate) fn client_credentials(&self, more: &[(&str, &str)]) -> Response {
        let mut form = vec![("grant_type", "client_credentials")];
        form.extend(more);
        self.post_as("ci", &form)
    }

    /// An assertion of the client `signer`, with other claims in place of the usual ones.
    pub(crate) fn assertion(&self, claims: &Value) -> String {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut all = json!({
            "iss": "signer",
            "sub": "signer",
            "aud": ISS,
            "jti": format!("id-{}", NUMBER.fetch_add(1, Ordering::Relaxed)),
            "exp": self.now() + 60,
        });
        merge(&mut all, claims);
        sign(&self.signer, &all)
    }

    pub(crate) fn post_assertion(&self, assertion: &str, form: &[(&str, &str)]) -> Response {
        let mut all = vec![
            ("grant_type", "client_credentials"),
            ("client_assertion_type", ASSERTION),
            ("client_assertion", assertion),
        ];
        all.extend(form);
        self.post(&[], &all)
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now().unix_seconds()
    }

    /// Whether introspection says that a token is active. The client `ci` asks.
    pub(crate) fn introspect(&self, token: &str) -> Value {
        let header = basic("ci", &self.secret);
        let path = "/tenant/introspect";
        let answer = self.post_to(path, &[("authorization", &header)], &[("token", token)]);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }
}

/// The clients of these tests. All but one have the same secret.
fn clients(hash: &str, folder: &Path) -> String {
    let issuers = format!("issuers = ['{ISS}']");
    format!(
        r#"
[[client]]
name = "ci"
secrets = ["{hash}"]
may = ["token", "verify", "revoke"]
{issuers}
tokens = [
    {{profile = "access", scopes = ["read", "list"]}},
    {{profile = "admin", scopes = ["write"], audiences = ["admin-api"]}},
]

[[client]]
name = "signer"
keys_file = '{folder}/signer.json'
may = ["token"]
{issuers}
tokens = [{{profile = "access", scopes = ["read"]}}]

[[client]]
name = "gateway"
secrets = ["{hash}"]
may = ["token"]
{issuers}
tokens = [{{profile = "access", scopes = ["read", "list"]}}, {{profile = "long", scopes = ["read"]}}]
grants = ["token_exchange"]

[[client]]
name = "slow"
secrets = ["{hash}"]
may = ["token"]
{issuers}
tokens = [{{profile = "access"}}]
requests_per_minute = 2

[[client]]
name = "reader"
secrets = ["{hash}"]
may = ["verify"]
{issuers}

[[client]]
name = "issuer"
secrets = ["{hash}"]
may = ["token"]
{issuers}
tokens = [{{profile = "long", scopes = ["read", "list"], audiences = ["gateway"]}}]
"#,
        folder = folder.display()
    )
}

pub(crate) fn basic(client: &str, secret: &str) -> String {
    let text = format!("{client}:{secret}");
    format!("Basic {}", Base64::encode_string(text.as_bytes()))
}

pub(crate) fn encode(form: &[(&str, &str)]) -> String {
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    encoded.extend_pairs(form);
    encoded.finish()
}

pub(crate) fn write_keys(file: &Path, keys: &[&SigningKey]) {
    fs::write(file, key_set(keys)).unwrap();
}

/// The claims of a token, without verification.
pub(crate) fn claims_of(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    let bytes = base64ct::Base64UrlUnpadded::decode_vec(payload).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

pub(crate) fn header_of(token: &str) -> Value {
    let header = token.split('.').next().unwrap();
    let bytes = base64ct::Base64UrlUnpadded::decode_vec(header).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

pub(crate) fn access_token(answer: &Response) -> String {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let token = answer.json()["access_token"].as_str().unwrap().to_owned();
    assert_eq!(answer.headers["cache-control"], "no-store");
    token
}

/// Asserts an error of RFC 6749, section 5.2, which no cache stores.
pub(crate) fn assert_error(answer: &Response, status: u16, error: &str, about: &str) {
    let found = (
        answer.status,
        answer.json()["error"].as_str().unwrap().to_owned(),
    );
    assert_eq!(
        found,
        (status, error.to_owned()),
        "{about}: {}",
        answer.body
    );
    assert_eq!(answer.headers["cache-control"], "no-store", "{about}");
}
