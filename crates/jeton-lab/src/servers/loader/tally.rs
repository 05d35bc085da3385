//! What became of calls, counted.

use std::collections::BTreeMap;
use std::time::Instant;

use super::latencies::Latencies;

/// What became of one call, or of one message of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// The server's `grpc-status`, or what it says of one of many; 0 came with all that was asked for, and so did HTTP's 200.
    Status(u8),
    /// Another status of HTTP, where no gRPC is spoken.
    Http(u16),
    /// It was answered with something that is no gRPC, or not with all the tokens that were asked for.
    Garbage,
    /// It was answered with a token that does not verify.
    WrongToken,
    /// It was about a token that had to be refused, and was answered as if it were good.
    Accepted,
    /// The connection went away under it.
    Lost,
    /// The server took no connection to make it on.
    NotConnected,
    /// It had no answer when the load was over and a while had passed.
    Unanswered,
    /// It was due and never made: every call that may be in flight was.
    NotSent,
}

impl End {
    /// What was asked for came back.
    pub const OK: Self = Self::Status(0);

    /// The word for it in every table: gRPC's own for a status.
    #[must_use]
    pub fn name(self) -> String {
        /// In the order of their numbers.
        const STATUSES: [&str; 17] = [
            "OK",
            "Canceled",
            "Unknown",
            "InvalidArgument",
            "DeadlineExceeded",
            "NotFound",
            "AlreadyExists",
            "PermissionDenied",
            "ResourceExhausted",
            "FailedPrecondition",
            "Aborted",
            "OutOfRange",
            "Unimplemented",
            "Internal",
            "Unavailable",
            "DataLoss",
            "Unauthenticated",
        ];
        match self {
            Self::Status(number) => STATUSES
                .get(usize::from(number))
                .map_or_else(|| format!("status {number}"), |name| (*name).to_owned()),
            Self::Http(status) => format!("HTTP {status}"),
            Self::Garbage => "garbage".to_owned(),
            Self::WrongToken => "wrong token".to_owned(),
            Self::Accepted => "accepted".to_owned(),
            Self::Lost => "connection lost".to_owned(),
            Self::NotConnected => "not connected".to_owned(),
            Self::Unanswered => "unanswered".to_owned(),
            Self::NotSent => "not sent".to_owned(),
        }
    }
}

/// When a load is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) from: Instant,
    pub(super) until: Instant,
}

impl Window {
    pub(super) fn holds(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// All calls of a load that count.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) ends: BTreeMap<End, u64>,
    pub(super) latencies: Latencies,
    pub(super) verified: u64,
    /// What was wrong with the first token that did not verify.
    pub(super) wrong_token: Option<String>,
}

impl Tally {
    /// Counts a call that took from `began` to `ended`. Only a token's latency is kept: an error that
    /// comes fast makes no server fast.
    pub(super) fn count(&mut self, end: End, began: Instant, ended: Instant) {
        *self.ends.entry(end).or_default() += 1;
        if end == End::OK {
            let took = ended.saturating_duration_since(began).as_nanos();
            self.latencies
                .record(u64::try_from(took).unwrap_or(u64::MAX));
        }
    }

    pub(super) fn count_only(&mut self, end: End, times: u64) {
        if times > 0 {
            *self.ends.entry(end).or_default() += times;
        }
    }
}
