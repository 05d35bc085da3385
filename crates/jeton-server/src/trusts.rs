//! Outside issuers: their keys, and the trust entries that accept their tokens.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use jeton::jwt::JwtVerifier;
use jeton::{Clock, Policy, RawClaims, Verified};
use jeton_issuer::limits::{NAME_BYTES, TOKEN_BYTES_MAX};
use jeton_jwks::{Https, RemoteKeySet, RemoteVerifier};
use serde_json::Value;

use crate::clients::read_key_set;
use crate::config::{Config, Trust};
use crate::error::{Error, Result as StartResult};
use crate::limits::REQUESTS_PER_MINUTE;
use crate::rate_limit::RateLimit;
use crate::service::Failure;
use crate::subject_template::SubjectTemplate;
use crate::verify_clock::LEEWAY;

/// The trust entries, by outside issuer. A configuration reload replaces them as a whole.
#[derive(Debug, Default)]
pub(crate) struct Trusts {
    outside: HashMap<String, OutsideIssuer>,
}

/// An outside issuer, with the entries that accept its tokens.
#[derive(Debug)]
struct OutsideIssuer {
    verifier: OutsideVerifier,
    entries: Vec<TrustEntry>,
}

/// Verifies the tokens of an outside issuer for any audience. The entries check the audience.
#[derive(Debug)]
enum OutsideVerifier {
    Remote(RemoteVerifier),
    File(JwtVerifier),
}

/// A trust entry.
#[derive(Debug)]
pub(crate) struct TrustEntry {
    pub(crate) settings: Trust,
    pub(crate) rate: RateLimit,
    subject: SubjectTemplate,
}

/// A verified token of an outside issuer, and the first entry that accepts it.
#[derive(Debug)]
pub(crate) struct OutsideToken<'t> {
    pub(crate) entry: &'t TrustEntry,
    pub(crate) verified: Verified<RawClaims>,
    pub(crate) claims: Value,
    /// The subject of the token that it is exchanged for.
    pub(crate) subject: String,
}

impl Trusts {
    /// Reads the files of the entries. It sends no request.
    ///
    /// # Errors
    ///
    /// [`Error::KeySet`] and [`Error::Trust`].
    pub(crate) fn from_config(config: &Config, clock: &Arc<dyn Clock>) -> StartResult<Trusts> {
        let mut trusts = Trusts::default();
        for settings in &config.trusts {
            let default_subject = || SubjectTemplate::default_of(&settings.name);
            let rate = settings.requests_per_minute.unwrap_or(REQUESTS_PER_MINUTE);
            let entry = TrustEntry {
                settings: settings.clone(),
                rate: RateLimit::new(rate),
                subject: settings.subject.clone().unwrap_or_else(default_subject),
            };
            match trusts.outside.get_mut(&settings.iss) {
                Some(issuer) => issuer.entries.push(entry),
                None => {
                    let issuer = OutsideIssuer {
                        verifier: OutsideVerifier::new(settings, clock)?,
                        entries: vec![entry],
                    };
                    trusts.outside.insert(settings.iss.clone(), issuer);
                }
            }
        }
        Ok(trusts)
    }

    /// Whether an entry names this outside issuer.
    pub(crate) fn knows(&self, iss: &str) -> bool {
        self.outside.contains_key(iss)
    }

