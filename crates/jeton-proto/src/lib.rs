//! The messages, clients and servers of the token service, generated from `proto/`.
//!
//! The test `generated` fails if the code in `generated/` differs from the `.proto` files.
//! `JETON_WRITE=1 cargo test -p jeton-proto` regenerates it. So building jeton needs no protobuf compiler.
//!
//! ```
//! use jeton_proto::v1::IssueRequest;
//! let request = IssueRequest { profile: "access".into(), ..IssueRequest::default() };
//! assert!(request.issuer.is_empty()); // the server's only issuer
//! ```
//!
//! A later version can have more fields in a message: end each literal with `..Default::default()`, and each pattern with
//! `..`.

/// The package `jeton.v1`: the token service.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used)]
pub mod v1 {
    include!("generated/jeton.v1.rs");
}

/// The package `jwt.services`: the service of the gRPC benchmark.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used)]
pub mod report {
    include!("generated/jwt.services.rs");
}

/// The descriptors of both packages, for reflection: a `google.protobuf.FileDescriptorSet`.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("generated/descriptors.bin");

/// Maximum difference of the clocks of servers and verifiers, in seconds.
pub const CLOCK_SKEW_SECONDS: i64 = 60;

/// How long a token is accepted after its expiry, in seconds.
pub const LEEWAY_SECONDS: i64 = CLOCK_SKEW_SECONDS;

/// How far the expiry of a [`RevokedToken`](v1::RevokedToken) may be from the `exp` of the token, in seconds: a caller
/// of `Revoke` claimed it.
pub const CLAIMED_EXPIRY_SECONDS: i64 = 3600;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
