//! The server that a command calls, and the credentials of the caller.
//!
//! Each setting is an option, an environment variable, or a member of a context of the client file. The first of these
//! that has it counts.

mod args;
mod client_file;
mod credentials;
mod failure;
pub(crate) mod http_post;
mod problem;
mod settings;

pub(crate) use args::ServerOptions;
pub(crate) use client_file::{ClientFile, Context, path as client_file_path};
pub(crate) use failure::failed;
pub(crate) use settings::{Listener, Settings};
