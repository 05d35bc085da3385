//! TLS, authentication and permissions.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{IssueRequest, RevokeRequest, VerifyRequest, revoke_request};
use jeton_server::{Config, Error, Server};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use tempfile::TempDir;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request};

use crate::harness::{ISS, ISSUER, TestServer, reason};

/// Files with a certificate authority, a server certificate and client certificates.
pub(crate) struct TestCertificates {
    folder: TempDir,
    authority: Issuer<'static, KeyPair>,
}

impl TestCertificates {
    pub(crate) fn new() -> TestCertificates {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Another name than that of the certificates: OpenSSL takes them for self-signed otherwise.
        params
            .distinguished_name
            .push(DnType::CommonName, "jeton test authority");
        let certificate = params.self_signed(&key).unwrap();
        fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
        let certificates = TestCertificates {
            folder,
            authority: Issuer::new(params, key),
        };
        certificates.issue("server", "127.0.0.1", 4096);
        certificates.issue("billing", "billing.example", 4096);
        certificates.issue("operator", "operator.example", 4096);
        certificates.issue("stranger", "stranger.example", 4096);
        certificates
    }

    /// Creates a certificate that is valid until the first day of this year.
    pub(crate) fn issue(&self, file: &str, name: &str, until: i32) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if name.starts_with("127.") {
            params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        }
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        self.sign(file, params);
    }

    /// Creates a certificate that is valid until then, seconds since 1970.
    pub(crate) fn issue_until(&self, file: &str, name: &str, until: i64) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let since = Duration::from_secs(until.unsigned_abs());
        params.not_after = rcgen::date_time_ymd(1970, 1, 1) + since;
        self.sign(file, params);
    }

    /// Creates a certificate with a URI.
    pub(crate) fn issue_uri(&self, file: &str, uri: &str) {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.subject_alt_names = vec![SanType::URI(uri.try_into().unwrap())];
        params.not_after = rcgen::date_time_ymd(4096, 1, 1);
        self.sign(file, params);
    }

    fn sign(&self, file: &str, params: CertificateParams) {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        fs::write(self.path(&format!("{file}.pem")), certificate.pem()).unwrap();
        fs::write(self.path(&format!("{file}.key")), key.serialize_pem()).unwrap();
    }

    pub(crate) fn path(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// The table `tls` of the configuration.
    pub(crate) fn tls(&self) -> String {
        let folder = self.folder.path().display();
        format!(
            "[tls]\ncertificate = '{folder}/server.pem'\nkey = '{folder}/server.key'\n\
             client_ca = '{folder}/ca.pem'\n"
        )
    }

    pub(crate) fn tokens(&self, fixture: &TestServer, client: &str) -> TokenServiceClient<Channel> {
        TokenServiceClient::new(self.channel(fixture, Some(client)))
    }

    pub(crate) fn config(&self) -> String {
        let tls = self.tls();
        format!(
            "{tls}\
             [bearer]\nissuer = '{ISS}'\naudience = 'web'\n\
             [[client]]\nname = 'billing'\ncertificate_name = 'billing.example'\n\
             may = ['issue', 'verify']\nissuers = ['{ISS}']\n\
             [[client]]\nname = 'operator'\ncertificate_name = 'operator.example'\n\
             may = ['issue', 'admin']\nissuers = ['{ISS}']\n\
             [[client]]\nname = 'gateway'\nbearer_subject = 'gateway'\nmay = ['verify', 'revoke']\n\
             issuers = ['*']\n{ISSUER}"
        )
    }

    pub(crate) fn channel(&self, fixture: &TestServer, client: Option<&str>) -> Channel {
        self.channel_to(fixture, fixture.address(), client)
    }

    pub(crate) fn admin_channel(&self, fixture: &TestServer, client: Option<&str>) -> Channel {
        self.channel_to(fixture, fixture.server().admin_address(), client)
    }

    fn channel_to(&self, fixture: &TestServer, to: SocketAddr, client: Option<&str>) -> Channel {
        let endpoint = self.endpoint(to, client);
        fixture.runtime.block_on(endpoint.connect()).unwrap()
    }

    fn endpoint(&self, to: SocketAddr, client: Option<&str>) -> Endpoint {
        let mut tls =
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(self.read("ca.pem")));
        if let Some(client) = client {
            let (certificate, key) = (format!("{client}.pem"), format!("{client}.key"));
            tls = tls.identity(Identity::from_pem(self.read(&certificate), self.read(&key)));
        }
        let endpoint = Endpoint::from_shared(format!("https://{to}")).unwrap();
        endpoint.tls_config(tls).unwrap()
    }
}

