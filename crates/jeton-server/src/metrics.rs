//! Counters and histograms of calls and connections. All are atomic, so counting never blocks.

mod client_calls;
mod process;
mod rejections;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jeton_transport::ConnectionCounters;

pub(crate) use client_calls::{ClientCalls, ClientCount, write as write_client_calls};

/// A method or endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Call {
    Issue,
    Verify,
    IssueBatch,
    VerifyBatch,
    IssueStream,
    VerifyStream,
    Revoke,
    WatchRevocations,
    Keys,
    GenerateJwt,
    Introspect,
    RevokeForm,
    Token,
    ForwardAuth,
    KeySet,
    Metadata,
    Admin,
}

impl Call {
    const ALL: [Call; 17] = [
        Call::Issue,
        Call::Verify,
        Call::IssueBatch,
        Call::VerifyBatch,
        Call::IssueStream,
        Call::VerifyStream,
        Call::Revoke,
        Call::WatchRevocations,
        Call::Keys,
        Call::GenerateJwt,
        Call::Introspect,
        Call::RevokeForm,
        Call::Token,
        Call::ForwardAuth,
        Call::KeySet,
        Call::Metadata,
        Call::Admin,
    ];

    fn name(self) -> &'static str {
        match self {
            Call::Issue => "issue",
            Call::Verify => "verify",
            Call::IssueBatch => "issue_batch",
            Call::VerifyBatch => "verify_batch",
            Call::IssueStream => "issue_stream",
            Call::VerifyStream => "verify_stream",
            Call::Revoke => "revoke",
            Call::WatchRevocations => "watch_revocations",
            Call::Keys => "keys",
            Call::GenerateJwt => "generate_jwt",
            Call::Introspect => "introspect",
            Call::RevokeForm => "revoke_form",
            Call::Token => "token",
            Call::ForwardAuth => "forward_auth",
            Call::KeySet => "key_set",
            Call::Metadata => "metadata",
            Call::Admin => "admin",
        }
    }
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum CallOutcome {
    /// The call succeeded.
    Ok,
    /// The token was rejected.
    Rejected,
    /// The request was invalid, or the caller lacks permission.
    ClientError,
    /// A limit was exceeded, or the server is overloaded.
    Overloaded,
    /// The server failed.
    ServerError,
}

const OUTCOMES: [(CallOutcome, &str); 5] = [
    (CallOutcome::Ok, "ok"),
    (CallOutcome::Rejected, "rejected"),
    (CallOutcome::ClientError, "client_error"),
    (CallOutcome::Overloaded, "overloaded"),
    (CallOutcome::ServerError, "server_error"),
];

/// Upper bounds of the histogram buckets, in microseconds.
const BOUNDS: [u64; 10] = [
    25, 50, 100, 250, 500, 1_000, 5_000, 25_000, 100_000, 1_000_000,
];

/// The counters of a server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    calls: [CallMetrics; Call::ALL.len()],
    /// Tokens issued, including batches and streams.
    pub(crate) issued: AtomicU64,
    /// Tokens verified, including batches and streams.
    pub(crate) verified: AtomicU64,
    pub(crate) requests_blocked: AtomicU64,
    /// Revocations beyond the budget of a client or an issuer.
    pub(crate) revocations_refused: AtomicU64,
    pub(crate) rejections: rejections::Rejections,
    /// When the server's certificate ends, seconds since 1970. 0: no TLS.
    pub(crate) certificate_end: AtomicI64,
    process: process::Process,
}

#[derive(Debug, Default)]
struct CallMetrics {
    outcomes: [AtomicU64; OUTCOMES.len()],
    buckets: [AtomicU64; BOUNDS.len()],
    nanoseconds: AtomicU64,
}

