//! Streams from the whole store: backup and audit log. A blocking thread reads the store and waits for the client.

use std::io::{self, BufWriter, Write};
use std::pin::Pin;
use std::time::Instant;

use jeton_issuer::{AuditEntry, AuditFilter, Error, Node, StoreCheck};
use jeton_proto::v1::{
    AuditEntry as AuditMessage, BackupPart, BackupSummary, CheckStoreResponse, ListAuditRequest,
    backup_part::Part,
};
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::AdminApi;
use crate::auth::Denied;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::{Caller, Permission};
use crate::service::{Failure, check_permission};

/// Bytes of a backup in one message.
const PART_BYTES: usize = 64 * 1024;
/// Messages that wait for a slow client.
const WAITING: usize = 4;

/// A response stream.
pub(crate) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl AdminApi {
    /// Runs work on a blocking thread that sends messages.
    pub(super) fn stream<T: Send + 'static>(
        &self,
        permit: impl FnOnce(&Caller) -> Result<(), Failure>,
        work: impl FnOnce(&Node, &Sender<Result<T, Status>>) -> Result<(), Failure> + Send + 'static,
    ) -> Result<Messages<T>, Status> {
        let started = Instant::now();
        if let Err(failure) = permit(&self.caller) {
            let outcome = failure.outcome();
            self.service.metrics.count(Call::Admin, outcome, started);
            return Err(failure.status());
        }
        let service = self.service.clone();
        let (sender, received) = mpsc::channel(WAITING);
        tokio::task::spawn_blocking(move || {
            let done = work(&service.node, &sender);
            let outcome = done
                .as_ref()
                .map_or_else(Failure::outcome, |()| CallOutcome::Ok);
            service.metrics.count(Call::Admin, outcome, started);
            if let Err(failure) = done {
                // Without a receiver the client has gone.
                let _ = sender.blocking_send(Err(failure.status()));
            }
        });
        Ok(Box::pin(ReceiverStream::new(received)))
    }
}

/// Backups and checks read every issuer.
pub(super) fn check_whole(caller: &Caller) -> Result<(), Failure> {
    match caller.may_for_all_issuers(Permission::Admin) {
        true => Ok(()),
        false => Err(Denied::Permission(Permission::Admin).into()),
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
    sender: &Sender<Result<AuditMessage, Status>>,
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
        last: (request.last != 0).then_some(request.last as usize),
    };
    node.audit(&filter, &mut |entry| {
        sender.blocking_send(Ok(audit_message(entry))).is_ok()
    })?;
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
    }
}

pub(super) fn backup(
    node: &Node,
    sender: &Sender<Result<BackupPart, Status>>,
) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(PART_BYTES, Parts(sender));
    let made = node.back_up(&mut out)?;
    let summary = BackupSummary {
        revision: made.revision.number(),
        at: made.at,
        entries: made.entries,
        audit_entries: made.audit_entries,
    };
    let part = Part::Summary(summary);
    let _ = sender.blocking_send(Ok(BackupPart { part: Some(part) }));
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
struct Parts<'s>(&'s Sender<Result<BackupPart, Status>>);

impl Write for Parts<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(PART_BYTES)];
        let part = Part::Data(bytes.to_vec());
        let sent = self.0.blocking_send(Ok(BackupPart { part: Some(part) }));
        match sent {
            Ok(()) => Ok(bytes.len()),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
