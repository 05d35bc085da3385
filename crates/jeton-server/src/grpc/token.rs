//! `jeton.v1.TokenService`.

use std::sync::atomic::Ordering;
use std::time::Instant;

use jeton::{RawClaims, Timestamp, Verified};
use jeton_issuer::{
    CustomClaims, Issued, IssuedRef, ProfileBatch, ProfileIssuer, Request as NodeRequest, Revoke,
    Subject,
};
use jeton_proto::v1::token_service_server::TokenService;
use jeton_proto::v1::{
    IssueBatchRequest, IssueBatchResponse, IssueOutcome, IssueRequest, IssueResponse, KeysRequest,
    KeysResponse, RevokeRequest, RevokeResponse, VerifyBatchRequest, VerifyBatchResponse,
    VerifyOutcome, VerifyRequest, VerifyResponse, WatchRevocationsRequest, issue_outcome,
    revoke_request, verify_outcome,
};
use jeton_transport::grpc::MethodFuture;
use jeton_transport::{SlicedStream, TimeSlice};
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use super::issue_batch::{Batch, Contents, Item, Outcomes};
use super::token_api::TokenApi;
use super::watch;
use crate::config::Permission;
use crate::failure::Failure;
use crate::hsm;
use crate::metrics::Call;

type ResponseStream<T> = std::pin::Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl TokenService for TokenApi {
    async fn issue(
        &self,
        request: Request<IssueRequest>,
    ) -> Result<Response<IssueResponse>, Status> {
        let message = request.get_ref();
        if self.service.signing.is_some()
            && let service = self.service.clone()
            && let Some(signing) = service.signing_queue(&message.issuer, &message.profile)
        {
            let (api, message) = (self.clone(), request.into_inner());
            let issued = signing.run(1, move || api.issue_one(&message));
            return self.respond_in_slices(Call::Issue, issued).await;
        }
        self.respond(Call::Issue, || self.issue_one(message))
    }

    async fn verify(
        &self,
        request: Request<VerifyRequest>,
    ) -> Result<Response<VerifyResponse>, Status> {
        self.respond(Call::Verify, || self.verify_one(request.get_ref()))
    }

    async fn issue_batch(
        &self,
        request: Request<IssueBatchRequest>,
    ) -> Result<Response<IssueBatchResponse>, Status> {
        // The trait requires this method. Calls use `issue_outcomes` directly.
        let batch = Batch::encode(request.get_ref());
        let outcomes = self.issue_outcomes(Request::new(batch)).await?;
        Ok(Response::new(outcomes.get_ref().message()?))
    }

    async fn verify_batch(
        &self,
        request: Request<VerifyBatchRequest>,
    ) -> Result<Response<VerifyBatchResponse>, Status> {
        let verified = self.verify_many(request.get_ref());
        self.respond_in_slices(Call::VerifyBatch, verified).await
    }

    type IssueStreamStream = ResponseStream<IssueOutcome>;

    async fn issue_stream(
        &self,
        request: Request<Streaming<IssueRequest>>,
    ) -> Result<Response<Self::IssueStreamStream>, Status> {
        let mut api = self.clone();
        if self.service.signing.is_some() {
            let outcomes = request.into_inner().then(move |request| {
                let request = request.and_then(|request| api.identify_again().map(|()| request));
                let api = api.clone();
                async move { Ok(api.issue_streamed(request?).await) }
            });
            return Ok(Response::new(Box::pin(outcomes)));
        }
        let outcomes = request.into_inner().map(move |request| {
            let started = Instant::now();
            let request = request?;
            api.identify_again()?;
            let issued = api
                .service
                .check_load()
                .and_then(|()| api.issue_one(&request));
            api.count(Call::IssueStream, &issued, started);
            Ok(issue_outcome(issued))
        });
        Ok(Response::new(Box::pin(SlicedStream::new(outcomes))))
    }

    type VerifyStreamStream = ResponseStream<VerifyOutcome>;

    async fn verify_stream(
        &self,
        request: Request<Streaming<VerifyRequest>>,
    ) -> Result<Response<Self::VerifyStreamStream>, Status> {
        let mut api = self.clone();
        let outcomes = request.into_inner().map(move |request| {
            let started = Instant::now();
            let request = request?;
            api.identify_again()?;
            let verified = api
                .service
                .check_load()
                .and_then(|()| api.verify_one(&request));
            api.count(Call::VerifyStream, &verified, started);
            Ok(verify_outcome(verified))
        });
        Ok(Response::new(Box::pin(SlicedStream::new(outcomes))))
    }

    async fn revoke(
        &self,
        request: Request<RevokeRequest>,
    ) -> Result<Response<RevokeResponse>, Status> {
        let revoked = self.revoke_one(request.into_inner());
        self.respond_in_slices(Call::Revoke, revoked).await
    }

    type WatchRevocationsStream = watch::Updates;

    async fn watch_revocations(
        &self,
        request: Request<WatchRevocationsRequest>,
    ) -> Result<Response<Self::WatchRevocationsStream>, Status> {
        let started = Instant::now();
        let request = request.get_ref();
        let updates = self
            .issuer(&request.issuer, Permission::Verify)
            .and_then(|iss| watch::start(self.clone(), iss, &request.resume_token));
        self.count(Call::WatchRevocations, &updates, started);
        Ok(Response::new(updates.map_err(|failure| failure.status())?))
    }

    async fn keys(&self, request: Request<KeysRequest>) -> Result<Response<KeysResponse>, Status> {
        self.respond(Call::Keys, || {
            // No permission check: key sets are public over HTTP too.
            let iss = self.service.issuer(&request.get_ref().issuer)?;
            let keys = self.service.node.key_set(&iss)?;
            let max_age_seconds = if self.service.node.key_sets_may_be_cached() {
                keys.max_age_seconds
            } else {
                0
            };
            Ok(KeysResponse {
                jwk_set: String::from_utf8_lossy(&keys.jwk_set).into_owned(),
                paserks: keys.paserks.clone(),
                etag: keys.etag.clone(),
                max_age_seconds,
            })
        })
    }
}

