//! `jwt.services.JwtService`, the service of a public benchmark of gRPC servers.
//!
//! Each call takes the next of a thousand addresses, issues a token for it, verifies the token and compares
//! the subject.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use jeton_issuer::Request as NodeRequest;
use jeton_proto::report::jwt_service_server::JwtService;
use jeton_proto::report::{GenerateJwtRequest, GenerateJwtResponse};
use tonic::{Request, Response, Status};

use crate::config::Permission;
use crate::failure::Failure;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::service::{Service, check_permission};

/// Number of addresses.
const ADDRESSES: usize = 1000;
/// Each address has 18 characters, as in the benchmark.
const DOMAIN: &str = "@mail.test";

/// The service, for one caller.
#[derive(Clone)]
pub(crate) struct ReportApi {
    pub(super) service: Arc<Service>,
    pub(super) caller: Arc<Caller>,
}

#[tonic::async_trait]
impl JwtService for ReportApi {
    async fn generate_jwt(
        &self,
        request: Request<GenerateJwtRequest>,
    ) -> Result<Response<GenerateJwtResponse>, Status> {
        let started = Instant::now();
        let algorithm = &request.get_ref().algorithm;
        let generated = match self.service.check_load() {
            Ok(()) => self.generate_anywhere(algorithm).await,
            Err(overloaded) => Err(overloaded),
        };
        let outcome = generated
            .as_ref()
            .map_or_else(Failure::outcome, |_| CallOutcome::Ok);
        let caller = Some(&*self.caller);
        self.service
            .count(caller, Call::GenerateJwt, outcome, started);
        Ok(Response::new(
            generated.map_err(|failure| failure.status())?,
        ))
    }
}

impl ReportApi {
    /// Generates a token, in the HSM if its profile requires it.
    async fn generate_anywhere(&self, algorithm: &str) -> Result<GenerateJwtResponse, Failure> {
        if let Some(settings) = &self.service.generate_jwt
            && let Some(signing) = self
                .service
                .signing_queue(&settings.issuer, settings.profile(algorithm))
        {
            let (api, algorithm) = (self.clone(), algorithm.to_owned());
            return signing.run(1, move || api.generate(&algorithm)).await;
        }
        self.generate(algorithm)
    }

    fn generate(&self, algorithm: &str) -> Result<GenerateJwtResponse, Failure> {
        let service = &self.service;
        let settings = service.generate_jwt.as_ref();
        let settings = settings.ok_or(jeton_issuer::Error::UnknownProfile)?;
        let profile = settings.profile(algorithm);
        if profile.is_empty() {
            let what = "expected HS256 or ES256".to_owned();
            return Err(Failure::Field("algorithm", what));
        }
        check_permission(&self.caller, Permission::Issue, &settings.issuer)?;
        check_permission(&self.caller, Permission::Verify, &settings.issuer)?;
        let subject = address(service.next_address.fetch_add(1, Ordering::Relaxed));
        let node_request = NodeRequest::new(profile).subject(&subject);
        let (issued, verified) = service
            .node
            .issue_and_verify(&settings.issuer, &node_request)?;
        if verified.subject() != Some(&*subject) {
            return Err(jeton_issuer::Error::Token(jeton::Error::Primitive).into());
        }
        for audience in verified.audiences() {
            let iss = &settings.issuer;
            service.check_credential(&self.caller, iss, &audience, Some(&subject))?;
        }
        service.metrics.issued.fetch_add(1, Ordering::Relaxed);
        service.metrics.verified.fetch_add(1, Ordering::Relaxed);
        Ok(GenerateJwtResponse {
            jwt: issued.token,
            sub: subject,
        })
    }
}

fn address(index: usize) -> String {
    let index = index % ADDRESSES;
    let digit = |unit: usize| char::from(b'0' + u8::try_from(index / unit % 10).unwrap_or(0));
    let mut address = String::with_capacity(18);
    address.push_str("user0");
    [100, 10, 1]
        .into_iter()
        .for_each(|unit| address.push(digit(unit)));
    address.push_str(DOMAIN);
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_a_thousand_values_of_eighteen_characters() {
        let all: std::collections::BTreeSet<String> = (0..2 * ADDRESSES).map(address).collect();
        assert_eq!(all.len(), ADDRESSES);
        assert!(all.iter().all(|address| address.len() == 18));
    }
}
