//! A follower of revocations, and a server that says what the test wants it to.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use jeton_client::{Connection, Follower};
use jeton_proto::v1::revocation_rule::Kind;
use jeton_proto::v1::{RevocationRule, RevocationUpdate};
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::sleep;

const YEAR: i64 = 366 * 24 * 3600;

/// The updates of an answer, as gRPC frames them.
struct Told(UnboundedReceiver<RevocationUpdate>);

impl Body for Told {
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
        self.0.poll_recv(context).map(|told| told.map(framed))
    }
}

/// Follows a server that tells what is sent here; the first of it is told already.
async fn follow(first: RevocationUpdate) -> (UnboundedSender<RevocationUpdate>, Follower) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::unbounded_channel();
    tell.send(first).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let told = Mutex::new(Some(told));
        let answer = service_fn(|_: Request<Incoming>| {
            let told = Told(told.lock().unwrap().take().unwrap());
            let answer = Response::builder().header("content-type", "application/grpc");
            std::future::ready(answer.body(told))
        });
        let builder = Builder::new(TokioExecutor::new());
        builder
            .serve_connection(TokioIo::new(stream), answer)
            .await
            .unwrap();
    });
    let client = Connection::to(format!("http://{address}"))
        .open()
        .await
        .unwrap();
    let follower = client.follow_revocations("i").await.unwrap();
    (tell, follower)
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

fn block_on(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test);
}

#[test]
fn follower_keeps_revocations_when_the_servers_clock_jumps_ahead() {
    block_on(async {
        let (tell, mut follower) = follow(RevocationUpdate {
            at: now(),
            rules: vec![RevocationRule {
                kind: Kind::Subject.into(),
                name: "s".to_owned(),
                not_before: now(),
                until: now() + 1530,
                ..RevocationRule::default()
            }],
            ..RevocationUpdate::default()
        })
        .await;
        assert!(follower.is_subject_revoked("s", Some(now() - 1)));
        for at in [now() + YEAR, now()] {
            let update = RevocationUpdate {
                at,
                ..RevocationUpdate::default()
            };
            tell.send(update).unwrap();
            assert!(!follower.next().await.unwrap());
            assert!(follower.is_subject_revoked("s", Some(now() - 1)));
        }
    });
}

#[test]
fn follower_counts_the_age_of_what_waited_for_it() {
    block_on(async {
        let said = |age_ms: u64, clock_ms: u64| RevocationUpdate {
            at: now(),
            age_ms: Some(age_ms),
            clock_ms: Some(clock_ms),
            ..RevocationUpdate::default()
        };
        let (tell, mut follower) = follow(said(7_000, 0)).await;
        let old = Duration::from_secs(7);
        assert!(follower.age() >= old, "{:?}", follower.age());
        // A second later it is read, and was not old when it was sent.
        tell.send(said(0, 0)).unwrap();
        sleep(Duration::from_secs(1)).await;
        follower.next().await.unwrap();
        let waited = Duration::from_millis(900);
        assert!(follower.age() >= waited, "{:?}", follower.age());
    });
}
