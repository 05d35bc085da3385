//! What a node answers from: immutable, and replaced as a whole.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest;
use jeton::error::Rejection;
use jeton::jwk::KeySet;
use jeton::limits::{KEYS_TRIED, PBES2_ROUNDS};
use jeton::paseto::{self, KeySet as PasetoKeys};
use jeton::{Clock, Limits, Policy, Timestamp, Untyped, Verified, Verify, jwt};
use jeton_store::Revision;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::keyring::Keyring;
use crate::limits;
use crate::recipient::Recipient;
use crate::record::hex;
use crate::revocation::{
    RevocationIndex, Revoked, Rules, StampText, check_token, minute, token_hash,
};
use crate::secret_key::SecretKey;
use crate::settings::IssuerSettings;

#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) issuers: HashMap<Box<str>, Arc<IssuerView>>,
    pub(crate) revocations: RevocationIndex,
    pub(crate) rules: Rules,
    /// Of the last rule that is among them.
    pub(crate) stamp: StampText,
    pub(crate) revision: Revision,
}

/// An issuer, with everything prepared.
pub(crate) struct IssuerView {
    pub(crate) settings: IssuerSettings,
    pub(crate) keyring: Keyring,
    secrets: HashMap<String, Arc<SecretKey>>,
    jws: Option<jwt::Verifier>,
    /// Their tokens name no key: each verifier tries all that it has, which is as many as one may try.
    paseto: Vec<paseto::Verifier>,
    /// By profile.
    recipients: HashMap<String, Recipient>,
    pub(crate) key_set: Arc<KeySetDocument>,
}

/// The public keys of an issuer as they are served: ready bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySetDocument {
    /// The JWK Set (RFC 7517), for `application/jwk-set+json`.
    pub jwk_set: Vec<u8>,
    /// The public PASERKs, for verifiers of PASETO.
    pub paserks: Vec<String>,
    /// A strong entity tag, with its quotes (RFC 9110, section 8.8.3).
    pub etag: String,
    /// How long it may be cached, seconds.
    pub max_age_seconds: i64,
}

/// What is issued is verified: see [`limits`]. How long a token may be is asked before it comes here.
const LIMITS: Limits = Limits {
    token_bytes: limits::TOKEN_BYTES_MAX,
    header_bytes: 8 * 1024,
    json_depth: limits::CLAIMS_DEPTH,
    // No token of the service is under a password.
    pbes2_rounds: PBES2_ROUNDS,
};

/// One clock for all verifiers.
struct Shared(Arc<dyn Clock>);

impl Clock for Shared {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

impl IssuerView {
    pub(crate) fn new(
        settings: IssuerSettings,
        keyring: Keyring,
        secrets: HashMap<String, Arc<SecretKey>>,
        clock: &Arc<dyn Clock>,
    ) -> Result<IssuerView> {
        // The audience is the caller's to check, token by token; everything else is settled here.
        let policy = Policy::new(settings.iss().to_owned(), "")
            .any_audience()
            .leeway(std::time::Duration::from_secs(
                limits::LEEWAY_SECONDS.unsigned_abs(),
            ));
        let mut recipients = HashMap::new();
        for profile in settings.profiles() {
            if let Some(to) = &profile.encrypt_to {
                let recipient = to.recipient("encrypt_to", profile.alg)?;
                recipients.insert(profile.name.clone(), recipient);
            }
        }
        let mut secret_jwks = Vec::new();
        let mut public = Vec::new();
        let mut paseto_keys = Vec::new();
        let mut paserks = Vec::new();
        for key in keyring.keys() {
            let secret = secrets.get(&key.kid);
            let secret = secret.ok_or_else(|| Error::Record(format!("of key {}", key.kid)))?;
            match &**secret {
                SecretKey::Jws(_) => public.extend(key.public.clone()),
                SecretKey::Mac(mac) => secret_jwks.push(mac.to_jwk()),
                SecretKey::V3Local(key) => paseto_keys.push(paseto::Keys::from(key)),
                SecretKey::V4Local(key) => paseto_keys.push(paseto::Keys::from(key)),
                SecretKey::V3Public(key) => paseto_keys.push(key.public_key().into()),
                SecretKey::V4Public(key) => paseto_keys.push(key.public_key().into()),
            }
            if matches!(key.kind, KeyKind::V3Public | KeyKind::V4Public) {
                paserks.extend(key.public.clone());
            }
        }
        let jwk_set = format!("{{\"keys\":[{}]}}", public.join(","));
        let jws = match secret_jwks.is_empty() && public.is_empty() {
            true => None,
            false => {
                let set = KeySet::from_json(&with_secrets(&secret_jwks, &public))?;
                let verifier = jwt::Verifier::new(set, policy.clone()).limits(LIMITS);
                Some(verifier.clock(Shared(clock.clone())))
            }
        };
        let mut paseto = Vec::new();
        while !paseto_keys.is_empty() {
            let rest = paseto_keys.split_off(paseto_keys.len().min(KEYS_TRIED));
            let set = PasetoKeys::new(std::mem::replace(&mut paseto_keys, rest))?;
            let verifier = paseto::Verifier::new(set, policy.clone()).limits(LIMITS);
            paseto.push(verifier.clock(Shared(clock.clone())));
        }
        let mut tagged = digest::Context::new(&digest::SHA256);
        tagged.update(jwk_set.as_bytes());
        paserks
            .iter()
            .for_each(|paserk| tagged.update(paserk.as_bytes()));
        let key_set = KeySetDocument {
            jwk_set: jwk_set.into_bytes(),
            etag: format!("\"{}\"", hex(&tagged.finish().as_ref()[..16])),
            paserks,
            max_age_seconds: settings.max_age_seconds(),
        };
        Ok(IssuerView {
            settings,
            keyring,
            secrets,
            jws,
            paseto,
            recipients,
            key_set: Arc::new(key_set),
        })
    }

