//! Streams from the whole store: backup and audit log. A blocking thread reads the store and waits for the client.

use std::io::{self, BufWriter, Write};
use std::pin::Pin;
use std::time::{Duration, Instant};

use jeton_issuer::{
    AuditEntry, AuditFilter, AuditHead, AuditPart, AuditPositions, Error, Node, StoreCheck,
};
use jeton_proto::v1::{
    self as m, AuditEntry as AuditMessage, BackupPart, BackupSummary, CheckStoreResponse,
    ExportAuditPart, ListAuditRequest, backup_part::Part, export_audit_part,
    export_audit_part::Part as ExportPart,
};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::Status;

use super::AdminApi;
use crate::auth::Denied;
use crate::config::Permission;
use crate::failure::Failure;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::service::check_permission;

/// Bytes of a backup in one message.
const PART_BYTES: usize = 64 * 1024;
/// Messages that wait for a slow client.
const WAITING: usize = 4;

/// Sends messages from a blocking thread. It waits for a client no longer than the stall timeout.
pub(super) struct Messenger<T> {
    sender: Sender<Result<T, Status>>,
    stall: Duration,
    runtime: Handle,
}

impl<T> Messenger<T> {
    /// False: the client has gone, or has not read for too long.
    pub(super) fn send(&self, message: Result<T, Status>) -> bool {
        match self.sender.try_send(message) {
            Ok(()) => true,
            Err(TrySendError::Closed(_)) => false,
            Err(TrySendError::Full(message)) => {
                let sent = self.sender.send_timeout(message, self.stall);
                self.runtime.block_on(sent).is_ok()
            }
        }
    }
}

/// A response stream.
pub(crate) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl AdminApi {
    /// Runs work on a blocking thread that sends messages.
    pub(super) fn stream<T: Send + 'static>(
        &self,
        permit: impl FnOnce(&Caller) -> Result<(), Failure>,
        work: impl FnOnce(&Node, &Messenger<T>) -> Result<(), Failure> + Send + 'static,
    ) -> Result<Messages<T>, Status> {
        let started = Instant::now();
        if let Err(failure) = permit(&self.caller) {
            let outcome = failure.outcome();
            self.service
                .count(Some(&self.caller), Call::Admin, outcome, started);
            return Err(failure.status());
        }
        let permit = self.service.admin_streams.acquire(self.caller.name());
        let permit = permit.map_err(|failure| failure.status())?;
        let (service, caller) = (self.service.clone(), self.caller.clone());
        let stall = service.transport.settings.client_stall_timeout;
        let (sender, received) = mpsc::channel(WAITING);
        let sender = Messenger {
            sender,
            stall,
            runtime: Handle::current(),
        };
        tokio::task::spawn_blocking(move || {
            let done = work(&service.node, &sender);
            let outcome = done
                .as_ref()
                .map_or_else(Failure::outcome, |()| CallOutcome::Ok);
            service.count(Some(&caller), Call::Admin, outcome, started);
            if let Err(failure) = done {
                sender.send(Err(failure.status()));
            }
        });
        // The permit ends with the stream: messages wait in it after the work is done.
        Ok(Box::pin(ReceiverStream::new(received).map(
            move |message| {
                let _held = &permit;
                message
            },
        )))
    }
}

/// Backups and checks read every issuer.
pub(super) fn check_whole(caller: &Caller) -> Result<(), Failure> {
    if caller.may_for_all_issuers(Permission::Admin) {
        Ok(())
    } else {
        Err(Denied::Permission(Permission::Admin).into())
    }
}

/// The audit log of one issuer requires the permission for this issuer only.
pub(super) fn check_audit(caller: &Caller, request: &ListAuditRequest) -> Result<(), Failure> {
    match request.issuer.as_str() {
        "" => check_whole(caller),
        iss => check_permission(caller, Permission::Admin, iss),
    }
}

