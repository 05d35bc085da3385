//! The state that all listeners and workers share.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use arc_swap::ArcSwap;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jeton::{RawClaims, Verified};
use jeton_issuer::{Error, Issued, Node, Request, Revoke};
use jeton_store::Revision;
use jeton_transport::{Load, Peer, Shared};

use crate::argon2_queue::Argon2Queue;
use crate::auth::{Authenticator, CurrentCertificate, Denied};
use crate::certificates::Certificates;
use crate::config::{Config, GenerateJwt, Limits, Permission};
use crate::error::Result as StartResult;
use crate::failure::Failure;
use crate::hosts::Hosts;
use crate::hsm::{HsmKeys, SigningQueue};
use crate::limits;
use crate::metrics::{Call, CallOutcome, Metrics};
use crate::page_links::PageLinks;
use crate::permissions::Caller;
use crate::refusal::{Occasion, Party, Refusal};
use crate::stream_permits::{Limit, StreamPermits};
use crate::traces::{RequestTracer, in_child_span};
use crate::trusts::Trusts;
use crate::verify_clock::clock_of;

/// The shared state. Issuing and verifying take none of its locks.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) node: Node,
    pub(crate) authenticator: ArcSwap<Authenticator>,
    /// Outside issuers.
    pub(crate) trusts: ArcSwap<Trusts>,
    /// Permits for slow comparisons of secrets.
    pub(crate) argon2: Argon2Queue,
    /// Signs with keys in an HSM.
    pub(crate) signing: Option<SigningQueue>,
    pub(crate) hosts: ArcSwap<Hosts>,
    pub(crate) limits: Limits,
    /// The freshness bound.
    pub(crate) freshness_seconds: u64,
    pub(crate) metrics: Metrics,
    /// `None` unless the configuration asks for traces.
    pub(crate) traces: Option<RequestTracer>,
    pub(crate) transport: Arc<Shared>,
    pub(crate) generate_jwt: Option<GenerateJwt>,
    /// Index of the next address that [`grpc::report`](crate::grpc) issues a token for.
    pub(crate) next_address: AtomicUsize,
    /// Files with certificates that are followed.
    pub(crate) certificates: Certificates,
    /// Links to the page of the admin listener.
    pub(crate) page_links: PageLinks,
    /// Permits for clients that follow revocations.
    pub(crate) watchers: Arc<StreamPermits>,
    /// Permits for lists and backups of AdminService.
    pub(crate) admin_streams: Arc<StreamPermits>,
}

impl Service {
    pub(crate) fn new(
        node: Node,
        config: &Config,
        hsm: Option<Arc<dyn HsmKeys>>,
        traces: Option<RequestTracer>,
        transport: Arc<Shared>,
        certificates: Certificates,
    ) -> StartResult<Service> {
        let clock = clock_of(&node);
        Ok(Service {
            node,
            authenticator: ArcSwap::from_pointee(Authenticator::new(config, 0, None, &clock)?),
            trusts: ArcSwap::from_pointee(Trusts::from_config(config, &clock, &Trusts::default())?),
            argon2: Argon2Queue::new(),
            signing: (hsm.zip(config.pkcs11.as_ref()))
                .map(|(keys, pkcs11)| SigningQueue::new(keys, pkcs11)),
            hosts: ArcSwap::from_pointee(Hosts::from_config(config)),
            limits: config.limits.clone(),
            freshness_seconds: config.freshness_seconds,
            metrics: Metrics::default(),
            traces,
            transport,
            generate_jwt: config.generate_jwt.clone(),
            next_address: AtomicUsize::new(0),
            certificates,
            page_links: PageLinks::default(),
            watchers: StreamPermits::new(
                "streams of revocations",
                Limit {
                    name: "limits.revocation_watchers",
                    most: config.limits.revocation_watchers,
                },
                Limit {
                    name: "limits.revocation_watchers_per_client",
                    most: config.limits.watchers_per_client(),
                },
            ),
            admin_streams: StreamPermits::new(
                "lists and backups",
                Limit {
                    name: "ADMIN_STREAMS",
                    most: limits::ADMIN_STREAMS,
                },
                Limit {
                    name: "ADMIN_STREAMS_PER_CLIENT",
                    most: limits::ADMIN_STREAMS_PER_CLIENT,
                },
            ),
        })
    }

    pub(crate) fn identify(&self, peer: &Peer, headers: &HeaderMap) -> Result<Arc<Caller>, Denied> {
        let certificate = self.certificate(peer);
        self.authenticator
            .load()
            .identify(&self.node, certificate, headers)
    }

