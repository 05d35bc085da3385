//! Callers, and the permissions for issuers that they have.

use std::collections::HashMap;

use crate::config::Permission;
use crate::limits;
use crate::metrics::ClientCalls;
use crate::rate_limit::{Period, RateLimit};
use crate::refusal::LineLimit;
use crate::token_rights::TokenRights;

/// An identified caller and its permissions.
#[derive(Debug)]
pub(crate) struct Caller {
    name: String,
    /// The subject of its bearer tokens, if the caller is known by them.
    subject: Option<String>,
    /// Any local process, in trial mode.
    is_local: bool,
    /// Permission bits for all issuers.
    all_issuers: u8,
    /// Permission bits for single issuers.
    by_issuer: HashMap<String, u8>,
    /// What it may get from the token endpoint.
    token_rights: TokenRights,
    /// Log lines about its refused requests.
    refusals: LineLimit,
    /// Its revocations per day.
    revocations: RateLimit,
    calls: ClientCalls,
}

impl Caller {
    /// A caller without permissions.
    pub(crate) fn new(name: String, subject: Option<String>) -> Caller {
        Caller {
            name,
            subject,
            is_local: false,
            all_issuers: 0,
            by_issuer: HashMap::new(),
            token_rights: TokenRights::none(),
            refusals: LineLimit::new(),
            revocations: RateLimit::in_period(limits::REVOCATIONS_PER_DAY, Period::Day),
            calls: ClientCalls::new(),
        }
    }

    /// Sets its revocations per day.
    pub(crate) fn with_revocations_per_day(mut self, most: u32) -> Caller {
        self.revocations = RateLimit::in_period(most, Period::Day);
        self
    }

    /// Its revocations per day.
    pub(crate) fn revocations(&self) -> &RateLimit {
        &self.revocations
    }

    /// Sets what it may get from the token endpoint.
    pub(crate) fn with_token_rights(mut self, rights: TokenRights) -> Caller {
        self.token_rights = rights;
        self
    }

    pub(crate) fn token_rights(&self) -> &TokenRights {
        &self.token_rights
    }

    /// The limit of log lines about its refused requests.
    pub(crate) fn refusals(&self) -> &LineLimit {
        &self.refusals
    }

    /// Its calls.
    pub(crate) fn calls(&self) -> &ClientCalls {
        &self.calls
    }

    /// Whether it is any local process, in trial mode.
    pub(crate) fn is_local(&self) -> bool {
        self.is_local
    }

    /// The caller that every local process is in trial mode. It cannot administer.
    pub(crate) fn anyone() -> Caller {
        Caller {
            name: "local".to_owned(),
            subject: None,
            is_local: true,
            all_issuers: !Permission::Admin.bit(),
            by_issuer: HashMap::new(),
            token_rights: TokenRights::none(),
            refusals: LineLimit::new(),
            revocations: RateLimit::in_period(limits::REVOCATIONS_PER_DAY_MAX, Period::Day),
            calls: ClientCalls::new(),
        }
    }

    /// The caller with the admin token, in trial mode.
    pub(crate) fn administrator() -> Caller {
        Caller {
            name: "admin-token".to_owned(),
            all_issuers: u8::MAX,
            ..Caller::anyone()
        }
    }

    /// The name in the audit log.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn may(&self, permission: Permission, iss: &str) -> bool {
        let for_issuer = || self.by_issuer.get(iss).copied().unwrap_or(0);
        self.all_issuers & permission.bit() != 0 || for_issuer() & permission.bit() != 0
    }

    /// Whether the caller has the permission for all issuers.
    pub(crate) fn may_for_all_issuers(&self, permission: Permission) -> bool {
        self.all_issuers & permission.bit() != 0
    }

    /// Whether the caller's bearer tokens have this subject.
    pub(crate) fn is_subject(&self, subject: &str) -> bool {
        self.subject.as_deref() == Some(subject)
    }

    /// Whether the caller may read the metrics: with the permission for it or as an administrator, each for all
    /// issuers, or any local process in trial mode.
    pub(crate) fn may_read_metrics(&self) -> bool {
        self.is_local
            || self.may_for_all_issuers(Permission::Metrics)
            || self.may_for_all_issuers(Permission::Admin)
    }

    /// Adds permissions for these issuers; `*` means all issuers.
    pub(crate) fn grant(&mut self, may: &[Permission], issuers: &[String]) {
        let bits = may.iter().fold(0, |bits, may| bits | may.bit());
        for iss in issuers {
            match iss.as_str() {
                "*" => self.all_issuers |= bits,
                iss => *self.by_issuer.entry(iss.to_owned()).or_default() |= bits,
            }
        }
    }
}
