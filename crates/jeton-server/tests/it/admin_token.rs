//! The admin token of a server without configured clients.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use jeton_proto::v1::admin_service_client::AdminServiceClient;
use jeton_proto::v1::{ListIssuersRequest, StatusRequest};
use jeton_server::{Config, Server};
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Status};

use crate::harness::{ISSUER, TestServer, reason};
use crate::raw_grpc::{exchange, framed, whole};
use crate::raw_http::get;

const METHODS: [&str; 8] = [
    "ListIssuers",
    "GetIssuer",
    "CreateIssuer",
    "SetIssuer",
    "RotateKey",
    "ReportCompromisedKey",
    "ImportKey",
    "Status",
];

fn metadata(values: &[&str]) -> MetadataMap {
    let mut metadata = MetadataMap::new();
    for value in values {
        metadata.append("authorization", value.parse().unwrap());
    }
    metadata
}

/// Calls Status with these `authorization` headers.
fn status(fixture: &TestServer, authorization: &[&str]) -> Result<(), Status> {
    let channel = fixture.channel(fixture.server().admin_address());
    let mut request = Request::new(StatusRequest {});
    *request.metadata_mut() = metadata(authorization);
    let answer = fixture
        .runtime
        .block_on(AdminServiceClient::new(channel).status(request));
    answer.map(|_| ())
}

#[test]
fn admin_call_without_the_admin_token_is_refused() {
    let fixture = TestServer::plain();
    let token = fixture.admin_token();
    for method in METHODS {
        let admin = fixture.server().admin_address();
        let request =
            http::Request::post(format!("http://localhost/jeton.v1.AdminService/{method}"))
                .header("content-type", "application/grpc")
                .body(whole(framed(&StatusRequest {})))
                .unwrap();
        let answer = exchange(&fixture, admin, request);
        let status = Status::from_header_map(answer.end()).unwrap();
        assert_eq!(
            (status.code(), &*reason(&status)),
            (Code::Unauthenticated, "NO_ADMIN_TOKEN"),
            "{method}"
        );
        assert!(status.message().contains("admin-token"), "{status:?}");
    }
    let (bearer, other) = (
        format!("Bearer {token}"),
        format!("Bearer {}", "0".repeat(64)),
    );
    for wrong in [
        &[&*token][..],
        &[&*other],
        &["Bearer"],
        &["Bearer "],
        &[&*format!("Basic {token}")],
        &[&*format!("Bearer {}", &token[..63])],
        &[&*format!("{bearer}0")],
        &[&*format!("Bearer {}", token.to_uppercase())],
        &[&*bearer, &*bearer],
        &[&*bearer, &*other],
        &[&*other, &*bearer],
    ] {
        let refused = status(&fixture, wrong).unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated);
        assert!(
            !format!("{refused:?}").contains(&*token),
            "the error repeats the token"
        );
    }
    assert!(status(&fixture, &[&bearer]).is_ok());
    assert!(status(&fixture, &[&format!("bearer {token}")]).is_ok());
}

#[test]
fn health_and_metrics_need_no_admin_token() {
    let fixture = TestServer::plain();
    let admin = fixture.server().admin_address();
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(get(admin, path, &[]).status, 200, "{path}");
    }
    // The data listener requires no credentials.
    assert!(!fixture.issue("mac", "a").token.is_empty());
}

fn start(data: &Path) -> Server {
    let mut config = Config::from_toml(ISSUER).unwrap();
    config.data = data.to_owned();
    config.listen = "127.0.0.1:0".parse().unwrap();
    config.admin_listen = config.listen;
    config.drain_seconds = 0;
    crate::log_lines::collect();
    Server::start(config).unwrap()
}

#[test]
fn admin_token_is_new_at_each_start_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = data.join("admin-token");
    let read = || fs::read_to_string(&file).unwrap();
    let server = start(&data);
    let first = read();
    let digits = first.strip_suffix('\n').unwrap();
    assert!(
        digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{}",
        digits.len()
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let entries = || fs::read_dir(&data).unwrap().count();
    let usual = entries();
    server.stop();
    assert!(!file.exists(), "the token file was not removed");

    // The file of a killed server stays, with any mode.
    fs::write(&file, "0000").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let server = start(&data);
    assert_ne!(read(), first);
    assert_eq!(read().len(), 65);
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(entries(), usual);
    // A file that another server has written is not removed.
    fs::write(&file, "another's").unwrap();
    server.stop();
    assert_eq!(read(), "another's");
}

#[test]
fn admin_token_follows_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (file, victim) = (data.join("admin-token"), folder.path().join("victim"));
    start(&data).stop();
    fs::write(&victim, "untouched").unwrap();
    symlink(&victim, &file).unwrap();
    let server = start(&data);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
    server.stop();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
}

#[test]
fn server_with_clients_has_no_admin_token() {
    let fixture = TestServer::with(&format!(
        "[bearer]\nissuer = 'https://id.example/tenant'\naudience = 'web'\n\
         [[client]]\nname = 'a'\nbearer_subject = 'a'\nmay = ['verify']\nissuers = ['*']\n{ISSUER}"
    ));
    assert!(!fixture.folder().join("data/admin-token").exists());
    let channel = fixture.channel(fixture.server().admin_address());
    let listed = fixture
        .runtime
        .block_on(AdminServiceClient::new(channel).list_issuers(ListIssuersRequest {}));
    assert_eq!(reason(&listed.unwrap_err()), "NO_CREDENTIALS");
}
