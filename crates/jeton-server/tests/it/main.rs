//! Tests of the service over the network, with clients that use its public interface only.
//!
//! Each test starts a server on loopback with free ports. All tests are in one binary, to link it once.
#![allow(clippy::unwrap_used, clippy::panic)]

mod abuse;
mod access;
mod admin;
mod admin_token;
mod bounds;
mod browser_requests;
mod budgets;
mod claims;
mod connections;
mod credentials;
mod deadline;
mod deploy;
mod drain;
#[path = "../../../jeton-issuer/tests/it/fake_hsm.rs"]
mod fake_hsm;
mod first_format;
#[cfg(target_os = "linux")]
mod full_disk;
mod harness;
mod hsm;
mod log_lines;
#[path = "../../../jeton-issuer/tests/it/manual_clock.rs"]
#[allow(dead_code)]
mod manual_clock;
mod oauth;
mod page;
mod raw_grpc;
mod raw_http;
mod reflection;
mod report;
mod revocation;
mod time_slice;
mod tokens;
#[cfg(feature = "otel")]
mod traces;
mod transport_page;
mod unary;
mod verifiers;
mod watchers;
mod web;
