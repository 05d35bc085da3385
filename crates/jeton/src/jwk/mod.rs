//! JWK (RFC 7517): a key as JSON, and sets of keys.
//!
//! Reading is strict: a member stands once, has the right type and its one base64url encoding, and
//! does not contradict another. Errors name the member at fault and never its value. The keys
//! themselves are in [`key`](crate::key); this module has sets ([`KeySet`]).

mod metadata;
mod members;
mod set;
mod thumbprint;
mod write;

pub use set::KeySet;

pub(crate) use metadata::Metadata;
pub(crate) use members::{Members, Operation, PRIVATE, is_private};
pub(crate) use set::elements as set_elements;
pub(crate) use thumbprint::thumbprint;
pub(crate) use write::Writer;
