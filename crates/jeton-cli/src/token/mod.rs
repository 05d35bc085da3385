//! `jeton token`: calls a running token service.

mod get;
mod issue;
mod revoke;
mod server;
mod verify;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Issue, verify and revoke tokens with a running service
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton token issue --profile access --subject alice > token
  jeton token get --client ci --secret-file ci.secret --scope read > token
  jeton token verify --audience api @token
  jeton token revoke @token

The service is jeton serve. Without --server, it runs on this machine.")]
pub(crate) struct Token {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Issue a token and print it
    Issue(issue::Issue),
    /// Get a token from the token endpoint (OAuth) and print it
    Get(get::Get),
    /// Verify a token and print its claims
    Verify(verify::Verify),
    /// Revoke a token, or all tokens of a subject, client or key
    Revoke(revoke::Revoke),
}

impl Token {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Issue(issue) => issue.run(),
            Command::Get(get) => get.run(),
            Command::Verify(verify) => verify.run(),
            Command::Revoke(revoke) => revoke.run(),
        }
    }
}