    /// The key that signs at that second.
    pub(crate) fn signer(&self, kind: KeyKind, now: i64) -> Result<&SecretKey> {
        let key = self.keyring.signer(kind, now).ok_or(Error::NotReady)?;
        let secret = self.secrets.get(&key.kid).ok_or(Error::NotReady)?;
        Ok(secret)
    }

    /// For whom that profile's tokens are encrypted, if they are.
    pub(crate) fn recipient(&self, profile: &str) -> Option<&Recipient> {
        self.recipients.get(profile)
    }

    pub(crate) fn verify(&self, token: &str) -> Result<Verified<Untyped>> {
        let unknown = Error::Token(Rejection::UnknownKey.into());
        let is_paseto = ["v3.", "v4."]
            .iter()
            .any(|version| token.starts_with(version));
        let verified = if is_paseto {
            self.verify_paseto(token)?
        } else {
            self.jws.as_ref().ok_or(unknown)?.verify_untyped(token)?
        };
        check_token(self.settings.iss(), &verified)?;
        Ok(verified)
    }
}

impl IssuerView {
    fn verify_paseto(&self, token: &str) -> Result<Verified<Untyped>, jeton::Error> {
        let mut rejection = match self.paseto.is_empty() {
            true => Rejection::UnknownKey,
            false => Rejection::WrongFormat,
        };
        for verifier in &self.paseto {
            let refused = match verifier.verify_untyped(token) {
                Ok(verified) => return Ok(verified),
                Err(refused) => refused,
            };
            match refused.rejection() {
                // Not with these keys: perhaps with others.
                Some(Rejection::WrongFormat) => {}
                Some(
                    other @ (Rejection::UnknownKey | Rejection::Signature | Rejection::Decryption),
                ) => rejection = other,
                _ => return Err(refused),
            }
        }
        Err(rejection.into())
    }
}

/// A JWK Set with shared secrets in it. It is written once into room that is large enough: what is moved
/// is not wiped where it was.
fn with_secrets(secrets: &[Zeroizing<String>], public: &[String]) -> Zeroizing<String> {
    const BEFORE: &str = "{\"keys\":[";
    const AFTER: &str = "]}";
    let jwks = || {
        secrets
            .iter()
            .map(|jwk| &***jwk)
            .chain(public.iter().map(String::as_str))
    };
    let bytes: usize = jwks().map(|jwk| jwk.len() + 1).sum();
    let mut set = Zeroizing::new(String::with_capacity(BEFORE.len() + bytes + AFTER.len()));
    set.push_str(BEFORE);
    for (number, jwk) in jwks().enumerate() {
        if number > 0 {
            set.push(',');
        }
        set.push_str(jwk);
    }
    set.push_str(AFTER);
    set
}

impl Snapshot {
    pub(crate) fn issuer(&self, iss: &str) -> Result<&IssuerView> {
        let view = self.issuers.get(iss).ok_or(Error::UnknownIssuer)?;
        Ok(view)
    }

    /// Verifies a token of that issuer, which must not be revoked.
    pub(crate) fn accept(&self, view: &IssuerView, token: &str) -> Result<Verified<Untyped>> {
        let verified = view.verify(token)?;
        match self.is_revoked(view.settings.iss(), &verified) {
            true => Err(Error::Revoked),
            false => Ok(verified),
        }
    }

    /// Whether a verified token, its subject, its client or its key is revoked.
    fn is_revoked(&self, iss: &str, token: &Verified<Untyped>) -> bool {
        let id = token.token_id();
        if !self.revocations.is_empty()
            && let (Some(id), Some(expires_at)) = (id, token.expires_at())
            && self
                .revocations
                .contains(minute(expires_at.unix_seconds()), token_hash(iss, id))
        {
            return true;
        }
        if self.rules.is_empty() {
            return false;
        }
        let looked_up = Revoked {
            iss,
            token_id: id,
            issued_at: token.issued_at().map(Timestamp::unix_seconds),
        };
        let rejected = |kind: &str, name: Option<&str>| {
            name.is_some_and(|name| self.rules.reject(looked_up, kind, name))
        };
        rejected("token", id)
            || rejected("subject", token.subject())
            || rejected("key", token.key_id())
            || rejected("client", client(token.json()).as_deref())
    }
}

/// `client_id` (RFC 9068, section 2.2).
fn client(json: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Client {
        client_id: Option<String>,
    }
    serde_json::from_str::<Client>(json).ok()?.client_id
}
