//! Explains a refusal without a server: what the token endpoint says about a token or a client assertion.

use std::sync::Arc;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use jeton::__private::{UnverifiedJwt, same_type};
use jeton::jws::JwsSigner;
use jeton::jwt::JwtVerifier;
use jeton::key::{Keys, MacAlg, MacKey};
use jeton::{Clock, Limits as TokenLimits, RawClaims, Verified, Verify as _};
use serde_json::Value;

use crate::assertion_rules;
use crate::clients::{Clients, read_key_set};
use crate::config::{Client, Config, Trust};
use crate::error::Result;
use crate::named_issuer::named_issuer;
use crate::refusal::Refusal;
use crate::subject_template::SubjectTemplate;
use crate::token_rules::{
    ACCESS_TOKEN_TYPE, check_copied, check_entry, check_no_actor, check_not_bound, check_single_use,
};
use crate::trusts::{fill_subject, outside_policy};

/// What a trust entry, or a client, says about a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfflineResult {
    /// The name of the trust entry or the client.
    pub name: String,
    /// Why it refuses the token. `None`: it accepts it, as far as it was checked.
    pub refusal: Option<Refusal>,
    /// What was not checked, or is only accepted in one way.
    pub notes: Vec<&'static str>,
}

const NO_KEYS: &str = "the signature was not checked: the entry has no `keys_file`";
const ACCESS_TOKEN_ONLY: &str = "accepted only in an exchange with the `subject_token_type` access_token: for an assertion, \
     the entry needs `types = [\"at+jwt\"]`";
const ONCE: &str = "not checked: whether the `jti` was used before";
const MAY_ACT: &str =
    "not checked: whether the client of the request is the party that `may_act` names";

impl Config {
    /// Checks a token against each trust entry of its outside issuer, in their order. It sends no request.
    ///
    /// Entries with `keys_file` have the keys. `keys` are for others: without them, no signature is checked.
    ///
    /// # Errors
    ///
    /// [`Error::KeySet`](crate::Error::KeySet) if a key set cannot be read. The result is the refusal of a token whose
    /// issuer cannot be read or is in no entry.
    pub fn check_outside_token(
        &self,
        token: &str,
        keys: Option<Keys>,
        clock: &Arc<dyn Clock>,
    ) -> Result<std::result::Result<Vec<OfflineResult>, Refusal>> {
        let unverified = UnverifiedJwt::read(token, &TokenLimits::default());
        let (iss, malformed) = match unverified {
            Ok(unverified) => (unverified.issuer().map(str::to_owned), None),
            Err(why) => (named_issuer(token), Some(Refusal::of_rejected(&why.into()))),
        };
        let Some(iss) = iss else {
            let missing = || Refusal::of_claim("trust", "iss", "is missing");
            return Ok(Err(malformed.unwrap_or_else(missing)));
        };
        let entries: Vec<&Trust> = self
            .trusts
            .iter()
            .filter(|trust| trust.iss == iss)
            .collect();
        if entries.is_empty() {
            let unknown = || Refusal::of_claim("trust", "iss", "is in no trust entry");
            return Ok(Err(malformed.unwrap_or_else(unknown)));
        }
        if let Some(refusal) = malformed {
            let refused = entries.iter().map(|trust| OfflineResult {
                name: trust.name.clone(),
                refusal: Some(refusal.clone()),
                notes: Vec::new(),
            });
            return Ok(Ok(refused.collect()));
        }
        let types = entries.iter().filter_map(|trust| trust.types.clone());
        let policy = outside_policy(&iss, types.flatten().collect());
        // All entries of an outside issuer have the same keys.
        let first = entries[0];
        let own = first.keys_file.as_ref().map(|file| {
            let keys = read_key_set(file, first.default_alg, first.key_use.as_deref());
            keys.map(Keys::from)
        });
        let keys = own.transpose()?.or(keys);
        let has_keys = keys.is_some();
        let verified = match keys {
            Some(keys) => {
                let verifier = JwtVerifier::new(keys, policy);
                verifier.clock(clock.clone()).verify_raw(token)
            }
            None => verify_unsigned(token, policy, clock),
        };
        let mut results = Vec::new();
        for trust in entries {
            let mut notes = Vec::new();
            if !has_keys {
                notes.push(NO_KEYS);
            }
            let refusal = match &verified {
                Err(error) => Some(Refusal::of_rejected(error)),
                Ok(verified) => check_with(trust, verified, clock, &mut notes).err(),
            };
            results.push(OfflineResult {
                name: trust.name.clone(),
                refusal,
                notes,
            });
        }
        Ok(Ok(results))
    }

