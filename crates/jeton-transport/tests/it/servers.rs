//! Plain tonic, and what both servers have in common.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server as TonicServer;
use tonic::transport::server::Router;

/// The longest message of both servers, bytes.
pub(super) const MESSAGE_BYTES: usize = 5000;
/// The longest headers of both servers, bytes.
pub(super) const HEADER_BYTES: u32 = 4096;
/// Calls on a connection of both servers.
pub(super) const CALLS: u32 = 100;

/// The addresses of the two servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) ours: SocketAddr,
    pub(super) tonic: SocketAddr,
}

/// A tonic server that runs on the runtime of the test.
pub(super) struct PlainTonic {
    pub(super) address: SocketAddr,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) ended: JoinHandle<()>,
}

/// A tonic server with the same limits.
pub(super) fn builder() -> TonicServer {
    TonicServer::builder()
        .max_concurrent_streams(CALLS)
        .http2_max_header_list_size(HEADER_BYTES)
}

impl PlainTonic {
    pub(super) async fn start(router: Router) -> PlainTonic {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let serving =
            router.serve_with_incoming_shutdown(TcpListenerStream::new(listener), async {
                let _ = stopped.await;
            });
        let ended = tokio::spawn(async { serving.await.unwrap() });
        PlainTonic {
            address,
            stop,
            ended,
        }
    }
}
