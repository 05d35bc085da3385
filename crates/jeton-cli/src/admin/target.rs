//! What a command administers: a store, in a data folder or an etcd, or a running server.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use jeton_issuer::{IssuerSettings, KeyKind, Missing, Node, limits};
use jeton_store::block_on;

use super::display;
use super::failure::failure;
use super::folder::{AdminArgs, FolderArgs, Opened, Place};
use super::revocation::Revocations;
use super::server::{Remote, ServerArgs};
use super::view::{IssuerView, NodeView, RuleView, StatusView};
use crate::exit::{Failure, Outcome};

/// The arguments of a command that decrypts keys and writes to the audit log.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    #[command(flatten)]
    folder: AdminArgs,

    #[command(flatten)]
    server: ServerArgs,
}

/// The arguments of a command that only reads the store.
#[derive(Debug, Args)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    folder: FolderArgs,

    #[command(flatten)]
    server: ServerArgs,
}

/// A store to read.
pub(super) enum Source {
    Store(Box<Place>),
    Server(Box<Remote>),
}

impl ReadArgs {
    pub(super) fn open(&self) -> Outcome<Source> {
        match self
            .server
            .connect(&self.folder, self.folder.only_for_store())?
        {
            Some(remote) => Ok(Source::Server(Box::new(remote))),
            None => Ok(Source::Store(Box::new(self.folder.place()?))),
        }
    }
}

/// An open store or a connected server. Dropping it releases a folder.
pub(super) enum Target {
    Store(Box<Opened>),
    Server(Box<Remote>),
}

impl TargetArgs {
    /// Also decrypts private keys with the key-encryption key in this file.
    pub(super) fn also_reads(mut self, old_key: PathBuf) -> TargetArgs {
        self.folder = self.folder.also_reads(old_key);
        self
    }

    /// Publishes keys by the clock of this machine, whatever other clocks say.
    pub(super) fn trust_clock(mut self, is_trusted: bool) -> TargetArgs {
        self.folder = self.folder.trust_clock(is_trusted);
        self
    }

    /// Opens an existing store, or connects.
    pub(super) fn open(self) -> Outcome<Target> {
        self.open_or(Missing::Refuse)
    }

    /// Opens a store, or creates it in a folder, or connects.
    pub(super) fn open_or_create(self) -> Outcome<Target> {
        self.open_or(Missing::Make)
    }

    fn open_or(self, missing: Missing) -> Outcome<Target> {
        let only_for_store = self.folder.only_for_store();
        match self.server.connect(&self.folder.folder, only_for_store)? {
            Some(remote) => Ok(Target::Server(Box::new(remote))),
            None => Ok(Target::Store(Box::new(self.folder.open(missing)?))),
        }
    }
}

/// Waits until each running server has written a record, or for a little longer than they take.
fn wait_for_clocks(node: &Node) {
    let begun = Instant::now();
    let is_unknown = || {
        let nodes = node.running_nodes();
        nodes
            .iter()
            .any(|node| node.is_live && node.ahead.is_none())
    };
    while is_unknown() && begun.elapsed() < limits::NODE_RECORD_EVERY + Duration::from_secs(2) {
        thread::sleep(Duration::from_millis(100));
    }
}

impl Target {
    /// Returns the name of the target for messages.
    pub(super) fn name(&self) -> String {
        match self {
            Target::Store(opened) => opened.store.name(),
            Target::Server(_) => "the server".to_owned(),
        }
    }

    pub(super) fn issuers(&self) -> Outcome<Vec<String>> {
        match self {
            Target::Store(opened) => Ok(opened.node.status().issuers),
            Target::Server(remote) => remote.issuers(),
        }
    }

    pub(super) fn issuer(&self, iss: &str) -> Outcome<IssuerView> {
        match self {
            Target::Store(opened) => {
                let (settings, keyring) = opened.node.issuer(iss).map_err(failure)?;
                Ok(IssuerView::new(settings, &keyring, display::now()))
            }
            Target::Server(remote) => remote.issuer(iss),
        }
    }

    pub(super) fn create_issuer(&self, settings: IssuerSettings) -> Outcome {
        match self {
            Target::Store(opened) => {
                let created = opened.node.create_issuer(&opened.actor, settings);
                created.map_err(failure)
            }
            Target::Server(remote) => remote.create_issuer(json(&settings)?),
        }
    }

