//! Logs changes of the node's health.
//!
//! Each problem is logged once when it starts and once when it ends, not for every failed request.

use jeton_issuer::Status;

/// The state at the last log line.
#[derive(Debug, Default)]
pub(crate) struct HealthLog {
    is_ready: Option<bool>,
    problem: Option<String>,
    has_warning: bool,
    rotation_due: Option<String>,
    write_failures: u64,
    differences: u64,
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
        let failures = status.write_failures.saturating_sub(self.write_failures);
        match (&self.problem, &status.fault) {
            (None, None) if failures > 0 => {
                tracing::error!(failures, "writing to the store failed and has recovered")
            }
            (was, Some(problem)) if was.as_ref() != Some(problem) => {
                tracing::error!(
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
        if status.fault.is_none()
            && self.problem.is_none()
            && self.is_ready == Some(!status.is_ready())
        {
            if status.is_ready() {
                tracing::info!("ready again")
            } else {
                tracing::warn!(
                    last_contact_milliseconds =
                        u64::try_from(status.heard.as_millis()).unwrap_or(u64::MAX),
                    issuers = status.issuers.len(),
                    "not ready: the view of the store is too old, or a profile has no active signing key"
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
