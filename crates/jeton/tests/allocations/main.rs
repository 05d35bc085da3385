//! Counts allocations in Rust. AWS-LC's allocations in C are not counted.
//!
//! A program of its own, because it installs an allocator that counts. It counts each thread for itself, so the
//! tests do not disturb each other.

#![allow(clippy::unwrap_used, clippy::panic)]

mod bad_input;
#[path = "../it/effort.rs"]
mod effort;
mod issue_onto;
mod jwe;
mod jwt;
mod paseto;
mod verified_text;

use jeton_testkit::CountingAlloc;

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;
