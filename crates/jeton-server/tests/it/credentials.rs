//! Tokens that the server accepts as credentials of its clients, and who may get them.

use std::fs;

use jeton_proto::report::GenerateJwtRequest;
use jeton_proto::report::jwt_service_client::JwtServiceClient;
use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{
    IssueBatchRequest, IssueItem, IssueOutcome, IssueRequest, ListIssuersRequest, RevokeRequest,
    VerifyRequest, WatchRevocationsRequest, admin_service_client::AdminServiceClient,
    issue_outcome::Outcome, revoke_request,
};
use jeton_server::{Config, Server};
use tokio_stream::StreamExt as _;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use crate::access::TestCertificates;
use crate::harness::{ISS, TestServer, reason};

/// The audience of credentials is the first of the profile `service` and the second of `access`.
const PROFILES: &str = r#"
[[issuer]]
iss = "https://id.example/tenant"
profiles = [
    {name = "access", alg = "ES256", lifetime_seconds = 900, audiences = ["api", "jeton"]},
    {name = "service", alg = "HS256", lifetime_seconds = 900, audiences = ["jeton", "api"]},
]
[[issuer]]
iss = "https://other.example"
profiles = [{name = "service", alg = "ES256", lifetime_seconds = 900, audiences = ["jeton"]}]
"#;

fn config(certificates: &TestCertificates) -> String {
    format!(
        "{}[generate_jwt]\nissuer = '{ISS}'\nhs256 = 'service'\nes256 = 'access'\n\
         [bearer]\nissuer = '{ISS}'\naudience = 'jeton'\n\
         [[client]]\nname = 'login'\ncertificate_name = 'billing.example'\n\
         may = ['issue', 'verify']\nissuers = ['*']\n\
         [[client]]\nname = 'operator'\ncertificate_name = 'operator.example'\n\
         may = ['issue', 'verify', 'revoke', 'admin']\nissuers = ['{ISS}']\n\
         [[client]]\nname = 'boss'\nbearer_subject = 'boss'\nmay = ['admin', 'issue']\nissuers = ['*']\n\
         [[client]]\nname = 'renewer'\nbearer_subject = 'renewer'\nmay = ['issue', 'verify']\nissuers = ['{ISS}']\n{PROFILES}",
        certificates.tls()
    )
}

fn request(profile: &str, audience: &str, subject: &str) -> IssueRequest {
    IssueRequest {
        issuer: ISS.to_owned(),
        profile: profile.to_owned(),
        audience: audience.to_owned(),
        subject: subject.to_owned(),
        ..IssueRequest::default()
    }
}

fn of(outcome: IssueOutcome) -> Result<String, String> {
    match outcome.outcome.unwrap() {
        Outcome::Issued(issued) => Ok(issued.token),
        Outcome::Error(error) => Err(error.reason),
    }
}

/// Issues by each of the three issuing calls. Each result is a token, or the reason of the error.
fn issue_by_each(
    fixture: &TestServer,
    channel: &Channel,
    bearer: Option<&str>,
    wanted: &IssueRequest,
) -> [Result<String, String>; 3] {
    let mut tokens = TokenServiceClient::new(channel.clone());
    let batch = IssueBatchRequest {
        issuer: wanted.issuer.clone(),
        profile: wanted.profile.clone(),
        audience: wanted.audience.clone(),
        items: vec![IssueItem {
            subject: wanted.subject.clone(),
            claims_json: String::new(),
        }],
    };
    fixture.runtime.block_on(async {
        let one = tokens.issue(with(bearer, wanted.clone())).await;
        let one = one
            .map(|answer| answer.into_inner().token)
            .map_err(|status| reason(&status));
        let batch = tokens
            .issue_batch(with(bearer, batch))
            .await
            .unwrap()
            .into_inner();
        let stream = tokio_stream::iter([wanted.clone()]);
        let mut stream = tokens
            .issue_stream(with(bearer, stream))
            .await
            .unwrap()
            .into_inner();
        let streamed = stream.next().await.unwrap().unwrap();
        [one, of(batch.outcomes[0].clone()), of(streamed)]
    })
}

