//! Budgets for the revocations of a client.

use jeton_proto::v1::admin_service_client::AdminServiceClient;
use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{
    CreateRevocationsRequest, RevokeRequest, TokenId, revocation_rule::Kind, revoke_request::What,
};
use jeton_server::ClientSecret;
use tonic::{Code, Request, Status};

use crate::harness::{ISS, ISSUER, TestServer, reason};
use crate::oauth::{access_token, basic, encode};
use crate::raw_http::send;

/// Two clients that revoke and administer, with the same secret. The first may make three revocations in a day.
fn server(more: &str) -> (TestServer, String) {
    let secret = ClientSecret::generate().unwrap();
    let client = |name: &str, more: &str| {
        format!(
            "[[client]]\nname = '{name}'\nbearer_subject = '{name}'\nsecrets = ['{}']\n\
             may = ['token', 'revoke', 'admin', 'metrics']\nissuers = ['*']\n\
             tokens = [{{profile = 'access', audiences = ['web']}}]\n{more}\n",
            secret.hash()
        )
    };
    let config = format!(
        "{ISSUER}{more}\n[bearer]\nissuer = '{ISS}'\naudience = 'web'\n{}{}",
        client("small", "revocations_per_day = 3"),
        client("large", "")
    );
    (TestServer::with(&config), secret.text().to_owned())
}

fn access_token_of(server: &TestServer, client: &str, secret: &str) -> String {
    let answer = send(
        server.address(),
        "POST",
        "/tenant/token",
        &[
            ("authorization", &basic(client, secret)),
            ("content-type", "application/x-www-form-urlencoded"),
        ],
        &encode(&[("grant_type", "client_credentials")]),
    );
    access_token(&answer)
}

struct Client<'s> {
    server: &'s TestServer,
    name: &'static str,
    secret: &'s str,
    token: String,
}

impl<'s> Client<'s> {
    fn new(server: &'s TestServer, name: &'static str, secret: &'s str) -> Client<'s> {
        let token = access_token_of(server, name, secret);
        Client {
            server,
            name,
            secret,
            token,
        }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let bearer = format!("Bearer {}", self.token).parse().unwrap();
        request.metadata_mut().insert("authorization", bearer);
        request
    }

    fn revoke(&self, what: What) -> Result<(), Status> {
        let message = RevokeRequest {
            issuer: ISS.to_owned(),
            what: Some(what),
        };
        let mut tokens = TokenServiceClient::new(self.server.channel(self.server.address()));
        let call = tokens.revoke(self.request(message));
        self.server.runtime.block_on(call).map(drop)
    }

    fn administer(&self, names: &[&str]) -> Result<(), Status> {
        let message = CreateRevocationsRequest {
            issuer: ISS.to_owned(),
            kind: Kind::Subject as i32,
            names: names.iter().map(ToString::to_string).collect(),
            expires_at: 0,
        };
        let address = self.server.server().admin_address();
        let mut admin = AdminServiceClient::new(self.server.channel(address));
        let call = admin.create_revocations(self.request(message));
        self.server.runtime.block_on(call).map(drop)
    }

    /// Posts a token to `/revoke`, and returns the status, the body and how long to wait.
    fn post(&self, token: &str) -> (u16, String, Option<String>) {
        let answer = send(
            self.server.address(),
            "POST",
            "/tenant/revoke",
            &[
                ("authorization", &basic(self.name, self.secret)),
                ("content-type", "application/x-www-form-urlencoded"),
            ],
            &format!("token={token}"),
        );
        let wait = answer.headers.get("retry-after").cloned();
        (answer.status, answer.body, wait)
    }

    fn refused_by_metrics(&self) -> String {
        let bearer = format!("Bearer {}", self.token);
        let admin = self.server.server().admin_address();
        let metrics = send(admin, "GET", "/metrics", &[("authorization", &bearer)], "");
        let name = "jeton_revocations_refused_total ";
        let mut lines = metrics.body.lines();
        lines
            .find_map(|line| line.strip_prefix(name))
            .unwrap()
            .to_owned()
    }
}

fn subject(name: &str) -> What {
    What::Subject(name.to_owned())
}

fn token_id(id: &str, expires_at: i64) -> What {
    let id = id.to_owned();
    What::TokenId(TokenId { id, expires_at })
}

#[test]
fn client_beyond_its_revocations_of_a_day_is_refused() {
    let (server, secret) = server("");
    let client = Client::new(&server, "small", &secret);
    let victim = access_token_of(&server, "large", &secret);
    let soon = jeton::Clock::now(&jeton::SystemClock).unix_seconds() + 60;
    // An invalid request and a useless token write nothing, and do not count.
    for _ in 0..5 {
        let refused = client.revoke(token_id("id", i64::MAX)).unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert_eq!(client.post("no-token").0, 200);
    }
    client.revoke(token_id("1", soon)).unwrap();
    client.revoke(subject("alice")).unwrap();
    // All names of a call, or none.
    let refused = client.administer(&["bob", "carol"]).unwrap_err();
    assert_eq!(
        refused.message(),
        "2 revocations of this client in a day, the limit is 3 per day (`revocations_per_day`)"
    );
    client.administer(&["bob"]).unwrap();
    let refused = client.revoke(subject("carol")).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(reason(&refused), "OVERLOADED");
    assert!(refused.message().starts_with("3 revocations"), "{refused}");
    let (status, body, wait) = client.post(&victim);
    assert_eq!(status, 429);
    assert!(body.contains("the limit is 3 per day"), "{body}");
    assert!(wait.unwrap().parse::<u64>().unwrap() > 60);
    assert_eq!(client.refused_by_metrics(), "3");
    // Another client is not affected, and its token was not revoked.
    let other = Client::new(&server, "large", &secret);
    other.revoke(subject("carol")).unwrap();
    assert_eq!(other.post(&victim).0, 200);
}

#[test]
fn client_beyond_its_rules_is_refused() {
    let (server, secret) = server("[limits]\nrevocation_rules_per_client = 2\n");
    let client = Client::new(&server, "large", &secret);
    client.revoke(subject("alice")).unwrap();
    client.administer(&["bob"]).unwrap();
    // Renewing a rule does not count, and single tokens are no rules.
    client.revoke(subject("alice")).unwrap();
    let soon = jeton::Clock::now(&jeton::SystemClock).unix_seconds() + 60;
    client.revoke(token_id("1", soon)).unwrap();
    let refused = client.revoke(subject("carol")).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(
        (refused.message())
            .starts_with("2 revocation rules of this client are in force, the limit is 2:"),
        "{refused}"
    );
    assert!(client.administer(&["carol"]).is_err());
    assert_eq!(client.refused_by_metrics(), "2");
    Client::new(&server, "small", &secret)
        .revoke(subject("carol"))
        .unwrap();
}
