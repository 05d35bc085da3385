//! Who calls: by a certificate that the handshake verified, or by a bearer token (RFC 6750) that an
//! issuer of this server issued. On a server without clients: anyone, or who shows the admin token.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::digest;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jeton_issuer::Node;
use jeton_store::{Moment, Revision};

use crate::admin_token::AdminToken;
use crate::config::{Bearer, Config};
use crate::error::Result;
use crate::limits;
use crate::listen::ActiveCall;
use crate::permissions::{Caller, Clients, Permission};
use crate::route::Peer;
use crate::service::Service;
use crate::tls::PeerCertificate;

/// Knows the callers. Replaced as a whole when the configuration is read again.
#[derive(Debug)]
pub(crate) struct Authenticator {
    clients: Clients,
    bearer: Option<Bearer>,
    /// Without clients.
    trial: Option<Trial>,
    /// Which configuration this is: what was remembered under another does not count.
    generation: u64,
}

/// A server that has no clients configured, and serves all processes of its machine.
#[derive(Debug)]
struct Trial {
    anyone: Arc<Caller>,
    administrator: Arc<Caller>,
    token: Arc<AdminToken>,
}

/// What a caller showed. A stream may last longer than its credentials are valid: who calls is looked up
/// again for each message.
#[derive(Debug)]
pub(crate) struct CallerCredentials {
    peer: Arc<Peer>,
    /// Of the request, only those that say who calls.
    headers: HeaderMap,
}

impl CallerCredentials {
    pub(crate) fn of(peer: &Arc<Peer>, headers: &HeaderMap) -> CallerCredentials {
        let shown = headers.get_all(AUTHORIZATION).iter();
        CallerCredentials {
            peer: peer.clone(),
            headers: shown.map(|one| (AUTHORIZATION, one.clone())).collect(),
        }
    }

    /// Its call is being answered until that is dropped.
    pub(crate) fn answer(&self) -> ActiveCall {
        self.peer.activity.answer()
    }

    /// Who it is now.
    pub(crate) fn identify(&self, service: &Service) -> Result<Arc<Caller>, Denied> {
        service.identify(self.peer.certificate.as_ref(), &self.headers)
    }
}

/// Why a caller may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// It did not say who it is.
    NoCredentials,
    /// What it showed is not valid.
    BadCredentials,
    /// It is known, and may not do this.
    Permission(Permission),
    /// It may have tokens issued, and not this one: with it, it would be another client.
    Credential,
    /// It is anyone, and AdminService asks for the admin token.
    NoAdminToken,
    /// Whether it may cannot be said now: the view of the store is too old.
    Stale,
}

struct CachedCaller {
    caller: Arc<Caller>,
    generation: u64,
    /// How far the store had been followed: what was revoked later is not in it.
    revision: Revision,
    until: Moment,
}

thread_local! {
    /// What this worker verified just now, by the token's SHA-256: no lock, and no token kept.
    static VERIFIED: RefCell<HashMap<[u8; 32], CachedCaller>> = RefCell::default();
}

impl Authenticator {
    /// With the admin token that is already there, if there is one. A server with clients has none.
    ///
    /// # Errors
    ///
    /// [`Error::AdminToken`](crate::Error::AdminToken).
    pub(crate) fn new(
        config: &Config,
        generation: u64,
        token: Option<Arc<AdminToken>>,
    ) -> Result<Authenticator> {
        let clients = Clients::of(config);
        let trial = match clients.is_empty() {
            false => None,
            true => Some(Trial {
                anyone: Arc::new(Caller::anyone()),
                administrator: Arc::new(Caller::administrator()),
                token: match token {
                    Some(token) => token,
                    None => Arc::new(AdminToken::make(&config.data)?),
                },
            }),
        };
        Ok(Authenticator {
            trial,
            bearer: config.bearer.clone(),
            clients,
            generation,
        })
    }

    /// Of a server without clients.
    pub(crate) fn admin_token(&self) -> Option<&Arc<AdminToken>> {
        self.trial.as_ref().map(|trial| &trial.token)
    }

