//! The immutable state from which a node answers. It is replaced as a whole.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_lc_rs::digest;
use jeton::jwk::KeySet;
use jeton::jwt::JwtIssuer;
use jeton::{Clock, RawClaims, Timestamp, Verified};
use jeton_store::Revision;

use crate::error::{Error, Result};
use crate::hex::hex;
use crate::key_kind::KeyKind;
use crate::keyring::Keyring;
use crate::limits;
use crate::recipient::Recipient;
use crate::record::IssuerRecord;
use crate::revocation::{
    Revoked, RevokedTokens, Rules, Stamp, StampText, check_token, is_of_lost_history, minute,
    token_hash,
};
use crate::secret_key::SecretKey;
use crate::settings::IssuerSettings;
use crate::token_type::TokenType;
use crate::verifiers::Verifiers;

#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) issuers: HashMap<Box<str>, Arc<IssuerView>>,
    pub(crate) revocations: RevokedTokens,
    pub(crate) rules: Rules,
    /// The stamp of the newest rule in the snapshot.
    pub(crate) stamp: StampText,
    pub(crate) counter: Stamp,
    /// The last stamps of former epochs.
    pub(crate) ended: Arc<[Stamp]>,
    pub(crate) revision: Revision,
}

/// A prepared issuer.
pub(crate) struct IssuerView {
    pub(crate) settings: IssuerSettings,
    /// A configuration file named it last.
    pub(crate) is_configured: bool,
    pub(crate) keyring: Keyring,
    secrets: HashMap<String, Arc<SecretKey>>,
    clock: Arc<dyn Clock>,
    verifiers: Verifiers,
    /// Created on demand: few revoked tokens are expired or not yet valid.
    at_any_time: OnceLock<Verifiers>,
    /// Issuers of access tokens (RFC 9068), by key id.
    access_token_issuers: HashMap<String, JwtIssuer>,
    /// By profile name.
    recipients: HashMap<String, Recipient>,
    pub(crate) key_set: Arc<KeySetDocument>,
}

/// The public keys of an issuer, encoded for serving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySetDocument {
    /// The JWK Set (RFC 7517), for `application/jwk-set+json`.
    pub jwk_set: Vec<u8>,
    /// The public PASERKs, for verifiers of PASETO.
    pub paserks: Vec<String>,
    /// A strong entity tag, with quotes (RFC 9110, section 8.8.3).
    pub etag: String,
    /// Cache lifetime, seconds.
    pub max_age_seconds: i64,
}

impl IssuerView {
    pub(crate) fn new(
        issuer: IssuerRecord,
        keyring: Keyring,
        secrets: HashMap<String, Arc<SecretKey>>,
        clock: &Arc<dyn Clock>,
    ) -> Result<IssuerView> {
        let IssuerRecord {
            settings,
            is_configured,
        } = issuer;
        let mut recipients = HashMap::new();
        for profile in settings.profiles() {
            if let Some(to) = &profile.encrypt_to {
                let recipient = to.recipient("encrypt_to", profile.alg)?;
                recipients.insert(profile.name.clone(), recipient);
            }
        }
        let verifiers = Verifiers::new(
            settings.iss(),
            &keyring,
            &secrets,
            Duration::from_secs(limits::LEEWAY_SECONDS.unsigned_abs()),
            clock,
        )?;
        let access_token_issuers = access_token_issuers(&settings, &secrets)?;
        let (mut paserks, mut jwks) = (Vec::new(), KeySet::new());
        for key in keyring.keys() {
            match secrets.get(&key.kid).map(|secret| &**secret) {
                Some(SecretKey::Jws(key)) => jwks.insert(key.verifying_key())?,
                Some(SecretKey::Remote(signer, _)) => jwks.insert(signer.verifying_key())?,
                Some(secret) => paserks.extend(secret.public_text()),
                None => {}
            }
        }
        let jwk_set = jwks.to_json();
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
            is_configured,
            keyring,
            secrets,
            clock: clock.clone(),
            verifiers,
            at_any_time: OnceLock::new(),
            access_token_issuers,
            recipients,
            key_set: Arc::new(key_set),
        })
    }

    /// Returns the ids of the private keys.
    pub(crate) fn kids(&self) -> impl Iterator<Item = &str> {
        self.secrets.keys().map(String::as_str)
    }

    /// Returns the key that signs at that second.
    pub(crate) fn signer(&self, kind: KeyKind, now: i64) -> Result<&SecretKey> {
        let key = self.keyring.signer(kind, now).ok_or(Error::NotReady)?;
        let secret = self.secrets.get(&key.kid).ok_or(Error::NotReady)?;
        Ok(secret)
    }

    /// Returns the issuer of access tokens with the key that signs at that second.
    pub(crate) fn access_token_issuer(&self, kind: KeyKind, now: i64) -> Result<&JwtIssuer> {
        let key = self.keyring.signer(kind, now).ok_or(Error::NotReady)?;
        let issuer = self.access_token_issuers.get(&key.kid);
        issuer.ok_or(Error::NotReady)
    }

    /// Returns the recipient of that profile's tokens, if they are encrypted.
    pub(crate) fn recipient(&self, profile: &str) -> Option<&Recipient> {
        self.recipients.get(profile)
    }

    pub(crate) fn verify(&self, token: &str) -> Result<Verified<RawClaims>> {
        self.checked(self.verifiers.verify(token)?)
    }

    /// Verifies without time claims. Only for revoking a token.
    pub(crate) fn verify_at_any_time(&self, token: &str) -> Result<Verified<RawClaims>> {
        let verifiers = match self.at_any_time.get() {
            Some(made) => made,
            None => {
                let made = Verifiers::new(
                    self.settings.iss(),
                    &self.keyring,
                    &self.secrets,
                    Duration::MAX,
                    &self.clock,
                )?;
                self.at_any_time.get_or_init(|| made)
            }
        };
        self.checked(verifiers.verify(token)?)
    }

    fn checked(&self, verified: Verified<RawClaims>) -> Result<Verified<RawClaims>> {
        check_token(self.settings.iss(), &verified)?;
        Ok(verified)
    }
}