impl TokenApi {
    fn issue_one(&self, request: &IssueRequest) -> Result<IssueResponse, Failure> {
        let iss = self.service.issuer(&request.issuer)?;
        let node_request = node_request(request, self.service.limits.token_bytes())?;
        let issued = self.service.issue(&self.caller, &iss, &node_request)?;
        self.service.metrics.issued.fetch_add(1, Ordering::Relaxed);
        Ok(issue_response(issued))
    }

    /// Issues a token of a stream, in the HSM if its profile requires it.
    async fn issue_streamed(self, request: IssueRequest) -> IssueOutcome {
        let started = Instant::now();
        let service = self.service.clone();
        let issued = match self.service.check_load() {
            Err(overloaded) => Err(overloaded),
            Ok(()) => match service.signing_queue(&request.issuer, &request.profile) {
                None => self.issue_one(&request),
                Some(signing) => {
                    let api = self.clone();
                    signing.run(1, move || api.issue_one(&request)).await
                }
            },
        };
        self.count(Call::IssueStream, &issued, started);
        issue_outcome(issued)
    }

    fn verify_one(&self, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let iss = self.service.issuer(&request.issuer)?;
        if request.audience.is_empty() {
            return Err(no_audience());
        }
        let service = &self.service;
        let verified = service.verify(&self.caller, &iss, &request.audience, &request.token)?;
        service.metrics.verified.fetch_add(1, Ordering::Relaxed);
        Ok(verify_response(&verified))
    }

