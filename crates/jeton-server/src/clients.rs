//! The clients of the configuration, found by their credentials.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use jeton::jwk::KeySet;
use jeton::jwt::JwtVerifier;
use jeton::key::{Alg, Keys, SigAlg};
use jeton::limits::KEY_SET_BYTES;
use jeton::{Clock, Policy};
use jeton_transport::{PeerCertificate, text_file};

use crate::client_secret::SecretHash;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::limits;
use crate::permissions::Caller;
use crate::rate_limit::RateLimit;
use crate::slow_comparisons::SlowComparisons;
use crate::token_rights::TokenRights;
use crate::verify_clock::LEEWAY;

/// The type of client assertions (RFC 7523bis). Older clients send `JWT`, or no type.
const ASSERTION_TYPE: &str = "client-authentication+jwt";

/// The configured clients, indexed by their credentials.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    /// In the order of the configuration.
    all: Vec<Arc<Caller>>,
    subjects: HashMap<String, Arc<Caller>>,
    certificate_names: HashMap<String, Arc<Caller>>,
    certificate_digests: HashMap<String, Arc<Caller>>,
    /// By `client_id`.
    secrets: HashMap<String, SecretClient>,
    /// By `client_id`.
    keys: HashMap<String, KeyClient>,
    /// For each algorithm, a verifier with one key of a client, which it uses for any `kid`. It checks the signature of an
    /// assertion that is of no client or names no key of its client.
    assertion_decoys: HashMap<Alg, JwtVerifier>,
    /// The slow comparisons of each attempt with a secret.
    slow: SlowComparisons,
}

/// A client with secrets.
#[derive(Debug)]
pub(crate) struct SecretClient {
    pub(crate) caller: Arc<Caller>,
    pub(crate) hashes: Vec<SecretHash>,
    /// For each hash, if it is slow: the digest of the secret that matched it, under a key of this process.
    pub(crate) known: Vec<OnceLock<[u8; 32]>>,
}

/// A client with public keys.
#[derive(Debug)]
pub(crate) struct KeyClient {
    pub(crate) caller: Arc<Caller>,
    /// Requires the `client_id` as `iss`. The caller checks the audience.
    pub(crate) verifier: JwtVerifier,
    /// Its assertions per minute, each of which is stored.
    pub(crate) assertions: RateLimit,
}

impl Clients {
    /// The clients in the order of the configuration. A client with several entries is there once for each credential.
    pub(crate) fn all(&self) -> &[Arc<Caller>] {
        &self.all
    }

    /// Takes over the numbers of calls, and which secrets matched before: after a reload, a request with such a secret
    /// costs no memory either.
    pub(crate) fn continue_from(&self, before: &Clients) {
        let mut known: HashMap<&str, Vec<&Arc<Caller>>> = HashMap::new();
        for client in &before.all {
            known.entry(client.name()).or_default().push(client);
        }
        // The first entry of a name has the numbers of all entries of this name before.
        for client in &self.all {
            for before in known.remove(client.name()).unwrap_or_default() {
                client.calls().continue_from(before.calls());
            }
        }
        for (client_id, client) in &self.secrets {
            let Some(other) = before.secrets.get(client_id) else {
                continue;
            };
            for (hash, known) in client.hashes.iter().zip(&client.known) {
                let same = other.hashes.iter().position(|other| other == hash);
                if let Some(digest) = same.and_then(|index| other.known[index].get()) {
                    let _ = known.set(*digest);
                }
            }
        }
    }

    /// Builds the index. Reads the key sets of clients.
    ///
    /// # Errors
    ///
    /// [`Error::KeySet`](crate::Error::KeySet).
    pub(crate) fn from_config(config: &Config, clock: &Arc<dyn Clock>) -> Result<Clients> {
        let secrets = config.clients.iter().map(|client| &*client.secrets);
        let mut clients = Clients {
            slow: SlowComparisons::for_clients(secrets),
            ..Clients::default()
        };
        for client in &config.clients {
            let new = || {
                Caller::new(client.name.clone(), client.bearer_subject.clone())
                    .with_token_rights(TokenRights::of_client(client))
                    .with_revocations_per_day(
                        client
                            .revocations_per_day
                            .unwrap_or(limits::REVOCATIONS_PER_DAY),
                    )
            };
            if !client.secrets.is_empty() || client.keys_file.is_some() {
                let mut caller = new();
                caller.grant(&client.may, &client.issuers);
                let caller = Arc::new(caller);
                // The configuration has no other client with this subject.
                if let Some(subject) = &client.bearer_subject {
                    clients.subjects.insert(subject.clone(), caller.clone());
                }
                if let Some(file) = &client.keys_file {
                    let keys = read_key_set(file, None, None)?;
                    for key in keys.iter() {
                        let decoys = &mut clients.assertion_decoys;
                        decoys
                            .entry(key.alg())
                            .or_insert_with(|| assertion_verifier(key, &client.name, clock));
                    }
                    let verifier = assertion_verifier(keys, &client.name, clock);
                    let client_with_keys = KeyClient {
                        caller,
                        verifier,
                        assertions: TokenRights::rate_of(client),
                    };
                    clients.keys.insert(client.name.clone(), client_with_keys);
                } else {
                    let client_with_secrets = SecretClient {
                        caller,
                        hashes: client.secrets.clone(),
                        known: client.secrets.iter().map(|_| OnceLock::new()).collect(),
                    };
                    clients
                        .secrets
                        .insert(client.name.clone(), client_with_secrets);
                }
                continue;
            }
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
            let caller = index.entry(key).or_insert_with(|| Arc::new(new()));
            // Always succeeds: no clone exists yet.
            if let Some(caller) = Arc::get_mut(caller) {
                caller.grant(&client.may, &client.issuers);
            }
        }
        clients.all = clients.in_order_of(config);
        Ok(clients)
    }