    /// Who calls AdminService.
    pub(crate) fn identify_administrator(
        &self,
        node: &Node,
        certificate: Option<&PeerCertificate>,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Denied> {
        match &self.trial {
            Some(trial) if !trial.shows_token(headers) => Err(Denied::NoAdminToken),
            _ => self.identify(node, certificate, headers),
        }
    }

    /// Refuses a token that this server would take for another client's credential: one of the bearer
    /// issuer for the bearer audience.
    ///
    /// Whether the subject is a client's yet does not matter. A client may be added while the token is
    /// valid, and what such tokens are for is to call this server. So a caller has its own subject there
    /// and no other, unless it administers the bearer issuer and could import a key anyway.
    pub(crate) fn check_credential(
        &self,
        caller: &Caller,
        iss: &str,
        audience: &str,
        subject: Option<&str>,
    ) -> Result<(), Denied> {
        let is_credential = self
            .bearer
            .as_ref()
            .is_some_and(|bearer| bearer.issuer == iss && bearer.audience == audience);
        // A token without a subject is of no client.
        let (true, Some(subject)) = (is_credential, subject) else {
            return Ok(());
        };
        match caller.is_subject(subject) || caller.may(Permission::Admin, iss) {
            true => Ok(()),
            false => Err(Denied::Credential),
        }
    }

    /// Who it is. A bearer token counts more than a certificate: it is the caller's, where the
    /// certificate may be a proxy's.
    pub(crate) fn identify(
        &self,
        node: &Node,
        certificate: Option<&PeerCertificate>,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Denied> {
        if let Some(trial) = &self.trial {
            return Ok(match trial.shows_token(headers) {
                true => trial.administrator.clone(),
                false => trial.anyone.clone(),
            });
        }
        if let Some(header) = headers.get(AUTHORIZATION) {
            if headers.get_all(AUTHORIZATION).iter().count() > 1 {
                return Err(Denied::BadCredentials);
            }
            return self.by_token(node, header.as_bytes());
        }
        let certificate = certificate.ok_or(Denied::NoCredentials)?;
        let names = certificate.names.iter().map(String::as_str);
        let caller = self.clients.by_certificate(&certificate.digest, names);
        caller.ok_or(Denied::BadCredentials)
    }

    fn by_token(&self, node: &Node, header: &[u8]) -> Result<Arc<Caller>, Denied> {
        let bearer = self.bearer.as_ref().ok_or(Denied::BadCredentials)?;
        let token = bearer_token(header).ok_or(Denied::BadCredentials)?;
        let digest = digest::digest(&digest::SHA256, token);
        let Ok(digest) = <[u8; 32]>::try_from(digest.as_ref()) else {
            return Err(Denied::BadCredentials);
        };
        // Before the token is verified: it is not taken for newer than it is.
        let (now, revision) = (Moment::now(), node.revision());
        if let Some(caller) = self.remembered(&digest, now, revision) {
            return Ok(caller);
        }
        let token = std::str::from_utf8(token).map_err(|_| Denied::BadCredentials)?;
        let verified = node
            .verify(&bearer.issuer, &bearer.audience, token)
            .map_err(|error| match error {
                jeton_issuer::Error::Stale => Denied::Stale,
                _ => Denied::BadCredentials,
            })?;
        let subject = verified.subject().ok_or(Denied::BadCredentials)?;
        let caller = self.clients.by_subject(subject);
        let caller = caller.ok_or(Denied::BadCredentials)?;
        let remembered = CachedCaller {
            caller: caller.clone(),
            generation: self.generation,
            revision,
            until: now + limits::BEARER_CACHE_DURATION,
        };
        VERIFIED.with_borrow_mut(|known| {
            if known.len() >= limits::BEARER_CACHE_TOKENS {
                known.retain(|_, one| one.until > now && one.revision == revision);
            }
            if known.len() < limits::BEARER_CACHE_TOKENS {
                known.insert(digest, remembered);
            }
        });
        Ok(caller)
    }

    fn remembered(
        &self,
        digest: &[u8; 32],
        now: Moment,
        revision: Revision,
    ) -> Option<Arc<Caller>> {
        VERIFIED.with_borrow(|known| {
            let one = known.get(digest)?;
            let is_current = (one.generation, one.revision) == (self.generation, revision);
            let counts = is_current && one.until > now;
            counts.then(|| one.caller.clone())
        })
    }
}

impl Trial {
    fn shows_token(&self, headers: &HeaderMap) -> bool {
        let mut shown = headers.get_all(AUTHORIZATION).iter();
        let (Some(header), None) = (shown.next(), shown.next()) else {
            return false;
        };
        bearer_token(header.as_bytes()).is_some_and(|token| self.token.is(token))
    }
}

/// What a header shows (RFC 6750, section 2.1).
fn bearer_token(header: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = header.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}
