//! Reports: pure functions of one [`RunResult`](jeton_lab_model::result::RunResult).
//!
//! [`html`] renders the page, [`markdown`] the same tables for a wiki or a pull request, [`benchstat`]
//! Go benchmark text, [`csv`] rows for a spreadsheet, and [`terminal`] the text that the command prints.
//!
//! [`recommendation`] recommends tokens. [`multi_run`] compares, gates and merges results of several runs.

pub mod attack;
pub mod benchstat;
pub mod csv;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod sarif;

mod cell;
mod chart;
mod comparison;
pub mod interop;
mod languages;
pub mod multi_run;
mod published_comparison;
pub mod recommendation;
mod results;
mod section;
mod sentences;
pub mod servers;
mod table;
pub mod terminal;
pub mod visible;
mod words;