    /// Verifies a token of an outside issuer. `own` is the issuer of this server that would issue for it.
    ///
    /// # Errors
    ///
    /// `code` for a token that is rejected, and `temporarily_unavailable` if the keys cannot be fetched.
    pub(crate) async fn verify(
        &self,
        own: &str,
        outside: &str,
        token: &str,
        (code, parameter): (&'static str, &'static str),
    ) -> Result<OutsideToken<'_>, Failure> {
        let rejected = |what: &str| Failure::oauth(code, format!("`{parameter}`: {what}"));
        let issuer = self.outside.get(outside);
        let is_own = |entry: &&TrustEntry| entry.settings.issuer == own;
        let issuer = issuer.filter(|issuer| issuer.entries.iter().any(|entry| is_own(&entry)));
        let issuer = issuer.ok_or_else(|| rejected("no trust entry accepts the token"))?;
        if token.len() > TOKEN_BYTES_MAX {
            let bytes = token.len();
            let what = format!("has {bytes} bytes, the limit is {TOKEN_BYTES_MAX}");
            return Err(rejected(&what));
        }
        let verified = match issuer.verifier.verify(token).await {
            Ok(verified) => verified,
            Err(jeton_jwks::Error::Jeton(error)) if error.is_rejection() => {
                return Err(rejected(&format!("rejected ({})", error.code())));
            }
            Err(error) => {
                tracing::warn!(issuer = outside, %error, "cannot verify tokens of an outside issuer");
                return Err(Failure::oauth(
                    "temporarily_unavailable",
                    "the keys of the outside issuer cannot be fetched, retry later",
                ));
            }
        };
        // The token is strict JSON without duplicate members.
        let claims: Value = serde_json::from_str(verified.json())
            .map_err(|_| rejected("rejected (claims cannot be read)"))?;
        let mut entries = issuer.entries.iter().filter(is_own);
        let entry = entries.find(|entry| entry.accepts(&verified, &claims));
        let entry = entry.ok_or_else(|| rejected("no trust entry accepts the token"))?;
        let subject = entry.subject.fill(&claims);
        let subject = subject.filter(|subject| (1..=NAME_BYTES).contains(&subject.len()));
        let subject = subject.ok_or_else(|| {
            rejected("a claim that the subject is made of is missing, empty or too long")
        })?;
        Ok(OutsideToken {
            entry,
            verified,
            claims,
            subject,
        })
    }
}

impl OutsideVerifier {
    fn new(settings: &Trust, clock: &Arc<dyn Clock>) -> StartResult<OutsideVerifier> {
        let policy = Policy::new(settings.iss.clone(), "")
            .any_audience()
            .leeway(LEEWAY);
        if let Some(file) = &settings.keys_file {
            let keys = read_key_set(file, settings.default_alg)?;
            let verifier = JwtVerifier::new(keys, policy).clock(clock.clone());
            return Ok(OutsideVerifier::File(verifier));
        }
        let wrong = |error: jeton_jwks::FetchError| Error::Trust {
            name: settings.name.clone(),
            what: error.to_string(),
        };
        let mut keys = match &settings.keys_url {
            Some(address) => RemoteKeySet::builder(address.clone()),
            None => RemoteKeySet::builder_with_discovery(settings.iss.clone()),
        };
        if let Some(alg) = settings.default_alg {
            keys = keys.default_alg(alg);
        }
        if settings.allow_private_addresses {
            keys = keys.allow_private_addresses();
        }
        if let Some(file) = &settings.ca_file {
            let pem = fs::read(file).map_err(|error| Error::Trust {
                name: settings.name.clone(),
                what: format!("{}: {error}", file.display()),
            })?;
            keys = keys.fetch(Https::with_authorities(&pem).map_err(wrong)?);
        }
        let keys = keys.build().map_err(wrong)?;
        let verifier = RemoteVerifier::new(&keys, policy).clock(clock.clone());
        Ok(OutsideVerifier::Remote(verifier))
    }

    async fn verify(&self, token: &str) -> jeton_jwks::Result<Verified<RawClaims>> {
        use jeton::Verify as _;
        match self {
            OutsideVerifier::Remote(verifier) => verifier.verify_raw(token).await,
            OutsideVerifier::File(verifier) => Ok(verifier.verify_raw(token)?),
        }
    }
}

impl TrustEntry {
    fn accepts(&self, verified: &Verified<RawClaims>, claims: &Value) -> bool {
        let wanted = &self.settings.audience;
        let patterns = &self.settings.claims;
        verified.audiences().any(|audience| audience == *wanted)
            && patterns
                .iter()
                .all(|(name, pattern)| pattern.matches(name, claims))
    }
}
