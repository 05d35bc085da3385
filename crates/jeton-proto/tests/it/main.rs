//! The generated code.

#![allow(clippy::unwrap_used, clippy::panic)]

mod generated;