#[test]
fn caller_has_configured_permissions_only() {
    let certificates = TestCertificates::new();
    let fixture = TestServer::with(&certificates.config());
    let mut billing = TokenServiceClient::new(certificates.channel(&fixture, Some("billing")));
    let mut operator = TokenServiceClient::new(certificates.channel(&fixture, Some("operator")));
    let mut nobody = TokenServiceClient::new(certificates.channel(&fixture, None));
    let mut stranger = TokenServiceClient::new(certificates.channel(&fixture, Some("stranger")));
    let issue = |subject: &str| IssueRequest {
        profile: "access".to_owned(),
        subject: subject.to_owned(),
        audience: "web".to_owned(),
        ..IssueRequest::default()
    };
    fixture.runtime.block_on(async {
        let bearer = operator
            .issue(issue("gateway"))
            .await
            .unwrap()
            .into_inner()
            .token;
        let unknown = operator
            .issue(issue("unknown"))
            .await
            .unwrap()
            .into_inner()
            .token;

        let status = nobody.issue(issue("a")).await.err().unwrap();
        assert_eq!(
            (status.code(), &*reason(&status)),
            (Code::Unauthenticated, "NO_CREDENTIALS")
        );
        let status = stranger.issue(issue("a")).await.err().unwrap();
        assert_eq!(
            (status.code(), &*reason(&status)),
            (Code::Unauthenticated, "BAD_CREDENTIALS")
        );

        let revoke = |token: &str| RevokeRequest {
            what: Some(revoke_request::What::Token(token.to_owned())),
            ..RevokeRequest::default()
        };
        let status = billing.revoke(revoke(&unknown)).await.unwrap_err();
        assert_eq!(
            (status.code(), &*reason(&status)),
            (Code::PermissionDenied, "NOT_ALLOWED")
        );
        assert!(status.message().contains("revoke"), "{status:?}");

        // A caller with a bearer token that may revoke and verify, but not issue.
        let with = |token: &str, scheme: &str| {
            let mut metadata = tonic::metadata::MetadataMap::new();
            metadata.insert(
                "authorization",
                format!("{scheme} {token}").parse().unwrap(),
            );
            metadata
        };
        let as_gateway = || with(&bearer, "Bearer");
        let mut request = Request::new(issue("a"));
        *request.metadata_mut() = as_gateway();
        assert_eq!(
            nobody.issue(request).await.err().unwrap().code(),
            Code::PermissionDenied
        );
        let verify = || VerifyRequest {
            audience: "web".to_owned(),
            token: unknown.clone(),
            ..VerifyRequest::default()
        };
        let mut request = Request::new(verify());
        *request.metadata_mut() = as_gateway();
        assert!(nobody.verify(request).await.is_ok());
        for metadata in [
            with(&unknown, "Bearer"),
            with(&bearer, "Basic"),
            with("x", "Bearer"),
        ] {
            let mut request = Request::new(verify());
            *request.metadata_mut() = metadata;
            let status = nobody.verify(request).await.unwrap_err();
            assert_eq!(&*reason(&status), "BAD_CREDENTIALS");
        }
        let mut request = Request::new(revoke(&bearer));
        *request.metadata_mut() = as_gateway();
        assert!(nobody.revoke(request).await.is_ok());
        // The token has revoked itself. The server may remember it for a moment.
        let begun = Instant::now();
        let status = loop {
            let mut request = Request::new(verify());
            *request.metadata_mut() = as_gateway();
            match nobody.verify(request).await {
                Err(status) => break status,
                Ok(_) => assert!(begun.elapsed() < Duration::from_secs(60)),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(status.code(), Code::Unauthenticated);
    });
}

#[test]
fn host_is_checked_beyond_loopback_if_hosts_is_configured() {
    let certificates = TestCertificates::new();
    fs::write(certificates.path("kek"), "7".repeat(64)).unwrap();
    fs::set_permissions(certificates.path("kek"), fs::Permissions::from_mode(0o600)).unwrap();
    for (hosts, is_other_taken) in [("", true), ("hosts = ['known.example']", false)] {
        let file = certificates.path("kek");
        let file = format!(
            "listen = '0.0.0.0:1'\nkey_encryption_key_file = '{}'\n",
            file.display()
        );
        let fixture = TestServer::with(&format!("{file}{hosts}\n{}", certificates.config()));
        // The admin listener is on loopback and always checks the host.
        let ports = [
            fixture.address().port(),
            fixture.server().admin_address().port(),
        ];
        let [data, admin] = ports.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let reason_for = |to: SocketAddr, name: &str| {
            let endpoint = certificates
                .endpoint(to, None)
                .origin(format!("https://{name}").parse().unwrap());
            fixture.runtime.block_on(async {
                let mut tokens = TokenServiceClient::new(endpoint.connect().await.unwrap());
                reason(&tokens.issue(IssueRequest::default()).await.err().unwrap())
            })
        };
        assert_eq!(reason_for(data, "127.0.0.1"), "NO_CREDENTIALS");
        assert_eq!(reason_for(data, "known.example:1"), "NO_CREDENTIALS");
        let other = if is_other_taken {
            "NO_CREDENTIALS"
        } else {
            "HOST_NOT_ALLOWED"
        };
        assert_eq!(reason_for(data, "jeton.default.svc"), other);
        assert_eq!(reason_for(admin, "localhost"), "NO_CREDENTIALS");
        assert_eq!(reason_for(admin, "jeton.default.svc"), "HOST_NOT_ALLOWED");
    }
}

#[test]
fn exposed_server_without_protection_does_not_start() {
    let certificates = TestCertificates::new();
    let config = certificates.config();
    let exposed = |config: &str, key: bool| {
        let mut config = Config::from_toml(config).unwrap();
        config.listen = "0.0.0.0:0".parse().unwrap();
        match config.check_exposure(key) {
            Err(Error::Exposed { missing, .. }) => missing,
            other => panic!("{other:?}"),
        }
    };
    assert!(exposed("", true).contains("`tls`"));
    let without_clients = config.split("[[client]]").next().unwrap();
    assert!(exposed(without_clients, true).contains("`client`"));
    assert!(exposed(&config, false).contains("key_encryption_key_file"));
    let mut whole = Config::from_toml(&config).unwrap();
    whole.listen = "0.0.0.0:0".parse().unwrap();
    whole.check_exposure(true).unwrap();

    // The server itself makes the check.
    let folder = tempfile::tempdir().unwrap();
    let mut open = Config::from_toml("listen = '0.0.0.0:0'").unwrap();
    open.data = folder.path().join("data");
    crate::log_lines::collect();
    assert!(matches!(Server::start(open), Err(Error::Exposed { .. })));
    assert!(
        !folder.path().join("data").exists(),
        "the data folder was created"
    );
}

#[test]
fn expired_certificate_is_an_error() {
    let certificates = TestCertificates::new();
    certificates.issue("server", "127.0.0.1", 2020);
    let error = TestServer::try_with(&certificates.config())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("server.pem: certificate expired"), "{error}");
    fs::write(certificates.path("server.pem"), "nothing").unwrap();
    let error = TestServer::try_with(&certificates.config())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("no certificate found"), "{error}");
}

