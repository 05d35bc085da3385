//! The loader, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod grpc_server;
mod loader;
