//! jeton
mod base64;
mod claims;
mod clock;
mod crypto;
pub mod error;
mod json;
pub mod limits;
mod policy;
mod verified;

pub use claims::Claims;
pub use clock::{Clock, FixedClock, SystemClock, Timestamp};
pub use error::{Error, Result};
pub use limits::Limits;
pub use policy::Policy;
pub use verified::{Scratch, Verified, VerifiedIn};
