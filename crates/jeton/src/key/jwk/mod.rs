//! The members of a JWK (RFC 7517, section 4): read, written, and hashed.

mod ignored_member;
mod members;
mod metadata;
mod thumbprint;
mod write;

pub use ignored_member::IgnoredMember;

pub(crate) use members::{Members, Operation, PRIVATE, is_private};
pub(crate) use metadata::Metadata;
pub(crate) use thumbprint::{thumbprint, thumbprint_uri};
pub(crate) use write::Writer;
