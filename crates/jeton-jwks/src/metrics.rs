use jeton::Timestamp;

/// A snapshot of a [`RemoteKeySet`](crate::RemoteKeySet): see [`metrics`](crate::RemoteKeySet::metrics).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// How often the set was fetched since the start, including failures. A fetch that also reads a discovery
    /// document counts once.
    pub fetches: u64,
    /// How many fetches failed. A running fetch is not counted yet.
    pub failures: u64,
    /// How many fetches failed since the last success. While this is not 0, a new key of the issuer may be unknown.
    pub consecutive_failures: u64,
    /// When a server last sent the keys or confirmed that they are current, or `None` if none ever did.
    pub last_success: Option<Timestamp>,
    /// The number of keys that verify tokens.
    pub keys: usize,
    /// The number of skipped keys in the published set.
    pub skipped: usize,
}