    /// Identifies a caller of AdminService.
    pub(crate) fn identify_administrator(
        &self,
        peer: &Peer,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Denied> {
        let certificate = self.certificate(peer);
        let authenticator = self.authenticator.load();
        authenticator.identify_administrator(&self.node, certificate, headers)
    }

    /// The client certificate of a connection. A connection may outlive it.
    pub(crate) fn certificate<'p>(&self, peer: &'p Peer) -> Option<CurrentCertificate<'p>> {
        let certificate = peer.certificate.as_ref()?;
        let now = self.node.now().unix_seconds();
        Some(CurrentCertificate {
            certificate,
            is_valid: certificate.is_valid(now, self.transport.authorities()),
        })
    }

    /// Refuses to issue a token that would be the credential of another client.
    pub(crate) fn check_credential(
        &self,
        caller: &Caller,
        iss: &str,
        audience: &str,
        subject: Option<&str>,
    ) -> Result<(), Denied> {
        let authenticator = self.authenticator.load();
        authenticator.check_credential(Some(caller), iss, audience, subject)
    }

    /// Counts a finished call, and that of its client.
    pub(crate) fn count(
        &self,
        caller: Option<&Caller>,
        call: Call,
        outcome: CallOutcome,
        started: Instant,
    ) {
        self.metrics.count(call, outcome, started);
        if let Some(caller) = caller {
            caller.calls().count(outcome, started);
        }
    }

    /// Fails if this worker is overloaded.
    pub(crate) fn check_load(&self) -> Result<(), Failure> {
        if !Load::is_late() {
            Ok(())
        } else {
            Err(Failure::Overloaded("server overloaded, retry later".into()))
        }
    }

    /// The issuer that a request names, or the only issuer if it names none.
    pub(crate) fn issuer<'n>(&self, named: &'n str) -> Result<Cow<'n, str>, Error> {
        if !named.is_empty() {
            return Ok(Cow::Borrowed(named));
        }
        Ok(Cow::Owned(self.node.only_issuer()?))
    }

    pub(crate) fn issue(
        &self,
        caller: &Caller,
        iss: &str,
        request: &Request<'_>,
    ) -> Result<Issued, Failure> {
        check_permission(caller, Permission::Issue, iss)?;
        self.issue_granted(Some(caller), iss, request)
    }

    /// Returns the queue for tokens of that profile, if an HSM signs them. Issuing one then blocks.
    pub(crate) fn signing_queue(&self, named: &str, profile: &str) -> Option<&SigningQueue> {
        let signing = self.signing.as_ref()?;
        let iss = self.issuer(named).ok()?;
        (self.node.signs_remotely(&iss, profile)).then_some(signing)
    }

    /// Issues a token that a grant of the token endpoint allows. `None`: no client requested it.
    pub(crate) fn issue_granted(
        &self,
        caller: Option<&Caller>,
        iss: &str,
        request: &Request<'_>,
    ) -> Result<Issued, Failure> {
        self.node.issue_if(iss, request, |audience, subject| {
            let authenticator = self.authenticator.load();
            Ok(authenticator.check_credential(caller, iss, audience, subject)?)
        })
    }

    /// Logs why a request with a form is refused, unless that is logged already, and returns what the caller learns.
    ///
    /// `caller` is the client, if it is identified.
    pub(crate) fn log_refusal(
        &self,
        failure: Failure,
        caller: Option<&Caller>,
        iss: &str,
    ) -> Failure {
        let is_refusal = match &failure {
            Failure::OAuth(error) => error.code != "temporarily_unavailable",
            // What the client itself must correct is logged if it is about its credentials.
            Failure::Field(name, _) => name.starts_with("client_"),
            Failure::Rate(_) => true,
            Failure::Denied(denied) => {
                matches!(denied, Denied::Permission(_) | Denied::Credential)
            }
            _ => false,
        };
        let failure = failure.answer();
        if is_refusal {
            self.log_refusal_of(caller, iss, &failure.refusal(), None);
        }
        failure
    }

    /// Logs why a request is refused. `token` is the one that the refusal is about.
    pub(crate) fn log_refusal_of(
        &self,
        caller: Option<&Caller>,
        iss: &str,
        refusal: &Refusal,
        token: Option<&str>,
    ) {
        let authenticator = self.authenticator.load();
        let log = authenticator.refusals();
        let value = token.and_then(|token| log.value(refusal, token));
        let occasion = Occasion {
            party: caller.map_or(Party::Unknown, |caller| Party::Client(caller.name())),
            issuer: Some(iss),
            value: value.as_deref(),
        };
        log.write(caller.map(Caller::refusals), occasion, refusal);
    }

    /// Counts and logs a token of this server that a caller presents and that is rejected.
    pub(crate) fn log_rejected(&self, caller: &Caller, iss: &str, error: Error, token: &str) {
        self.log_refusal_of(Some(caller), iss, &Refusal::of_own(&error), Some(token));
        self.rejected(error.into());
    }

    /// Counts a rejected token by its reason.
    pub(crate) fn rejected(&self, failure: Failure) -> Failure {
        if failure.outcome() == CallOutcome::Rejected {
            self.metrics.rejections.count(failure.reason());
        }
        failure
    }

    /// Revokes within the budgets of the caller and the issuer.
    pub(crate) async fn revoke(
        &self,
        caller: &Caller,
        iss: &str,
        revoke: Revoke,
    ) -> Result<Revision, Failure> {
        self.take_revocations(caller, iss, 1)?;
        let revoked = self.node.revoke(caller.name(), iss, revoke);
        let revoked = in_child_span("store revoke", revoked).await;
        revoked.map_err(|error| self.not_revoked(caller, iss, error))
    }

    /// Revokes a whole token, as [`revoke`](Service::revoke) does.
    pub(crate) async fn revoke_token(
        &self,
        caller: &Caller,
        iss: &str,
        token: &str,
    ) -> Result<Revision, Failure> {
        self.take_revocations(caller, iss, 1)?;
        let revoked = self.node.revoke_token(caller.name(), iss, token);
        let revoked = in_child_span("store revoke", revoked).await;
        revoked.map_err(|error| self.not_revoked(caller, iss, error))
    }

    /// Counts revocations to the budget of the caller, before they are written: a client must not fill the store.
    pub(crate) fn take_revocations(
        &self,
        caller: &Caller,
        iss: &str,
        count: u32,
    ) -> Result<(), Failure> {
        let taken = caller.revocations().take_many(count);
        taken.map_err(|exceeded| self.over_budget(caller, iss, Failure::RevocationRate(exceeded)))
    }

    /// Returns the failure of a revocation. One that wrote nothing does not count to the budget.
    pub(crate) fn not_revoked(&self, caller: &Caller, iss: &str, error: Error) -> Failure {
        if !matches!(error, Error::Store(_) | Error::Stale) {
            caller.revocations().give_back();
        }
        match error {
            Error::RulesFull { .. } | Error::ClientRulesFull { .. } => {
                self.over_budget(caller, iss, error.into())
            }
            other => other.into(),
        }
    }

    fn over_budget(&self, caller: &Caller, iss: &str, failure: Failure) -> Failure {
        let refused = &self.metrics.revocations_refused;
        refused.fetch_add(1, Ordering::Relaxed);
        self.log_refusal_of(Some(caller), iss, &failure.refusal(), None);
        failure
    }

    pub(crate) fn verify(
        &self,
        caller: &Caller,
        iss: &str,
        audience: &str,
        token: &str,
    ) -> Result<Verified<RawClaims>, Failure> {
        check_permission(caller, Permission::Verify, iss)?;
        self.node
            .verify(iss, audience, token)
            .map_err(|error| self.rejected(error.into()))
    }
}

/// The credentials of a streaming call.
///
/// A stream may outlive its credentials, so the caller is identified again for each message.
#[derive(Debug)]
pub(crate) struct CallerCredentials {
    peer: Arc<Peer>,
    /// Only the `authorization` headers of the request.
    headers: HeaderMap,
}

impl CallerCredentials {
    pub(crate) fn new(peer: &Arc<Peer>, headers: &HeaderMap) -> CallerCredentials {
        let values = headers.get_all(AUTHORIZATION).iter();
        CallerCredentials {
            peer: peer.clone(),
            headers: values.map(|value| (AUTHORIZATION, value.clone())).collect(),
        }
    }

    /// Identifies the caller with the current configuration and revocations.
    pub(crate) fn identify(&self, service: &Service) -> Result<Arc<Caller>, Denied> {
        service.identify(&self.peer, &self.headers)
    }
}

/// Fails if the caller lacks the permission for the issuer.
pub(crate) fn check_permission(
    caller: &Caller,
    permission: Permission,
    iss: &str,
) -> Result<(), Failure> {
    if caller.may(permission, iss) {
        Ok(())
    } else {
        Err(Denied::Permission(permission).into())
    }
}
