//! Stores in folders, and loads. `tests/conformance` has what every engine promises.

#![allow(clippy::unwrap_used, clippy::panic)]

mod folder;
mod loading;
