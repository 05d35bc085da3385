//! Reads the single message of a unary request.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use hyper::body::Body as _;
use prost::Message;
use tonic::Status;

use super::frame::{FRAME_HEADER, read_header};
use super::metered_body::MeteredBody;

/// The request message of a call.
pub trait RequestMessage: Send + Sized {
    /// Decodes the bytes of the message.
    fn decode_message(message: Bytes) -> Result<Self, Status>;
}

impl<M: Message + Default> RequestMessage for M {
    fn decode_message(message: Bytes) -> Result<M, Status> {
        // prost's error does not repeat data of the message.
        M::decode(message).map_err(|error| Status::internal(error.to_string()))
    }
}

/// Reads the single message of a request.
pub(super) async fn message<Q: RequestMessage>(
    body: &mut MeteredBody,
    limit: usize,
) -> Result<Q, Status> {
    let mut frame = next(body).await?;
    check(&frame, limit)?;
    // The usual case: the first piece is the whole message, and is not copied.
    if !is_whole(&frame) {
        frame = join(frame, body, limit).await?;
    }
    frame.advance(FRAME_HEADER);
    let message = Q::decode_message(frame)?;
    if next(body).await?.is_empty() {
        Ok(message)
    } else {
        Err(more_than_one())
    }
}

/// Waits for the remaining pieces of a frame.
async fn join(first: Bytes, body: &mut MeteredBody, limit: usize) -> Result<Bytes, Status> {
    // Copied, so that a slow request does not keep the read buffer of the connection in memory.
    let mut joined = BytesMut::from(&*first);
    drop(first);
    while !is_whole(&joined) {
        let more = next(body).await?;
        if more.is_empty() {
            let what = if joined.is_empty() {
                "the request has no message"
            } else {
                "the request message is truncated"
            };
            return Err(Status::internal(what));
        }
        joined.put(more);
        check(&joined, limit)?;
    }
    Ok(joined.freeze())
}

/// The next piece of a body. Empty at the end.
async fn next(body: &mut MeteredBody) -> Result<Bytes, Status> {
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await else {
            break;
        };
        // Request trailers are ignored.
        match frame?.into_data() {
            Ok(data) if !data.is_empty() => return Ok(data),
            _ => {}
        }
    }
    Ok(Bytes::new())
}

fn is_whole(arrived: &[u8]) -> bool {
    read_header(arrived).is_some_and(|(_, length)| arrived.len() == FRAME_HEADER + length)
}

fn more_than_one() -> Status {
    Status::internal("the request has more than one message")
}

/// Fails as soon as the received bytes cannot become one message within the limit.
fn check(arrived: &[u8], limit: usize) -> Result<(), Status> {
    let Some((flag, length)) = read_header(arrived) else {
        return Ok(());
    };
    match flag {
        0 => {}
        1 => {
            return Err(Status::internal(
                "the message is compressed, but `grpc-encoding` is missing",
            ));
        }
        _ => {
            return Err(Status::internal(
                "the message's first byte is neither 0 nor 1",
            ));
        }
    }
    if length > limit {
        return Err(Status::out_of_range(format!(
            "the message has {length} bytes, maximum {limit}"
        )));
    }
    if arrived.len() > FRAME_HEADER + length {
        return Err(more_than_one());
    }
    Ok(())
}
