//! What is sent leaves together: many small answers as one write, and the frames of a large one as few.
//!
//! h2 flushes after each frame of more than 1 KiB, however many it has, and writes head and body of each
//! one after the other. So a flush is a promise here, which is kept as soon as the connection has said
//! all that it has to say for now.

use std::cell::Cell;
use std::io;
use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::inline_executor;
use crate::limits::WRITE_BUFFER_BYTES;

thread_local! {
    /// What the last connection of this thread to send everything gave back, for the next to write into.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A stream whose writes are collected until what converses over it pauses, or they are too many to
/// keep. Whoever polls the conversation does it by [`drive`](Collected::carry).
pub(super) struct CoalescedStream<S>(Arc<Mutex<WriteBuffer<S>>>);

struct WriteBuffer<S> {
    stream: S,
    /// Given back when all of it is sent: a connection that waits holds nothing. To the thread, not to
    /// the allocator, which tidies up its whole heap when it is given so much.
    kept: Vec<u8>,
    sent: usize,
    /// A flush is due of what the stream was given.
    is_due: bool,
}

impl<S> CoalescedStream<S> {
    pub(super) fn new(stream: S) -> CoalescedStream<S> {
        CoalescedStream(Arc::new(Mutex::new(WriteBuffer {
            stream,
            kept: Vec::new(),
            sent: 0,
            is_due: false,
        })))
    }

    /// Another handle on the same stream, to carry what is written through this one.
    pub(super) fn handle(&self) -> CoalescedStream<S> {
        CoalescedStream(self.0.clone())
    }

    /// Nobody waits for it: one task has both handles.
    fn buffer(&self) -> MutexGuard<'_, WriteBuffer<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncWrite + Unpin> CoalescedStream<S> {
    /// Goes on with a conversation over this stream, and sends what it wrote whenever it pauses.
    pub(super) async fn drive<F, T, E>(&self, mut conversation: Pin<&mut F>) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        E: From<io::Error>,
    {
        std::future::poll_fn(|context| {
            let ended = inline_executor::take(conversation.as_mut(), context);
            match self.buffer().poll_flushed(context) {
                Poll::Ready(Err(error)) if ended.is_pending() => Poll::Ready(Err(error.into())),
                // What is not sent yet will be when the stream is polled for it.
                _ => ended,
            }
        })
        .await
    }
}

impl<S: AsyncWrite + Unpin> WriteBuffer<S> {
    fn poll_flushed(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_due {
            ready!(self.poll_sent(context))?;
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            self.is_due = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Sends what was kept.
    fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.kept.len() {
            let rest = &self.kept[self.sent..];
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.sent += sent,
            }
        }
        if self.kept.capacity() > 0 {
            self.kept.clear();
            SPARE.set(take(&mut self.kept));
        }
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.kept.len() + bytes.len() > WRITE_BUFFER_BYTES {
            ready!(self.poll_sent(context))?;
            if bytes.len() > WRITE_BUFFER_BYTES {
                return Pin::new(&mut self.stream).poll_write(context, bytes);
            }
        }
        if self.kept.capacity() == 0 {
            self.kept = SPARE.take();
            self.kept.reserve_exact(WRITE_BUFFER_BYTES);
        }
        self.kept.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CoalescedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.buffer().stream).poll_read(context, buffer)
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

    /// Promised: [`drive`](Collected::carry) does it.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.buffer().is_due = true;
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

    /// Counts the writes that reach it.
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

    /// By hyper itself, which flushes after each frame.
    #[tokio::test]
    async fn the_frames_of_a_large_answer_leave_in_few_writes() {
        const ANSWER: usize = 8 * 16 * 1024;
        let (stream, client) = duplex(1024 * 1024);
        let writes = Arc::new(AtomicUsize::new(0));
        let counting = Counting {
            stream,
            writes: writes.clone(),
        };
        tokio::spawn(async {
            let stream = CoalescedStream::new(counting);
            let sending = stream.handle();
            let answer = service_fn(|_: Request<Incoming>| async {
                let body = Full::new(Bytes::from(vec![7; ANSWER]));
                Ok::<_, Infallible>(Response::new(body))
            });
            let builder = Builder::new(TokioExecutor::new());
            let conversation = pin!(builder.serve_connection(TokioIo::new(stream), answer));
            sending.drive(conversation).await.unwrap();
        });
        let shaken = handshake(TokioExecutor::new(), TokioIo::new(client)).await;
        let (mut sender, connection) = shaken.unwrap();
        tokio::spawn(connection);
        let mut before = 0;
        for _ in 0..3 {
            let asked = sender.send_request(Request::new(Empty::<Bytes>::new()));
            let body = asked.await.unwrap().into_body();
            assert_eq!(body.collect().await.unwrap().to_bytes().len(), ANSWER);
            let now = writes.load(Ordering::Relaxed);
            // Four frames at a time; and what it says of windows, or at first of settings.
            assert!(now - before <= 2 + 3, "{}", now - before);
            before = now;
        }
    }

    /// Says one word, and then nothing.
    async fn hello(mut stream: CoalescedStream<DuplexStream>) -> io::Result<()> {
        stream.write_all(b"hello").await?;
        stream.flush().await?;
        std::future::pending().await
    }

    #[tokio::test]
    async fn nothing_is_held_after_it_is_sent() {
        let (stream, mut client) = duplex(1024 * 1024);
        let collected = CoalescedStream::new(stream);
        let conversation = pin!(hello(collected.handle()));
        let arrived = async {
            let mut arrived = [0; 5];
            client.read_exact(&mut arrived).await.unwrap();
            arrived
        };
        tokio::select! {
            _ = collected.drive(conversation) => unreachable!("it has no end"),
            arrived = arrived => assert_eq!(&arrived, b"hello"),
        }
        assert_eq!(collected.buffer().kept.capacity(), 0);
    }

    #[tokio::test]
    async fn a_client_that_reads_slowly_gets_all_of_it_in_order() {
        let (stream, mut client) = duplex(1000);
        let collected = CoalescedStream::new(stream);
        let mut stream = collected.handle();
        let conversation = pin!(async move {
            for frame in frames() {
                stream.write_all(&frame).await?;
                stream.flush().await?;
            }
            stream.write_all(&vec![9; 2 * WRITE_BUFFER_BYTES]).await?;
            stream.write_all(b"end").await?;
            stream.shutdown().await
        });
        let mut arrived = Vec::new();
        let (read, ended) = tokio::join!(
            client.read_to_end(&mut arrived),
            collected.drive(conversation)
        );
        read.unwrap();
        ended.unwrap();
        let larger = vec![9; 2 * WRITE_BUFFER_BYTES];
        assert_eq!(
            arrived,
            [frames().concat(), larger, b"end".to_vec()].concat()
        );
    }

    /// The conversation is not asked again what it would like to write.
    #[tokio::test]
    async fn a_client_that_is_gone_ends_it() {
        let (stream, client) = duplex(1000);
        drop(client);
        let collected = CoalescedStream::new(stream);
        let conversation = pin!(hello(collected.handle()));
        let error = collected.drive(conversation).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
