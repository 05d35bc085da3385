//! One stream of messages over HTTP/2: sends messages and reads the answers one by one.

use bytes::{Bytes, BytesMut};
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::StatusCode;

use super::answer::ANSWER_BYTES_MAX;
use super::exchange::{Ended, Exchange, status};
use super::tally::End;
use jeton_lab_harness::grpc::framed_bytes;

/// An open stream.
pub(super) struct Stream {
    /// All messages that may be in flight. Slices of it are sent without copying.
    messages: Bytes,
    message_bytes: usize,
    there: SendStream<Bytes>,
    back: Receiving,
    /// Data that has arrived but was not consumed.
    arrived: BytesMut,
}

/// The receiving side.
enum Receiving {
    /// No headers yet. A server may wait for the first message before it sends them.
    Awaited(ResponseFuture),
    Coming(RecvStream),
}

impl Stream {
    /// Opens a stream for copies of this message, with this number in flight.
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
            back: Receiving::Awaited(response),
            arrived: BytesMut::new(),
        })
    }

    /// Sends messages. Fails if the server has ended the stream.
    pub(super) fn send(&mut self, messages: usize) -> Result<(), h2::Error> {
        let bytes = self.messages.slice(..messages * self.message_bytes);
        self.there.send_data(bytes, false)
    }

    /// Ends the sending side.
    pub(super) fn end(&mut self) {
        // Fails on a stream that has already ended, which has the same effect.
        let _ = self.there.send_data(Bytes::new(), true);
    }

    /// Returns the next complete message that has arrived, with its length prefix.
    pub(super) fn take(&mut self) -> Result<Option<Bytes>, Ended> {
        match framed_bytes(&self.arrived) {
            Some(length) if length > ANSWER_BYTES_MAX => Err(Ended::living(End::Garbage)),
            Some(length) if length <= self.arrived.len() => {
                Ok(Some(self.arrived.split_to(length).freeze()))
            }
            _ => Ok(None),
        }
    }

    /// Waits until more data has arrived. The error is how the stream ended. Cancelling loses no
    /// data.
    pub(super) async fn more(&mut self) -> Result<(), Ended> {
        let body = match &mut self.back {
            Receiving::Coming(body) => body,
            Receiving::Awaited(response) => {
                let (head, body) = response.await?.into_parts();
                self.back = Receiving::Coming(body);
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
