//! `jeton token`: tokens by a running service.

mod issue;
mod revoke;
mod server;
mod verify;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Have a running service issue, verify and revoke tokens.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton token issue --profile access --subject alice > token
  jeton token verify --audience api @token
  jeton token revoke @token

The service is `jeton serve`, on this machine unless --server says otherwise.")]
pub(crate) struct Token {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Have a token issued
    Issue(issue::Issue),
    /// Have a token verified and show its claims
    Verify(verify::Verify),
    /// Have a token revoked
    Revoke(revoke::Revoke),
}

impl Token {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Issue(issue) => issue.run(),
            Command::Verify(verify) => verify.run(),
            Command::Revoke(revoke) => revoke.run(),
        }
    }
}