impl Metrics {
    /// Counts a finished call.
    pub(crate) fn count(&self, call: Call, outcome: CallOutcome, started: Instant) {
        let call_metrics = &self.calls[call as usize];
        call_metrics.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
        let took = started.elapsed();
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        call_metrics
            .nanoseconds
            .fetch_add(nanoseconds, Ordering::Relaxed);
        if let Some(bucket) = bucket(took) {
            call_metrics.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes OpenMetrics text, without the final `# EOF`.
    pub(crate) fn write(&self, connections: &ConnectionCounters, text: &mut String) {
        use std::fmt::Write as _;
        text.push_str("# HELP jeton_calls Calls by outcome.\n# TYPE jeton_calls counter\n");
        for call in Call::ALL {
            for (outcome, name) in OUTCOMES {
                let count =
                    self.calls[call as usize].outcomes[outcome as usize].load(Ordering::Relaxed);
                let call = call.name();
                let _ = writeln!(
                    text,
                    "jeton_calls_total{{call=\"{call}\",outcome=\"{name}\"}} {count}"
                );
            }
        }
        text.push_str(
            "# HELP jeton_call_seconds Duration of calls, from request to response.\n\
             # TYPE jeton_call_seconds histogram\n# UNIT jeton_call_seconds seconds\n",
        );
        for call in Call::ALL {
            self.calls[call as usize].write(call.name(), text);
        }
        self.rejections.write(text);
        self.process.write(text);
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let single = [
            (
                "tokens_issued",
                "Tokens issued, including batches and streams.",
                load(&self.issued),
            ),
            (
                "tokens_verified",
                "Tokens verified, including batches and streams.",
                load(&self.verified),
            ),
            (
                "connections_accepted",
                "Connections accepted since the start.",
                connections.accepted.get(),
            ),
            (
                "connections_rejected",
                "Connections rejected at the limit of connections or of memory.",
                connections.rejected.get(),
            ),
            (
                "tls_handshakes_failed",
                "Failed TLS handshakes.",
                connections.tls_handshakes_failed.get(),
            ),
            (
                "connections_stalled",
                "Connections closed because the client stopped reading or sending.",
                connections.stalled.get(),
            ),
            (
                "streams_stalled",
                "Calls ended because the client did not read the response.",
                connections.streams_stalled.get(),
            ),
            (
                "idle_connections_closed",
                "Idle connections closed at the connection limit.",
                connections.idle_closed.get(),
            ),
            (
                "requests_blocked",
                "Requests blocked before authentication: unknown host, page of another site, wrong method or content type.",
                load(&self.requests_blocked),
            ),
            (
                "revocations_refused",
                "Calls to revoke that were refused because the client or the issuer has used its budget.",
                load(&self.revocations_refused),
            ),
        ];
        for (name, help, count) in single {
            let _ = writeln!(
                text,
                "# HELP jeton_{name} {help}\n# TYPE jeton_{name} counter\njeton_{name}_total {count}"
            );
        }
    }
}

impl CallMetrics {
    fn write(&self, call: &str, text: &mut String) {
        use std::fmt::Write as _;
        let mut below = 0;
        for (bound, bucket) in BOUNDS.iter().zip(&self.buckets) {
            below += bucket.load(Ordering::Relaxed);
            let bound = seconds(*bound);
            let _ = writeln!(
                text,
                "jeton_call_seconds_bucket{{call=\"{call}\",le=\"{bound}\"}} {below}"
            );
        }
        // The sum of the outcomes, and no separate counter: the total must not be less than the buckets when
        // it is read while calls are counted.
        let all: u64 = self
            .outcomes
            .iter()
            .map(|outcome| outcome.load(Ordering::Relaxed))
            .sum();
        let all = all.max(below);
        let nanoseconds = self.nanoseconds.load(Ordering::Relaxed);
        let _ = writeln!(
            text,
            "jeton_call_seconds_bucket{{call=\"{call}\",le=\"+Inf\"}} {all}\n\
             jeton_call_seconds_sum{{call=\"{call}\"}} {}.{:09}\n\
             jeton_call_seconds_count{{call=\"{call}\"}} {all}",
            nanoseconds / 1_000_000_000,
            nanoseconds % 1_000_000_000,
        );
    }
}

/// A text as the value of a label.
pub(crate) fn label(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// The index of the histogram bucket. `None` above the last bound.
fn bucket(took: Duration) -> Option<usize> {
    let microseconds = took.as_micros();
    BOUNDS
        .iter()
        .position(|bound| microseconds <= u128::from(*bound))
}

fn seconds(microseconds: u64) -> String {
    let text = format!(
        "{}.{:06}",
        microseconds / 1_000_000,
        microseconds % 1_000_000
    );
    let text = text.trim_end_matches('0');
    match text.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_produces_open_metrics_text() {
        let metrics = Metrics::default();
        metrics.count(Call::Issue, CallOutcome::Ok, Instant::now());
        let mut text = String::new();
        metrics.write(&ConnectionCounters::default(), &mut text);
        assert!(text.contains("jeton_calls_total{call=\"issue\",outcome=\"ok\"} 1\n"));
        assert!(text.contains("jeton_call_seconds_bucket{call=\"issue\",le=\"+Inf\"} 1\n"));
        assert_eq!(seconds(25), "0.000025");
        assert_eq!(seconds(1_000_000), "1.0");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            assert_eq!(line.split(' ').count(), 2, "{line}");
        }
    }
}
