//! Serves one connection: TLS if configured, then HTTP/1.1 or HTTP/2, within limits.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::account::Charge;
use crate::body_drain::DrainedBody;
use crate::connection_limit::Activity;
use crate::held_response::{HeldBody, HeldResponse, Stream};
use crate::inline_executor::{self, InlineExecutor};
use crate::kept_by_http2::KeptByHttp2;
use crate::listener::Listener;
use crate::peer::Peer;
use crate::shared::Shared;
use crate::stall_timeout::StallTimeout;
use crate::stop::wait_until_true;
use crate::tls::PeerCertificate;
use crate::write_coalescing::CoalescedStream;
use crate::{Transport, limits};

pub(crate) async fn serve(
    transport: &Arc<Transport>,
    stream: TcpStream,
    listener: Listener,
    activity: &Arc<Activity>,
    charge: &Arc<Charge>,
) {
    // Responses are written as a whole, so Nagle's algorithm would only delay them.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let tls = (**transport.tls.load()).clone();
    let mut peer = Peer {
        listener,
        network: charge.address().network(),
        is_proxy: charge.address().is_proxy(),
        is_loopback: transport.of(listener).is_loopback,
        is_tls: tls.is_some(),
        certificate: None,
        activity: activity.clone(),
        share: charge.address().clone(),
    };
    let Some(tls) = tls else {
        return serve_http(transport, stream, peer, activity, charge).await;
    };
    // rustls keeps the messages of the handshake until they are complete.
    if charge.add(limits::INCOMPLETE_BYTES).is_err() {
        transport.shared.counters.rejected.add_one();
        return;
    }
    let accepting = TlsAcceptor::from(tls.server).accept(stream);
    let Ok(Ok(stream)) = timeout(limits::HANDSHAKE_TIMEOUT, accepting).await else {
        transport.shared.counters.tls_handshakes_failed.add_one();
        return;
    };
    charge.sub(limits::INCOMPLETE_BYTES);
    let chain = stream.get_ref().1.peer_certificates();
    peer.certificate = chain.and_then(|chain| PeerCertificate::parse(chain, tls.authorities));
    serve_http(transport, stream, peer, activity, charge).await;
}

async fn serve_http<S>(
    transport: &Arc<Transport>,
    stream: S,
    peer: Peer,
    activity: &Arc<Activity>,
    charge: &Arc<Charge>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shared = &transport.shared;
    let stall = shared.settings.client_stall_timeout;
    let stream = StallTimeout::new(stream, limits::HANDSHAKE_TIMEOUT, stall, activity.clone());
    let stalled = stream.stalled();
    // Outside of the stall timeout, which must see the bytes that the client reads, not the buffered ones.
    let kept = KeptByHttp2::new(charge, activity, shared.settings.calls_per_connection);
    let stream = CoalescedStream::new(stream, kept);
    let sending = stream.handle();
    let handler = RequestHandler {
        transport: transport.clone(),
        peer: Arc::new(peer),
    };
    let builder = builder(shared);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), handler));
    let mut stopping = shared.stopping.clone();
    let ended = tokio::select! {
        ended = sending.drive(connection.as_mut()) => ended,
        () = wait_until_true(&mut stopping) => {
            // Running requests finish. New ones are not accepted.
            connection.as_mut().graceful_shutdown();
            sending.drive(connection).await
        }
    };
    if stalled.load(Ordering::Relaxed) {
        shared.counters.stalled.add_one();
    }
    if let Err(error) = ended {
        // Clients can cause this at will, so it is not logged by default.
        tracing::debug!(%error, "connection ended with an error");
    }
}

fn builder(shared: &Arc<Shared>) -> Builder<InlineExecutor> {
    let settings = &shared.settings;
    let mut builder = Builder::new(InlineExecutor::new(shared));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::RECEIVE_TIMEOUT)
        .max_headers(limits::HEADERS)
        // hyper requires at least 8 KiB.
        .max_buf_size(8192.max(settings.header_bytes as usize));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(settings.calls_per_connection)
        .max_header_list_size(settings.header_bytes)
        .max_pending_accept_reset_streams(limits::PENDING_RESETS)
        .max_local_error_reset_streams(limits::LOCAL_RESETS)
        .initial_stream_window_size(limits::RECEIVE_WINDOW_BYTES)
        .initial_connection_window_size(limits::RECEIVE_WINDOW_BYTES)
        .max_send_buf_size(limits::SEND_BUFFER_BYTES)
        .keep_alive_interval(limits::PING_INTERVAL)
        .keep_alive_timeout(limits::PING_TIMEOUT);
    builder
}

struct RequestHandler {
    transport: Arc<Transport>,
    peer: Arc<Peer>,
}

impl Service<Request<Incoming>> for RequestHandler {
    type Response = Response<HeldBody>;
    type Error = Infallible;
    type Future = HeldResponse;

    fn call(&self, request: Request<Incoming>) -> HeldResponse {
        let stream = match Stream::open(&self.peer, &request) {
            Ok(stream) => stream,
            Err(refused) => return HeldResponse::refuse(&request, refused),
        };
        if request.version() == Version::HTTP_2 {
            inline_executor::begin(&stream);
        }
        let request = request.map(|body| DrainedBody::new(body, &stream));
        HeldResponse::Running(
            self.transport.handler.handle(&self.peer, request),
            Some(stream),
        )
    }
}