    /// `IssueBatch` with a response that is encoded while tokens are issued.
    pub(super) fn issue_outcomes(&self, request: Request<Batch>) -> MethodFuture<'_, Outcomes> {
        Box::pin(async move {
            let contents = request.get_ref().read()?;
            if self.service.signing.is_some()
                && let service = self.service.clone()
                && let Some(signing) = service.signing_queue(contents.issuer, contents.profile)
            {
                let (api, tokens) = (self.clone(), contents.items.len());
                let batch = request.into_inner();
                let issued = signing.run(tokens, move || {
                    let unreadable = |_| Failure::Field("items", "malformed".to_owned());
                    let contents = batch.read().map_err(unreadable)?;
                    hsm::block_on(api.issue_many(&contents))
                });
                return self.respond_in_slices(Call::IssueBatch, issued).await;
            }
            let issued = self.issue_many(&contents);
            self.respond_in_slices(Call::IssueBatch, issued).await
        })
    }

    async fn issue_many(&self, request: &Contents<'_>) -> Result<Outcomes, Failure> {
        let iss = self.issuer(request.issuer, Permission::Issue)?;
        let items = &request.items;
        self.check_batch("items", items.len())?;
        let mut outcomes = Outcomes::new(items.len());
        let mut rest = &items[..];
        let mut slice = TimeSlice::begin();
        loop {
            match self.issue_slice(&iss, request, rest, &mut slice, &mut outcomes) {
                Ok(done) => rest = &rest[done..],
                // An error that concerns the whole batch becomes the outcome of each item.
                Err(failure) => {
                    rest.iter().for_each(|_| outcomes.push_failed(&failure));
                    break;
                }
            }
            if rest.is_empty() {
                break;
            }
            slice.pause().await;
        }
        self.service
            .metrics
            .issued
            .fetch_add(outcomes.issued(), Ordering::Relaxed);
        Ok(outcomes)
    }

    /// Issues items until the time slice is over, and returns how many.
    fn issue_slice(
        &self,
        iss: &str,
        request: &Contents<'_>,
        items: &[Item<'_>],
        slice: &mut TimeSlice,
        outcomes: &mut Outcomes,
    ) -> Result<usize, Failure> {
        let authenticator = self.service.authenticator.load();
        let token_bytes = self.service.limits.token_bytes();
        let issue = |profile_issuer: &ProfileIssuer<'_>| {
            let mut batch = profile_issuer.batch()?;
            for (index, item) in items.iter().enumerate() {
                let (audience, subject) = (profile_issuer.audience(), given(item.subject));
                let checked =
                    authenticator.check_credential(Some(&self.caller), iss, audience, subject);
                outcomes.push(match checked {
                    Ok(()) => issue_item(&mut batch, item, token_bytes),
                    Err(denied) => Err(denied.into()),
                });
                if slice.is_over() {
                    return Ok(index + 1);
                }
            }
            Ok(items.len())
        };
        let (profile, audience) = (profile(request.profile)?, given(request.audience));
        let node = &self.service.node;
        node.with_profile_issuer(iss, profile, audience, issue)?
    }

    async fn verify_many(
        &self,
        request: &VerifyBatchRequest,
    ) -> Result<VerifyBatchResponse, Failure> {
        let iss = self.issuer(&request.issuer, Permission::Verify)?;
        self.check_batch("tokens", request.tokens.len())?;
        if request.audience.is_empty() {
            return Err(no_audience());
        }
        let mut outcomes = Vec::with_capacity(request.tokens.len());
        let mut slice = TimeSlice::begin();
        for token in &request.tokens {
            let verified = self.service.node.verify(&iss, &request.audience, token);
            let verified = verified.map(|token| verify_response(&token));
            outcomes.push(verify_outcome(verified.map_err(Failure::from)));
            if slice.is_over() {
                slice.pause().await;
            }
        }
        let is_verified = |one: &&VerifyOutcome| {
            matches!(one.outcome, Some(verify_outcome::Outcome::Verified(_)))
        };
        let verified = outcomes.iter().filter(is_verified).count() as u64;
        self.service
            .metrics
            .verified
            .fetch_add(verified, Ordering::Relaxed);
        Ok(VerifyBatchResponse { outcomes })
    }

    async fn revoke_one(&self, request: RevokeRequest) -> Result<RevokeResponse, Failure> {
        let iss = self.issuer(&request.issuer, Permission::Revoke)?;
        let service = &self.service;
        let revoke = match request.what {
            None => {
                return Err(Failure::Field(
                    "what",
                    "required: one of token, token_id, subject, client_id, key_id".to_owned(),
                ));
            }
            Some(revoke_request::What::Token(token)) => {
                let revision = service.revoke_token(&self.caller, &iss, &token).await?;
                return Ok(RevokeResponse {
                    revision: revision.number(),
                });
            }
            Some(revoke_request::What::TokenId(token)) => match token.expires_at {
                0 => Revoke::all(Subject::Token(token.id)),
                at => Revoke::token(&token.id, at),
            },
            Some(revoke_request::What::Subject(name)) => Revoke::all(Subject::Subject(name)),
            Some(revoke_request::What::ClientId(name)) => Revoke::all(Subject::Client(name)),
            Some(revoke_request::What::KeyId(name)) => Revoke::all(Subject::Key(name)),
        };
        let revision = service.revoke(&self.caller, &iss, revoke).await?;
        Ok(RevokeResponse {
            revision: revision.number(),
        })
    }

    fn check_batch(&self, field: &'static str, items: usize) -> Result<(), Failure> {
        let max = self.service.limits.batch_items;
        match items {
            0 => Err(Failure::Field(field, "must not be empty".to_owned())),
            items if items > max => Err(Failure::Field(
                field,
                format!("{items} items, maximum {max}: send several batches"),
            )),
            _ => Ok(()),
        }
    }
}

