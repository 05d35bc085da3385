//! Reports: pure functions of one [`RunResult`](crate::result::RunResult).
//!
//! [`html`] renders the page, [`markdown`] the same tables for a wiki or a pull request, [`benchstat`]
//! Go benchmark text, and [`csv`] rows for a spreadsheet.

pub mod attack;
pub mod benchstat;
pub mod csv;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod sarif;

mod comparison;
pub mod interop;
pub(crate) mod names;
mod published_comparison;
mod sentences;
pub mod servers;
pub(crate) mod units;
pub mod visible;
