//! The token endpoint (RFC 6749, section 3.2).
//!
//! A grant decides who may get which token: its subject, its client, what it may contain and how long it may
//! live. This module reads the form, identifies the client, issues the token and writes the response, for all of
//! them.

mod client_credentials;
mod exchange;
mod federation;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use jeton::Timestamp;
use jeton_issuer::{CustomClaims, Error, Issued, Request as IssueRequest};
use jeton_transport::{DrainedBody, Peer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tonic::body::Body;

use super::issuer_path::issuer_of;
use super::{client_error_response, plain};
use crate::auth::Denied;
use crate::client_auth;
use crate::config::{AllowedToken, Grant, Permission};
use crate::failure::Failure;
use crate::form::Form;
use crate::metrics::{Call, CallOutcome};
use crate::permissions::Caller;
use crate::service::{Service, check_permission};
use crate::token_rights::{Chosen, NotAllowed, choose};

/// The types of tokens that are accepted and issued (RFC 8693, section 3).
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// Claims of a new token, each as its JSON text: copied numbers stay as they were.
type NewClaims = BTreeMap<String, Box<RawValue>>;

/// A request to the token endpoint.
struct TokenRequest<'r> {
    service: &'r Arc<Service>,
    iss: &'r str,
    form: &'r Form,
    /// `None`: the request has no credentials.
    caller: Option<&'r Arc<Caller>>,
}

/// The token that a grant allows.
struct Granted<'g> {
    chosen: Chosen<'g>,
    subject: String,
    client_id: String,
    /// `act`, and claims that are copied.
    claims: NewClaims,
    expires_no_later_than: Option<Timestamp>,
    /// `issued_token_type` of the response (RFC 8693, section 2.2.1).
    issued_token_type: Option<&'static str>,
}

pub(super) async fn token(
    service: &Arc<Service>,
    peer: &Peer,
    request: Request<DrainedBody>,
    at: &str,
) -> Response<Body> {
    let started = Instant::now();
    let Some(iss) = issuer_of(service, &request, at) else {
        return plain(StatusCode::NOT_FOUND, "unknown issuer\n");
    };
    let answered = async {
        if request.uri().query().is_some() {
            // Addresses are logged by proxies, and a form may have a secret.
            let what = "parameters belong in the form, not in the address".to_owned();
            return Err(Reply::Failed(Failure::Field("query", what)));
        }
        let from_headers = client_auth::identify_by_headers(service, peer, &request).await;
        let from_headers = from_headers.map_err(Reply::Failed)?;
        let (head, body) = request.into_parts();
        let form = Form::read(&head.headers, body, service.limits.form_bytes()).await;
        let form = form.map_err(Reply::Response)?;
        let identified = client_auth::identify(service, from_headers, &form, &iss).await;
        let caller = identified.map_err(Reply::Failed)?;
        let request = TokenRequest {
            service,
            iss: &iss,
            form: &form,
            caller: caller.as_ref(),
        };
        request.answer().await.map_err(Reply::Failed)
    };
    let (outcome, response) = match answered.await {
        Ok(body) => (CallOutcome::Ok, super::json(StatusCode::OK, &body)),
        Err(Reply::Failed(failure)) => {
            let failure = in_oauth_terms(failure, &iss);
            (failure.outcome(), client_error_response(&failure))
        }
        Err(Reply::Response(response)) => (CallOutcome::ClientError, *response),
    };
    service.metrics.count(Call::Token, outcome, started);
    response
}

/// A response that is not a token.
enum Reply {
    Failed(Failure),
    Response(Box<Response<Body>>),
}

impl<'r> TokenRequest<'r> {
    async fn answer(&self) -> Result<Value, Failure> {
        self.service.check_load()?;
        let grant = Grant::from_name(self.form.required("grant_type")?);
        let grant = grant.ok_or_else(|| {
            Failure::oauth("unsupported_grant_type", "`grant_type`: not supported")
        })?;
        if let Some(caller) = self.caller {
            check_caller(caller, grant, self.iss)?;
        }
        match grant {
            Grant::ClientCredentials => self.issue(grant, client_credentials::grant(self)?).await,
            Grant::TokenExchange => self.exchange().await,
            Grant::JwtBearer => federation::assertion(self).await,
        }
    }

    /// Exchanges a token of this issuer or of an outside one.
    async fn exchange(&self) -> Result<Value, Failure> {
        let token = exchange::subject_token(self)?;
        match (federation::outside_issuer(self, token), self.caller) {
            (Some(outside), _) => federation::exchange(self, &outside, token).await,
            (None, Some(caller)) => exchange::exchange(self, caller, token).await,
            (None, None) => Err(federation::unknown_to_anyone(federation::OF_SUBJECT_TOKEN)),
        }
    }

