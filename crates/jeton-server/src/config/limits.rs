//! Limits for clients that an operator can set.

use std::net::IpAddr;
use std::time::Duration;

use jeton_transport::Settings;
use serde::Deserialize;

use super::problem::Problem;
use crate::limits;

/// Configurable limits for clients. [`limits`](crate::limits) has the defaults and the fixed limits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Limits {
    pub message_bytes: usize,
    pub token_bytes: Option<usize>,
    pub batch_items: usize,
    pub calls_per_connection: u32,
    pub header_bytes: u32,
    pub connections: usize,
    pub memory_bytes: usize,
    pub memory_share_bytes: usize,
    pub proxies: Vec<IpAddr>,
    pub revocation_watchers: usize,
    pub revocation_watchers_per_client: Option<usize>,
    pub revocation_rules_per_client: usize,
    pub client_stall_timeout_seconds: u64,
    pub worker_delay_milliseconds: u64,
}

impl Limits {
    /// Maximum length of a token in every call: the configured value, or the default if requests can carry it.
    pub(crate) fn token_bytes(&self) -> usize {
        let default = jeton_issuer::limits::TOKEN_BYTES;
        self.token_bytes
            .unwrap_or_else(|| default.min(self.longest_token()))
    }

    /// The limits of the transport.
    pub(crate) fn transport(&self) -> Settings {
        Settings {
            connections: self.connections,
            calls_per_connection: self.calls_per_connection,
            header_bytes: self.header_bytes,
            memory_bytes: self.memory_bytes,
            memory_share_bytes: self.memory_share_bytes,
            proxies: self.proxies.iter().map(IpAddr::to_canonical).collect(),
            client_stall_timeout: Duration::from_secs(self.client_stall_timeout_seconds),
            worker_delay: Duration::from_millis(self.worker_delay_milliseconds),
        }
    }

    /// Maximum number of streams of one client that follow revocations.
    pub(crate) fn watchers_per_client(&self) -> usize {
        let each = self.revocation_watchers_per_client;
        each.unwrap_or(limits::REVOCATION_WATCHERS_PER_CLIENT)
            .min(self.revocation_watchers)
    }

    /// Maximum length of a form with a token.
    pub(crate) fn form_bytes(&self) -> usize {
        self.token_bytes() + limits::FORM_OVERHEAD_BYTES
    }

    /// Maximum length of a token that fits into a request.
    fn longest_token(&self) -> usize {
        self.message_bytes.saturating_sub(limits::NAMES_BYTES)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_bytes: limits::MESSAGE_BYTES,
            token_bytes: None,
            batch_items: limits::BATCH_ITEMS,
            calls_per_connection: limits::CALLS_PER_CONNECTION,
            header_bytes: limits::HEADER_BYTES,
            connections: limits::CONNECTIONS,
            memory_bytes: limits::MEMORY_BYTES,
            memory_share_bytes: limits::MEMORY_SHARE_BYTES,
            proxies: Vec::new(),
            revocation_watchers: limits::REVOCATION_WATCHERS,
            revocation_watchers_per_client: None,
            revocation_rules_per_client: jeton_issuer::limits::RULES_PER_CLIENT,
            client_stall_timeout_seconds: limits::CLIENT_STALL_TIMEOUT.as_secs(),
            worker_delay_milliseconds: limits::WORKER_DELAY_MILLISECONDS,
        }
    }
}

pub(super) fn problem(limits: &Limits) -> Option<Problem> {
    if !(limits::MESSAGE_BYTES_MIN..=64 * 1024 * 1024).contains(&limits.message_bytes) {
        let (bytes, min) = (limits.message_bytes, limits::MESSAGE_BYTES_MIN);
        let what = format!("must be between {min} and 67108864, got {bytes}");
        return Some(Problem::new("limits.message_bytes", what));
    }
    if let Some(what) = limits
        .token_bytes
        .and_then(|bytes| token_problem(limits, bytes))
    {
        return Some(Problem::new("limits.token_bytes", what));
    }
    let wrong = |key: &str, what: &str| Some(Problem::new(key, what));
    if !(1..=1_000_000).contains(&limits.batch_items) {
        return wrong("limits.batch_items", "must be between 1 and 1000000");
    }
    if !(1..=100_000).contains(&limits.calls_per_connection) {
        return wrong(
            "limits.calls_per_connection",
            "must be between 1 and 100000",
        );
    }
    if !(1024..=1024 * 1024).contains(&limits.header_bytes) {
        return wrong("limits.header_bytes", "must be between 1024 and 1048576");
    }
    if limits.connections == 0 {
        return wrong("limits.connections", "must be at least 1");
    }
    // Twice: a request and its response.
    let least = 2 * limits.message_bytes;
    if limits.memory_share_bytes < least {
        let what = format!(
            "must be at least twice `message_bytes`, {least}, got {}",
            limits.memory_share_bytes
        );
        return Some(Problem::new("limits.memory_share_bytes", what));
    }
    if limits.memory_bytes < limits.memory_share_bytes {
        let what = format!(
            "must be at least `memory_share_bytes`, {}, got {}",
            limits.memory_share_bytes, limits.memory_bytes
        );
        return Some(Problem::new("limits.memory_bytes", what));
    }
    if limits.proxies.len() > limits::PROXIES {
        let what = format!(
            "{} addresses, maximum {}",
            limits.proxies.len(),
            limits::PROXIES
        );
        return Some(Problem::new("limits.proxies", what));
    }
    if limits.revocation_watchers_per_client == Some(0) {
        return wrong(
            "limits.revocation_watchers_per_client",
            "must be at least 1",
        );
    }
    let (rules, most) = (
        limits.revocation_rules_per_client,
        jeton_issuer::limits::RULES,
    );
    if !(1..=most).contains(&rules) {
        let what = format!("must be between 1 and {most}, got {rules}");
        return Some(Problem::new("limits.revocation_rules_per_client", what));
    }
    if !(1..=3600).contains(&limits.client_stall_timeout_seconds) {
        return wrong(
            "limits.client_stall_timeout_seconds",
            "must be between 1 and 3600",
        );
    }
    if !(1..=60_000).contains(&limits.worker_delay_milliseconds) {
        return wrong(
            "limits.worker_delay_milliseconds",
            "must be between 1 and 60000",
        );
    }
    None
}

/// Checks that every issued token fits into the requests that verify and revoke it.
fn token_problem(limits: &Limits, bytes: usize) -> Option<String> {
    use jeton_issuer::limits::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};
    if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&bytes) {
        return Some(format!(
            "must be between {TOKEN_BYTES_MIN} and {TOKEN_BYTES_MAX}, got {bytes}"
        ));
    }
    (bytes > limits.longest_token()).then(|| {
        format!(
            "{bytes} > {}: a request to verify such a token would exceed `message_bytes` ({})",
            limits.longest_token(),
            limits.message_bytes
        )
    })
}
