//! Reports: pure functions of one [`RunResult`](jeton_lab_model::result::RunResult).
//!
//! [`html`] renders the page, [`markdown`] the same tables for a wiki or a pull request, [`benchstat`]
//! Go benchmark text, [`csv`] rows for a spreadsheet, and [`terminal`] the text that the command prints.
//!
//! [`recommendation`] recommends tokens. [`multi_run`] compares, gates and merges results of several runs.

mod advice;
mod attack;
pub mod benchstat;
pub mod csv;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod sarif;

mod chart;
mod comparison;
mod grouped;
mod install;
mod interop;
mod lines;
pub mod multi_run;
mod published_comparison;
pub mod recommendation;
mod results;
mod run;
mod section;
mod sentences;
mod servers;
mod summary;
mod table;
pub mod terminal;
mod tokens;
pub mod visible;
mod words;
