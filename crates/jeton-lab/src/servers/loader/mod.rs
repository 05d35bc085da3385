//! The loader: calls a gRPC server over HTTP/2 and keeps what came back.
//!
//! One thread does all of it, so that its CPU time says whether it was the limit itself. It speaks
//! HTTP/2 frames and nothing above them: a call must cost it less than it costs the server.
//!
//! In a *closed loop* each of the calls in flight follows the one before it: the peak is found, and
//! a server that stands still is asked nothing meanwhile. In an *open loop* calls are due at a rate,
//! whatever the server does, and a latency counts from when its call was due: who stands still for a
//! second has made everybody wait who came in it.
//!
//! Several loaders' outcomes [add up](Loaded::merge) exactly, as if one had seen it all.

mod answer;
mod ask;
mod checker;
mod engine;
mod exchange;
mod latencies;
mod load;
mod loaded;
mod pacer;
mod request;
mod stream;
mod tally;

pub(crate) use answer::Answer;
pub(crate) use ask::{ask, ask_once};
pub use checker::Checker;
pub use engine::run;
pub use latencies::Latencies;
pub use load::{Load, LoadError, Pace, limits};
pub use loaded::{Loaded, MergeError};
pub(crate) use request::Post;
pub use request::Request;
pub use tally::End;
