//! A fake server that sends the revocation updates of a test.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use jeton_client::{Connection, Follower};
use jeton_proto::v1::RevocationUpdate;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// A response body of framed updates.
struct UpdateBody(UnboundedReceiver<RevocationUpdate>);

impl Body for UpdateBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let framed = |update: RevocationUpdate| {
            let message = update.encode_to_vec();
            let length = u32::try_from(message.len()).unwrap().to_be_bytes();
            Ok(Frame::data([&[0], &length[..], &message].concat().into()))
        };
        self.0.poll_recv(context).map(|update| update.map(framed))
    }
}

/// Starts a fake server and a follower. The server sends `first`, and then what the returned sender receives.
pub(crate) async fn follow(
    first: RevocationUpdate,
) -> (UnboundedSender<RevocationUpdate>, Follower) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, updates) = mpsc::unbounded_channel();
    sender.send(first).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let updates = Mutex::new(Some(updates));
        let service = service_fn(|_: Request<Incoming>| {
            let body = UpdateBody(updates.lock().unwrap().take().unwrap());
            let response = Response::builder().header("content-type", "application/grpc");
            std::future::ready(response.body(body))
        });
        let builder = Builder::new(TokioExecutor::new());
        builder
            .serve_connection(TokioIo::new(stream), service)
            .await
            .unwrap();
    });
    let client = Connection::to(format!("http://{address}"))
        .connect()
        .await
        .unwrap();
    let follower = client.follow_revocations("i").await.unwrap();
    (sender, follower)
}

pub(crate) fn block_on(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test);
}
