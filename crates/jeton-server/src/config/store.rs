//! The store: an etcd, and how old the view of it may be.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::Config;
use super::problem::Problem;
use crate::limits;

/// TLS and authentication for an etcd.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Etcd {
    /// PEM file: certificate authorities of the etcd. Required for `etcds://`.
    pub ca: Option<PathBuf>,
    /// PEM file: the server's client certificate for the etcd.
    pub certificate: Option<PathBuf>,
    /// PEM file: the private key of the client certificate.
    pub key: Option<PathBuf>,
    /// User name, if etcd authentication is enabled.
    pub user: Option<String>,
    /// The file with the user's password.
    pub password_file: Option<PathBuf>,
}

/// What a server does when its view of the store is too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenStale {
    /// Verifies no token.
    Refuse,
    /// Continues to verify and reports that it is not ready.
    Verify,
}

impl Config {
    /// How often the view is compared with the store. Only a shared store has a view that is told of changes by others.
    pub(crate) fn compare_every(&self) -> Option<Duration> {
        let seconds = self.store_comparison_seconds;
        (self.store.is_some() && seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// How long tokens are issued without contact to the store.
    pub(crate) fn issue_without_store(&self) -> Duration {
        let default = jeton_issuer::limits::ISSUE_WITHOUT_STORE.as_secs();
        let seconds = self.store_outage_issuing_seconds;
        Duration::from_secs(seconds.unwrap_or(default.max(self.freshness_seconds)))
    }
}

pub(super) fn problem(config: &Config) -> Option<Problem> {
    if let Some((key, what)) = etcd_problem(config) {
        return Some(Problem::new(key, what));
    }
    if let Some(what) = freshness_problem(config.freshness_seconds) {
        return Some(Problem::new("freshness_seconds", what));
    }
    if let Some(what) = comparison_problem(config.store_comparison_seconds) {
        return Some(Problem::new("store_comparison_seconds", what));
    }
    let (issuing, fresh) = (
        config.issue_without_store().as_secs(),
        config.freshness_seconds,
    );
    if !(fresh..=limits::STORE_OUTAGE_ISSUING_SECONDS_MAX).contains(&issuing) {
        let max = limits::STORE_OUTAGE_ISSUING_SECONDS_MAX;
        let what =
            format!("must be between {fresh} (`freshness_seconds`) and {max}, got {issuing}");
        return Some(Problem::new("store_outage_issuing_seconds", what));
    }
    None
}

/// Checks the interval of comparisons. Each reads the whole store.
fn comparison_problem(seconds: u64) -> Option<String> {
    let (min, max) = (
        limits::STORE_COMPARISON_SECONDS_MIN,
        limits::STORE_COMPARISON_SECONDS_MAX,
    );
    let what = format!("must be 0 (never), or between {min} and {max}, got {seconds}");
    (seconds != 0 && !(min..=max).contains(&seconds)).then_some(what)
}

/// Checks that credentials come in pairs.
fn etcd_problem(config: &Config) -> Option<(&'static str, &'static str)> {
    let etcd = config.etcd.as_ref()?;
    if etcd.certificate.is_some() != etcd.key.is_some() {
        return Some((
            "etcd.certificate",
            "requires `etcd.key`, and the other way round",
        ));
    }
    if etcd.user.is_some() != etcd.password_file.is_some() {
        return Some((
            "etcd.user",
            "requires `etcd.password_file`, and the other way round",
        ));
    }
    None
}

/// Checks the freshness bound. Below the store's heartbeat, an idle node would be stale between two reports.
fn freshness_problem(seconds: u64) -> Option<String> {
    let interval = jeton_store::limits::PROGRESS_EVERY.as_secs();
    let (min, max) = (jeton_store::limits::FRESHNESS_LEAST.as_secs(), 3600);
    let what = format!(
        "must be between {min} and {max}, got {seconds}: an idle store sends a heartbeat every {interval} s"
    );
    (!(min..=max).contains(&seconds)).then_some(what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn view_is_compared_with_a_shared_store_only() {
        let interval = |text: &str| Config::from_toml(text).unwrap().compare_every();
        let store = "store = 'etcd://127.0.0.1:2379'\n";
        assert_eq!(interval(store), Some(Duration::from_secs(3600)));
        let set = |seconds: u64| format!("{store}store_comparison_seconds = {seconds}");
        assert_eq!(interval(&set(10)), Some(Duration::from_secs(10)));
        assert_eq!(interval(&set(0)), None);
        assert_eq!(interval("store_comparison_seconds = 10"), None);
    }
}
