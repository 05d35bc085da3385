//! The documentation.

#![allow(clippy::unwrap_used, clippy::panic)]

mod markdown_links;
