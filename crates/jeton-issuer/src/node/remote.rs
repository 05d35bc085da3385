//! Keys that are held outside the store: which are new, and which are due for rotation.

use super::Node;
use super::inner::Inner;
use super::lock::lock;
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::keyring::{Event, Keyring};
use crate::secret_key::SecretKey;
use crate::snapshot::IssuerView;

/// The actor in the audit log for keys that the configuration names.
const ACTOR: &str = "configuration";

impl Node {
    /// Returns whether tokens of that profile are signed outside the store, so that issuing one takes long.
    pub fn signs_remotely(&self, iss: &str, profile: &str) -> bool {
        let snapshot = self.inner.snapshot.load();
        let Ok(view) = snapshot.issuer(iss) else {
            return false;
        };
        let profile = view.settings.profile(profile);
        let now = self.inner.now();
        profile.is_some_and(|profile| {
            let key = view.keyring.signer(profile.alg, now);
            key.is_some_and(|key| key.remote.is_some())
        })
    }

    /// Publishes the remote keys that the operator names and that are new. They sign after the pre-publication
    /// period. A node does this by itself every second.
    pub fn add_remote_keys(&self) {
        let faults = self.inner.add_remote_keys(self.inner.now());
        if !faults.is_empty() {
            *self.inner.due_fault() = Some(faults.join("; "));
        }
    }
}

impl Inner {
    pub(super) fn remote_keys_fault(&self) -> Option<String> {
        let remote = self.options.keys.remote.as_ref()?;
        remote.fault()
    }

    /// Publishes new remote keys, and notes which are due for rotation. Returns what failed.
    pub(super) fn add_remote_keys(&self, now: i64) -> Vec<String> {
        let Some(remote) = &self.options.keys.remote else {
            return Vec::new();
        };
        let snapshot = self.snapshot.load_full();
        let (mut faults, mut due) = (Vec::new(), Vec::new());
        for (iss, view) in &snapshot.issuers {
            for kind in view.settings.kinds() {
                let Some(Ok(named)) = remote.named(iss, kind) else {
                    continue;
                };
                let keyring = &view.keyring;
                if keyring.has_successor(kind, now) {
                    continue;
                }
                if keyring.knows(&named.public.thumbprint()) {
                    if keyring.is_due(&view.settings, kind, now) {
                        due.push(format!(
                            "the {kind} key of {iss} with the label {} in the HSM is due for rotation: create a key \
                             pair there under a new label, name it under `pkcs11.key` and reload",
                            named.label
                        ));
                    }
                    continue;
                }
                let added = SecretKey::remote(&self.options.keys, named).and_then(|key| {
                    self.keyring_act(ACTOR, iss, "key.import", &Event::Import, vec![(kind, key)])
                });
                // Another node may have added it.
                if let Err(error) = added
                    && !matches!(error, Error::Invalid(_))
                {
                    faults.push(format!("remote keys of {iss}: {error}"));
                }
            }
        }
        *lock(&self.rotation) = (!due.is_empty()).then(|| due.join("; "));
        faults
    }

    /// Returns the kinds of the issuer of which no new key can be made now.
    pub(super) fn without_new_key(&self, view: &IssuerView) -> Vec<KeyKind> {
        let is_without = |kind: &KeyKind| match self.named(view.settings.iss(), *kind) {
            Some(Ok(named)) => view.keyring.knows(&named.public.thumbprint()),
            Some(Err(_)) => true,
            None => view.keyring.is_remote(*kind),
        };
        view.settings
            .kinds()
            .into_iter()
            .filter(is_without)
            .collect()
    }

    /// Returns a new key: the one that the operator names, or a generated one. `None`: the operator has not
    /// named a new one. A remote key is never followed by a generated one, because that would move the key
    /// out of the HSM unasked.
    pub(super) fn new_key(
        &self,
        iss: &str,
        kind: KeyKind,
        keyring: &Keyring,
        event: &Event,
    ) -> Result<Option<SecretKey>> {
        match self.named(iss, kind) {
            Some(Ok(named)) if keyring.knows(&named.public.thumbprint()) => Ok(None),
            Some(Ok(named)) => SecretKey::remote(&self.options.keys, named).map(Some),
            Some(Err(_)) if *event == Event::Tick && !keyring.keys().is_empty() => Ok(None),
            Some(Err(why)) => Err(Error::SignerUnavailable(why)),
            None if keyring.is_remote(kind) => Ok(None),
            None => SecretKey::generate(kind).map(Some),
        }
    }

    fn named(
        &self,
        iss: &str,
        kind: KeyKind,
    ) -> Option<Result<crate::remote_keys::NamedKey, String>> {
        self.options.keys.remote.as_ref()?.named(iss, kind)
    }
}
