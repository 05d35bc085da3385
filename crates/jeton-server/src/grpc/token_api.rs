//! A caller of `jeton.v1.TokenService`, and what all its calls have in common.

use std::sync::Arc;
use std::time::Instant;

use jeton_transport::RequestStream;
use tonic::{Response, Status};

use crate::config::Permission;
use crate::failure::{Failure, denied};
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::service::{CallerCredentials, Service, check_permission};

/// The service, for one caller.
#[derive(Clone)]
pub(crate) struct TokenApi {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Arc<Caller>,
    /// Set for streaming calls.
    pub(crate) credentials: Option<Arc<CallerCredentials>>,
    /// What the call is charged to. Set for streaming calls and batches.
    pub(crate) stream: Option<Arc<RequestStream>>,
}

impl TokenApi {
    /// Handles a call unless the worker is overloaded, and counts its outcome.
    pub(super) fn respond<T>(
        &self,
        call: Call,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Response<T>, Status> {
        let started = Instant::now();
        let done = self.service.check_load().and_then(|()| work());
        self.count(call, &done, started);
        Ok(Response::new(done.map_err(|failure| failure.status())?))
    }

    /// Same as [`respond`](TokenApi::respond), for work that yields to other calls.
    pub(super) async fn respond_in_slices<T>(
        &self,
        call: Call,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Response<T>, Status> {
        let started = Instant::now();
        let done = match self.service.check_load() {
            Ok(()) => work.await,
            Err(overloaded) => Err(overloaded),
        };
        self.count(call, &done, started);
        Ok(Response::new(done.map_err(|failure| failure.status())?))
    }

    /// Counts a call by its outcome.
    pub(super) fn count<T>(&self, call: Call, done: &Result<T, Failure>, started: Instant) {
        let outcome = done
            .as_ref()
            .map_or_else(Failure::outcome, |_| CallOutcome::Ok);
        self.service
            .count(Some(&self.caller), call, outcome, started);
    }

    /// Identifies the caller of a stream again.
    ///
    /// Its bearer token may have expired or been revoked since, or the configured clients have changed.
    pub(super) fn identify_again(&mut self) -> Result<(), Status> {
        if let Some(credentials) = &self.credentials {
            self.caller = credentials.identify(&self.service).map_err(denied)?;
        }
        Ok(())
    }

    /// Checks that the caller of a stream may still verify.
    pub(super) fn check_again(&mut self, iss: &str) -> Result<(), Status> {
        self.identify_again()?;
        check_permission(&self.caller, Permission::Verify, iss).map_err(|failure| failure.status())
    }

    /// The issuer that a request names, if the caller has the permission for it.
    pub(super) fn issuer(&self, named: &str, permission: Permission) -> Result<String, Failure> {
        let iss = self.service.issuer(named)?;
        check_permission(&self.caller, permission, &iss)?;
        Ok(iss.into_owned())
    }
}
