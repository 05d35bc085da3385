//! The command, from the outside.

#![allow(clippy::unwrap_used, clippy::panic)]

mod admin;
mod binary;
mod claims_text;
mod commands;
#[cfg(unix)]
mod connections;
mod data_folder;
#[cfg(unix)]
mod doctor;
mod encryption;
mod exact_token;
mod files;
mod help;
mod help_arguments;
mod inputs;
mod inspect_web;
mod key;
mod lab;
mod new_tokens;
#[cfg(unix)]
mod operating;
mod other_inputs;
mod pasted;
#[cfg(unix)]
mod production;
mod readme;
mod remote_keys;
#[cfg(target_os = "linux")]
mod runbooks;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod serving;
mod streams;
#[cfg(target_os = "linux")]
mod untrusted;

/// The program that is tested.
const PROGRAM: &str = "jeton";
