//! The token endpoint (RFC 6749, section 3.2).
//!
//! A grant returns a [`Granted`]: who may get which token, what it contains and how long it may live. This module
//! reads the form, identifies the client, issues the token and writes the response, for all of them.

mod client_credentials;
mod exchange;
mod federation;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use http::{Request, Response, StatusCode};
use jeton::Timestamp;
use jeton_issuer::{CustomClaims, Error, Issued, Request as IssueRequest};
use jeton_transport::{DrainedBody, Peer};
use serde::Serialize;
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

/// A request to the token endpoint.
struct TokenRequest<'r> {
    service: &'r Arc<Service>,
    iss: &'r str,
    form: &'r Form,
    /// `None`: the request has no credentials.
    caller: Option<&'r Arc<Caller>>,
}

/// The token that a grant allows. It owns its parts, because an HSM signs on another thread.
#[derive(Clone)]
struct Granted {
    profile: String,
    subject: String,
    client_id: String,
    scope: String,
    /// `None`: the default of the profile.
    audience: Option<String>,
    /// Those of the grant, `client_id` and `scope`.
    claims: CustomClaims<'static>,
    expires_no_later_than: Option<Timestamp>,
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
    let mut client = None;
    let answered = async {
        if request.uri().query().is_some() {
            // Addresses are logged by proxies, and a form may have a secret.
            let what = "parameters belong in the form, not in the address".to_owned();
            return Err(Reply::Failed(Failure::Field("query", what)));
        }
        let from_headers = client_auth::identify_by_headers(service, peer, &request, &iss).await;
        let from_headers = from_headers.map_err(Reply::Failed)?;
        let (head, body) = request.into_parts();
        let form = Form::read(&head.headers, body, service.limits.form_bytes()).await;
        let form = form.map_err(Reply::Response)?;
        let identified = client_auth::identify(service, from_headers, &form, &iss).await;
        let caller = identified.map_err(Reply::Failed)?;
        client.clone_from(&caller);
        let request = TokenRequest {
            service,
            iss: &iss,
            form: &form,
            caller: caller.as_ref(),
        };
        request.answer().await.map_err(Reply::Failed)
    };
    let answered = answered.await;
    let (outcome, response) = match answered {
        Ok(body) => (CallOutcome::Ok, super::json(StatusCode::OK, &body)),
        Err(Reply::Failed(failure)) => {
            let failure = service.log_refusal(failure, client.as_deref(), &iss);
            let failure = in_oauth_terms(failure, &iss);
            (failure.outcome(), client_error_response(&failure))
        }
        Err(Reply::Response(response)) => (CallOutcome::ClientError, *response),
    };
    service.count(client.as_deref(), Call::Token, outcome, started);
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
        let granted = match grant {
            Grant::ClientCredentials => client_credentials::grant(self)?,
            Grant::TokenExchange => exchange::grant(self).await?,
            Grant::JwtBearer => federation::assertion(self).await?,
        };
        self.issue(grant, granted).await
    }

    /// The identified client of the request.
    fn client(&self) -> Result<&'r Caller, Failure> {
        let caller = self.caller.ok_or(Denied::NoFormCredentials)?;
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

    /// The token that a grant allows. `own` is an object: the claims of the grant.
    fn granted(
        &self,
        chosen: Chosen<'_>,
        subject: &str,
        client_id: &str,
        own: &impl Serialize,
        expires_no_later_than: Option<Timestamp>,
    ) -> Result<Granted, Failure> {
        #[derive(Serialize)]
        struct Claims<'g, T> {
            #[serde(flatten)]
            own: &'g T,
            client_id: &'g str,
            #[serde(skip_serializing_if = "str::is_empty")]
            scope: &'g str,
        }
        let scope = chosen.scopes.join(" ");
        let claims = Claims {
            own,
            client_id,
            scope: &scope,
        };
        Ok(Granted {
            profile: chosen.profile,
            subject: subject.to_owned(),
            client_id: client_id.to_owned(),
            claims: CustomClaims::new(&claims, self.service.limits.token_bytes())?,
            scope,
            audience: chosen.audience.map(str::to_owned),
            expires_no_later_than,
        })
    }

    /// Issues the token and builds the response (RFC 6749, section 5.1).
    async fn issue(&self, grant: Grant, granted: Granted) -> Result<Value, Failure> {
        let (caller, issuer) = (self.caller.cloned(), self.iss);
        let issued = match self.service.signing_queue(issuer, &granted.profile) {
            None => granted.issue(self.service, caller.as_deref(), issuer)?,
            Some(signing) => {
                let (service, iss) = (self.service.clone(), issuer.to_owned());
                let new = granted.clone();
                let issued = signing.run(1, move || new.issue(&service, caller.as_deref(), &iss));
                issued.await?
            }
        };
        self.service.metrics.issued.fetch_add(1, Ordering::Relaxed);
        let (client, profile, scope) = (granted.client_id, granted.profile, granted.scope);
        // The subject is a claim, so the log has the client only.
        match grant {
            Grant::ClientCredentials => {
                tracing::debug!(client, issuer, profile, ?grant, "token issued");
            }
            Grant::TokenExchange | Grant::JwtBearer => {
                tracing::info!(client, issuer, profile, ?grant, "token issued");
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
        if grant == Grant::TokenExchange {
            // RFC 8693, section 2.2.1.
            body["issued_token_type"] = Value::from(ACCESS_TOKEN);
        }
        Ok(body)
    }
}

impl Granted {
    fn issue(
        &self,
        service: &Service,
        caller: Option<&Caller>,
        iss: &str,
    ) -> Result<Issued, Failure> {
        let mut request = IssueRequest::new(&self.profile)
            .subject(&self.subject)
            .claims(self.claims.clone());
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
