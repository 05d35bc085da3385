//! JWK (RFC 7517): keys as JSON, and key sets.
//!
//! Reading is strict: members are unique, have the right type and canonical base64url, and do not
//! contradict each other. Errors name the wrong member and never contain its value. The key types are in
//! [`key`](crate::key); this module has the key set ([`KeySet`]): read, built and written. A key of a set that cannot
//! verify is [`Skipped`], with the reason.

mod members;
mod metadata;
pub(crate) mod set;
mod thumbprint;
mod write;

pub use set::{KeySet, Skipped};

pub(crate) use members::{Members, Operation, PRIVATE, is_private};
pub(crate) use metadata::Metadata;
pub(crate) use set::{SET_DEPTH, elements as set_elements, scan_error};
pub(crate) use thumbprint::{thumbprint, thumbprint_uri};
pub(crate) use write::Writer;
