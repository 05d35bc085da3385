//! Coalesces writes: many small responses into one write, and the frames of a large response into few.
//!
//! h2 flushes after each frame of more than 1 KiB, and writes header and payload of a frame separately. Here,
//! a flush is deferred until the connection task has nothing more to write for now.

use std::cell::Cell;
use std::io;
use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::inline_executor;
use crate::kept_by_http2::KeptByHttp2;
use crate::limits::{BLOCKED_CONNECTION_BYTES, WRITE_BUFFER_BYTES};

thread_local! {
    /// A free buffer that the next connection of this thread uses.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A stream that buffers writes until the connection task pauses or the buffer is full.
///
/// The connection future must be polled by [`drive`](CoalescedStream::drive).
pub(crate) struct CoalescedStream<S>(Arc<Mutex<WriteBuffer<S>>>);

struct WriteBuffer<S> {
    stream: S,
    /// Buffered bytes. Returned to the thread when all are sent, so that an idle connection holds no memory.
    /// Not freed, because the allocator trims its heap when a large buffer is freed.
    buffered: Vec<u8>,
    /// How many buffered bytes were sent.
    sent: usize,
    /// A deferred flush is pending.
    needs_flush: bool,
    kept: KeptByHttp2,
    /// Whether the connection is charged for what it buffers, because the socket takes no bytes.
    is_blocked: bool,
}

impl<S> CoalescedStream<S> {
    pub(crate) fn new(stream: S, kept: KeptByHttp2) -> CoalescedStream<S> {
        CoalescedStream(Arc::new(Mutex::new(WriteBuffer {
            stream,
            buffered: Vec::new(),
            sent: 0,
            needs_flush: false,
            kept,
            is_blocked: false,
        })))
    }

    /// Another handle to the same stream.
    pub(crate) fn handle(&self) -> CoalescedStream<S> {
        CoalescedStream(self.0.clone())
    }

    /// Locks the buffer. Never blocks: one task has both handles.
    fn buffer(&self) -> MutexGuard<'_, WriteBuffer<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncWrite + Unpin> CoalescedStream<S> {
    /// Polls a connection future, and flushes the buffer whenever it returns.
    pub(crate) async fn drive<F, T, E>(&self, mut connection: Pin<&mut F>) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        E: From<io::Error>,
    {
        std::future::poll_fn(|context| {
            let ended = inline_executor::poll_connection(connection.as_mut(), context);
            let mut buffer = self.buffer();
            let flushed = buffer.poll_flushed(context);
            if ended.is_ready() {
                return ended;
            }
            if let Poll::Ready(Err(error)) = flushed {
                return Poll::Ready(Err(error.into()));
            }
            // The rest is sent when the stream is polled again.
            let is_blocked = buffer.is_blocked;
            match buffer.kept.pause(is_blocked) {
                Err(error) => Poll::Ready(Err(error.into())),
                Ok(()) => Poll::Pending,
            }
        })
        .await
    }
}

impl<S: AsyncWrite + Unpin> WriteBuffer<S> {
    fn poll_flushed(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.needs_flush {
            ready!(self.poll_sent(context))?;
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            self.needs_flush = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Charges the connection for what it buffers until the socket takes it.
    fn block(&mut self) -> io::Result<()> {
        if self.is_blocked {
            return Ok(());
        }
        self.kept.add(BLOCKED_CONNECTION_BYTES)?;
        self.is_blocked = true;
        Ok(())
    }

    /// Sends the buffered bytes.
    fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.buffered.len() {
            let rest = &self.buffered[self.sent..];
            match Pin::new(&mut self.stream).poll_write(context, rest)? {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(sent) => self.sent += sent,
                Poll::Pending => {
                    self.block()?;
                    return Poll::Pending;
                }
            }
        }
        if self.is_blocked {
            self.is_blocked = false;
            self.kept.sub(BLOCKED_CONNECTION_BYTES);
        }
        if self.buffered.capacity() > 0 {
            self.buffered.clear();
            SPARE.set(take(&mut self.buffered));
        }
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.buffered.len() + bytes.len() > WRITE_BUFFER_BYTES {
            ready!(self.poll_sent(context))?;
            if bytes.len() > WRITE_BUFFER_BYTES {
                return Pin::new(&mut self.stream).poll_write(context, bytes);
            }
        }
        if self.buffered.capacity() == 0 {
            self.buffered = SPARE.take();
            self.buffered.reserve_exact(WRITE_BUFFER_BYTES);
        }
        self.buffered.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CoalescedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let mut this = self.buffer();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        Poll::Ready(this.kept.receive(&buffer.filled()[before..]))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CoalescedStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.buffer().poll_write(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        false
    }

    /// Deferred: [`drive`](CoalescedStream::drive) flushes.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.buffer().needs_flush = true;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut buffer = self.buffer();
        ready!(buffer.poll_sent(context))?;
        Pin::new(&mut buffer.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::convert::Infallible;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body_util::{BodyExt as _, Empty, Full};
    use hyper::body::Incoming;
    use hyper::client::conn::http2::handshake;
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    use hyper_util::server::conn::auto::Builder;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;
    use crate::kept_by_http2::tests::kept;

    /// Counts writes to the underlying stream.
    struct Counting {
        stream: DuplexStream,
        writes: Arc<AtomicUsize>,
    }

    impl AsyncRead for Counting {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_read(context, buffer)
        }
    }

    impl AsyncWrite for Counting {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.writes.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut self.stream).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_flush(context)
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(context)
        }
    }

    fn frames() -> Vec<Vec<u8>> {
        (0..5u8)
            .flat_map(|n| [vec![n; 9], vec![n; 16 * 1024]])
            .collect()
    }

    /// Uses hyper, which flushes after each frame.
    #[tokio::test]
    async fn large_response_needs_few_writes() {
        const RESPONSE: usize = 8 * 16 * 1024;
        let (stream, client) = duplex(1024 * 1024);
        let writes = Arc::new(AtomicUsize::new(0));
        let counting = Counting {
            stream,
            writes: writes.clone(),
        };
        tokio::spawn(async {
            let stream = CoalescedStream::new(counting, kept());
            let sending = stream.handle();
            let service = service_fn(|_: Request<Incoming>| async {
                let body = Full::new(Bytes::from(vec![7; RESPONSE]));
                Ok::<_, Infallible>(Response::new(body))
            });
            let builder = Builder::new(TokioExecutor::new());
            let connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
            sending.drive(connection).await.unwrap();
        });
        let handshake = handshake(TokioExecutor::new(), TokioIo::new(client)).await;
        let (mut sender, connection) = handshake.unwrap();
        tokio::spawn(connection);
        let mut before = 0;
        for _ in 0..3 {
            let response = sender.send_request(Request::new(Empty::<Bytes>::new()));
            let body = response.await.unwrap().into_body();
            assert_eq!(body.collect().await.unwrap().to_bytes().len(), RESPONSE);
            let now = writes.load(Ordering::Relaxed);
            // Two writes of four frames each, and up to three for window updates or settings.
            assert!(now - before <= 2 + 3, "{}", now - before);
            before = now;
        }
    }

    /// Writes one word and then waits forever.
    async fn hello(mut stream: CoalescedStream<DuplexStream>) -> io::Result<()> {
        stream.write_all(b"hello").await?;
        stream.flush().await?;
        std::future::pending().await
    }

    #[tokio::test]
    async fn buffer_is_released_after_everything_is_sent() {
        let (stream, mut client) = duplex(1024 * 1024);
        let coalesced = CoalescedStream::new(stream, kept());
        let connection = pin!(hello(coalesced.handle()));
        let received = async {
            let mut received = [0; 5];
            client.read_exact(&mut received).await.unwrap();
            received
        };
        tokio::select! {
            _ = coalesced.drive(connection) => unreachable!("the connection never ends"),
            received = received => assert_eq!(&received, b"hello"),
        }
        assert_eq!(coalesced.buffer().buffered.capacity(), 0);
    }

    #[tokio::test]
    async fn slow_reader_receives_everything_in_order() {
        let (stream, mut client) = duplex(1000);
        let coalesced = CoalescedStream::new(stream, kept());
        let mut stream = coalesced.handle();
        let connection = pin!(async move {
            for frame in frames() {
                stream.write_all(&frame).await?;
                stream.flush().await?;
            }
            stream.write_all(&vec![9; 2 * WRITE_BUFFER_BYTES]).await?;
            stream.write_all(b"end").await?;
            stream.shutdown().await
        });
        let mut received = Vec::new();
        let (read, ended) = tokio::join!(
            client.read_to_end(&mut received),
            coalesced.drive(connection)
        );
        read.unwrap();
        ended.unwrap();
        let larger = vec![9; 2 * WRITE_BUFFER_BYTES];
        assert_eq!(
            received,
            [frames().concat(), larger, b"end".to_vec()].concat()
        );
    }

    /// The error of a deferred flush ends the connection, although its task writes nothing more.
    #[tokio::test]
    async fn closed_client_ends_the_connection() {
        let (stream, client) = duplex(1000);
        drop(client);
        let coalesced = CoalescedStream::new(stream, kept());
        let connection = pin!(hello(coalesced.handle()));
        let error = coalesced.drive(connection).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
