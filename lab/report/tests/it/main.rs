//! Reports, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod attack;
mod attack_endpoint;
mod comparisons;
mod exports;
#[path = "../../../harness/tests/it/fake/mod.rs"]
mod fake;
mod foreign_text;
mod interop;
mod multi_run;
mod recommendation;
mod report_page;
mod result_file;
mod runtimes;
mod sample;
mod stored;