    /// The identified client of the request.
    fn client(&self) -> Result<&'r Caller, Failure> {
        let caller = self.caller.ok_or(Denied::NoCredentials)?;
        Ok(caller)
    }

    /// Chooses the kind of token by `scope`, and by `resource` (RFC 8707) or `audience` (RFC 8693).
    fn choose<'t>(&self, tokens: &'t [AllowedToken]) -> Result<Chosen<'t>, Failure>
    where
        'r: 't,
    {
        let (resource, audience) = (self.form.one("resource")?, self.form.one("audience")?);
        if let (Some(_), Some(_)) = (resource, audience) {
            let what =
                "`resource`: not accepted together with `audience`, a token has one audience";
            return Err(Failure::oauth("invalid_target", what));
        }
        let has_audience = |profile: &str, audience: &str| {
            self.service.node.has_audience(self.iss, profile, audience)
        };
        let chosen = choose(
            tokens,
            self.form.one("scope")?,
            resource.or(audience),
            has_audience,
        );
        chosen.map_err(|why| match why {
            NotAllowed::MalformedScope => malformed_scope(),
            NotAllowed::Scope => {
                Failure::oauth("invalid_scope", "`scope`: not allowed, or not together")
            }
            NotAllowed::Audience => {
                let parameter = if resource.is_some() {
                    "resource"
                } else {
                    "audience"
                };
                Failure::oauth("invalid_target", format!("`{parameter}`: not allowed"))
            }
        })
    }

    /// Issues the token and builds the response (RFC 6749, section 5.1).
    async fn issue(&self, grant: Grant, granted: Granted<'_>) -> Result<Value, Failure> {
        let Granted {
            chosen,
            subject,
            client_id,
            mut claims,
            expires_no_later_than,
            issued_token_type,
        } = granted;
        let scope = chosen.scopes.join(" ");
        claims.insert("client_id".to_owned(), text(&client_id)?);
        if !scope.is_empty() {
            claims.insert("scope".to_owned(), text(&scope)?);
        }
        let claims = serde_json::to_string(&claims).map_err(|_| not_json())?;
        let new = NewToken {
            profile: chosen.profile.to_string(),
            subject,
            claims,
            audience: chosen.audience.map(ToString::to_string),
            expires_no_later_than,
        };
        let caller = self.caller.cloned();
        let issued = match self.service.signing_queue(self.iss, &chosen.profile) {
            None => new.issue(self.service, caller.as_deref(), self.iss)?,
            Some(signing) => {
                let (service, iss) = (self.service.clone(), self.iss.to_owned());
                let issued = signing.run(1, move || new.issue(&service, caller.as_deref(), &iss));
                issued.await?
            }
        };
        self.service.metrics.issued.fetch_add(1, Ordering::Relaxed);
        let (profile, issuer) = (&chosen.profile, self.iss);
        // The subject is a claim, so the log has the client only.
        match grant {
            Grant::ClientCredentials => {
                tracing::debug!(client = client_id, issuer, profile, ?grant, "token issued");
            }
            Grant::TokenExchange | Grant::JwtBearer => {
                tracing::info!(client = client_id, issuer, profile, ?grant, "token issued");
            }
        }
        let now = self.service.node.now().unix_seconds();
        let mut body = json!({
            "access_token": issued.token,
            "token_type": "Bearer",
            "expires_in": (issued.expires_at - now).max(0),
        });
        if !scope.is_empty() {
            body["scope"] = Value::from(scope);
        }
        if let Some(typ) = issued_token_type {
            body["issued_token_type"] = Value::from(typ);
        }
        Ok(body)
    }
}

/// A text as a claim.
fn text(text: &str) -> Result<Box<RawValue>, Failure> {
    to_raw_value(text).map_err(|_| not_json())
}

fn not_json() -> Failure {
    Failure::oauth("server_error", "the claims cannot be written")
}

/// A token to issue. It owns its parts, because an HSM signs on another thread.
struct NewToken {
    profile: String,
    subject: String,
    claims: String,
    audience: Option<String>,
    expires_no_later_than: Option<Timestamp>,
}

impl NewToken {
    fn issue(
        &self,
        service: &Service,
        caller: Option<&Caller>,
        iss: &str,
    ) -> Result<Issued, Failure> {
        let claims = CustomClaims::from_json(&self.claims, service.limits.token_bytes())?;
        let mut request = IssueRequest::new(&self.profile)
            .subject(&self.subject)
            .claims(claims);
        if let Some(audience) = &self.audience {
            request = request.audience(audience);
        }
        if let Some(latest) = self.expires_no_later_than {
            request = request.expires_no_later_than(latest);
        }
        service.issue_granted(caller, iss, &request)
    }
}

/// Gives an error the code of RFC 6749, section 5.2, and its status 400.
fn in_oauth_terms(failure: Failure, issuer: &str) -> Failure {
    match failure {
        Failure::Denied(Denied::Permission(_) | Denied::Credential) => {
            Failure::oauth("unauthorized_client", "the client may not get this token")
        }
        Failure::Issuer(Error::UnknownProfile) => {
            tracing::warn!(
                issuer,
                "the configuration allows tokens of a profile that the issuer does not have"
            );
            Failure::oauth(
                "invalid_scope",
                "the issuer cannot issue the token of this client",
            )
        }
        other => other,
    }
}

fn malformed_scope() -> Failure {
    Failure::oauth("invalid_scope", "`scope`: malformed")
}

/// Checks that a client may use the grant, and counts the request.
fn check_caller(caller: &Caller, grant: Grant, iss: &str) -> Result<(), Failure> {
    if caller.is_local() {
        return Ok(());
    }
    // Before the permissions: a refused request counts too.
    caller.token_rights().rate.take()?;
    check_permission(caller, Permission::Token, iss)?;
    if caller.token_rights().may_use(grant) {
        Ok(())
    } else {
        Err(Failure::oauth(
            "unauthorized_client",
            "`grant_type`: the client may not use this grant",
        ))
    }
}
