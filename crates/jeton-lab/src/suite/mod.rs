//! Which subjects meet under which contracts, and why.
//!
//! A [`Cell`] is one subject under one contract: the unit that has a process and a row. A
//! [`Comparison`] sets cells side by side, and can only be made of cells that answer the same
//! question.

mod algorithms;
mod catalogue;
mod cell;
mod claims;
mod comparison;
mod contract;
mod format;
mod formats;
mod key_handling;
mod libraries;
mod offered;
mod plan;
mod quick;

pub use catalogue::{Choice, Extent, Suite, plan};
pub use cell::{Cell, Dialect};
pub use claims::{
    AUDIENCE, ClaimsSet, ClaimsSets, ISSUER, MAX_CLAIMS_BYTES, OWN, OwnClaims, OwnClaimsError,
    POOL_SIZE, STANDARD, SWEEP,
};
pub use comparison::{Comparison, Incomparable};
pub use contract::Contract;
pub use format::Format;
pub use key_handling::{KeyForm, KeyHandling};
pub(crate) use plan::matches;
pub use plan::{Nearest, Plan, PlanError, nearest};
