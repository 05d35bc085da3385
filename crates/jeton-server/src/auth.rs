//! Identifies callers.
//!
//! A caller is known by a certificate that the TLS handshake verified, or by a bearer token (RFC 6750)
//! of an issuer of this server. Forms have further credentials: see `client_auth`. In trial mode (no configured clients), every caller is the same local
//! caller, and the admin token identifies the administrator.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use aws_lc_rs::digest;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jeton::Clock;
use jeton_issuer::Node;
use jeton_store::{Moment, Revision};
use jeton_transport::PeerCertificate;

use crate::admin_token::AdminToken;
use crate::clients::Clients;
use crate::config::{Bearer, Config, Permission};
use crate::error::Result;
use crate::limits;
use crate::metrics::{CallOutcome, ClientCount};
use crate::permissions::Caller;
use crate::refusal::{Occasion, Party, Refusal, RefusalLog};

/// Identifies callers by their credentials. A configuration reload replaces it as a whole.
#[derive(Debug)]
pub(crate) struct Authenticator {
    clients: Clients,
    bearer: Option<Bearer>,
    /// Set if the configuration has no clients.
    trial: Option<TrialMode>,
    /// Number of the configuration. Cached callers of another generation are ignored.
    generation: u64,
    refusals: RefusalLog,
}

/// Why a caller is not identified.
#[derive(Debug)]
pub(crate) struct Unidentified {
    pub(crate) denied: Denied,
    /// For the log. `None`: there is nothing to add.
    reason: Option<Box<Reason>>,
}

#[derive(Debug)]
struct Reason {
    /// The client whose credentials they are.
    client: Option<Arc<Caller>>,
    refusal: Refusal,
    value: Option<String>,
}

impl From<Denied> for Unidentified {
    fn from(denied: Denied) -> Unidentified {
        Unidentified {
            denied,
            reason: None,
        }
    }
}

impl Unidentified {
    fn new(denied: Denied, refusal: Refusal) -> Unidentified {
        Unidentified {
            denied,
            reason: Some(Box::new(Reason {
                client: None,
                refusal,
                value: None,
            })),
        }
    }

    fn of_client(mut self, client: Arc<Caller>) -> Unidentified {
        if let Some(reason) = &mut self.reason {
            reason.client = Some(client);
        }
        self
    }
}

/// The callers of a server without configured clients. It serves every local process.
#[derive(Debug)]
struct TrialMode {
    anyone: Arc<Caller>,
    administrator: Arc<Caller>,
    token: Arc<AdminToken>,
}

/// Why a caller is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// The request has no credentials.
    NoCredentials,
    /// The same, at an endpoint that takes a form, which may have them.
    NoFormCredentials,
    /// The secret of a client is in the form.
    SecretInForm,
    /// The credentials are not valid.
    BadCredentials,
    /// The client certificate was valid when the connection began, and no longer is.
    CertificateEnded,
    /// The caller is known and lacks this permission.
    Permission(Permission),
    /// The requested token would be the credential of another client.
    Credential,
    /// In trial mode, AdminService requires the admin token.
    NoAdminToken,
    /// The node's view of the store is too old to decide.
    Stale,
}

/// The certificate of a connection, as it counts for one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentCertificate<'p> {
    pub(crate) certificate: &'p PeerCertificate,
    /// Whether it has not ended since the handshake, and the server still has the authorities of that time.
    pub(crate) is_valid: bool,
}

struct CachedCaller {
    caller: Arc<Caller>,
    generation: u64,
    /// Revision of the store at verification. Later revocations are not included.
    revision: Revision,
    until: Moment,
}

thread_local! {
    /// Recently verified bearer tokens of this worker, by SHA-256. No lock, and no token in memory.
    static VERIFIED: RefCell<HashMap<[u8; 32], CachedCaller>> = RefCell::default();
}