    fn in_order_of(&self, config: &Config) -> Vec<Arc<Caller>> {
        let secrets = self.secrets.values().map(|client| &client.caller);
        let keys = self.keys.values().map(|client| &client.caller);
        let maps = [
            &self.subjects,
            &self.certificate_names,
            &self.certificate_digests,
        ];
        let others = maps.into_iter().flat_map(HashMap::values);
        let mut all: Vec<Arc<Caller>> = secrets.chain(keys).chain(others).cloned().collect();
        let names = config.clients.iter().enumerate();
        // Of several entries with a name, the first one counts.
        let places: HashMap<&str, usize> = names
            .rev()
            .map(|(place, client)| (&*client.name, place))
            .collect();
        all.sort_by_key(|caller| (places.get(caller.name()).copied(), Arc::as_ptr(caller)));
        // A client with a secret is found by the subject of its tokens, too.
        all.dedup_by(|one, other| Arc::ptr_eq(one, other));
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.subjects.is_empty()
            && self.certificate_names.is_empty()
            && self.certificate_digests.is_empty()
            && self.secrets.is_empty()
            && self.keys.is_empty()
    }

    pub(crate) fn by_subject(&self, subject: &str) -> Option<Arc<Caller>> {
        self.subjects.get(subject).cloned()
    }

    /// A name of the configuration that is a URI matches only a URI of the certificate, and others only a DNS name.
    pub(crate) fn by_certificate(&self, certificate: &PeerCertificate) -> Option<Arc<Caller>> {
        let by_digest = self.certificate_digests.get(&certificate.digest).cloned();
        let by_name = |names: &[String], is_uri: bool| {
            let mut names = names.iter().filter(|name| name.contains(':') == is_uri);
            names.find_map(|name| self.certificate_names.get(name).cloned())
        };
        by_digest
            .or_else(|| by_name(&certificate.dns_names, false))
            .or_else(|| by_name(&certificate.uris, true))
    }

    pub(crate) fn with_secret(&self, client_id: &str) -> Option<&SecretClient> {
        self.secrets.get(client_id)
    }

    pub(crate) fn with_keys(&self, client_id: &str) -> Option<&KeyClient> {
        self.keys.get(client_id)
    }

    /// Whether a client authenticates with assertions, which are in the form.
    pub(crate) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Checks a signature of this algorithm, and accepts nothing that a client may use.
    pub(crate) fn assertion_decoy(&self, alg: Alg) -> Option<&JwtVerifier> {
        self.assertion_decoys.get(&alg)
    }

    /// The slow comparisons of an attempt, for a client or for a name that no client has.
    pub(crate) fn slow_comparisons(
        &self,
        client: Option<&SecretClient>,
    ) -> Vec<(Option<usize>, SecretHash)> {
        self.slow
            .of_client(client.map_or(&[], |client| &client.hashes))
    }
}

fn assertion_verifier(
    keys: impl Into<Keys>,
    client_id: &str,
    clock: &Arc<dyn Clock>,
) -> JwtVerifier {
    let policy = Policy::new(client_id.to_owned(), "")
        .any_audience()
        .or_typ(ASSERTION_TYPE)
        .leeway(LEEWAY);
    JwtVerifier::new(keys, policy).clock(clock.clone())
}

