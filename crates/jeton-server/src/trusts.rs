//! Outside issuers: their keys, and the trust entries that accept their tokens.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use jeton::error::{Rejection, codes};
use jeton::jwt::JwtVerifier;
use jeton::key::SigAlg;
use jeton::{Clock, Policy, RawClaims, Verified};
use jeton_issuer::limits::{NAME_BYTES, TOKEN_BYTES_MAX};
use jeton_jwks::{Https, RemoteKeySet, RemoteVerifier};
use serde_json::Value;

use crate::clients::read_key_set;
use crate::config::{Config, Trust};
use crate::error::{Error, Result as StartResult};
use crate::limits::REQUESTS_PER_MINUTE;
use crate::rate_limit::RateLimit;
use crate::refusal::{LineLimit, Refusal};
use crate::subject_template::SubjectTemplate;
use crate::token_rules::{ACCESS_TOKEN_TYPE, check_entry};
use crate::verify_clock::LEEWAY;

/// What a client learns if no entry accepts a token.
pub(crate) const NO_ENTRY: &str = "no trust entry accepts the token";
/// How many further entries a log line names.
const NAMED_ENTRIES: usize = 7;

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

/// The keys of an outside issuer.
///
/// They verify its tokens for any audience and with each type that an entry may accept. The entries check both.
#[derive(Debug)]
enum OutsideKeys {
    Remote(Box<RemoteKeys>),
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
    allow_plain_http: bool,
    /// The proxy, and the hosts that need none.
    proxy: Option<(String, String)>,
    default_alg: Option<&'static str>,
    key_use: Option<String>,
}