fn with<T>(bearer: Option<&str>, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(bearer) = bearer {
        let value = format!("Bearer {bearer}").parse().unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    request
}

#[test]
fn issuing_a_credential_of_another_client_is_refused() {
    let certificates = TestCertificates::new();
    let fixture = TestServer::with(&config(&certificates));
    let login = certificates.channel(&fixture, Some("billing"));
    let operator = certificates.channel(&fixture, Some("operator"));
    let nobody = certificates.channel(&fixture, None);

    // It does not matter whether the subject is a client already: it may become one later.
    for subject in ["boss", "renewer", "login", "somebody"] {
        for (profile, audience) in [("service", ""), ("service", "jeton"), ("access", "jeton")] {
            let wanted = request(profile, audience, subject);
            for refused in issue_by_each(&fixture, &login, None, &wanted) {
                assert_eq!(
                    refused.unwrap_err(),
                    "NOT_ALLOWED",
                    "{profile} {audience} {subject}"
                );
            }
            for issued in issue_by_each(&fixture, &operator, None, &wanted) {
                assert!(issued.is_ok(), "{profile} {audience} {subject}: {issued:?}");
            }
        }
        // A token for another audience, of another issuer or without a subject is no credential.
        for (profile, audience) in [("service", "api"), ("access", ""), ("access", "api")] {
            for issued in
                issue_by_each(&fixture, &login, None, &request(profile, audience, subject))
            {
                assert!(issued.is_ok(), "{profile} {audience} {subject}: {issued:?}");
            }
        }
        let other = IssueRequest {
            issuer: "https://other.example".to_owned(),
            ..request("service", "", subject)
        };
        assert!(
            issue_by_each(&fixture, &login, None, &other)
                .iter()
                .all(Result::is_ok)
        );
        assert!(
            issue_by_each(&fixture, &login, None, &request("service", "", ""))
                .iter()
                .all(Result::is_ok)
        );
    }

    // A client can renew its own credential, and get no other one.
    let [own, ..] = issue_by_each(
        &fixture,
        &operator,
        None,
        &request("service", "", "renewer"),
    );
    let own = own.unwrap();
    for renewed in issue_by_each(
        &fixture,
        &nobody,
        Some(&own),
        &request("service", "", "renewer"),
    ) {
        assert!(renewed.is_ok(), "{renewed:?}");
    }
    for refused in issue_by_each(
        &fixture,
        &nobody,
        Some(&own),
        &request("service", "", "boss"),
    ) {
        assert_eq!(refused.unwrap_err(), "NOT_ALLOWED");
    }

    // The service of the benchmark chooses the subjects.
    let generate = |channel: &Channel, algorithm: &str| {
        let request = GenerateJwtRequest {
            algorithm: algorithm.to_owned(),
        };
        let mut report = JwtServiceClient::new(channel.clone());
        fixture
            .runtime
            .block_on(report.generate_jwt(request))
            .map(|_| ())
    };
    assert_eq!(
        generate(&login, "HS256").unwrap_err().code(),
        Code::PermissionDenied
    );
    assert!(generate(&login, "ES256").is_ok() && generate(&operator, "HS256").is_ok());
}

/// A revoked credential must not stay valid in a running stream or in the cache of a worker.
#[test]
fn revoked_credential_ends_running_streams() {
    let certificates = TestCertificates::new();
    let fixture = TestServer::with(&config(&certificates));
    let operator = certificates.channel(&fixture, Some("operator"));
    let nobody = certificates.channel(&fixture, None);
    let renewer = request("service", "", "renewer");
    let [own, ..] = issue_by_each(&fixture, &operator, None, &renewer);
    let own = own.unwrap();
    let mut tokens = TokenServiceClient::new(nobody);
    let mut operators = TokenServiceClient::new(operator);
    fixture.runtime.block_on(async {
        let (issue, waiting) = tokio::sync::mpsc::unbounded_channel();
        let waiting = tokio_stream::wrappers::UnboundedReceiverStream::new(waiting);
        let issued = tokens.issue_stream(with(Some(&own), waiting)).await;
        let mut issued = issued.unwrap().into_inner();
        issue.send(renewer.clone()).unwrap();
        assert!(of(issued.next().await.unwrap().unwrap()).is_ok());
        let (verify, waiting) = tokio::sync::mpsc::unbounded_channel();
        let waiting = tokio_stream::wrappers::UnboundedReceiverStream::new(waiting);
        let verified = tokens.verify_stream(with(Some(&own), waiting)).await;
        let mut verified = verified.unwrap().into_inner();
        let watch = WatchRevocationsRequest {
            issuer: ISS.to_owned(),
            ..WatchRevocationsRequest::default()
        };
        let watch = tokens.watch_revocations(with(Some(&own), watch)).await;
        let mut watched = watch.unwrap().into_inner();

        // The token is now in the cache of the worker.
        assert!(
            tokens
                .issue(with(Some(&own), renewer.clone()))
                .await
                .is_ok()
        );
        let revoke = RevokeRequest {
            issuer: ISS.to_owned(),
            what: Some(revoke_request::What::Token(own.clone())),
        };
        operators.revoke(revoke).await.unwrap();
        let status = tokens.issue(with(Some(&own), renewer.clone())).await;
        assert_eq!(status.err().unwrap().code(), Code::Unauthenticated);
        issue.send(renewer.clone()).unwrap();
        let status = issued.next().await.unwrap().err().unwrap();
        assert_eq!(status.code(), Code::Unauthenticated);
        verify.send(VerifyRequest::default()).unwrap();
        let status = verified.next().await.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated);
        let status = loop {
            if let Err(status) = watched.next().await.unwrap() {
                break status;
            }
        };
        assert_eq!(status.code(), Code::Unauthenticated);
    });
}

