//! Runs the whole token service in the fuzzer process, with a client that sends fuzzer input over loopback. A
//! panic on any thread of the server ends the fuzzer.

mod call_result;
mod form;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use jeton_proto::v1::{
    GetIssuerRequest, IssueRequest, IssueResponse, Issuer, VerifyRequest, VerifyResponse,
};
use jeton_server::{Config, Server};
use prost::Message;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tonic::Code;

pub use call_result::CallResult;
pub use form::Form;

/// The issuer of requests that name none.
pub const ISS: &str = "https://id.example/tenant";
/// An audience of the tokens of [`ISS`].
pub const AUDIENCE: &str = "api";

/// Time limit for a response. Generating an RSA key on a busy machine is the slowest call.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Number of changes after which the server is replaced, to limit its size.
const CHANGES: u32 = 2000;

/// Without configured clients, every caller may do everything, and the admin token grants administration. All
/// limits that depend on the load are disabled.
const CONFIG: &str = r#"
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
workers = 1
freshness_seconds = 3600
drain_seconds = 0
log = { level = "error" }
limits = { worker_delay_milliseconds = 60000 }
generate_jwt = { issuer = "https://id.example/tenant", hs256 = "mac", es256 = "access" }

[[issuer]]
iss = "https://id.example/tenant"
profiles = [
    { name = "access", alg = "ES256", lifetime_seconds = 86400, audiences = ["api", "web"] },
    { name = "mac", alg = "HS256", lifetime_seconds = 86400, audiences = ["api"] },
    { name = "paseto", alg = "v4.public", lifetime_seconds = 86400, audiences = ["api"] },
    { name = "sealed", alg = "v4.local", lifetime_seconds = 86400, audiences = ["api"] },
]
"#;

/// Clients authenticate with a token of the profile `access` for the audience `web`.
const CLIENTS: &str = r#"
bearer = { issuer = "https://id.example/tenant", audience = "web" }

[[client]]
name = "known"
bearer_subject = "known"
may = ["issue", "verify", "revoke", "admin"]
issuers = ["*"]
"#;

/// The server, and the tokens that it has issued so far.
pub struct Service {
    data: SendRequest<Full<Bytes>>,
    admin: SendRequest<Full<Bytes>>,
    runtime: Runtime,
    /// `authorization` for AdminService; `None` if the server has clients.
    admin_token: Option<HeaderValue>,
    _server: Server,
    /// Tokens of each profile. All other tokens are invalid.
    pub tokens: Vec<String>,
    changes: u32,
}

thread_local! {
    static OPEN: RefCell<Service> = RefCell::new(Service::open());
    static GUARDED: RefCell<Service> = RefCell::new(Service::guarded());
}

/// Runs `work` with a server that authorizes every caller.
pub fn with<R>(work: impl FnOnce(&mut Service) -> R) -> R {
    OPEN.with_borrow_mut(|service| {
        if service.changes >= CHANGES {
            *service = Service::open();
        }
        work(service)
    })
}

/// Runs `work` with a server that only authorizes the bearer of its first token.
pub fn with_guarded<R>(work: impl FnOnce(&mut Service) -> R) -> R {
    GUARDED.with_borrow_mut(work)
}

/// Encodes a message as a first input.
pub fn seed(message: &impl Message) -> Vec<u8> {
    message.encode_to_vec()
}

/// Encodes a message as a gRPC frame.
pub fn framed(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(5 + message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).expect("an input is small"));
    frame.put_slice(message);
    frame.freeze()
}

/// The end of the body of a stream, after its complete messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// No further bytes.
    Whole,
    /// An incomplete frame header; tonic treats it as the end, too.
    Head,
    /// A malformed or incomplete message.
    Malformed,
}

impl End {
    /// Whether a call with such a body may end with this status.
    pub fn permits(self, code: Code) -> bool {
        match self {
            End::Whole => code == Code::Ok,
            End::Head => true,
            End::Malformed => code != Code::Ok,
        }
    }
}

/// Returns the number of complete messages at the start of a body, and its end.
pub fn unframed<M: Message + Default>(mut body: &[u8]) -> (usize, End) {
    let mut messages = 0;
    while let Some((&[0, ref length @ ..], rest)) = body.split_first_chunk::<5>() {
        let length = u32::from_be_bytes(*length) as usize;
        let Some((message, rest)) = rest.split_at_checked(length) else {
            break;
        };
        if M::decode(message).is_err() {
            break;
        }
        messages += 1;
        body = rest;
    }
    let end = match body {
        [] => End::Whole,
        [0, _, _, _, _] => End::Head,
        _ => End::Malformed,
    };
    (messages, end)
}

impl Service {
    fn open() -> Service {
        let folder = folder();
        let mut service = Service::start(CONFIG, folder.path());
        for profile in ["access", "mac", "paseto", "sealed"] {
            let issued = service.issue(profile, "alice", AUDIENCE);
            service.tokens.push(issued);
        }
        // The folder can be deleted now; the file of the store stays open as long as the server runs.
        service
    }

    fn guarded() -> Service {
        let folder = folder();
        let bearers = {
            let mut service = Service::start(CONFIG, folder.path());
            ["known", "stranger"].map(|subject| service.issue("access", subject, "web"))
        };
        let (top, issuers) = CONFIG.split_at(CONFIG.find("[[issuer]]").expect("it has one"));
        let mut service = Service::start(&format!("{top}{CLIENTS}{issuers}"), folder.path());
        service.tokens.extend(bearers);
        service
    }

