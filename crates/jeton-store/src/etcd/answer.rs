//! Converts answers of etcd.

use tonic::{Code, ConnectError, Status};

use super::api::{KeyValue, ResponseHeader};
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::revision::Revision;

/// Message of etcd for a compacted revision.
pub(super) const COMPACTED: &str = "required revision has been compacted";

/// Message of etcd for a future revision.
pub(super) const FUTURE: &str = "required revision is a future revision";

/// Returns whether the message of an error contains these words. etcd has no error codes for them.
pub(super) fn says(error: &Status, words: &str) -> bool {
    error.message().contains(words)
}

/// Converts an error that is not about a revision.
pub(super) fn failure(error: &Status) -> Error {
    use std::io::ErrorKind;
    if says(error, "database space exceeded") {
        return Error::Full;
    }
    // Rejected before it was proposed to the other members: it has not happened.
    if says(error, "too many requests") {
        return Error::Overloaded;
    }
    let kind = match error.code() {
        Code::DeadlineExceeded => ErrorKind::TimedOut,
        Code::PermissionDenied | Code::Unauthenticated => ErrorKind::PermissionDenied,
        // etcd has the code for an invalid argument here.
        _ if says(error, "authentication failed") || says(error, "user name is empty") => {
            ErrorKind::PermissionDenied
        }
        _ if never_left(error) => ErrorKind::NotConnected,
        _ => ErrorKind::ConnectionAborted,
    };
    // Only the message: the full output of a status is not meant for people.
    Error::Io(kind, format!("etcd: {}", error.message()))
}

/// The error for a stream that etcd ended.
pub(super) fn interrupted() -> Error {
    let words = "etcd: the connection was interrupted";
    Error::Io(std::io::ErrorKind::ConnectionAborted, words.to_owned())
}

/// Returns whether the call certainly did not happen and another member may accept it. Either there was no
/// connection, or the member has no leader and rejected the call first.
pub(super) fn never_happened(error: &Status) -> bool {
    never_left(error) || says(error, "etcdserver: no leader")
}

/// Returns whether a member gave up an accepted call for a temporary reason.
pub(super) fn was_given_up(error: &Status) -> bool {
    says(error, "etcdserver: leader changed") || says(error, "etcdserver: request timed out")
}

/// Returns whether the authentication token is no longer valid: it has expired, its member has restarted, or the
/// users of etcd have changed.
pub(super) fn wants_another_token(error: &Status) -> bool {
    says(error, "revision of auth store is old") || says(error, "invalid auth token")
}

fn never_left(error: &Status) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<ConnectError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// etcd's revisions are positive.
pub(super) fn revision(number: i64) -> Revision {
    Revision::from_number(u64::try_from(number).unwrap_or_default())
}

/// etcd uses signed numbers.
pub(super) fn number(revision: Revision) -> i64 {
    i64::try_from(revision.number()).unwrap_or(i64::MAX)
}

pub(super) fn header(header: Option<ResponseHeader>) -> Result<ResponseHeader> {
    header.ok_or_else(|| damaged("an answer without a header"))
}

/// Converts a key-value pair under the root.
pub(super) fn entry(root: &str, pair: KeyValue) -> Result<Entry> {
    Ok(Entry {
        key: key(root, &pair.key)?,
        value: pair.value,
        changed: revision(pair.mod_revision),
    })
}

pub(super) fn key(root: &str, bytes: &[u8]) -> Result<Key> {
    let text = std::str::from_utf8(bytes).ok();
    let written = text.and_then(|text| text.strip_prefix(root));
    written
        .and_then(|written| Key::parse(written).ok())
        .ok_or_else(|| damaged("a key under the root that jeton never writes"))
}

fn damaged(what: &str) -> Error {
    Error::Damaged(what.to_owned())
}
