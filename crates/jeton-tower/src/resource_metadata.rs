use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use jeton_jwks::{AddressError, check_address};
use serde::Serialize;
use tower_service::Service;

/// The path prefix of the metadata (RFC 9728, section 3). The path of the resource follows.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The metadata of a protected resource (RFC 9728): which issuers and scopes an API accepts. Clients read it to find
/// out where to get a token.
///
/// It is a service that answers `GET` with the document. [`path`](ResourceMetadata::path) returns its route, which
/// needs no token. [`RequireToken::resource_metadata`](crate::RequireToken::resource_metadata) tells clients its
/// address.
///
/// ```
/// use axum::{Router, routing::get};
/// use jeton::{Policy, jwt::JwtVerifier, key::SigningKey};
/// use jeton_tower::{RequireToken, ResourceMetadata};
///
/// # let key = SigningKey::generate(jeton::key::SigAlg::ES256)?;
/// # let policy = Policy::new("https://id.example", "https://api.example");
/// let verifier = JwtVerifier::new(key.verifying_key(), policy);
/// let metadata = ResourceMetadata::new("https://api.example")?
///     .authorization_servers(["https://id.example"])
///     .scopes_supported(["orders:read", "orders:write"]);
/// let app: Router = Router::new()
///     .route("/orders", get(|| async { "[]" }))
///     .route_layer(RequireToken::new(verifier).resource_metadata(&metadata))
///     .route_service(&metadata.path(), metadata);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ResourceMetadata(Arc<Document>);

#[derive(Debug, Clone, Serialize)]
struct Document {
    #[serde(skip)]
    uri: Uri,
    resource: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization_servers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<String>,
    /// [`RequireToken`](crate::RequireToken) reads the token from the header only.
    bearer_methods_supported: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_name: Option<String>,
}

impl ResourceMetadata {
    /// Creates the metadata of the API at this URL. The URL is also the audience (`aud`) of the tokens (RFC 8707,
    /// section 2).
    ///
    /// # Errors
    /// Why the URL is not valid. It must use `https`, or `http` to a loopback host, and have no credentials, query or
    /// fragment.
    pub fn new(resource: impl Into<String>) -> Result<Self, AddressError> {
        let resource = resource.into();
        if resource.contains(['?', '#']) {
            return Err(AddressError::QueryOrFragment);
        }
        // The URL becomes a quoted string in a header.
        let uri = resource.parse::<Uri>().ok();
        let uri = uri.filter(|_| !resource.contains(['"', '\\']));
        let uri = uri.ok_or(AddressError::NotHttp)?;
        check_address(&uri)?;
        Ok(Self(Arc::new(Document {
            uri,
            resource,
            authorization_servers: Vec::new(),
            scopes_supported: Vec::new(),
            bearer_methods_supported: ["header"],
            resource_name: None,
        })))
    }

    /// Sets the issuers whose tokens the API accepts, as in `iss`.
    #[must_use]
    pub fn authorization_servers<S: Into<String>>(
        self,
        issuers: impl IntoIterator<Item = S>,
    ) -> Self {
        let issuers = issuers.into_iter().map(Into::into).collect();
        self.with(|document| document.authorization_servers = issuers)
    }

    /// Sets the scopes that the API uses.
    #[must_use]
    pub fn scopes_supported<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        let scopes = scopes.into_iter().map(Into::into).collect();
        self.with(|document| document.scopes_supported = scopes)
    }

    /// Sets the name of the API, for people.
    #[must_use]
    pub fn resource_name(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.with(|document| document.resource_name = Some(name))
    }

    /// Returns the path of the document. The path of the resource, if any, follows the well-known path (RFC 9728,
    /// section 3.1).
    ///
    /// ```
    /// use jeton_tower::ResourceMetadata;
    ///
    /// let metadata = ResourceMetadata::new("https://api.example/v1")?;
    /// assert_eq!(metadata.path(), "/.well-known/oauth-protected-resource/v1");
    /// # Ok::<(), jeton_jwks::AddressError>(())
    /// ```
    #[must_use]
    pub fn path(&self) -> String {
        match self.0.uri.path() {
            "/" => WELL_KNOWN.to_owned(),
            path => format!("{WELL_KNOWN}{path}"),
        }
    }

    /// Returns the URL of the document.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = self.0.uri.scheme_str().unwrap_or_default();
        let authority = self.0.uri.authority().map_or("", |all| all.as_str());
        format!("{scheme}://{authority}{}", self.path())
    }

    /// Returns the document as JSON, for servers without tower.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&*self.0).expect("the members are text")
    }

    fn with(mut self, change: impl FnOnce(&mut Document)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl<B> Service<Request<B>> for ResourceMetadata {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let mut response = Response::new(String::new());
        match *request.method() {
            Method::GET | Method::HEAD => {
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                // For HEAD, the server omits the body and keeps its length.
                *response.body_mut() = self.to_json();
            }
            _ => {
                *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
                let allow = HeaderValue::from_static("GET, HEAD");
                response.headers_mut().insert(ALLOW, allow);
            }
        }
        ready(Ok(response))
    }
}
