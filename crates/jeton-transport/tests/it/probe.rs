//! A service that does what its request says, behind both transports.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Request as HttpRequest;
use jeton_proto::v1::token_service_server::{TokenService, TokenServiceServer};
use jeton_proto::v1::{
    IssueBatchRequest, IssueBatchResponse, IssueOutcome, IssueRequest, IssueResponse, KeysRequest,
    KeysResponse, RevocationUpdate, RevokeRequest, RevokeResponse, VerifyBatchRequest,
    VerifyBatchResponse, VerifyOutcome, VerifyRequest, VerifyResponse, WatchRevocationsRequest,
};
use jeton_transport::grpc::deadline::{self, InvalidTimeout};
use jeton_transport::grpc::{MeteredBody, fail, stream, unary};
use jeton_transport::{
    DrainedBody, Handler, Listener, Peer, ResponseFuture, Settings, Shared, Transport, limits,
};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_stream::{Stream, StreamExt as _};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Request, Response, Status, Streaming};

use super::servers::{CALLS, HEADER_BYTES, MESSAGE_BYTES, Pair, PlainTonic, builder};

/// The service. `Issue` does what the subject says.
#[derive(Debug, Clone, Default)]
pub(super) struct Probe {
    /// Calls that wait now.
    pub(super) waiting: Arc<AtomicUsize>,
}

/// Counts a waiting call until it ends or is dropped.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

type Responses<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// A status with everything that a status can have.
pub(super) fn status(code: i32) -> Status {
    let mut metadata = MetadataMap::new();
    metadata.insert("x-reason", MetadataValue::from_static("because"));
    metadata.insert_bin("x-reason-bin", MetadataValue::from_bytes(&[0, 255, 7]));
    let details = vec![8, 3, 0, 255].into();
    let message = "größer als 100 %\nnext line";
    Status::with_details_and_metadata(Code::from_i32(code), message, details, metadata)
}

#[tonic::async_trait]
impl TokenService for Probe {
    async fn issue(&self, call: Request<IssueRequest>) -> Result<Response<IssueResponse>, Status> {
        let wanted = call.get_ref().subject.clone();
        let (what, value) = wanted.split_once(' ').unwrap_or((&wanted, ""));
        let mut token = value.to_owned();
        match what {
            "code" => return Err(status(value.parse().unwrap())),
            "status without a message" => return Err(Status::new(Code::Aborted, "")),
            "long" => token = "x".repeat(value.parse().unwrap()),
            "wait" => {
                self.waiting.fetch_add(1, Ordering::SeqCst);
                let _waiting = Waiting(self.waiting.clone());
                sleep(Duration::from_millis(value.parse().unwrap())).await;
            }
            "panic" => panic!("expected by the test"),
            _ => {}
        }
        let mut response = Response::new(IssueResponse {
            token,
            ..IssueResponse::default()
        });
        if what == "metadata" {
            let seen = call.metadata().get("x-sent");
            let seen = seen
                .cloned()
                .unwrap_or(MetadataValue::from_static("nothing"));
            response.metadata_mut().insert("x-seen", seen);
        }
        Ok(response)
    }

    async fn verify(&self, _: Request<VerifyRequest>) -> Result<Response<VerifyResponse>, Status> {
        Err(status(12))
    }

    async fn issue_batch(
        &self,
        _: Request<IssueBatchRequest>,
    ) -> Result<Response<IssueBatchResponse>, Status> {
        Err(status(12))
    }

    async fn verify_batch(
        &self,
        _: Request<VerifyBatchRequest>,
    ) -> Result<Response<VerifyBatchResponse>, Status> {
        Err(status(12))
    }

    type IssueStreamStream = Responses<IssueOutcome>;

    /// Responds to each message, and fails at the first whose subject is `fail`.
    async fn issue_stream(
        &self,
        call: Request<Streaming<IssueRequest>>,
    ) -> Result<Response<Self::IssueStreamStream>, Status> {
        let outcomes = call.into_inner().map(|message| match message {
            Ok(message) if message.subject == "fail" => Err(status(8)),
            Ok(_) => Ok(IssueOutcome::default()),
            Err(status) => Err(status),
        });
        Ok(Response::new(Box::pin(outcomes)))
    }

    type VerifyStreamStream = Responses<VerifyOutcome>;

    async fn verify_stream(
        &self,
        _: Request<Streaming<VerifyRequest>>,
    ) -> Result<Response<Self::VerifyStreamStream>, Status> {
        Err(status(12))
    }

    async fn revoke(&self, _: Request<RevokeRequest>) -> Result<Response<RevokeResponse>, Status> {
        Err(status(12))
    }