pub(super) fn audit(
    node: &Node,
    request: ListAuditRequest,
    sender: &Messenger<AuditMessage>,
) -> Result<(), Failure> {
    let text = |text: String| (!text.is_empty()).then_some(text);
    let second = |second: i64| (second != 0).then_some(second);
    let filter = AuditFilter {
        iss: text(request.issuer),
        actor: text(request.actor),
        act: text(request.act),
        about: text(request.about),
        since: second(request.since),
        until: second(request.until),
        after: request.after,
        chain: text(request.chain),
        last: (request.last != 0).then_some(request.last as usize),
    };
    node.audit(&filter, &mut |entry| sender.send(Ok(audit_message(entry))))?;
    Ok(())
}

fn audit_message(entry: AuditEntry) -> AuditMessage {
    AuditMessage {
        number: entry.number,
        at: entry.at,
        actor: entry.actor,
        act: entry.act,
        issuer: entry.iss,
        about: entry.about,
        previous: entry.previous,
        chain: entry.chain,
    }
}

pub(super) fn audit_positions(message: Option<m::AuditPositions>) -> AuditPositions {
    let m::AuditPositions { store, chains } = message.unwrap_or_default();
    let chains = chains.into_iter().map(|position| {
        let m::AuditPosition {
            chain,
            number,
            hash,
        } = position;
        (chain, AuditHead { number, hash })
    });
    AuditPositions {
        store,
        chains: chains.collect(),
    }
}

pub(super) fn audit_message_of(positions: AuditPositions) -> m::AuditPositions {
    let chains = positions.chains.into_iter();
    m::AuditPositions {
        store: positions.store,
        chains: chains.map(|(chain, head)| position(chain, head)).collect(),
    }
}

fn position(chain: String, head: AuditHead) -> m::AuditPosition {
    m::AuditPosition {
        chain,
        number: head.number,
        hash: head.hash,
    }
}

pub(super) fn export_audit(
    node: &Node,
    ends: &AuditPositions,
    sender: &Messenger<ExportAuditPart>,
) -> Result<(), Failure> {
    let exported = node.export_audit(ends, &mut |part| {
        let part = match part {
            AuditPart::Begin {
                store,
                chain,
                before,
            } => ExportPart::Begin(export_audit_part::Begin {
                store,
                before: Some(position(chain, before)),
            }),
            AuditPart::Entry(entry) => ExportPart::Entry(entry),
            AuditPart::End => ExportPart::End(export_audit_part::End {}),
        };
        if sender.send(Ok(ExportAuditPart { part: Some(part) })) {
            Ok(())
        } else {
            Err(jeton_store::Error::Closed.into())
        }
    });
    exported.map_err(Failure::from)
}

pub(super) fn backup(node: &Node, sender: &Messenger<BackupPart>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(PART_BYTES, Parts(sender));
    let made = node.back_up(&mut out)?;
    let summary = BackupSummary {
        revision: made.revision.number(),
        at: made.at,
        entries: made.entries,
        audit_entries: made.audit_entries,
    };
    let part = Part::Summary(summary);
    sender.send(Ok(BackupPart { part: Some(part) }));
    Ok(())
}

pub(super) fn check(node: &Node) -> Result<CheckStoreResponse, Failure> {
    let damaged = |error: Error| match error {
        Error::Audit(_) | Error::Record(_) | Error::Store(jeton_store::Error::Damaged(_)) => {
            Ok(CheckStoreResponse {
                damage: error.to_string(),
                ..CheckStoreResponse::default()
            })
        }
        other => Err(Failure::from(other)),
    };
    let found = |found: StoreCheck| CheckStoreResponse {
        records: found.records,
        audit_entries: found.audit_entries,
        last_hash: found.last_hash.unwrap_or_default(),
        damage: String::new(),
    };
    node.check_store().map(found).or_else(damaged)
}

/// Sends what is written to it, in messages.
struct Parts<'s>(&'s Messenger<BackupPart>);

impl Write for Parts<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PART_BYTES)];
        let part = Part::Data(bytes.to_vec());
        if self.0.send(Ok(BackupPart { part: Some(part) })) {
            Ok(bytes.len())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
