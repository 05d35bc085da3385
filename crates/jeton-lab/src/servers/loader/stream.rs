//! One stream of messages over HTTP/2: what is sent on it, and what comes back, message by message.

use bytes::{Bytes, BytesMut};
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::StatusCode;

use super::answer::ANSWER_BYTES_MAX;
use super::exchange::{Ended, Exchange, status};
use super::tally::End;
use crate::grpc::framed_bytes;

/// A stream that is open.
pub(super) struct Stream {
    /// As many messages as may be in flight: a part of it is sent at once, and nothing is copied.
    messages: Bytes,
    message_bytes: usize,
    there: SendStream<Bytes>,
    back: Back,
    /// What has arrived and was not taken.
    arrived: BytesMut,
}

/// What comes back.
enum Back {
    /// Not even the headers. A server may wait for the first message before it sends them.
    Awaited(ResponseFuture),
    Coming(RecvStream),
}

impl Stream {
    /// Opens one for copies of this message, so many of them in flight.
    pub(super) async fn open(
        exchange: &Exchange,
        send: &mut SendRequest<Bytes>,
        message: &Bytes,
        in_flight: usize,
    ) -> Result<Self, Ended> {
        let (response, there) = exchange.open(send).await?;
        Ok(Self {
            messages: message.repeat(in_flight).into(),
            message_bytes: message.len(),
            there,
            back: Back::Awaited(response),
            arrived: BytesMut::new(),
        })
    }

    /// Sends so many messages. A server that has ended the stream takes none.
    pub(super) fn send(&mut self, messages: usize) -> Result<(), h2::Error> {
        let bytes = self.messages.slice(..messages * self.message_bytes);
        self.there.send_data(bytes, false)
    }

    /// Says that there is no message more.
    pub(super) fn end(&mut self) {
        // It fails on a stream that has ended, and then it is so already.
        let _ = self.there.send_data(Bytes::new(), true);
    }

    /// The next whole message that has arrived, with what stands before it.
    pub(super) fn take(&mut self) -> Result<Option<Bytes>, Ended> {
        match framed_bytes(&self.arrived) {
            Some(length) if length > ANSWER_BYTES_MAX => Err(Ended::living(End::Garbage)),
            Some(length) if length <= self.arrived.len() => {
                Ok(Some(self.arrived.split_to(length).freeze()))
            }
            _ => Ok(None),
        }
    }

    /// Waits until more has arrived; the error is the stream's end, whatever it is. Who gives up waiting
    /// loses nothing.
    pub(super) async fn more(&mut self) -> Result<(), Ended> {
        let body = match &mut self.back {
            Back::Coming(body) => body,
            Back::Awaited(response) => {
                let (head, body) = response.await?.into_parts();
                self.back = Back::Coming(body);
                if head.status != StatusCode::OK {
                    return Err(Ended::living(End::Garbage));
                }
                // An error without a message has its status among the headers.
                return status(&head.headers)
                    .map_or(Ok(()), |status| Err(Ended::living(End::Status(status))));
            }
        };
        match body.data().await {
            Some(piece) => {
                let piece = piece?;
                body.flow_control().release_capacity(piece.len())?;
                self.arrived.extend_from_slice(&piece);
                Ok(())
            }
            None => {
                let trailers = body.trailers().await?;
                let end = trailers.as_ref().and_then(status).map(End::Status);
                Err(Ended::living(end.unwrap_or(End::Garbage)))
            }
        }
    }
}
