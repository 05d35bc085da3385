//! Attacks on a live endpoint: token introspection over HTTP (RFC 7662), a grant of the token endpoint, or a unary
//! gRPC method, with tokens of a key that its operator provides.
//!
//! The server may belong to someone else. A target on another machine is refused unless the caller
//! confirms ownership. Requests are sent one after another, and their number is limited.

mod address;
mod grant_form;
mod grpc;
mod introspection;
mod line;
mod run;

pub use address::{Protocol, Reach, Target};
pub use grant_form::Grant;
pub use grpc::Message;
pub use run::{TargetOptions, run};
