//! Who may do what, for which issuers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::config::{Client, Config};

/// Something that a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Have tokens issued.
    Issue,
    /// Have tokens verified, and follow revocations.
    Verify,
    /// Revoke.
    Revoke,
    /// Administer; for the server's status and metrics, of all issuers.
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

/// Someone who calls, known by name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    name: String,
    /// Who its bearer tokens are of, if it is known by those.
    subject: Option<String>,
    /// Any process of this machine.
    is_local: bool,
    of_all: u8,
    of_issuer: HashMap<String, u8>,
}

impl Caller {
    /// Whoever it is: only on a server that has no clients configured and listens on loopback. It does
    /// not administer.
    pub(crate) fn anyone() -> Caller {
        Caller {
            name: "local".to_owned(),
            subject: None,
            is_local: true,
            of_all: !Permission::Admin.bit(),
            of_issuer: HashMap::new(),
        }
    }

    /// Who shows such a server's admin token.
    pub(crate) fn administrator() -> Caller {
        Caller {
            name: "admin-token".to_owned(),
            of_all: u8::MAX,
            ..Caller::anyone()
        }
    }

    /// What it is called in the audit log.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn may(&self, permission: Permission, iss: &str) -> bool {
        let of_issuer = || self.of_issuer.get(iss).copied().unwrap_or(0);
        self.of_all & permission.bit() != 0 || of_issuer() & permission.bit() != 0
    }

    /// Whether it may so for all issuers.
    pub(crate) fn may_everywhere(&self, permission: Permission) -> bool {
        self.of_all & permission.bit() != 0
    }

    /// Whether its bearer tokens are of that subject.
    pub(crate) fn is_subject(&self, subject: &str) -> bool {
        self.subject.as_deref() == Some(subject)
    }

    /// Whether it may read the metrics: who administers all issuers; and any process of this machine, if
    /// the server serves them all.
    pub(crate) fn may_read_metrics(&self) -> bool {
        self.is_local || self.may_everywhere(Permission::Admin)
    }

    fn grant(&mut self, client: &Client) {
        let bits = client.may.iter().fold(0, |bits, may| bits | may.bit());
        for iss in &client.issuers {
            match iss.as_str() {
                "*" => self.of_all |= bits,
                iss => *self.of_issuer.entry(iss.to_owned()).or_default() |= bits,
            }
        }
    }
}

/// The configured clients, by how they are known.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    subjects: HashMap<String, Arc<Caller>>,
    certificate_names: HashMap<String, Arc<Caller>>,
    certificate_digests: HashMap<String, Arc<Caller>>,
}

impl Clients {
    pub(crate) fn of(config: &Config) -> Clients {
        let mut clients = Clients::default();
        for client in &config.clients {
            let (by, known) = if let Some(subject) = &client.subject {
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
            let caller = by.entry(known).or_insert_with(|| {
                Arc::new(Caller {
                    name: client.name.clone(),
                    subject: client.subject.clone(),
                    is_local: false,
                    of_all: 0,
                    of_issuer: HashMap::new(),
                })
            });
            // Nobody else has it yet.
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
    fn a_permission_is_for_the_issuers_that_it_names() {
        let config = Config::from_toml(
            "[bearer]\nissuer = 'i'\naudience = 'jeton'\n\
             [[client]]\nname = 'a'\nsubject = 's'\nmay = ['issue']\nissuers = ['i']\n\
             [[client]]\nname = 'a'\nsubject = 's'\nmay = ['verify']\nissuers = ['*']\n",
        );
        let clients = Clients::of(&config.unwrap());
        let caller = clients.by_subject("s").unwrap();
        assert!(caller.may(Permission::Issue, "i") && !caller.may(Permission::Issue, "j"));
        assert!(caller.may(Permission::Verify, "j") && caller.may_everywhere(Permission::Verify));
        assert!(!caller.may(Permission::Revoke, "i") && !caller.may(Permission::Admin, "i"));
        assert!(clients.by_subject("t").is_none());
    }
}
