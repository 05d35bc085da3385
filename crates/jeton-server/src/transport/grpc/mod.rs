//! gRPC over HTTP/2.
//!
//! A unary call is one message in each direction, and most calls are unary. They are handled here, without
//! the buffers that a stream needs. Streams, health and reflection use tonic's code ([`GrpcHandler`]).

pub(crate) mod deadline;
mod frame;
mod metered_body;
mod request_message;
mod tonic_service;
mod unary;

pub(crate) use frame::{FRAME_HEADER, write_header};
pub(crate) use metered_body::MeteredBody;
pub(crate) use request_message::RequestMessage;
pub(crate) use tonic_service::{GrpcHandler, stream};
pub(crate) use unary::{MethodFuture, ResponseMessage, fail, unary};

#[cfg(test)]
pub(crate) use frame::frame;
