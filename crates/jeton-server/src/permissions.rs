//! Callers and their permissions for issuers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::config::{Client, Config};

/// A permission of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Issue tokens.
    Issue,
    /// Verify tokens and follow revocations.
    Verify,
    /// Revoke tokens.
    Revoke,
    /// Administer issuers. Status and metrics require it for all issuers.
    Admin,
}

impl Permission {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Permission::Issue => "issue",
            Permission::Verify => "verify",
            Permission::Revoke => "revoke",
            Permission::Admin => "admin",
        })
    }
}

/// An identified caller and its permissions.
#[derive(Debug, PartialEq, Eq)]
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
}

impl Caller {
    /// The caller that every local process is in trial mode. It cannot administer.
    pub(crate) fn anyone() -> Caller {
        Caller {
            name: "local".to_owned(),
            subject: None,
            is_local: true,
            all_issuers: !Permission::Admin.bit(),
            by_issuer: HashMap::new(),
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

    /// Whether the caller may read the metrics: an administrator of all issuers, or any local process in
    /// trial mode.
    pub(crate) fn may_read_metrics(&self) -> bool {
        self.is_local || self.may_for_all_issuers(Permission::Admin)
    }

    fn grant(&mut self, client: &Client) {
        let bits = client.may.iter().fold(0, |bits, may| bits | may.bit());
        for iss in &client.issuers {
            match iss.as_str() {
                "*" => self.all_issuers |= bits,
                iss => *self.by_issuer.entry(iss.to_owned()).or_default() |= bits,
            }
        }
    }
}

/// The configured clients, indexed by their credentials.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    subjects: HashMap<String, Arc<Caller>>,
    certificate_names: HashMap<String, Arc<Caller>>,
    certificate_digests: HashMap<String, Arc<Caller>>,
}

impl Clients {
    pub(crate) fn from_config(config: &Config) -> Clients {
        let mut clients = Clients::default();
        for client in &config.clients {
            let (index, key) = if let Some(subject) = &client.bearer_subject {
                (&mut clients.subjects, subject.clone())
            } else if let Some(name) = &client.certificate_name {
                (&mut clients.certificate_names, name.clone())
            } else if let Some(digest) = &client.certificate_sha256 {
                (
                    &mut clients.certificate_digests,
                    digest.to_ascii_lowercase(),
                )
            } else {
                continue;
            };
            let caller = index.entry(key).or_insert_with(|| {
                Arc::new(Caller {
                    name: client.name.clone(),
                    subject: client.bearer_subject.clone(),
                    is_local: false,
                    all_issuers: 0,
                    by_issuer: HashMap::new(),
                })
            });
            // Always succeeds: no clone exists yet.
            if let Some(caller) = Arc::get_mut(caller) {
                caller.grant(client);
            }
        }
        clients
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.subjects.is_empty()
            && self.certificate_names.is_empty()
            && self.certificate_digests.is_empty()
    }

    pub(crate) fn by_subject(&self, subject: &str) -> Option<Arc<Caller>> {
        self.subjects.get(subject).cloned()
    }

    pub(crate) fn by_certificate<'n>(
        &self,
        digest: &str,
        mut names: impl Iterator<Item = &'n str>,
    ) -> Option<Arc<Caller>> {
        let by_digest = self.certificate_digests.get(digest).cloned();
        by_digest.or_else(|| names.find_map(|name| self.certificate_names.get(name).cloned()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn permission_applies_to_the_named_issuers_only() {
        let config = Config::from_toml(
            "[bearer]\nissuer = 'i'\naudience = 'jeton'\n\
             [[client]]\nname = 'a'\nbearer_subject = 's'\nmay = ['issue']\nissuers = ['i']\n\
             [[client]]\nname = 'a'\nbearer_subject = 's'\nmay = ['verify']\nissuers = ['*']\n",
        );
        let clients = Clients::from_config(&config.unwrap());
        let caller = clients.by_subject("s").unwrap();
        assert!(caller.may(Permission::Issue, "i") && !caller.may(Permission::Issue, "j"));
        assert!(
            caller.may(Permission::Verify, "j") && caller.may_for_all_issuers(Permission::Verify)
        );
        assert!(!caller.may(Permission::Revoke, "i") && !caller.may(Permission::Admin, "i"));
        assert!(clients.by_subject("t").is_none());
    }
}
