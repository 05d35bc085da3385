//! gRPC over HTTP/2: unary calls, request bodies within a memory budget, and deadlines.

pub(crate) mod body_budget;
pub(crate) mod deadline;
pub(crate) mod unary;
