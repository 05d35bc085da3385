//! A live endpoint under attack: token introspection over HTTP (RFC 7662) or a unary gRPC method, with
//! tokens of the key that its operator gives.
//!
//! It is somebody's server, and perhaps not the caller's: one that is not on this machine is refused
//! unless the caller says whose it is. Requests go one after another, and there is a most of them.

mod address;
mod grpc;
mod introspection;
mod line;
mod run;

pub use address::{Protocol, Reach, Target};
pub use grpc::Message;
pub use run::{TargetOptions, run};