#[test]
fn custom_claims_make_no_credential() {
    let certificates = TestCertificates::new();
    let fixture = TestServer::with(&config(&certificates));
    let login = certificates.channel(&fixture, Some("billing"));
    for claims in [
        r#"{"sub":"boss"}"#,
        r#"{"s\u0075b":"boss"}"#,
        r#"{"aud":"jeton"}"#,
        r#"{"aud":["api","jeton"]}"#,
        r#"{"iss":"https://id.example/tenant"}"#,
    ] {
        for subject in ["", "a"] {
            let wanted = IssueRequest {
                claims_json: claims.to_owned(),
                ..request("access", "api", subject)
            };
            let [one, _, streamed] = issue_by_each(&fixture, &login, None, &wanted);
            assert!(one.is_err() && streamed.is_err(), "{claims}");
        }
    }
}

/// Without clients, every local process may issue tokens, except tokens that become credentials later.
#[test]
fn issuing_a_credential_without_clients_needs_the_admin_token() {
    let fixture = TestServer::with(&format!(
        "bearer = {{ issuer = '{ISS}', audience = 'jeton' }}\n{PROFILES}"
    ));
    let channel = fixture.channel(fixture.address());
    for refused in issue_by_each(&fixture, &channel, None, &request("service", "", "boss")) {
        assert_eq!(refused.unwrap_err(), "NOT_ALLOWED");
    }
    assert!(
        issue_by_each(&fixture, &channel, None, &request("access", "", "boss"))
            .iter()
            .all(Result::is_ok)
    );
    let token = fixture.admin_token();
    for issued in issue_by_each(
        &fixture,
        &channel,
        Some(&token),
        &request("service", "", "boss"),
    ) {
        assert!(issued.is_ok(), "{issued:?}");
    }
}

/// The example in docs/service.md.
#[test]
fn documented_configuration_grants_no_other_credentials() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md");
    let page = fs::read_to_string(page).unwrap();
    let mut examples = page
        .split("```toml\n")
        .map(|rest| rest.split("```").next().unwrap());
    let example = examples
        .find(|example| example.contains("[[client]]"))
        .unwrap();
    let shown = Config::from_toml(example).unwrap();
    let certificates = TestCertificates::new();
    let folder = tempfile::tempdir().unwrap();
    let local = Config::from_toml(&certificates.tls()).unwrap();
    let mut config = Config {
        tls: local.tls,
        data: folder.path().join("data"),
        ..shown
    };
    let mut certified: Vec<&mut jeton_server::Client> = (config.clients.iter_mut())
        .filter(|client| client.certificate_name.is_some())
        .collect();
    let login = certified
        .iter_mut()
        .find(|client| client.name == "login")
        .unwrap();
    login.certificate_name = Some("billing.example".to_owned());
    config.listen = "127.0.0.1:0".parse().unwrap();
    config.admin_listen = config.listen;
    config.key_encryption_key_file = None;
    config.drain_seconds = 0;
    let subjects: Vec<String> = config
        .clients
        .iter()
        .filter_map(|client| client.bearer_subject.clone())
        .collect();
    assert!(
        !subjects.is_empty(),
        "the example has no clients with bearer tokens"
    );
    let bearer = config.bearer.clone().unwrap();
    let profiles: Vec<String> = config.issuers[0]
        .profiles()
        .iter()
        .map(|one| one.name.clone())
        .collect();
    crate::log_lines::collect();
    let server = Server::start(config).unwrap();
    let fixture = TestServer::from_server(server);
    let login = certificates.channel(&fixture, Some("billing"));
    for subject in subjects {
        for profile in &profiles {
            let wanted = IssueRequest {
                issuer: bearer.issuer.clone(),
                audience: bearer.audience.clone(),
                ..request(profile, "", &subject)
            };
            for refused in issue_by_each(&fixture, &login, None, &wanted) {
                assert!(refused.is_err(), "{profile} {subject}");
            }
        }
    }
    let admin = certificates.admin_channel(&fixture, Some("billing"));
    let listed = fixture
        .runtime
        .block_on(AdminServiceClient::new(admin).list_issuers(ListIssuersRequest {}));
    let listed: Result<_, Status> = listed.map(|answer| answer.into_inner().issuers);
    assert!(listed.is_ok_and(|issuers| issuers.is_empty()));
}
