//! The types that all parts of the lab share: operations, formats, ids, claims sets, the messages of the driver
//! protocol, the result file and its schema, names and units.
//!
//! A [`result::RunResult`] is everything that one run measured. Tables, charts and pages are functions of it.

mod case;
pub mod claims;
mod format;
mod key_handling;
mod matching;
mod median;
mod name_table;
pub mod names;
mod operation;
pub mod protocol;
pub mod recommendation;
pub mod result;
pub mod servers;
pub mod units;

pub use case::{Case, Dialect};
pub use format::Format;
pub use key_handling::{KeyForm, KeyHandling};
pub use matching::{matches, nearest};
pub use median::{median, median_of_sorted};
pub use operation::Operation;