    fn start(config: &str, folder: &std::path::Path) -> Service {
        let mut config = Config::from_toml(config).expect("it is right");
        config.data = folder.join("data");
        let server = Server::start(config).expect("it starts");
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("there is a runtime");
        let connect = |address| runtime.block_on(connect(address));
        let admin_token = server.admin_token_file().map(|file| {
            let token = std::fs::read_to_string(file).expect("it was written");
            let header = format!("Bearer {}", token.trim());
            HeaderValue::try_from(header).expect("it is hexadecimal")
        });
        Service {
            admin_token,
            data: connect(server.data_address()),
            admin: connect(server.admin_address()),
            runtime,
            _server: server,
            tokens: Vec::new(),
            changes: 0,
        }
    }

    /// Records that the request changed the server.
    pub fn has_changed(&mut self) {
        self.changes += 1;
    }

    /// Calls a method with bytes that may be a message. Returns `None` if the server rejected it correctly.
    pub fn call<Q, A>(&mut self, method: &str, message: &[u8]) -> Option<A>
    where
        Q: Message + Default,
        A: Message + Default,
    {
        let answer = self.stream(method, framed(message), &HeaderMap::new());
        answer.check::<Q>(message, |other| {
            self.stream(method, framed(other), &HeaderMap::new())
        });
        let [answer] = &answer.messages[..] else {
            assert!(answer.messages.is_empty(), "one answer at most");
            return None;
        };
        Some(A::decode(&answer[..]).expect("an answer is a message"))
    }

    /// Calls a method with this body, and waits for the end of the response.
    pub fn stream(&mut self, method: &str, body: Bytes, more: &HeaderMap) -> CallResult {
        let response = self.post(method, body, more);
        let (head, body) = response.into_parts();
        let collected = self
            .wait(body.collect())
            .expect("it is answered to the end");
        let trailers = collected.trailers().cloned().unwrap_or_default();
        CallResult::of(&head.headers, &trailers, collected.to_bytes())
    }

    /// Calls a method with an endless response, and returns the first message.
    pub fn begin(&mut self, method: &str, body: Bytes) -> CallResult {
        let response = self.post(method, body, &HeaderMap::new());
        let (head, mut body) = response.into_parts();
        let frame = self.wait(body.frame()).transpose();
        let frame = frame
            .expect("a response")
            .unwrap_or(hyper::body::Frame::data(Bytes::new()));
        match frame.into_data() {
            Ok(data) => CallResult::of(&head.headers, &HeaderMap::new(), data),
            Err(frame) => {
                let trailers = frame.into_trailers().unwrap_or_default();
                CallResult::of(&head.headers, &trailers, Bytes::new())
            }
        }
    }

    /// Sends an HTTP request to the data listener.
    pub fn http(&mut self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        let sending = self.data.send_request(request);
        let response = self.wait(sending).expect("a response");
        let (head, body) = response.into_parts();
        let body = self
            .wait(body.collect())
            .expect("it is answered to the end");
        Response::from_parts(head, body.to_bytes())
    }

    /// Verifies a token. Returns `None` if it is invalid.
    pub fn verify(&mut self, iss: &str, audience: &str, token: &str) -> Option<VerifyResponse> {
        let request = VerifyRequest {
            issuer: iss.to_owned(),
            audience: audience.to_owned(),
            token: token.to_owned(),
        };
        let message = request.encode_to_vec();
        self.call::<VerifyRequest, _>("jeton.v1.TokenService/Verify", &message)
    }

    /// Returns the key ids of [`ISS`].
    pub fn kids(&mut self) -> Vec<String> {
        let request = GetIssuerRequest {
            issuer: ISS.to_owned(),
        };
        let message = request.encode_to_vec();
        let method = "jeton.v1.AdminService/GetIssuer";
        let issuer: Option<Issuer> = self.call::<GetIssuerRequest, _>(method, &message);
        let keys = issuer.expect("it is there").keys;
        keys.into_iter().map(|key| key.kid).collect()
    }

    fn issue(&mut self, profile: &str, subject: &str, audience: &str) -> String {
        let request = IssueRequest {
            profile: profile.to_owned(),
            subject: subject.to_owned(),
            audience: audience.to_owned(),
            ..IssueRequest::default()
        };
        let message = request.encode_to_vec();
        let issued = self.call::<IssueRequest, _>("jeton.v1.TokenService/Issue", &message);
        let issued: IssueResponse = issued.expect("a token is issued");
        issued.token
    }

    fn post(&mut self, method: &str, body: Bytes, more: &HeaderMap) -> Response<Incoming> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(format!("http://id.example/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(body))
            .expect("a valid request");
        request.headers_mut().extend(more.clone());
        let listener = match method.starts_with("jeton.v1.AdminService") {
            true => {
                if let Some(token) = &self.admin_token {
                    let headers = request.headers_mut();
                    headers
                        .entry(AUTHORIZATION)
                        .or_insert_with(|| token.clone());
                }
                &mut self.admin
            }
            false => &mut self.data,
        };
        let sending = listener.send_request(request);
        self.wait(sending).expect("a response")
    }

    fn wait<F: Future>(&self, what: F) -> F::Output {
        let answered = self
            .runtime
            .block_on(async { timeout(TIMEOUT, what).await });
        answered.expect("a response in time")
    }
}

/// Creates a folder for a store, in memory if possible, because acknowledged writes wait for the disk.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    folder.expect("a temporary folder")
}

async fn connect(address: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_nodelay(true).expect("it is open");
    let shaken = handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
    let (sender, connection) = shaken.expect("it speaks HTTP/2");
    tokio::spawn(connection);
    sender
}
