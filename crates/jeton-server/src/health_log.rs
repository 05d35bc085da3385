//! Logs changes of the node's health.
//!
//! Each problem is logged once when it starts and once when it ends, not for every failed request.

use jeton_issuer::{Cause, Status};

/// The state at the last log line.
#[derive(Debug, Default)]
pub(crate) struct HealthLog {
    is_ready: Option<bool>,
    problem: Option<String>,
    has_warning: bool,
    rotation_due: Option<String>,
    write_failures: u64,
    differences: u64,
    store_went_back: u64,
    lost_history_tokens: u64,
}

impl HealthLog {
    /// Compares a status with the previous one and logs the difference.
    pub(crate) fn observe(&mut self, status: &Status) {
        if status.differences > self.differences
            && let Some(difference) = &status.last_difference
        {
            tracing::error!(
                difference,
                "the view differed from the store: everything is loaded again"
            );
        }
        self.differences = status.differences;
        if status.store_went_back > self.store_went_back {
            tracing::error!(
                revision = status.revision.number(),
                "the store went back to an earlier state: repeat the revocations and changes since then"
            );
        }
        self.store_went_back = status.store_went_back;
        if status.lost_history_tokens > 0 && self.lost_history_tokens == 0 {
            tracing::error!(
                "a token is of a history that the store has lost: repeat the revocations and changes since then"
            );
        }
        self.lost_history_tokens = status.lost_history_tokens;
        let failures = status.write_failures.saturating_sub(self.write_failures);
        match (&self.problem, &status.fault) {
            (None, None) if failures > 0 => {
                tracing::error!(failures, "writing to the store failed and has recovered")
            }
            (was, Some(problem)) if was.as_ref() != Some(problem) => {
                tracing::error!(
                    cause = status.cause.map(Cause::name),
                    problem,
                    write_failures = status.write_failures,
                    issue = status.ready.issue,
                    verify = status.ready.verify,
                    revoke = status.ready.revoke,
                    "problem"
                );
            }
            (Some(_), None) => {
                tracing::info!(write_failures = status.write_failures, "problem resolved")
            }
            _ => {}
        }
        // A line about a new problem has the readiness.
        if status.fault == self.problem && self.is_ready == Some(!status.is_ready()) {
            if status.is_ready() {
                tracing::info!("ready again")
            } else {
                tracing::warn!(
                    cause = status.cause.map(Cause::name),
                    last_contact_milliseconds =
                        u64::try_from(status.heard.as_millis()).unwrap_or(u64::MAX),
                    issuers = status.issuers.len(),
                    "not ready: {}",
                    status.cause.map_or("", Cause::sentence)
                )
            }
        }
        // The measured clock difference changes with each check, so only start and end are logged.
        match &status.warning {
            Some(warning) if !self.has_warning => tracing::warn!(warning, "clock warning"),
            None if self.has_warning => tracing::info!("clock warning resolved"),
            _ => {}
        }
        if let Some(due) = &status.rotation_due
            && self.rotation_due.as_ref() != Some(due)
        {
            tracing::warn!(due, "a key is due for rotation");
        }
        self.rotation_due.clone_from(&status.rotation_due);
        self.has_warning = status.warning.is_some();
        self.is_ready = Some(status.is_ready());
        self.problem.clone_from(&status.fault);
        self.write_failures = status.write_failures;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use jeton_issuer::Ready;
    use jeton_store::Revision;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn status(fault: Option<&str>, is_fresh: bool) -> Status {
        Status {
            ready: Ready {
                issue: is_fresh,
                verify: is_fresh,
                revoke: is_fresh && fault.is_none(),
            },
            revision: Revision::from_number(1),
            heard: Duration::ZERO,
            is_fresh,
            revocations: 0,
            rules: 0,
            audit_entries: 0,
            issuers: vec!["i".to_owned()],
            stale_answers: 0,
            is_writable: fault.is_none(),
            write_failures: 0,
            fault: fault.map(str::to_owned),
            cause: fault.map(|_| Cause::StoreFull),
            since: None,
            comparisons: 0,
            incomplete_comparisons: 0,
            differences: 0,
            last_difference: None,
            remote_keys_fault: None,
            rotation_due: None,
            store_went_back: 0,
            lost_history_tokens: 0,
            nodes: 1,
            clock_difference: 0,
            warning: None,
        }
    }

    /// A full store is a problem of a ready server, which can become unready for another reason.
    #[test]
    fn readiness_that_changes_during_a_problem_is_logged() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .finish();
        let full = Some("no space");
        tracing::subscriber::with_default(subscriber, || {
            let mut log = HealthLog::default();
            for status in [
                status(None, true),
                status(full, true),
                status(full, false),
                status(full, false),
                status(full, true),
                status(None, true),
            ] {
                log.observe(&status);
            }
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let said: Vec<_> = text.lines().collect();
        let expected = ["problem ", "not ready: ", "ready again", "problem resolved"];
        assert_eq!(said.len(), expected.len(), "{text}");
        let mut all = said.iter().zip(expected);
        assert!(all.all(|(line, part)| line.contains(part)), "{text}");
    }
}
