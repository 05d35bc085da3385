//! The jeton command: mints, checks and measures security tokens.
//!
//! Data goes to standard output, talk to standard error. Exit 0: done; 1: the token was rejected;
//! 2: the call was wrong or a file could not be read or written.

mod lab;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Mints, checks and measures security tokens.
#[derive(Debug, Parser)]
#[command(name = "jeton", version, propagate_version = true, max_term_width = 100)]
struct Jeton {
    #[command(subcommand)]
    noun: Noun,
}

#[derive(Debug, Subcommand)]
enum Noun {
    /// Measure token formats, algorithms and libraries side by side on this machine
    Lab(lab::Lab),
}

fn main() -> ExitCode {
    match Jeton::parse().noun {
        Noun::Lab(lab) => lab.run(),
    }
}
