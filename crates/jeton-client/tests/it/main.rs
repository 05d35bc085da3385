//! The client, against a fake server.

#![allow(clippy::unwrap_used, clippy::panic)]

mod broken;
mod fake_server;
mod follower;
