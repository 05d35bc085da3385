//! The span of one request, until its response or its stream has ended.

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use hyper::body::{Frame, SizeHint};
use jeton_transport::{ResponseBody, ResponseFuture};
use opentelemetry::trace::{FutureExt as _, Status as SpanStatus, TraceContextExt as _};
use opentelemetry::{Context, KeyValue, StringValue};
use tonic::body::Body;
use tonic::{Code, Status};

/// A span that ends once. If it is dropped before, the caller is gone: the request is cancelled.
pub(crate) struct RequestSpan {
    context: Context,
    is_grpc: bool,
    is_ended: bool,
}

impl RequestSpan {
    pub(super) fn new(context: Context, is_grpc: bool) -> RequestSpan {
        RequestSpan {
            context,
            is_grpc,
            is_ended: false,
        }
    }

    /// Runs the request in the span, and ends the span with the response.
    pub(crate) fn follow(self, call: impl FnOnce() -> ResponseFuture) -> ResponseFuture {
        let call = {
            let _current = self.context.clone().attach();
            call()
        };
        Box::pin(async move {
            let response = call.with_context(self.context.clone()).await?;
            Ok(self.respond(response))
        })
    }

    fn respond(mut self, response: Response<ResponseBody>) -> Response<ResponseBody> {
        let status = response.status();
        if !self.is_grpc || status != StatusCode::OK {
            self.end_http(status);
            return response;
        }
        if let Some(code) = grpc_code(response.headers()) {
            self.end_grpc(code);
            return response;
        }
        response.map(|body| match body {
            // The status is in the trailers of the stream.
            ResponseBody::Other(body) => {
                ResponseBody::Other(Body::new(FollowedBody { body, span: self }))
            }
            complete => {
                self.end_grpc(Code::Ok);
                complete
            }
        })
    }

    fn end_http(&mut self, status: StatusCode) {
        let code = i64::from(status.as_u16());
        let attribute = KeyValue::new("http.response.status_code", code);
        let error = (status.is_server_error()).then(|| status.as_str().to_owned());
        self.end(attribute, error.map(StringValue::from));
    }

    fn end_grpc(&mut self, code: Code) {
        // The codes that the conventions count as errors of a server.
        let error = match code {
            Code::Unknown => Some("UNKNOWN"),
            Code::DeadlineExceeded => Some("DEADLINE_EXCEEDED"),
            Code::Unimplemented => Some("UNIMPLEMENTED"),
            Code::Internal => Some("INTERNAL"),
            Code::Unavailable => Some("UNAVAILABLE"),
            Code::DataLoss => Some("DATA_LOSS"),
            _ => None,
        };
        let attribute = KeyValue::new("rpc.grpc.status_code", i64::from(i32::from(code)));
        self.end(attribute, error.map(StringValue::from));
    }

    fn end(&mut self, attribute: KeyValue, error: Option<StringValue>) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let span = self.context.span();
        span.set_attribute(attribute);
        if let Some(error) = error {
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(SpanStatus::error(""));
        }
        span.end();
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        if self.is_grpc {
            self.end_grpc(Code::Cancelled);
        } else {
            self.end(KeyValue::new("error.type", "cancelled"), None);
        }
    }
}

/// The code in headers or trailers.
fn grpc_code(headers: &HeaderMap) -> Option<Code> {
    let code = headers.get(Status::GRPC_STATUS)?;
    Some(Code::from_bytes(code.as_bytes()))
}

/// The body of a stream, with the span that ends with it.
struct FollowedBody {
    body: Body,
    span: RequestSpan,
}

impl hyper::body::Body for FollowedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let frame = {
            let _current = this.span.context.clone().attach();
            Pin::new(&mut this.body).poll_frame(task)
        };
        match &frame {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(code) = frame.trailers_ref().and_then(grpc_code) {
                    this.span.end_grpc(code);
                }
            }
            Poll::Ready(Some(Err(status))) => this.span.end_grpc(status.code()),
            Poll::Ready(None) => this.span.end_grpc(Code::Unknown),
            Poll::Pending => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