/// Reads a file with public keys (RFC 7517, section 5). `default_alg` is the algorithm of keys without `alg`, and
/// `key_use` their `use`, if it is not `sig`.
pub(crate) fn read_key_set(
    file: &Path,
    default_alg: Option<SigAlg>,
    key_use: Option<&str>,
) -> Result<KeySet> {
    let wrong = |what: String| Error::KeySet {
        file: file.to_owned(),
        what,
    };
    let text = text_file::read(file, KEY_SET_BYTES as u64).map_err(wrong)?;
    let keys = match key_use {
        None => KeySet::from_published_json(&text, default_alg),
        Some(key_use) => KeySet::from_published_json_with_use(&text, key_use, default_alg),
    };
    let keys = keys.map_err(|error| wrong(error.to_string()))?;
    if keys.is_empty() {
        let first = keys.skipped().first();
        let why = first.map(|skipped| format!(" ({skipped})"));
        Err(wrong(format!(
            "no usable public key found{}",
            why.unwrap_or_default()
        )))
    } else {
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::config::Permission;

    #[test]
    fn permission_applies_to_the_named_issuers_only() {
        let config = Config::from_toml(
            "[bearer]\nissuer = 'i'\naudience = 'jeton'\n\
             [[client]]\nname = 'a'\nbearer_subject = 's'\nmay = ['issue']\nissuers = ['i']\n\
             [[client]]\nname = 'a'\nbearer_subject = 's'\nmay = ['verify']\nissuers = ['*']\n",
        );
        let clock: Arc<dyn Clock> = Arc::new(jeton::SystemClock);
        let clients = Clients::from_config(&config.unwrap(), &clock).unwrap();
        let caller = clients.by_subject("s").unwrap();
        assert!(caller.may(Permission::Issue, "i") && !caller.may(Permission::Issue, "j"));
        assert!(
            caller.may(Permission::Verify, "j") && caller.may_for_all_issuers(Permission::Verify)
        );
        assert!(!caller.may(Permission::Revoke, "i") && !caller.may(Permission::Admin, "i"));
        assert!(clients.by_subject("t").is_none());
    }

    /// A request with a known secret waits for no comparison, also after a reload.
    #[test]
    fn known_secrets_survive_a_reload_of_the_same_hash() {
        let hash =
            |salt: &str| format!("$argon2id$v=19$m=1024,t=1,p=1${salt}$c29tZXNhbHRzb21lc2FsdA");
        let clients = |hashes: &[String]| {
            let config = Config::from_toml(&format!(
                "[[client]]\nname = 'a'\nsecrets = {hashes:?}\nmay = ['verify']\nissuers = ['*']\n"
            ));
            let clock: Arc<dyn Clock> = Arc::new(jeton::SystemClock);
            Clients::from_config(&config.unwrap(), &clock).unwrap()
        };
        let (one, two) = (hash("c29tZXNhbHQ"), hash("c29tZXNhbHQx"));
        let before = clients(std::slice::from_ref(&one));
        before.with_secret("a").unwrap().known[0]
            .set([7; 32])
            .unwrap();
        let after = clients(&[two, one]);
        after.continue_from(&before);
        let known = &after.with_secret("a").unwrap().known;
        assert_eq!((known[0].get(), known[1].get()), (None, Some(&[7; 32])));
    }

    /// A decoy checks a signature for any `kid`, and accepts nothing of another client.
    #[test]
    fn decoy_checks_signatures_of_any_key_id() {
        use jeton::Verify as _;
        use jeton::error::Rejection;
        let folder = tempfile::tempdir().unwrap();
        let key = jeton::key::SigningKey::generate(SigAlg::ES256).unwrap();
        let mut set = KeySet::new();
        set.insert(key.verifying_key().with_key_id("known").unwrap())
            .unwrap();
        let file = folder.path().join("keys.json");
        std::fs::write(&file, set.to_json()).unwrap();
        let config = Config::from_toml(&format!(
            "[[client]]\nname = 'a'\nkeys_file = '{}'\nmay = ['verify']\nissuers = ['*']\n",
            file.display()
        ));
        let clock: Arc<dyn Clock> = Arc::new(jeton::SystemClock);
        let clients = Clients::from_config(&config.unwrap(), &clock).unwrap();
        let other = jeton::key::SigningKey::generate(SigAlg::ES256).unwrap();
        let other = other.with_key_id("unknown").unwrap();
        let claims = r#"{"iss":"b","exp":4102444800,"iat":1700000000}"#;
        let claims = jeton::Claims::from_json(claims).unwrap();
        let token = other.issue(&claims).unwrap();
        let decoy = clients.assertion_decoy(SigAlg::ES256.into()).unwrap();
        let error = decoy.verify_raw(&token).unwrap_err();
        assert_eq!(error.rejection(), Some(&Rejection::Signature));
        // The client's own verifier would not look at the signature.
        let own = clients.with_keys("a").unwrap();
        let error = own.verifier.verify_raw(&token).unwrap_err();
        assert_eq!(error.rejection(), Some(&Rejection::UnknownKey));
    }
}
