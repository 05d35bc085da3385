//! gRPC over HTTP/2.
//!
//! A unary call is one message in each direction, and most calls are unary. They are handled here, without
//! the buffers that a stream needs. Streams, health and reflection use tonic's code ([`GrpcHandler`]).

pub mod deadline;
mod frame;
mod metered_body;
mod request_message;
mod tonic_service;
mod unary;

pub use frame::{FRAME_HEADER, frame, write_header};
pub use metered_body::MeteredBody;
pub use request_message::RequestMessage;
pub use tonic_service::{GrpcHandler, stream};
pub use unary::{MethodFuture, ResponseMessage, fail, unary};
