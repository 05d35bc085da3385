//! The Rust client of the token service. It issues, verifies and revokes tokens, and follows revocations.
//!
//! ```no_run
//! use jeton_client::{Connection, IssueRequest, VerifyRequest};
//!
//! # async fn example() -> Result<(), jeton_client::Error> {
//! let client = Connection::to("http://127.0.0.1:8420").connect().await?;
//! let issued = client
//!     .issue(IssueRequest { profile: "access".into(), subject: "alice".into(), ..Default::default() })
//!     .await?;
//! let verified = client
//!     .verify(VerifyRequest { audience: "api".into(), token: issued.token, ..Default::default() })
//!     .await?;
//! assert_eq!(verified.subject, "alice");
//! # Ok(())
//! # }
//! ```
//!
//! # Messages
//!
//! The requests and responses are messages of `jeton-proto`, with public fields. A later version can have more fields: end
//! each literal with `..Default::default()`, and each pattern with `..`.
//!
//! ```
//! use jeton_client::{IssueRequest, VerifyResponse};
//!
//! let request = IssueRequest { profile: "access".into(), ..Default::default() };
//! assert_eq!(request.subject, "");
//!
//! let VerifyResponse { subject, .. } = VerifyResponse::default();
//! assert_eq!(subject, "");
//! ```

pub mod admin;
mod channels;
mod clock_guard;
mod connection;
mod error;
mod follower;
mod moment;
mod rule;
mod view_age;

pub use admin::AdminClient;
pub use connection::{Client, Connection};
pub use error::{Error, Result};
pub use follower::Follower;
pub use jeton_proto::v1::{
    IssueBatchRequest, IssueBatchResponse, IssueItem, IssueOutcome, IssueRequest, IssueResponse,
    ItemError, KeysRequest, KeysResponse, RevokeRequest, TokenId, VerifyBatchRequest,
    VerifyBatchResponse, VerifyOutcome, VerifyRequest, VerifyResponse, issue_outcome,
    revoke_request, verify_outcome,
};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
