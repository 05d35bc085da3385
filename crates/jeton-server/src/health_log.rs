//! What is wrong with the node, as the log tells it: when it begins, and when it is over. Not for every
//! request that fails meanwhile.

use jeton_issuer::Status;

/// What the log was told last.
#[derive(Debug, Default)]
pub(crate) struct HealthLog {
    is_ready: Option<bool>,
    fault: Option<String>,
    has_warning: bool,
    write_failures: u64,
}

impl HealthLog {
    /// The node is like that now.
    pub(crate) fn observe(&mut self, status: &Status) {
        let failures = status.write_failures.saturating_sub(self.write_failures);
        match (&self.fault, &status.fault) {
            (None, None) if failures > 0 => tracing::error!(
                failures,
                "the store failed to write, and writes again by itself"
            ),
            (was, Some(fault)) if was.as_ref() != Some(fault) => {
                tracing::error!(fault, write_failures = status.write_failures, "not ready");
            }
            (Some(_), None) => tracing::info!(
                write_failures = status.write_failures,
                "what was wrong is over"
            ),
            _ => {}
        }
        if status.fault.is_none() && self.fault.is_none() && self.is_ready == Some(!status.is_ready)
        {
            match status.is_ready {
                true => tracing::info!("ready again"),
                false => tracing::warn!(
                    heard_milliseconds_ago =
                        u64::try_from(status.heard.as_millis()).unwrap_or(u64::MAX),
                    issuers = status.issuers.len(),
                    "not ready: the view of the store is too old, or a profile has no key that signs"
                ),
            }
        }
        // How far clocks are apart differs from look to look: it is the beginning and the end that count.
        match &status.warning {
            Some(warning) if !self.has_warning => tracing::warn!(warning, "look at the clock"),
            None if self.has_warning => tracing::info!("what was told about the clock is over"),
            _ => {}
        }
        self.has_warning = status.warning.is_some();
        self.is_ready = Some(status.is_ready);
        self.fault.clone_from(&status.fault);
        self.write_failures = status.write_failures;
    }
}
