//! Deadlines of calls (`grpc-timeout`).
//!
//! After the deadline, nobody reads the response. The server ends the call, including a stream, and
//! releases its resources.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tonic::Status;
use tonic::body::Body;

use crate::response::{ResponseBody, ResponseFuture};

/// The header with the timeout.
pub const HEADER: &str = "grpc-timeout";
/// A text is hashed and compared as a header that arrives would be: three times the work.
static HEADER_NAME: HeaderName = HeaderName::from_static(HEADER);
/// What its value must be.
pub const EXPECTED: &str = "expected 1 to 8 digits and one of H, M, S, m, u, n";
/// Maximum number of digits in the protocol.
const DIGITS: usize = 8;

/// The timeout is not [`EXPECTED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidTimeout;

/// The timeout in the request headers, if any.
pub fn from_headers(headers: &HeaderMap) -> Result<Option<Duration>, InvalidTimeout> {
    let Some(value) = headers.get(&HEADER_NAME) else {
        return Ok(None);
    };
    let timeout = parse(value.as_bytes());
    timeout.map(Some).ok_or(InvalidTimeout)
}

fn parse(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if !is_number || digits.len() > DIGITS {
        return None;
    }
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(match unit {
        b'H' => Duration::from_secs(number * 3600),
        b'M' => Duration::from_secs(number * 60),
        b'S' => Duration::from_secs(number),
        b'm' => Duration::from_millis(number),
        b'u' => Duration::from_micros(number),
        b'n' => Duration::from_nanos(number),
        _ => return None,
    })
}

/// Runs a call with a time limit. `exceeded` is the status of a call that takes longer.
pub fn enforce(
    timeout: Duration,
    exceeded: fn() -> Status,
    call: ResponseFuture,
) -> ResponseFuture {
    Box::pin(async move {
        let mut timer = Box::pin(sleep(timeout));
        let response = tokio::select! {
            // A call that is ready at once does not poll the timer.
            biased;
            response = call => response?,
            () = timer.as_mut() => return Ok(exceeded().into_http()),
        };
        Ok(response.map(|body| match body {
            ResponseBody::Other(body) => ResponseBody::Other(Body::new(DeadlineBody {
                body,
                timer,
                exceeded,
            })),
            // A complete message needs no timer.
            complete => complete,
        }))
    })
}

/// A body that ends with the status `exceeded` when the timer fires.
struct DeadlineBody {
    body: Body,
    timer: Pin<Box<Sleep>>,
    exceeded: fn() -> Status,
}

impl hyper::body::Body for DeadlineBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        if this.timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        // Releases the resources of the stream. The next poll returns its end.
        this.body = Body::empty();
        let mut trailers = HeaderMap::new();
        let added = (this.exceeded)().add_header(&mut trailers);
        Poll::Ready(Some(added.map(|()| Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_accepts_up_to_eight_digits_and_a_unit() {
        let hours = Duration::from_secs(99_999_999 * 3600);
        for (text, timeout) in [
            ("99999999H", hours),
            ("2M", Duration::from_secs(120)),
            ("3S", Duration::from_secs(3)),
            ("4m", Duration::from_millis(4)),
            ("5u", Duration::from_micros(5)),
            ("0n", Duration::ZERO),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(timeout), "{text}");
        }
        for wrong in ["", "S", "1", "1s", "-1S", "1.5S", "100000000S", "1 S"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
