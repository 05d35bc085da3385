//! Suites: which subjects are compared with which operations.
//!
//! A [`Case`] is one subject with one operation; each case has a process and a row. A [`Comparison`]
//! contains cases with the same operation, claims and thread count.

mod algorithms;
mod case;
mod catalogue;
mod claims;
mod comparison;
mod format;
mod formats;
mod key_handling;
mod libraries;
mod offered;
mod operation;
mod plan;
mod quick;

pub use case::{Case, Dialect};
pub use catalogue::{Choice, Extent, Suite, plan};
pub use claims::{
    AUDIENCE, ClaimsSet, ClaimsSets, ISSUER, MAX_CLAIMS_BYTES, OWN, OwnClaims, OwnClaimsError,
    POOL_SIZE, STANDARD, SWEEP,
};
pub use comparison::{Comparison, Incomparable};
pub use format::Format;
pub use key_handling::{KeyForm, KeyHandling};
pub use operation::Operation;
pub(crate) use plan::matches;
pub use plan::{Nearest, Plan, PlanError, nearest};
