//! `jeton admin`: a service's data folder, administered while no service has it open.

mod backup;
mod folder;
mod issuer;
mod key;
mod migrate;
mod restore;
mod revoke;
mod display;
mod status;
mod verify;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Administer the data folder of a token service: issuers, keys, revocations, backups.
///
/// A data folder holds one store: issuers with their profiles, their keys (private halves encrypted
/// under a key-encryption key), revocations, and an audit log that is chained by hashes. One process
/// has it open at a time: while `jeton serve` runs on a folder, use the service's admin listener.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin issuer add @issuer.json             the first one makes the folder jeton-data
  jeton admin key list https://id.example
  jeton admin key rotate https://id.example
  jeton admin revoke subject https://id.example user-7
  jeton admin backup --output monday.backup
  jeton admin verify

The key-encryption key is the file key-encryption-key in the folder, made with it, unless
--key-encryption-key names another file or JETON_KEY_ENCRYPTION_KEY holds it. Keep a copy of it, but
not with the backups: without it the private keys are lost, and with it they are not secret.")]
pub(crate) struct Admin {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Issuer(issuer::Issuer),
    Key(key::Key),
    Revoke(revoke::Revoke),
    Status(status::Status),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Verify(verify::Verify),
    Migrate(migrate::Migrate),
}

impl Admin {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Issuer(issuer) => issuer.run(),
            Command::Key(key) => key.run(),
            Command::Revoke(revoke) => revoke.run(),
            Command::Status(status) => status.run(),
            Command::Backup(backup) => backup.run(),
            Command::Restore(restore) => restore.run(),
            Command::Verify(verify) => verify.run(),
            Command::Migrate(migrate) => migrate.run(),
        }
    }
}
