//! The loader: calls a gRPC server or a gateway over HTTP/2 and records the answers.
//!
//! It uses one thread, so that its CPU time shows whether it was the bottleneck. It handles HTTP/2
//! frames and nothing above them: a call must cost the loader less than the server.
//!
//! In a *closed loop*, each call in flight follows the answer to the previous one. This finds the
//! peak, but a server that stalls gets no calls meanwhile. In an *open loop*, calls are due at a
//! rate, independent of the server. A latency counts from when its call was due, so a stall of one
//! second delays every call of that second.
//!
//! Outcomes of several loaders [merge](Loaded::merge) exactly, as if there were one.

mod answer;
mod ask;
mod checker;
mod engine;
mod exchange;
mod http_request;
mod load;
mod loaded;
mod pacer;
mod request;
mod stream;
mod tally;

pub(crate) use answer::{Answer, SUBJECT};
pub(crate) use ask::{ask, ask_once};
pub use checker::Checker;
pub use engine::run;
pub(crate) use http_request::HttpRequest;
pub use load::{Load, Pace, limits};
pub use loaded::Loaded;
pub(crate) use request::AUDIENCE;
pub use request::Request;
pub use tally::End;
