//! Error types, separated by cause.
//!
//! - [`Rejection`]: the token is not acceptable. Anyone who can send a token can cause it.
//! - [`KeyError`]: the key material that the caller loads is not acceptable.
//! - [`InvalidUse`]: invalid use of the API, a bug in the calling program.
//! - [`RemoteError`]: a remote signer failed.
//!
//! Each error has a stable `code()` for programs. [`codes`] lists all codes with their meaning.
//!
//! No message contains a byte of a token, a key or a claim. A [`RemoteError`] keeps the error of the signer as
//! its [`source`](std::error::Error::source); what that contains is up to the signer.

pub(crate) mod any_error;
mod claim;
pub mod codes;
mod debug;
mod found_input;
mod invalid_use;
mod key_error;
mod key_problem;
mod rejection;
mod remote_error;

pub use claim::{Claim, ClaimForm, FoundForm, TimeUnit};
pub use found_input::{FoundInput, PemLabel};
pub use invalid_use::InvalidUse;
pub use key_error::{KeyError, Sizes};
pub use key_problem::KeyProblem;
pub use rejection::{Measure, Part, Rejection, ShapeMismatch, TokenKind};
pub use remote_error::RemoteError;

pub use crate::json::Kind as JsonType;
pub(crate) use any_error::{Error, Result};

use debug::write_debug;
