//! How long a caller waits (`grpc-timeout`). When that is over nobody reads the answer any more: the
//! call ends, a stream in its midst, and what it holds is given back.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tonic::Status;
use tonic::body::Body;

use super::{ResponseFuture, ResponseBody};
use crate::service::Failure;

const HEADER: &str = "grpc-timeout";
/// The protocol's own bound on the number's length.
const DIGITS: usize = 8;

/// How long the caller waits, if it says so.
pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Option<Duration>, Status> {
    let Some(value) = headers.get(HEADER) else {
        return Ok(None);
    };
    let wait = parse(value.as_bytes());
    wait.map(Some).ok_or_else(|| {
        let what = "wants 1 to 8 digits and one of H, M, S, m, u, n".to_owned();
        Failure::Field(HEADER, what).status()
    })
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

/// Answers, but not for longer than that.
pub(crate) fn enforce(wait: Duration, answering: ResponseFuture) -> ResponseFuture {
    Box::pin(async move {
        let mut over = Box::pin(sleep(wait));
        let answer = tokio::select! {
            // What is answered at once never looks at the clock.
            biased;
            answer = answering => answer?,
            () = over.as_mut() => return Ok(Failure::DeadlineExceeded.status().into_http()),
        };
        Ok(answer.map(|body| match body {
            ResponseBody::Other(body) => ResponseBody::Other(Body::new(DeadlineBody { body, over })),
            // It is whole: there is nothing more to wait for.
            whole => whole,
        }))
    })
}

/// A body that ends when the caller no longer waits.
struct DeadlineBody {
    body: Body,
    over: Pin<Box<Sleep>>,
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
        if this.over.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        // What the stream held goes now, and the next look finds its end.
        this.body = Body::empty();
        let mut trailers = HeaderMap::new();
        let told = Failure::DeadlineExceeded.status().add_header(&mut trailers);
        Poll::Ready(Some(told.map(|()| Frame::trailers(trailers))))
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
    fn a_wait_has_up_to_eight_digits_and_a_unit() {
        let hours = Duration::from_secs(99_999_999 * 3600);
        for (text, wait) in [
            ("99999999H", hours),
            ("2M", Duration::from_secs(120)),
            ("3S", Duration::from_secs(3)),
            ("4m", Duration::from_millis(4)),
            ("5u", Duration::from_micros(5)),
            ("0n", Duration::ZERO),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(wait), "{text}");
        }
        for wrong in ["", "S", "1", "1s", "-1S", "1.5S", "100000000S", "1 S"] {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