    /// Checks an assertion with which a client authenticates. It sends no request.
    ///
    /// # Errors
    ///
    /// [`Error::KeySet`](crate::Error::KeySet) if a key set cannot be read.
    pub fn check_assertion(
        &self,
        client: &str,
        assertion: &str,
        clock: &Arc<dyn Clock>,
    ) -> Result<OfflineResult> {
        let settings = self.clients.iter().find(|settings| settings.name == client);
        let clients = Clients::from_config(self, clock)?;
        let result = match settings {
            None => Err(Refusal::of_whole("client", "no client has this name")),
            Some(settings) => self.assertion_of(settings, &clients, assertion, clock),
        };
        Ok(OfflineResult {
            name: client.to_owned(),
            notes: if result.is_ok() {
                vec![ONCE]
            } else {
                Vec::new()
            },
            refusal: result.err(),
        })
    }

    fn assertion_of(
        &self,
        settings: &Client,
        clients: &Clients,
        assertion: &str,
        clock: &Arc<dyn Clock>,
    ) -> std::result::Result<(), Refusal> {
        let client = assertion_rules::client_of(clients, assertion);
        let client = client.map_err(|no_client| no_client.refusal)?;
        if client.caller.name() != settings.name {
            let what = "names another client of the configuration";
            return Err(Refusal::of_claim("client", "iss", what));
        }
        let verified = client.verifier.verify_raw(assertion);
        let verified = verified.map_err(|error| Refusal::of_rejected(&error))?;
        let is_for = |iss: &str| settings.issuers.iter().any(|of| of == "*" || of == iss);
        let own = self.issuers.iter().map(|own| own.iss());
        let named = settings.issuers.iter().map(String::as_str);
        let issuers: Vec<&str> = own.chain(named).filter(|iss| is_for(iss)).collect();
        let is_own = |audience: &str| {
            let mut issuers = issuers.iter();
            issuers.any(|iss| assertion_rules::is_own_name(audience, iss))
        };
        assertion_rules::check(&verified, &settings.name, is_own, clock.now()).map(drop)
    }
}

/// Checks all rules of an entry that do not depend on the request.
fn check_with(
    trust: &Trust,
    verified: &Verified<RawClaims>,
    clock: &Arc<dyn Clock>,
    notes: &mut Vec<&'static str>,
) -> std::result::Result<(), Refusal> {
    let unreadable = |_| Refusal::of_whole("claims", "rejected (claims cannot be read)");
    let claims: Value = serde_json::from_str(verified.json()).map_err(unreadable)?;
    let header = verified.header();
    let typ = header.typ();
    check_entry(trust, typ, true, &claims).map_err(|(_, refusal)| refusal)?;
    let default_subject = || SubjectTemplate::default_of(&trust.name);
    let subject = trust.subject.clone().unwrap_or_else(default_subject);
    fill_subject(&subject, &claims)?;
    check_no_actor(&claims)?;
    check_not_bound(&claims)?;
    check_copied(trust, &claims)?;
    if trust.single_use {
        check_single_use(verified.token_id(), verified.expires_at(), clock.now())?;
        notes.push(ONCE);
    }
    if claims.get("may_act").is_some() {
        notes.push(MAY_ACT);
    }
    let is_access_token = typ.is_some_and(|typ| same_type(typ, ACCESS_TOKEN_TYPE));
    if is_access_token && trust.types.is_none() {
        notes.push(ACCESS_TOKEN_ONLY);
    }
    Ok(())
}

/// Verifies header type and claims of a token whose keys are not here: signed again with a temporary key, by the same code.
fn verify_unsigned(
    token: &str,
    policy: jeton::Policy,
    clock: &Arc<dyn Clock>,
) -> jeton::Result<Verified<RawClaims>> {
    let key = MacKey::generate(MacAlg::HS256)?;
    let mut parts = token.split('.');
    let mut decoded = || {
        let part = parts.next().unwrap_or_default();
        Base64UrlUnpadded::decode_vec(part).unwrap_or_default()
    };
    let (header, payload) = (decoded(), decoded());
    let header: Value = serde_json::from_slice(&header).unwrap_or_default();
    let signer = JwsSigner::new(&key);
    let signer = match header.get("typ").and_then(Value::as_str) {
        Some(typ) => signer.typ(typ.to_owned()),
        None => signer,
    };
    let again = signer.sign(&payload)?;
    let limits = TokenLimits::default().token_bytes(usize::MAX);
    let verifier = JwtVerifier::new(&key, policy).limits(limits);
    verifier.clock(clock.clone()).verify_raw(&again)
}
