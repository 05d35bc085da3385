//! The client, against a fake server.

#![allow(clippy::unwrap_used, clippy::panic)]

mod fake_server;
mod follower;