    pub(super) fn set_issuer(&self, settings: &IssuerSettings) -> Outcome {
        match self {
            Target::Store(opened) => {
                let set = opened.node.set_issuer(&opened.actor, settings);
                set.map_err(failure)
            }
            Target::Server(remote) => remote.set_issuer(json(settings)?),
        }
    }

    pub(super) fn rotate(&self, iss: &str, kind: KeyKind) -> Outcome {
        match self {
            Target::Store(opened) => {
                let rotated = opened.node.rotate(&opened.actor, iss, kind);
                rotated.map_err(failure)
            }
            Target::Server(remote) => remote.rotate(iss, kind),
        }
    }

    pub(super) fn compromised(&self, iss: &str, kid: &str) -> Outcome {
        match self {
            Target::Store(opened) => {
                let removed = opened.node.compromised(&opened.actor, iss, kid);
                removed.map_err(failure)
            }
            Target::Server(remote) => remote.compromised(iss, kid),
        }
    }

    /// `name`: the name of the file with the key.
    pub(super) fn import(&self, iss: &str, kind: KeyKind, name: &str, text: &str) -> Outcome {
        match self {
            Target::Store(opened) => {
                let imported = opened.node.import(&opened.actor, iss, kind, text);
                imported.map_err(|error| match error {
                    jeton_issuer::Error::Token(error) => {
                        Failure::error(format!("{name}: not a private key for {kind}: {error}"))
                    }
                    other => failure(other),
                })
            }
            Target::Server(remote) => remote.import(iss, kind, text),
        }
    }

    pub(super) fn withdraw(&self, iss: &str, kid: &str) -> Outcome {
        match self {
            Target::Store(opened) => {
                let withdrawn = opened.node.retire(&opened.actor, iss, kid);
                withdrawn.map_err(failure)
            }
            Target::Server(remote) => remote.withdraw(iss, kid),
        }
    }

    /// Returns how many private keys were encrypted again.
    pub(super) fn reencrypt(&self) -> Outcome<u64> {
        match self {
            Target::Store(opened) => {
                let count = opened.node.reseal(&opened.actor).map_err(failure)?;
                Ok(count as u64)
            }
            Target::Server(remote) => remote.reencrypt(),
        }
    }

    /// Revokes all at once, so that they share one write to disk.
    pub(super) fn revoke(&self, iss: &str, revocations: &Revocations) -> Outcome {
        match self {
            Target::Store(opened) => {
                let answers: Vec<_> = (revocations.of_node())
                    .map(|revocation| opened.node.revoke(&opened.actor, iss, revocation))
                    .collect();
                for answer in answers {
                    block_on(answer).map_err(failure)?;
                }
                Ok(())
            }
            Target::Server(remote) => remote.revoke(iss, revocations),
        }
    }

    /// Ends rules before their time.
    pub(super) fn end_rules(&self, iss: &str, rules: &Revocations) -> Outcome {
        match self {
            Target::Store(opened) => {
                for rules in rules.ended_of_node() {
                    let ended = opened.node.end_rules(&opened.actor, iss, &rules);
                    ended.map_err(failure)?;
                }
                Ok(())
            }
            Target::Server(remote) => remote.end_rules(iss, rules),
        }
    }

    pub(super) fn rules(&self, iss: &str) -> Outcome<Vec<RuleView>> {
        match self {
            Target::Store(opened) => {
                let rules = opened.node.rules(iss).map_err(failure)?;
                Ok(rules.into_iter().map(RuleView::new).collect())
            }
            Target::Server(remote) => remote.rules(iss),
        }
    }

    /// Returns the servers that run on the store.
    pub(super) fn nodes(&self) -> Outcome<Vec<NodeView>> {
        match self {
            Target::Store(opened) => {
                // The clock of another machine is known when its next record arrives.
                if opened.store.is_shared() {
                    wait_for_clocks(&opened.node);
                }
                let nodes = opened.node.running_nodes();
                Ok(nodes.into_iter().map(NodeView::new).collect())
            }
            Target::Server(remote) => Ok(remote.status()?.nodes),
        }
    }

    pub(super) fn status(&self) -> Outcome<StatusView> {
        match self {
            Target::Store(opened) => {
                let store = opened.node.store_status().map_err(failure)?;
                let sealed_under = opened.node.sealed_under().map_err(failure)?;
                Ok(StatusView::new(opened.node.status(), &store, sealed_under))
            }
            Target::Server(remote) => remote.status(),
        }
    }
}

fn json(settings: &IssuerSettings) -> Outcome<String> {
    serde_json::to_string(settings)
        .map_err(|error| Failure::error(format!("cannot write the settings: {error}")))
}
