//! One connection: TLS if there is any, then HTTP/1.1 or HTTP/2, within limits.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::House;
use super::collected::Collected;
use super::connections::Activity;
use super::patience::Patient;
use super::turn::InTurn;
use crate::arriving::Arriving;
use crate::config::Limits;
use crate::grpc::{Answering, Reply};
use crate::limits;
use crate::route::{Door, Guest};
use crate::service::until;
use crate::tls::PeerCertificate;
use crate::untaken::Untaken;

pub(super) async fn serve(
    house: &Arc<House>,
    stream: TcpStream,
    door: Door,
    activity: &Arc<Activity>,
) {
    // Answers are small and whole: waiting for more of them would only delay them.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let acceptor = (**house.tls.load()).clone();
    let mut guest = Guest {
        door,
        is_loopback: house.of(door).is_loopback,
        is_tls: acceptor.is_some(),
        certificate: None,
        activity: activity.clone(),
        untaken: Arc::new(Untaken::new(&house.routes.service.untaken)),
    };
    let Some(acceptor) = acceptor else {
        return converse(house, stream, guest, activity).await;
    };
    let accepting = acceptor.accept(stream);
    let Ok(Ok(stream)) = timeout(limits::HANDSHAKE, accepting).await else {
        let metrics = &house.routes.service.metrics;
        metrics.handshakes_failed.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let shown = stream.get_ref().1.peer_certificates();
    guest.certificate = shown.and_then(|chain| PeerCertificate::of(chain.first()?));
    converse(house, stream, guest, activity).await;
}

async fn converse<S>(house: &Arc<House>, stream: S, guest: Guest, activity: &Arc<Activity>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = &house.routes.service;
    let stall = service.limits.stall();
    let stream = Patient::new(stream, limits::HANDSHAKE, stall, activity.clone());
    let stalled = stream.stalled();
    // Around it, so that patience sees what the client takes and not what is kept.
    let stream = Collected::new(stream);
    let sending = stream.handle();
    let untaken = guest.untaken.clone();
    let answers = Answers {
        house: house.clone(),
        guest: Arc::new(guest),
    };
    let builder = builder(&service.limits);
    let mut conversation = pin!(builder.serve_connection(TokioIo::new(stream), answers));
    let mut stopping = service.stopping.clone();
    let ended = tokio::select! {
        ended = sending.carry(conversation.as_mut()) => ended,
        () = untaken.stalled(stall) => {
            stalled.store(true, Ordering::Relaxed);
            Ok(())
        }
        () = until(&mut stopping) => {
            // What is being answered still is; nothing new is taken.
            conversation.as_mut().graceful_shutdown();
            sending.carry(conversation).await
        }
    };
    if stalled.load(Ordering::Relaxed) {
        service.metrics.stalled.fetch_add(1, Ordering::Relaxed);
    }
    if let Err(error) = ended {
        // The client's doing, and it may do it as often as it likes: not for the log by default.
        tracing::debug!(%error, "a connection ended badly");
    }
}

fn builder(own: &Limits) -> Builder<InTurn> {
    let mut builder = Builder::new(InTurn);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::ARRIVAL)
        .max_headers(limits::HEADERS)
        // hyper's least is 8 KiB.
        .max_buf_size(8192.max(own.header_bytes as usize));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(own.streams)
        .max_header_list_size(own.header_bytes)
        .max_pending_accept_reset_streams(limits::PENDING_RESETS)
        .max_local_error_reset_streams(limits::LOCAL_RESETS)
        .max_send_buf_size(limits::SEND_BUFFER_BYTES)
        .keep_alive_interval(limits::PING_EVERY)
        .keep_alive_timeout(limits::PING_ANSWER);
    builder
}

struct Answers {
    house: Arc<House>,
    guest: Arc<Guest>,
}

impl Service<Request<Incoming>> for Answers {
    type Response = Response<Reply>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        self.house
            .routes
            .answer(&self.guest, request.map(Arriving::from))
    }
}
