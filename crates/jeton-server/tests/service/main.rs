//! The service over the network: a server on loopback, with ports of the system's choosing, and
//! clients that know nothing of its inside. One binary, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::panic)]

mod abuse;
mod access;
mod admin;
mod admin_token;
mod browsers;
mod by_hand;
mod claims;
mod connections;
mod credentials;
mod deadline;
mod drain;
#[cfg(target_os = "linux")]
mod full_disk;
mod http1;
#[path = "../../../jeton-issuer/tests/manual_clock/mod.rs"]
mod manual_clock;
mod pace;
mod reflection;
mod report;
mod revoking;
mod tokens;
mod unary;
mod verifiers;
mod watchers;
mod web;
mod world;