/// A trust entry.
#[derive(Debug)]
pub(crate) struct TrustEntry {
    pub(crate) settings: Trust,
    pub(crate) rate: RateLimit,
    /// Log lines about refused tokens.
    pub(crate) refusals: LineLimit,
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

/// Why a token of an outside issuer is not accepted.
#[derive(Debug)]
pub(crate) enum NotAccepted<'t> {
    /// Its keys cannot be fetched now.
    Unavailable,
    /// No entry names the outside issuer and this issuer.
    NoEntry,
    /// It is refused, by the keys or by an entry.
    Refused {
        /// The entry that decides: of several, the one that the token fits best.
        entry: &'t TrustEntry,
        refusal: Refusal,
        /// What a client learns.
        what: String,
    },
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
        let types_of = |iss: &str| {
            let entries = config.trusts.iter().filter(|trust| trust.iss == iss);
            let types: Vec<String> = entries
                .flat_map(|trust| trust.types.clone())
                .flatten()
                .collect();
            types
        };
        for settings in &config.trusts {
            let default_subject = || SubjectTemplate::default_of(&settings.name);
            let rate = settings.requests_per_minute.unwrap_or(REQUESTS_PER_MINUTE);
            let entry = TrustEntry {
                settings: settings.clone(),
                rate: RateLimit::new(rate),
                refusals: LineLimit::new(),
                subject: settings.subject.clone().unwrap_or_else(default_subject),
            };
            match trusts.outside.get_mut(&settings.iss) {
                Some(issuer) => issuer.entries.push(entry),
                None => {
                    let before = before.outside.get(&settings.iss);
                    let (before, types) = (before.map(|old| &old.keys), types_of(&settings.iss));
                    let issuer = OutsideIssuer {
                        keys: OutsideKeys::new(config, settings, types, clock, before)?,
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

    /// The first entry with this outside issuer that issues as `own`.
    pub(crate) fn first_entry(&self, own: &str, outside: &str) -> Option<&TrustEntry> {
        let mut entries = self.outside.get(outside)?.entries.iter();
        entries.find(|entry| entry.settings.issuer == own)
    }

    /// Verifies a token of an outside issuer. `own` is the issuer of this server that would issue for it.
    /// `is_access_token`: the request presents it as an access token.
    ///
    /// # Errors
    ///
    /// [`NotAccepted`].
    pub(crate) async fn verify(
        &self,
        own: &str,
        outside: &str,
        token: &str,
        is_access_token: bool,
    ) -> Result<OutsideToken<'_>, NotAccepted<'_>> {
        let issuer = self.outside.get(outside).ok_or(NotAccepted::NoEntry)?;
        let entries = issuer.entries.iter();
        let entries: Vec<&TrustEntry> = entries
            .filter(|entry| entry.settings.issuer == own)
            .collect();
        let first = *entries.first().ok_or(NotAccepted::NoEntry)?;
        let refused = |entry, refusal: Refusal, what: String| NotAccepted::Refused {
            entry,
            refusal,
            what,
        };
        if token.len() > TOKEN_BYTES_MAX {
            let bytes = token.len();
            let what = format!("has {bytes} bytes, the limit is {TOKEN_BYTES_MAX}");
            let refusal = Refusal::of_whole("token_bytes", what.clone());
            return Err(refused(first, refusal, what));
        }
        let verified = match issuer.keys.verify(token).await {
            Ok(verified) => verified,
            Err(jeton_jwks::Error::Jeton(error)) if error.is_rejection() => {
                let is_unknown = error.rejection() == Some(&Rejection::UnknownKey);
                if is_unknown && issuer.keys.is_failing() {
                    return Err(NotAccepted::Unavailable);
                }
                let what = format!("rejected ({})", error.code());
                return Err(refused(first, Refusal::of_rejected(&error), what));
            }
            // jeton-jwks logs why, once for each request to the outside issuer.
            Err(_) => return Err(NotAccepted::Unavailable),
        };
        // The token is strict JSON without duplicate members.
        let claims: Value = serde_json::from_str(verified.json()).map_err(|_| {
            let what = "rejected (claims cannot be read)".to_owned();
            refused(first, Refusal::of_whole("claims", what.clone()), what)
        })?;
        let header = verified.header();
        let (entry, subject) = choose(&entries, header.typ(), is_access_token, &claims)?;
        Ok(OutsideToken {
            entry,
            verified,
            claims,
            subject,
        })
    }
}

/// Returns the first entry that accepts a token, and the subject that it gives.
fn choose<'t>(
    entries: &[&'t TrustEntry],
    typ: Option<&str>,
    is_access_token: bool,
    claims: &Value,
) -> Result<(&'t TrustEntry, String), NotAccepted<'t>> {
    let mut refusals = Vec::new();
    for &entry in entries {
        match check_entry(&entry.settings, typ, is_access_token, claims) {
            Ok(()) => {
                let subject = entry.subject(claims).map_err(|refusal| {
                    let what = refusal.what().to_owned();
                    NotAccepted::Refused {
                        entry,
                        refusal,
                        what,
                    }
                })?;
                return Ok((entry, subject));
            }
            Err((passed, refusal)) => refusals.push((passed, entry, refusal)),
        }
    }
    // The first of those that fit best.
    let best = refusals.iter().map(|(passed, ..)| *passed).max();
    let best = refusals
        .iter()
        .position(|(passed, ..)| Some(*passed) == best);
    let Some(best) = best else {
        return Err(NotAccepted::NoEntry);
    };
    let (passed, entry, mut refusal) = refusals.remove(best);
    let what = match passed {
        0 => format!("rejected ({})", codes::TOKEN_TYPE_MISMATCH.name()),
        _ => NO_ENTRY.to_owned(),
    };
    for (_, other, also) in refusals.iter().take(NAMED_ENTRIES) {
        refusal.add(&format!("; entry `{}`: {also}", other.settings.name));
    }
    Err(NotAccepted::Refused {
        entry,
        refusal,
        what,
    })
}

impl OutsideKeys {
    /// `types` are those of all entries of the issuer.
    fn new(
        config: &Config,
        settings: &Trust,
        types: Vec<String>,
        clock: &Arc<dyn Clock>,
        before: Option<&OutsideKeys>,
    ) -> StartResult<OutsideKeys> {
        let policy = outside_policy(&settings.iss, types);
        if let Some(file) = &settings.keys_file {
            let keys = read_key_set(file, settings.default_alg, settings.key_use.as_deref())?;
            let verifier = JwtVerifier::new(keys, policy).clock(clock.clone());
            return Ok(OutsideKeys::File(Box::new(verifier)));
        }
        let source = Source::of(config, settings)?;
        let keys = match before {
            Some(OutsideKeys::Remote(before)) if before.source == source => before.keys.clone(),
            _ => source.key_set(settings)?,
        };
        let verifier = RemoteVerifier::new(&keys, policy).clock(clock.clone());
        Ok(OutsideKeys::Remote(Box::new(RemoteKeys {
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
    fn of(config: &Config, settings: &Trust) -> StartResult<Source> {
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
            allow_plain_http: settings.allow_plain_http,
            proxy: config
                .proxy
                .clone()
                .map(|proxy| (proxy, config.no_proxy.join(","))),
            default_alg: settings.default_alg.map(SigAlg::name),
            key_use: settings.key_use.clone(),
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
        if let Some(key_use) = &self.key_use {
            keys = keys.key_use(key_use.clone());
        }
        if self.allow_private_addresses {
            keys = keys.allow_private_addresses();
        }
        if self.allow_plain_http {
            keys = keys.allow_plain_http();
        }
        let mut https = match &self.authorities {
            Some(pem) => Https::with_authorities(pem),
            None => Https::new(),
        }
        .map_err(wrong)?;
        if let Some((proxy, except)) = &self.proxy {
            https = https.with_proxy(proxy, except).map_err(wrong)?;
        }
        keys = keys.fetch(https);
        keys.build().map_err(wrong)
    }
}

/// What all tokens of an outside issuer must be. Its entries require more.
pub(crate) fn outside_policy(iss: &str, types: Vec<String>) -> Policy {
    let policy = Policy::new(iss.to_owned(), "")
        .any_audience()
        .or_typ(ACCESS_TOKEN_TYPE)
        .leeway(LEEWAY);
    types.into_iter().fold(policy, Policy::or_typ)
}

impl TrustEntry {
    /// The subject of the token that a token with these claims is exchanged for.
    fn subject(&self, claims: &Value) -> Result<String, Refusal> {
        fill_subject(&self.subject, claims)
    }
}

/// Fills in the subject of a new token.
pub(crate) fn fill_subject(template: &SubjectTemplate, claims: &Value) -> Result<String, Refusal> {
    let subject = template.fill(claims);
    let subject = subject.filter(|subject| (1..=NAME_BYTES).contains(&subject.len()));
    subject.ok_or_else(|| {
        let what = "a claim that the subject is made of is missing, empty or too long";
        match template.first_missing(claims) {
            Some(name) => Refusal::of_claim("subject", name.to_owned(), what),
            None => Refusal::of_whole("subject", what),
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, dead_code)]
#[path = "../tests/it/oauth/outside_issuer.rs"]
mod outside_issuer;

#[cfg(test)]
mod tests;
