//! The server of a test.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jeton::{Clock, SystemClock};
use jeton_proto::v1::admin_service_client::AdminServiceClient;
use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{IssueRequest, IssueResponse, VerifyRequest, VerifyResponse};
use jeton_server::{Config, Error, Server};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_types::StatusExt as _;

use crate::log_lines;

pub(crate) const ISS: &str = "https://id.example/tenant";

/// The issuer in most tests.
pub(crate) const ISSUER: &str = r#"
[[issuer]]
iss = "https://id.example/tenant"
profiles = [
    {name = "access", alg = "ES256", lifetime_seconds = 900, audiences = ["api", "web"]},
    {name = "mac", alg = "HS256", lifetime_seconds = 7200, audiences = ["api"]},
    {name = "paseto", alg = "v4.public", lifetime_seconds = 900, audiences = ["api"]},
]
"#;

/// A server, and the runtime of its clients. Both end with the test.
pub(crate) struct TestServer {
    pub(crate) server: Option<Server>,
    pub(crate) runtime: Runtime,
    folder: TempDir,
}

/// Adds a bearer token to each call.
#[derive(Clone)]
pub(crate) struct Bearer(String);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let value = format!("Bearer {}", self.0).parse().unwrap();
        request.metadata_mut().insert("authorization", value);
        Ok(request)
    }
}

impl TestServer {
    /// Starts a server with a configuration, on free ports.
    pub(crate) fn with(config: &str) -> TestServer {
        TestServer::try_with(config).unwrap()
    }

    pub(crate) fn try_with(config: &str) -> Result<TestServer, Error> {
        TestServer::with_clock(config, Arc::new(SystemClock))
    }

    /// Starts a server with a clock.
    pub(crate) fn with_clock(config: &str, clock: Arc<dyn Clock>) -> Result<TestServer, Error> {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        TestServer::start(config, clock, &data, folder)
    }

    /// Starts a server with a data folder and a clock.
    pub(crate) fn in_folder(config: &str, data: &Path, clock: Arc<dyn Clock>) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        TestServer::start(config, clock, data, folder).unwrap()
    }

    /// Starts a server with the HSM of a test, in a data folder.
    pub(crate) fn start_with_hsm(config: &str, data: &Path) -> Result<TestServer, Error> {
        let folder = tempfile::tempdir().unwrap();
        TestServer::start(config, Arc::new(SystemClock), data, folder)
    }

    fn start(
        config: &str,
        clock: Arc<dyn Clock>,
        data: &std::path::Path,
        folder: TempDir,
    ) -> Result<TestServer, Error> {
        log_lines::collect();
        let mut config = Config::from_toml(config)?;
        data.clone_into(&mut config.data);
        config.listen = any_port(config.listen);
        config.admin_listen = any_port(config.admin_listen);
        config.workers = Some(1);
        // Clients share the thread of the test, so their connections do not close while it waits for the end.
        if config.drain_seconds == Config::default().drain_seconds {
            config.drain_seconds = 0;
        }
        // A busy test machine must not look like an overloaded server.
        config.limits.worker_delay_milliseconds = 60_000;
        let provider = Some(crate::hsm::PROVIDER);
        let server = Server::start_with_hsm(config, None, clock, provider)?;
        let mut fixture = TestServer::from_server(server);
        fixture.folder = folder;
        Ok(fixture)
    }

    /// Wraps a running server.
    pub(crate) fn from_server(server: Server) -> TestServer {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        TestServer {
            server: Some(server),
            runtime: runtime.enable_all().build().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn plain() -> TestServer {
        TestServer::with(ISSUER)
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server().data_address()
    }

    pub(crate) fn channel(&self, address: SocketAddr) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        self.runtime.block_on(endpoint.connect()).unwrap()
    }

    pub(crate) fn tokens(&self) -> TokenServiceClient<Channel> {
        TokenServiceClient::new(self.channel(self.address())).max_decoding_message_size(usize::MAX)
    }

    /// A client of AdminService, for a server without configured clients.
    pub(crate) fn admin(&self) -> AdminServiceClient<InterceptedService<Channel, Bearer>> {
        let channel = self.channel(self.server().admin_address());
        AdminServiceClient::with_interceptor(channel, Bearer(self.admin_token()))
    }

    /// The folder that contains the data folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The admin token of a server without configured clients.
    pub(crate) fn admin_token(&self) -> String {
        let file = self.server().admin_token_file();
        let token = file.and_then(|file| fs::read_to_string(file).ok());
        token.unwrap_or_default().trim().to_owned()
    }

    pub(crate) fn issue(&self, profile: &str, subject: &str) -> IssueResponse {
        let request = IssueRequest {
            profile: profile.to_owned(),
            subject: subject.to_owned(),
            ..IssueRequest::default()
        };
        let mut tokens = self.tokens();
        let issued = self.runtime.block_on(tokens.issue(request));
        issued.unwrap().into_inner()
    }

    pub(crate) fn verify(&self, token: &str) -> Result<VerifyResponse, Status> {
        let request = VerifyRequest {
            audience: "api".to_owned(),
            token: token.to_owned(),
            ..VerifyRequest::default()
        };
        let mut tokens = self.tokens();
        let verified = self.runtime.block_on(tokens.verify(request));
        verified.map(tonic::Response::into_inner)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

/// The reason in a status.
pub(crate) fn reason(status: &Status) -> String {
    status.get_details_error_info().unwrap().reason
}

/// Retries until the condition holds. The service promises a second; a busy machine can be slower.
pub(crate) fn is_soon(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn any_port(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), 0)
}
