//! The clients of the configuration, found by their credentials.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::Config;
use crate::permissions::Caller;

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
                Arc::new(Caller::new(
                    client.name.clone(),
                    client.bearer_subject.clone(),
                ))
            });
            // Always succeeds: no clone exists yet.
            if let Some(caller) = Arc::get_mut(caller) {
                caller.grant(&client.may, &client.issuers);
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
    use crate::permissions::Permission;

    #[test]
    fn permission_applies_to_the_named_issuers_only() {
        let config = Config::from_toml(
            "[bearer]\nissuer = 'i'\naudience = 'jeton'\n\
             [[client]]\nname = 'a'\nsubject = 's'\nmay = ['issue']\nissuers = ['i']\n\
             [[client]]\nname = 'a'\nsubject = 's'\nmay = ['verify']\nissuers = ['*']\n",
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
