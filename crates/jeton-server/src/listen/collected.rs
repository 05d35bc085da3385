//! What is sent leaves together: many small answers as one write, and the frames of a large one as few.
//!
//! h2 writes each frame of more than 256 bytes at once and alone if it may hand over several pieces,
//! and head and body of each larger frame one after the other if it may not.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::COLLECTED_BYTES;

/// A stream whose writes are collected until they are flushed, or too many to keep.
pub(super) struct Collected<S> {
    stream: S,
    /// Given back when all of it is sent: a connection that waits holds nothing.
    kept: Vec<u8>,
    sent: usize,
}

impl<S> Collected<S> {
    pub(super) fn new(stream: S) -> Collected<S> {
        Collected {
            stream,
            kept: Vec::new(),
            sent: 0,
        }
    }
}

impl<S: AsyncWrite + Unpin> Collected<S> {
    /// Sends what was kept.
    fn poll_sent(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.kept.len() {
            let rest = &self.kept[self.sent..];
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.sent += sent,
            }
        }
        (self.kept, self.sent) = (Vec::new(), 0);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Collected<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Collected<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.kept.len() + bytes.len() > COLLECTED_BYTES {
            ready!(this.poll_sent(context))?;
            if bytes.len() > COLLECTED_BYTES {
                return Pin::new(&mut this.stream).poll_write(context, bytes);
            }
        }
        if this.kept.capacity() == 0 {
            this.kept.reserve_exact(COLLECTED_BYTES);
        }
        this.kept.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn is_write_vectored(&self) -> bool {
        false
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_sent(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_sent(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    /// Counts the writes that reach it.
    struct Counting<S> {
        stream: S,
        writes: usize,
    }

    impl<S: AsyncWrite + Unpin> AsyncWrite for Counting<S> {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.writes += 1;
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

    #[tokio::test]
    async fn the_frames_of_a_large_answer_leave_in_few_writes() {
        let (stream, mut client) = duplex(1024 * 1024);
        let mut collected = Collected::new(Counting { stream, writes: 0 });
        for frame in frames() {
            collected.write_all(&frame).await.unwrap();
        }
        collected.flush().await.unwrap();
        assert_eq!(collected.stream.writes, 2, "64 KiB, and the rest");
        assert_eq!(collected.kept.capacity(), 0, "nothing is held after it");
        drop(collected);
        let mut arrived = Vec::new();
        client.read_to_end(&mut arrived).await.unwrap();
        assert_eq!(arrived, frames().concat());
    }

    #[tokio::test]
    async fn a_client_that_reads_slowly_gets_all_of_it_in_order() {
        let (stream, mut client) = duplex(1000);
        let mut collected = Collected::new(stream);
        let writing = async {
            for frame in frames() {
                collected.write_all(&frame).await.unwrap();
            }
            let larger = vec![9; 2 * COLLECTED_BYTES];
            collected.write_all(&larger).await.unwrap();
            collected.write_all(b"end").await.unwrap();
            collected.shutdown().await.unwrap();
        };
        let mut arrived = Vec::new();
        let (read, ()) = tokio::join!(client.read_to_end(&mut arrived), writing);
        read.unwrap();
        let larger = vec![9; 2 * COLLECTED_BYTES];
        assert_eq!(
            arrived,
            [frames().concat(), larger, b"end".to_vec()].concat()
        );
    }
}