    type WatchRevocationsStream = Responses<RevocationUpdate>;

    /// One message, and then nothing for a while.
    async fn watch_revocations(
        &self,
        _: Request<WatchRevocationsRequest>,
    ) -> Result<Response<Self::WatchRevocationsStream>, Status> {
        let first = tokio_stream::iter([Ok(RevocationUpdate::default())]);
        let updates = first.chain(tokio_stream::pending());
        let mut response: Response<Self::WatchRevocationsStream> = Response::new(Box::pin(updates));
        response
            .metadata_mut()
            .insert("x-stream", MetadataValue::from_static("1"));
        Ok(response)
    }

    async fn keys(&self, _: Request<KeysRequest>) -> Result<Response<KeysResponse>, Status> {
        Err(status(12))
    }
}

/// Handles requests as the routes of the server do, without their checks.
struct ProbeHandler {
    probe: Probe,
    shared: Arc<Shared>,
}

impl ProbeHandler {
    fn call(&self, request: HttpRequest<MeteredBody>) -> ResponseFuture {
        let probe = self.probe.clone();
        match request.uri().path().rsplit('/').next() {
            Some("Issue") => unary(probe, MESSAGE_BYTES, request, |api, call| api.issue(call)),
            _ => {
                let server = TokenServiceServer::new(probe);
                stream(server.max_decoding_message_size(MESSAGE_BYTES), request)
            }
        }
    }
}

impl Handler for ProbeHandler {
    fn handle(&self, _: &Arc<Peer>, request: HttpRequest<DrainedBody>) -> ResponseFuture {
        let timeout = deadline::from_headers(request.headers());
        let stall = self.shared.settings.client_stall_timeout;
        let request = request.map(|body| MeteredBody::new(body, stall));
        match timeout {
            Ok(None) => self.call(request),
            Ok(Some(timeout)) => {
                let exceeded = || Status::deadline_exceeded("deadline exceeded (`grpc-timeout`)");
                deadline::enforce(timeout, exceeded, self.call(request))
            }
            Err(InvalidTimeout) => fail(Status::invalid_argument(deadline::EXPECTED)),
        }
    }
}

/// The probe behind both transports, on the runtime of the test.
pub(super) struct Probes {
    pub(super) pair: Pair,
    pub(super) ours: Probe,
    pub(super) tonic: Probe,
    stop_ours: watch::Sender<bool>,
    transport: Arc<Transport>,
    plain: PlainTonic,
}

impl Probes {
    pub(super) async fn start() -> Probes {
        let (ours, tonic) = (Probe::default(), Probe::default());
        let service = TokenServiceServer::new(tonic.clone());
        let service = service.max_decoding_message_size(MESSAGE_BYTES);
        let plain = PlainTonic::start(builder().add_service(service)).await;
        let (address, transport, stop_ours) = start_ours(ours.clone()).await;
        Probes {
            pair: Pair {
                ours: address,
                tonic: plain.address,
            },
            ours,
            tonic,
            stop_ours,
            transport,
            plain,
        }
    }

    /// Tells both servers to stop. They finish running calls.
    pub(super) async fn stop(self) {
        self.stop_ours.send(true).unwrap();
        let _ = self.plain.stop.send(());
        assert_eq!(self.transport.drain(Duration::from_secs(60)).await, 0);
        self.plain.ended.await.unwrap();
    }
}

async fn start_ours(probe: Probe) -> (SocketAddr, Arc<Transport>, watch::Sender<bool>) {
    let (stop, stopping) = watch::channel(false);
    let settings = Settings {
        connections: 100,
        calls_per_connection: CALLS,
        header_bytes: HEADER_BYTES,
        client_stall_timeout: Duration::from_secs(2),
        memory_bytes: limits::MEMORY_BYTES,
        memory_share_bytes: limits::MEMORY_SHARE_BYTES,
        proxies: Vec::new(),
        worker_delay: Duration::from_secs(60),
    };
    let shared = Arc::new(Shared::new(settings, stopping));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let handler = ProbeHandler {
        probe,
        shared: shared.clone(),
    };
    let transport = Transport::new(Box::new(handler), shared, None, address, address);
    let transport = Arc::new(transport);
    let serving = transport.clone();
    let assign = move |stream, permit| {
        jeton_transport::spawn(serving.clone(), stream, Listener::Data, permit)
    };
    let accepting = transport.clone();
    tokio::spawn(jeton_transport::accept(
        accepting,
        listener,
        Listener::Data,
        assign,
    ));
    (address, transport, stop)
}