fn no_audience() -> Failure {
    Failure::Field("audience", "required".to_owned())
}

fn node_request(request: &IssueRequest, token_bytes: usize) -> Result<NodeRequest<'_>, Failure> {
    let claims = CustomClaims::from_json(&request.claims_json, token_bytes)?;
    let mut node_request = NodeRequest::new(profile(&request.profile)?).claims(claims);
    if let Some(subject) = given(&request.subject) {
        node_request = node_request.subject(subject);
    }
    if let Some(audience) = given(&request.audience) {
        node_request = node_request.audience(audience);
    }
    Ok(node_request)
}

fn profile(named: &str) -> Result<&str, Failure> {
    given(named).ok_or_else(|| {
        let what = "required: the name of a profile of the issuer".to_owned();
        Failure::Field("profile", what)
    })
}

/// A field, or `None` if it is empty.
fn given(field: &str) -> Option<&str> {
    (!field.is_empty()).then_some(field)
}

fn issue_item<'s>(
    batch: &'s mut ProfileBatch<'_>,
    item: &Item<'_>,
    token_bytes: usize,
) -> Result<IssuedRef<'s>, Failure> {
    let claims = CustomClaims::from_json(item.claims_json, token_bytes)?;
    Ok(batch.issue(given(item.subject), &claims)?)
}

fn issue_response(issued: Issued) -> IssueResponse {
    IssueResponse {
        token: issued.token,
        token_id: issued.token_id,
        expires_at: issued.expires_at,
    }
}

fn verify_response(verified: &Verified<RawClaims>) -> VerifyResponse {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let seconds = |at: Option<Timestamp>| at.map_or(0, Timestamp::unix_seconds);
    VerifyResponse {
        subject: text(verified.subject()),
        token_id: text(verified.token_id()),
        issued_at: seconds(verified.issued_at()),
        expires_at: seconds(verified.expires_at()),
        key_id: text(verified.key_id()),
        claims_json: verified.json().to_owned(),
    }
}

fn issue_outcome(issued: Result<IssueResponse, Failure>) -> IssueOutcome {
    IssueOutcome {
        outcome: Some(match issued {
            Ok(issued) => issue_outcome::Outcome::Issued(issued),
            Err(failure) => issue_outcome::Outcome::Error(failure.item()),
        }),
    }
}

fn verify_outcome(verified: Result<VerifyResponse, Failure>) -> VerifyOutcome {
    VerifyOutcome {
        outcome: Some(match verified {
            Ok(verified) => verify_outcome::Outcome::Verified(verified),
            Err(failure) => verify_outcome::Outcome::Error(failure.item()),
        }),
    }
}
