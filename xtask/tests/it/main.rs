//! The documentation and the install script.

#![allow(clippy::unwrap_used, clippy::panic)]

mod install_script;
mod markdown_links;
