//! `jeton key set`: makes, changes and lists key sets.

mod add;
mod create;
mod list;
mod members;
mod remove;
mod set_file;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Make, change and list key sets (JWK Set, RFC 7517)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key set new jwks.json private.jwk
  jeton key set add jwks.json next.jwk
  jeton key set list jwks.json
  jeton key set remove jwks.json --kid 2026-11

A key set has the public keys that verifiers fetch. To rotate a key: add the next key, wait until verifiers have \
fetched the set, sign with the next key, and remove the old key when its last token has expired.")]
pub(super) struct Set {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a key set with the public keys of key files
    New(create::New),
    /// Add the public keys of key files to a key set
    Add(add::Add),
    /// Remove the keys with this id from a key set
    Remove(remove::Remove),
    /// List the keys of a key set
    List(list::List),
}

impl Set {
    pub(super) fn run(self) -> Outcome {
        match self.command {
            Command::New(new) => new.run(),
            Command::Add(add) => add.run(),
            Command::Remove(remove) => remove.run(),
            Command::List(list) => list.run(),
        }
    }
}
