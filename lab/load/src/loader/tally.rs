//! Counts the outcomes of calls.

use std::collections::BTreeMap;
use std::time::Instant;

use jeton_lab_model::servers::{Call, Latencies};

/// The outcome of one call, or of one message of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// The server's `grpc-status`, or that of one item. 0 means that everything requested arrived,
    /// also for HTTP 200.
    Status(u8),
    /// Another HTTP status, without gRPC.
    Http(u16),
    /// The answer is not gRPC, or lacks requested tokens.
    Garbage,
    /// The answer has a token that does not verify.
    WrongToken,
    /// A token that must be rejected was accepted.
    Accepted,
    /// The connection was lost during the call.
    Lost,
    /// The server did not accept the connection.
    NotConnected,
    /// No answer within the time limit after the load.
    Unanswered,
    /// The call was due but never made: all allowed calls were in flight.
    NotSent,
}

impl End {
    /// Everything requested arrived.
    pub const OK: Self = Self::Status(0);

    /// Returns the outcome of a correct answer to a call.
    pub(crate) fn right(call: Call) -> Self {
        match call {
            // FAILED_PRECONDITION: the token is rejected.
            Call::VerifyRevoked => Self::Status(9),
            Call::PassRevoked => Self::Http(401),
            Call::GenerateJwt
            | Call::Issue
            | Call::IssueBatch
            | Call::IssueStream
            | Call::Verify
            | Call::VerifyBatch
            | Call::VerifyStream
            | Call::Introspect
            | Call::Pass
            | Call::PassDifferent => Self::OK,
        }
    }

    /// Returns its name in every table; for a status, gRPC's own.
    #[must_use]
    pub fn name(self) -> String {
        /// In numeric order.
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

/// The measured time of a load.
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
    /// Counts a call that took from `began` to `ended`. Only calls with a token have a latency: a
    /// fast error does not make a server fast.
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