impl Authenticator {
    /// Builds it from a configuration. In trial mode, an existing admin token is kept.
    ///
    /// # Errors
    ///
    /// [`Error::AdminToken`](crate::Error::AdminToken) and [`Error::KeySet`](crate::Error::KeySet).
    pub(crate) fn new(
        config: &Config,
        generation: u64,
        token: Option<Arc<AdminToken>>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Authenticator> {
        let clients = Clients::from_config(config, clock)?;
        let trial = if !clients.is_empty() {
            None
        } else {
            Some(TrialMode {
                anyone: Arc::new(Caller::anyone()),
                administrator: Arc::new(Caller::administrator()),
                token: match token {
                    Some(token) => token,
                    None => Arc::new(AdminToken::create(&config.data)?),
                },
            })
        };
        Ok(Authenticator {
            trial,
            bearer: config.bearer.clone(),
            clients,
            generation,
            refusals: RefusalLog::new(config.log.claims),
        })
    }

    /// The log of refused requests.
    pub(crate) fn refusals(&self) -> &RefusalLog {
        &self.refusals
    }

    /// Logs why a caller is not identified.
    pub(crate) fn log(&self, unidentified: Unidentified) -> Denied {
        if let Some(reason) = unidentified.reason {
            let Reason {
                client,
                refusal,
                value,
            } = *reason;
            let party = client.as_deref().map(Caller::name);
            let occasion = Occasion {
                party: party.map_or(Party::Unknown, Party::Client),
                issuer: None,
                value: value.as_deref(),
            };
            if let Some(client) = &client {
                client
                    .calls()
                    .count(CallOutcome::ClientError, Instant::now());
            }
            let limit = client.as_deref().map(Caller::refusals);
            self.refusals.write(limit, occasion, &refusal);
        }
        unidentified.denied
    }

    /// The number of the configuration.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The calls of the clients in the order of the configuration, and those of callers that are no client.
    pub(crate) fn client_counts(&self) -> (Vec<(&str, ClientCount)>, ClientCount) {
        let mut counts: Vec<(&str, ClientCount)> = Vec::new();
        for caller in self.clients.all() {
            let count = caller.calls().now();
            // Entries of one name follow each other.
            match counts.last_mut() {
                Some((name, sum)) if *name == caller.name() => sum.add(count),
                _ => counts.push((caller.name(), count)),
            }
        }
        let mut others = ClientCount::default();
        for caller in self.trial.iter().flat_map(TrialMode::callers) {
            others.add(caller.calls().now());
        }
        (counts, others)
    }

    pub(crate) fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The admin token, in trial mode.
    pub(crate) fn admin_token(&self) -> Option<&Arc<AdminToken>> {
        self.trial.as_ref().map(|trial| &trial.token)
    }

    /// Identifies a caller of AdminService.
    pub(crate) fn identify_administrator(
        &self,
        node: &Node,
        certificate: Option<CurrentCertificate<'_>>,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Denied> {
        match &self.trial {
            Some(trial) if !trial.has_token(headers) => Err(Denied::NoAdminToken),
            _ => self.identify(node, certificate, headers),
        }
    }

    /// Refuses to issue a token that this server would accept as the credential of another client.
    ///
    /// Such a token is of the bearer issuer, for the bearer audience. It is refused even if no client has
    /// the subject yet: a client may be added while the token is valid. A caller gets tokens for its own
    /// subject only, unless it administers the bearer issuer and could import a key anyway.
    pub(crate) fn check_credential(
        &self,
        caller: Option<&Caller>,
        iss: &str,
        audience: &str,
        subject: Option<&str>,
    ) -> Result<(), Denied> {
        let is_credential = self
            .bearer
            .as_ref()
            .is_some_and(|bearer| bearer.issuer == iss && bearer.audience == audience);
        // A token without a subject identifies no client.
        let (true, Some(subject)) = (is_credential, subject) else {
            return Ok(());
        };
        let may =
            |caller: &Caller| caller.is_subject(subject) || caller.may(Permission::Admin, iss);
        if caller.is_some_and(may) {
            Ok(())
        } else {
            Err(Denied::Credential)
        }
    }

    /// Identifies a caller. If it cannot, the log has the reason.
    pub(crate) fn identify(
        &self,
        node: &Node,
        certificate: Option<CurrentCertificate<'_>>,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Denied> {
        let caller = self.find(node, certificate, headers);
        caller.map_err(|unidentified| self.log(unidentified))
    }

    /// Identifies a caller. The form of the request may have other credentials, so that nothing is logged yet.
    ///
    /// A bearer token has priority over a certificate, because the certificate may belong to a proxy.
    pub(crate) fn find(
        &self,
        node: &Node,
        certificate: Option<CurrentCertificate<'_>>,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Unidentified> {
        if let Some(trial) = &self.trial {
            return Ok(if trial.has_token(headers) {
                trial.administrator.clone()
            } else {
                trial.anyone.clone()
            });
        }
        if let Some(header) = headers.get(AUTHORIZATION) {
            if headers.get_all(AUTHORIZATION).iter().count() > 1 {
                return Err(several_headers());
            }
            return self.by_token(node, header.as_bytes());
        }
        let CurrentCertificate {
            certificate,
            is_valid,
        } = certificate.ok_or(Denied::NoCredentials)?;
        match self.clients.by_certificate(certificate) {
            Some(caller) if !is_valid => {
                let what = "the certificate has ended, or its authority is no longer accepted";
                let refusal = Refusal::of_whole("certificate", what);
                Err(Unidentified::new(Denied::CertificateEnded, refusal).of_client(caller))
            }
            Some(caller) => Ok(caller),
            None => {
                let what = "the certificate belongs to no client: neither a name nor its SHA-256";
                Err(bad(Refusal::of_whole("certificate", what)))
            }
        }
    }

    fn by_token(&self, node: &Node, header: &[u8]) -> Result<Arc<Caller>, Unidentified> {
        let token = bearer_token(header).ok_or_else(|| {
            let what = "`authorization` has another scheme than Bearer";
            bad(Refusal::of_whole("credentials", what))
        })?;
        let bearer = self.bearer.as_ref().ok_or_else(|| {
            let what = "bearer tokens are no credentials here: `bearer` is not set";
            bad(Refusal::of_whole("bearer", what))
        })?;
        let digest = digest::digest(&digest::SHA256, token);
        let Ok(digest) = <[u8; 32]>::try_from(digest.as_ref()) else {
            return Err(Denied::BadCredentials.into());
        };
        // Read before verification, so that the cached result is never newer than its revision.
        let (now, revision) = (Moment::now(), node.revision());
        if let Some(caller) = self.cached(&digest, now, revision) {
            return Ok(caller);
        }
        let token = std::str::from_utf8(token).map_err(|_| {
            let what = "the bearer token is not UTF-8";
            bad(Refusal::of_whole("bearer", what))
        })?;
        let with_value = |refusal: Refusal| {
            let value = self.refusals.value(&refusal, token);
            let mut unidentified = bad(refusal);
            if let Some(reason) = &mut unidentified.reason {
                reason.value = value;
            }
            unidentified
        };
        let verified = node
            .verify(&bearer.issuer, &bearer.audience, token)
            .map_err(|error| match error {
                jeton_issuer::Error::Stale => Denied::Stale.into(),
                error => with_value(Refusal::of_own(&error)),
            })?;
        let caller = verified
            .subject()
            .and_then(|subject| self.clients.by_subject(subject));
        let caller = caller.ok_or_else(|| {
            let what = "is the `bearer_subject` of no client";
            with_value(Refusal::of_claim("bearer_subject", "sub", what))
        })?;
        let cached = CachedCaller {
            caller: caller.clone(),
            generation: self.generation,
            revision,
            until: now + limits::BEARER_CACHE_DURATION,
        };
        VERIFIED.with_borrow_mut(|cache| {
            if cache.len() >= limits::BEARER_CACHE_TOKENS {
                cache.retain(|_, entry| entry.until > now && entry.revision == revision);
            }
            if cache.len() < limits::BEARER_CACHE_TOKENS {
                cache.insert(digest, cached);
            }
        });
        Ok(caller)
    }

    fn cached(&self, digest: &[u8; 32], now: Moment, revision: Revision) -> Option<Arc<Caller>> {
        VERIFIED.with_borrow(|cache| {
            let entry = cache.get(digest)?;
            let is_current = (entry.generation, entry.revision) == (self.generation, revision);
            let is_valid = is_current && entry.until > now;
            is_valid.then(|| entry.caller.clone())
        })
    }
}

fn bad(refusal: Refusal) -> Unidentified {
    Unidentified::new(Denied::BadCredentials, refusal)
}

/// The error for a request with several `authorization` headers.
pub(crate) fn several_headers() -> Unidentified {
    let what = "several `authorization` headers";
    bad(Refusal::of_whole("credentials", what))
}

impl TrialMode {
    fn callers(&self) -> [&Caller; 2] {
        [&*self.anyone, &*self.administrator]
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (values.next(), values.next()) else {
            return false;
        };
        bearer_token(header.as_bytes()).is_some_and(|token| self.token.matches(token))
    }
}

/// The token in an `authorization` header (RFC 6750, section 2.1).
pub(crate) fn bearer_token(header: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = header.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}
