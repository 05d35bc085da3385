//! Outside issuers: their keys, and the trust entries that accept their tokens.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use jeton::error::Rejection;
use jeton::jwt::JwtVerifier;
use jeton::key::SigAlg;
use jeton::{Clock, Policy, RawClaims, Verified};
use jeton_issuer::limits::{NAME_BYTES, TOKEN_BYTES_MAX};
use jeton_jwks::{Https, RemoteKeySet, RemoteVerifier};
use serde_json::Value;

use crate::clients::read_key_set;
use crate::config::{Config, Trust};
use crate::error::{Error, Result as StartResult};
use crate::failure::Failure;
use crate::limits::REQUESTS_PER_MINUTE;
use crate::rate_limit::RateLimit;
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
    keys: OutsideKeys,
    entries: Vec<TrustEntry>,
}

/// The keys of an outside issuer. They verify its tokens for any audience: the entries check the audience.
#[derive(Debug)]
enum OutsideKeys {
    Remote(Arc<RemoteKeys>),
    File(Box<JwtVerifier>),
}

/// Keys that are fetched.
#[derive(Debug)]
struct RemoteKeys {
    source: Source,
    keys: RemoteKeySet,
    verifier: RemoteVerifier,
}

/// What the configuration says about keys that are fetched.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    url: Option<String>,
    authorities: Option<Vec<u8>>,
    allow_private_addresses: bool,
    default_alg: Option<&'static str>,
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
    /// `before` are the entries of the former configuration. Their fetched keys stay, so that a reload during the
    /// outage of an outside issuer loses none.
    ///
    /// # Errors
    ///
    /// [`Error::KeySet`] and [`Error::Trust`].
    pub(crate) fn from_config(
        config: &Config,
        clock: &Arc<dyn Clock>,
        before: &Trusts,
    ) -> StartResult<Trusts> {
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
                    let before = before.outside.get(&settings.iss);
                    let issuer = OutsideIssuer {
                        keys: OutsideKeys::new(settings, clock, before.map(|old| &old.keys))?,
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
        let unavailable = || {
            let what = "the keys of the outside issuer cannot be fetched, retry later";
            Failure::oauth("temporarily_unavailable", what)
        };
        let verified = match issuer.keys.verify(token).await {
            Ok(verified) => verified,
            Err(jeton_jwks::Error::Jeton(error)) if error.is_rejection() => {
                let is_unknown = error.rejection() == Some(&Rejection::UnknownKey);
                return Err(if is_unknown && issuer.keys.is_failing() {
                    unavailable()
                } else {
                    rejected(&format!("rejected ({})", error.code()))
                });
            }
            // jeton-jwks logs why, once for each request to the outside issuer.
            Err(_) => return Err(unavailable()),
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

impl OutsideKeys {
    fn new(
        settings: &Trust,
        clock: &Arc<dyn Clock>,
        before: Option<&OutsideKeys>,
    ) -> StartResult<OutsideKeys> {
        let policy = Policy::new(settings.iss.clone(), "")
            .any_audience()
            .leeway(LEEWAY);
        if let Some(file) = &settings.keys_file {
            let keys = read_key_set(file, settings.default_alg)?;
            let verifier = JwtVerifier::new(keys, policy).clock(clock.clone());
            return Ok(OutsideKeys::File(Box::new(verifier)));
        }
        let source = Source::of(settings)?;
        if let Some(OutsideKeys::Remote(before)) = before
            && before.source == source
        {
            return Ok(OutsideKeys::Remote(before.clone()));
        }
        let keys = source.key_set(settings)?;
        let verifier = RemoteVerifier::new(&keys, policy).clock(clock.clone());
        Ok(OutsideKeys::Remote(Arc::new(RemoteKeys {
            source,
            keys,
            verifier,
        })))
    }

    async fn verify(&self, token: &str) -> jeton_jwks::Result<Verified<RawClaims>> {
        use jeton::Verify as _;
        match self {
            OutsideKeys::Remote(remote) => remote.verifier.verify_raw(token).await,
            OutsideKeys::File(verifier) => Ok(verifier.verify_raw(token)?),
        }
    }

    /// Whether the last request for the keys failed.
    fn is_failing(&self) -> bool {
        match self {
            OutsideKeys::Remote(remote) => remote.keys.metrics().consecutive_failures > 0,
            OutsideKeys::File(_) => false,
        }
    }
}

impl Source {
    fn of(settings: &Trust) -> StartResult<Source> {
        let read = |file: &PathBuf| {
            fs::read(file).map_err(|error| Error::Trust {
                name: settings.name.clone(),
                what: format!("{}: {error}", file.display()),
            })
        };
        Ok(Source {
            url: settings.keys_url.clone(),
            authorities: settings.ca_file.as_ref().map(read).transpose()?,
            allow_private_addresses: settings.allow_private_addresses,
            default_alg: settings.default_alg.map(SigAlg::name),
        })
    }

    fn key_set(&self, settings: &Trust) -> StartResult<RemoteKeySet> {
        let wrong = |error: jeton_jwks::FetchError| Error::Trust {
            name: settings.name.clone(),
            what: error.to_string(),
        };
        let mut keys = match &self.url {
            Some(address) => RemoteKeySet::builder(address.clone()),
            None => RemoteKeySet::builder_with_discovery(settings.iss.clone()),
        };
        if let Some(alg) = settings.default_alg {
            keys = keys.default_alg(alg);
        }
        if self.allow_private_addresses {
            keys = keys.allow_private_addresses();
        }
        if let Some(pem) = &self.authorities {
            keys = keys.fetch(Https::with_authorities(pem).map_err(wrong)?);
        }
        keys.build().map_err(wrong)
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

#[cfg(test)]
#[allow(clippy::unwrap_used, dead_code)]
#[path = "../tests/it/oauth/outside_issuer.rs"]
mod outside_issuer;

#[cfg(test)]
mod tests;
