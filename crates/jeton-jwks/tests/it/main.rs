//! Remote key sets, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

#[cfg(unix)]
mod caching_proxy;
mod discovery;
mod key_server;
mod multi_issuer;
mod remote_key_set;