#[test]
fn private_key_of_another_certificate_is_an_error() {
    let certificates = TestCertificates::new();
    fs::copy(
        certificates.path("stranger.key"),
        certificates.path("server.key"),
    )
    .unwrap();
    let error = TestServer::try_with(&certificates.config())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("does not match the private key"), "{error}");
}

#[test]
fn configuration_error_names_line_and_key() {
    let cases = [
        (
            "listen = '127.0.0.1:1'\nlisten_to = 1",
            "line 2: `listen_to`: unknown field",
        ),
        (
            "workers = 0",
            "line 1: `workers`: must be between 1 and 1024",
        ),
        (
            "store_outage_issuing_seconds = 14",
            "line 1: `store_outage_issuing_seconds`: must be between 15 (`freshness_seconds`) and 3600, got 14",
        ),
        (
            "freshness_seconds = 60\nstore_outage_issuing_seconds = 3601",
            "line 2: `store_outage_issuing_seconds`: must be between 60 (`freshness_seconds`) and 3600, got 3601",
        ),
        (
            "store_comparison_seconds = 9",
            "line 1: `store_comparison_seconds`: must be 0 (never), or between 10 and 604800, got 9",
        ),
        (
            "store_comparison_seconds = 604801",
            "line 1: `store_comparison_seconds`: must be 0 (never), or between 10 and 604800, got 604801",
        ),
        ("workers = 'two'", "line 1: `workers`: invalid type"),
        (
            "\n[limits]\ncalls_per_connection = 0",
            "line 3: `limits.calls_per_connection`: must be between 1 and 100000",
        ),
        (
            "[[client]]\nname = 'a'\nbearer_subject = 's'\nmay = []\nissuers = ['*']",
            "`client[0].bearer_subject`: requires `bearer`",
        ),
        (
            "[bearer]\nissuer = 'i'\naudience = 'a'\n[[client]]\nname = 'a'\nbearer_subject = 's'\nmay = ['fly']\nissuers = ['*']",
            "line 7: `may`: unknown variant",
        ),
        (
            "listen = '127.0.0.1:5'\nadmin_listen = '127.0.0.1:5'",
            "line 2: `admin_listen`",
        ),
        ("= 3", "line 1"),
    ];
    for (text, said) in cases {
        let error = Config::from_toml(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
    let missing = Config::from_file(Path::new("/nowhere/jeton.toml"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("/nowhere/jeton.toml: cannot read the file"),
        "{missing}"
    );
}

/// An idle store sends a heartbeat every five seconds. A lower bound would make a healthy node stale.
#[test]
fn freshness_below_the_heartbeat_is_an_error() {
    for (seconds, said) in [
        (
            "0",
            "line 1: `freshness_seconds`: must be between 6 and 3600, got 0",
        ),
        (
            "1",
            "line 1: `freshness_seconds`: must be between 6 and 3600, got 1",
        ),
        (
            "5",
            "line 1: `freshness_seconds`: must be between 6 and 3600, got 5",
        ),
        (
            "3601",
            "`freshness_seconds`: must be between 6 and 3600, got 3601",
        ),
    ] {
        let text = format!("freshness_seconds = {seconds}");
        let error = Config::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
        assert!(error.contains("heartbeat every 5 s"), "{text}: {error}");
    }
    for seconds in ["6", "3600"] {
        let text = format!("freshness_seconds = {seconds}");
        assert!(Config::from_toml(&text).is_ok(), "{text}");
    }
}
