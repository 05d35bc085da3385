//! The token service's messages, clients and servers, as `proto/` describes them.
//!
//! The code in `generated/` is made from the `.proto` files by the test `generated`, which fails when
//! they disagree; `JETON_WRITE=1 cargo test -p jeton-proto` makes it anew. So nobody who builds jeton
//! needs a protobuf compiler.
//!
//! ```
//! use jeton_proto::v1::IssueRequest;
//! let request = IssueRequest { profile: "access".into(), ..IssueRequest::default() };
//! assert!(request.issuer.is_empty()); // the server's only issuer
//! ```

/// `jeton.v1`: what jeton offers.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used)]
pub mod v1 {
    include!("generated/jeton.v1.rs");
}

/// `jwt.services`: what the gRPC report's loaders call.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used)]
pub mod report {
    include!("generated/jwt.services.rs");
}

/// The descriptors of everything here, for reflection: a `google.protobuf.FileDescriptorSet`.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("generated/descriptors.bin");

/// How far the clocks of servers, and of those who verify their tokens, may differ, seconds.
pub const CLOCK_SKEW_SECONDS: i64 = 60;

/// How long after its expiry a token is still taken, seconds.
pub const LEEWAY_SECONDS: i64 = CLOCK_SKEW_SECONDS;