/// Prepares the issuers of access tokens, if a profile has that type.
fn access_token_issuers(
    settings: &IssuerSettings,
    secrets: &HashMap<String, Arc<SecretKey>>,
) -> Result<HashMap<String, JwtIssuer>> {
    let typ = TokenType::AccessToken;
    let mut issuers = HashMap::new();
    if settings.profiles().iter().any(|profile| profile.typ == typ) {
        for (kid, secret) in secrets {
            if let Some(issuer) = secret.typed_issuer(typ.name())? {
                issuers.insert(kid.clone(), issuer);
            }
        }
    }
    Ok(issuers)
}

impl Snapshot {
    pub(crate) fn issuer(&self, iss: &str) -> Result<&IssuerView> {
        let view = self.issuers.get(iss).ok_or(Error::UnknownIssuer)?;
        Ok(view)
    }

    /// Verifies a token of that issuer and rejects revoked ones. `as_of`: the second up to which the view is
    /// complete, by any clock that is allowed. `lost` receives the stamp of a token of a lost history.
    pub(crate) fn accept(
        &self,
        view: &IssuerView,
        token: &str,
        as_of: i64,
        lost: impl FnOnce(Stamp),
    ) -> Result<Verified<RawClaims>> {
        let verified = view.verify(token)?;
        let stamp = self.lost_stamp(&verified, as_of);
        if let Some(stamp) = stamp {
            lost(stamp);
        }
        if self.is_revoked(view.settings.iss(), &verified, stamp.is_some()) {
            Err(Error::Revoked)
        } else {
            Ok(verified)
        }
    }

    /// Returns the stamp of a token whose node had seen a rule that the store does not have: the history with it
    /// was lost. A token that is younger than the view proves nothing.
    fn lost_stamp(&self, token: &Verified<RawClaims>, as_of: i64) -> Option<Stamp> {
        let stamp = token.token_id().and_then(Stamp::of_token)?;
        if stamp <= self.counter && (stamp.epoch == self.counter.epoch || self.ended.is_empty()) {
            return None;
        }
        let is_older = (token.issued_at()).is_some_and(|at| at.unix_seconds() < as_of);
        (is_older && is_of_lost_history(stamp, &self.ended, self.counter)).then_some(stamp)
    }

    /// Returns whether a verified token, its subject, its client or its key is revoked.
    fn is_revoked(&self, iss: &str, token: &Verified<RawClaims>, is_lost: bool) -> bool {
        let id = token.token_id();
        if !self.revocations.is_empty()
            && let (Some(id), Some(expires_at)) = (id, token.expires_at())
            && self.revocations.contains_near(
                iss,
                minute(expires_at.unix_seconds()),
                token_hash(iss, id),
            )
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
            is_lost,
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

/// Returns `client_id` (RFC 9068, section 2.2).
fn client(json: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Client {
        client_id: Option<String>,
    }
    serde_json::from_str::<Client>(json).ok()?.client_id
}
