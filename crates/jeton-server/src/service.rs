//! What all listeners and workers share.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use arc_swap::ArcSwap;
use http::HeaderMap;
use jeton::{Untyped, Verified};
use jeton_issuer::{Error, Issued, Node, Request};
use tokio::sync::{Semaphore, watch};

use crate::auth::{Denied, Authenticator};
use crate::config::{Config, GenerateJwt, Limits};
use crate::error::Result as Started;
use crate::hosts::Hosts;
use crate::body_budget::BodyBudget;
use crate::metrics::Metrics;
use crate::overload::Load;
use crate::permissions::{Caller, Permission};
use crate::tls::PeerCertificate;
use crate::unread_responses::AllUnreadResponses;

/// The server's inside. Answering takes no lock of it.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) node: Node,
    pub(crate) authenticator: ArcSwap<Authenticator>,
    pub(crate) hosts: ArcSwap<Hosts>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) load: Load,
    pub(crate) body_budget: Arc<BodyBudget>,
    pub(crate) unread: Arc<AllUnreadResponses>,
    pub(crate) generate_jwt: Option<GenerateJwt>,
    /// The next of the addresses that [`grpc::report`](crate::grpc) issues for.
    pub(crate) next_address: AtomicUsize,
    /// Who may still follow revocations.
    pub(crate) watchers: Arc<Semaphore>,
    /// True when the server has been told to stop.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Service {
    pub(crate) fn new(
        node: Node,
        config: &Config,
        stopping: watch::Receiver<bool>,
    ) -> Started<Service> {
        Ok(Service {
            node,
            authenticator: ArcSwap::from_pointee(Authenticator::new(config, 0, None)?),
            hosts: ArcSwap::from_pointee(Hosts::of(config)),
            limits: config.limits.clone(),
            metrics: Metrics::default(),
            load: Load::default(),
            body_budget: Arc::new(BodyBudget::new(config.limits.stall())),
            unread: Arc::default(),
            generate_jwt: config.generate_jwt.clone(),
            next_address: AtomicUsize::new(0),
            watchers: Arc::new(Semaphore::new(config.limits.watchers)),
            stopping,
        })
    }

    pub(crate) fn identify(
        &self,
        certificate: Option<&PeerCertificate>,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Denied> {
        self.authenticator
            .load()
            .identify(&self.node, certificate, headers)
    }

    /// Who calls AdminService.
    pub(crate) fn identify_administrator(
        &self,
        certificate: Option<&PeerCertificate>,
        headers: &HeaderMap,
    ) -> Result<Arc<Caller>, Denied> {
        let authenticator = self.authenticator.load();
        authenticator.identify_administrator(&self.node, certificate, headers)
    }

    /// Refuses to issue what would be another client's credential.
    pub(crate) fn check_credential(
        &self,
        caller: &Caller,
        iss: &str,
        audience: &str,
        subject: Option<&str>,
    ) -> Result<(), Denied> {
        let authenticator = self.authenticator.load();
        authenticator.check_credential(caller, iss, audience, subject)
    }

    /// Refuses a call if this worker is late already.
    pub(crate) fn check_load(&self) -> Result<(), Failure> {
        match Load::is_late() {
            false => Ok(()),
            true => Err(Failure::Overloaded(
                "the server has more to do than it can: try again later",
            )),
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// The issuer that a caller means: the one it names, or the only one there is.
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
        self.node.issue_if(iss, request, |audience, subject| {
            Ok(self.check_credential(caller, iss, audience, subject)?)
        })
    }

    pub(crate) fn verify(
        &self,
        caller: &Caller,
        iss: &str,
        audience: &str,
        token: &str,
    ) -> Result<Verified<Untyped>, Failure> {
        check_permission(caller, Permission::Verify, iss)?;
        Ok(self.node.verify(iss, audience, token)?)
    }
}

/// Why a call was not answered as asked.
#[derive(Debug)]
pub(crate) enum Failure {
    Denied(Denied),
    Issuer(Error),
    /// The request itself: the field, and what it wants.
    Field(&'static str, String),
    /// There is more to do than can be done.
    Overloaded(&'static str),
    /// The caller no longer waits.
    DeadlineExceeded,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Issuer(error)
    }
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        Failure::Denied(denied)
    }
}

/// Waits until it is true, or can no longer become so.
pub(crate) async fn wait_until_true(flag: &mut watch::Receiver<bool>) {
    // What it answers with holds a lock: it must not live in whoever waits.
    drop(told.wait_for(|told| *told).await);
}

/// Whether the caller may do that for that issuer.
pub(crate) fn check_permission(caller: &Caller, permission: Permission, iss: &str) -> Result<(), Failure> {
    match caller.may(permission, iss) {
        true => Ok(()),
        false => Err(Denied::Permission(permission).into()),
    }
}
