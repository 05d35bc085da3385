//! `jeton admin`: administers a data folder, a store in etcd, or a running server.

mod audit;
mod backup;
mod client;
mod context;
mod display;
mod etcd;
mod failure;
mod folder;
mod issuer;
mod key;
mod key_id;
mod migrate;
mod nodes;
mod open_store;
mod page;
mod restore;
mod revocation;
mod revoke;
mod running_server;
mod server;
mod status;
mod target;
mod typed;
mod verify;
mod view;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Administer a token service: issuers, keys, revocations, audit log, backups
///
/// A data folder contains one store: issuers with their profiles and keys, revocations, and an audit log that is
/// chained by hashes. Private keys are encrypted under a key-encryption key. Only one process can open the folder.
/// While `jeton serve` runs, add --server with the URL of its admin listener, or name it in a context
/// (`jeton admin context`) or in JETON_ADMIN_SERVER.
///
/// For servers that share etcd, add --store with its address, or --config with their configuration. This also
/// works while they run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin issuer add @issuer.json     # the first issuer creates jeton-data
  jeton admin key list https://id.example
  jeton admin key rotate https://id.example
  jeton admin client new ci --profile access -o ci.secret
  jeton admin revoke subject https://id.example user-7
  jeton admin backup --output monday.backup
  jeton admin verify
  jeton admin status --server http://127.0.0.1:8421
  jeton admin status --config jeton.toml --store etcd://127.0.0.1:2379
  jeton admin status --context production

The key-encryption key is the file key-encryption-key in the data folder. It is created with the folder. Use \
--key-encryption-key or the environment variable JETON_KEY_ENCRYPTION_KEY to set another key. Keep a copy of it, \
but not with the backups. Without it the private keys are lost; with it anyone can decrypt them.")]
pub(crate) struct Admin {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Issuer(issuer::Issuer),
    Key(key::Key),
    Client(client::Client),
    Context(context::ContextCommand),
    Revoke(revoke::Revoke),
    Status(status::Status),
    Nodes(nodes::Nodes),
    Page(page::Page),
    // It has many options.
    Audit(Box<audit::Audit>),
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
            Command::Client(client) => client.run(),
            Command::Context(context) => context.run(),
            Command::Revoke(revoke) => revoke.run(),
            Command::Status(status) => status.run(),
            Command::Nodes(nodes) => nodes.run(),
            Command::Page(page) => page.run(),
            Command::Audit(audit) => audit.run(),
            Command::Backup(backup) => backup.run(),
            Command::Restore(restore) => restore.run(),
            Command::Verify(verify) => verify.run(),
            Command::Migrate(migrate) => migrate.run(),
        }
    }
}
