//! Connection options, and the client with its calls.

use std::net::IpAddr;
use std::time::Duration;

use jeton_proto::v1::token_service_client::TokenServiceClient;
use jeton_proto::v1::{RevocationUpdate, WatchRevocationsRequest};
use tonic::metadata::MetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Status, Streaming};

use crate::admin::AdminClient;
use crate::channels::Channels;
use crate::error::{Error, Result};
use crate::follower::Follower;
use crate::moment::Moment;
use crate::{
    IssueBatchRequest, IssueBatchResponse, IssueRequest, IssueResponse, KeysRequest, KeysResponse,
    RevokeRequest, VerifyBatchRequest, VerifyBatchResponse, VerifyRequest, VerifyResponse,
};

/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(10);

/// Address and credentials for a connection to a server.
#[derive(Clone)]
pub struct Connection {
    url: String,
    authorities: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    bearer: Option<String>,
    timeout: Duration,
}

/// A client of a server. Clones share a connection, which is re-established when it breaks.
#[derive(Clone)]
pub struct Client {
    inner: TokenServiceClient<Channel>,
    channels: Channels,
}

impl Connection {
    /// Sets the URL of a data listener: `http://127.0.0.1:8420` or `https://tokens.example`.
    ///
    /// The default time limit of a call is 30 s.
    pub fn to(url: impl Into<String>) -> Connection {
        Connection {
            url: url.into(),
            authorities: None,
            identity: None,
            bearer: None,
            timeout: Duration::from_secs(30),
        }
    }

    /// Whether the URL is an address of this machine: a loopback address or `localhost`.
    #[must_use]
    pub fn is_local(url: &str) -> bool {
        is_local(url)
    }

    /// Sets the certificate authorities that the server's certificate is verified against, as PEM.
    #[must_use]
    pub fn ca_certificates(mut self, authorities: impl Into<Vec<u8>>) -> Connection {
        self.authorities = Some(authorities.into());
        self
    }

    /// Sets the client certificate and its private key, as PEM. Requires `https`.
    #[must_use]
    pub fn client_certificate(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Connection {
        self.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Sets the bearer token (RFC 6750) of the caller. Requires `https`.
    #[must_use]
    pub fn bearer_token(mut self, token: impl Into<String>) -> Connection {
        self.bearer = Some(token.into());
        self
    }

    /// Sets the time limit of each call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Connection {
        self.timeout = timeout;
        self
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] if the URL or a credential is invalid, [`Error::Unreachable`] if the server
    /// cannot be reached.
    pub async fn connect(self) -> Result<Client> {
        let channels = self.open(false).await?;
        Ok(Client {
            inner: TokenServiceClient::new(channels.channel.clone()),
            channels,
        })
    }

    /// Connects to the admin listener of a server. Without TLS, it sends a bearer token to an address of this
    /// machine only.
    ///
    /// # Errors
    ///
    /// As [`connect`](Connection::connect).
    pub async fn connect_admin(self) -> Result<AdminClient> {
        let is_local = is_local(&self.url);
        let channels = self.open(is_local).await?;
        Ok(AdminClient::new(channels))
    }

    /// Connects. `is_private`: no other machine reads what is sent without TLS.
    async fn open(self, is_private: bool) -> Result<Channels> {
        let configuration = |what: &str| Error::Configuration(what.to_owned());
        let is_tls = self.url.starts_with("https://");
        let needs_tls = self.identity.is_some() || (self.bearer.is_some() && !is_private);
        if needs_tls && !is_tls {
            return Err(configuration(
                "a bearer token or client certificate requires an https:// URL",
            ));
        }
        let endpoint = Endpoint::from_shared(self.url)
            .map_err(|_| configuration("invalid URL; expected http://HOST:PORT or https://HOST"))?
            .connect_timeout(CONNECT)
            .tcp_nodelay(true);
        let endpoint = if !is_tls {
            endpoint
        } else {
            let mut tls = ClientTlsConfig::new();
            if let Some(authorities) = self.authorities {
                tls = tls.ca_certificate(Certificate::from_pem(authorities));
            }
            if let Some((certificate, key)) = self.identity {
                tls = tls.identity(Identity::from_pem(certificate, key));
            }
            endpoint
                .tls_config(tls)
                .map_err(|_| configuration("invalid certificate or private key; expected PEM"))?
        };
        let bearer = match self.bearer {
            None => None,
            Some(token) => {
                let value = MetadataValue::try_from(format!("Bearer {}", token.trim()));
                let mut value = value.map_err(|_| {
                    configuration("the bearer token has characters that a header cannot contain")
                })?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let channel = endpoint.connect().await;
        let channel = channel.map_err(|error| Error::of_connection(&error))?;
        Ok(Channels {
            channel,
            bearer,
            timeout: self.timeout,
        })
    }
}

/// Whether the URL is an address of this machine. A name other than `localhost` may resolve to another one.
fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return false;
    }
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || (host.parse::<IpAddr>()).is_ok_and(|address| address.is_loopback())
}

impl Client {
    /// Issues a token.
    ///
    /// # Errors
    ///
    /// Any [`Error`] except [`Error::Rejected`].
    pub async fn issue(&self, request: IssueRequest) -> Result<IssueResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().issue(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Issues many tokens of one profile. Each item has its own outcome.
    ///
    /// # Errors
    ///
    /// [`Error`] if the whole batch failed.
    pub async fn issue_batch(&self, request: IssueBatchRequest) -> Result<IssueBatchResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().issue_batch(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Verifies a token.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`] if the token is rejected, or another [`Error`].
    pub async fn verify(&self, request: VerifyRequest) -> Result<VerifyResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().verify(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Verifies many tokens for one audience. Each token has its own outcome.
    ///
    /// # Errors
    ///
    /// [`Error`] if the whole batch failed.
    pub async fn verify_batch(&self, request: VerifyBatchRequest) -> Result<VerifyBatchResponse> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().verify_batch(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Revokes tokens, and returns the revision of the store at which the revocation is durable.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`] if the token is of another issuer or has expired, or another [`Error`].
    pub async fn revoke(&self, request: RevokeRequest) -> Result<u64> {
        let request = self.channels.request(false, request);
        let response = self.inner.clone().revoke(request).await;
        let response = response.map_err(Error::of_status)?;
        Ok(response.into_inner().revision)
    }

    /// Fetches the public keys of an issuer.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn keys(&self, issuer: impl Into<String>) -> Result<KeysResponse> {
        let request = self.channels.request(
            false,
            KeysRequest {
                issuer: issuer.into(),
            },
        );
        let response = self.inner.clone().keys(request).await;
        Ok(response.map_err(Error::of_status)?.into_inner())
    }

    /// Follows the revocations of an issuer. When this returns, all active revocations are known.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub async fn follow_revocations(&self, issuer: impl Into<String>) -> Result<Follower> {
        let issuer = issuer.into();
        let requested_at = Moment::now();
        let updates = self.watch_revocations(&issuer, &[]).await;
        let updates = updates.map_err(Error::of_status)?;
        Follower::begin(issuer, updates, requested_at).await
    }

    /// Continues to follow revocations after an interruption, also at another server of the same store. When this
    /// returns, all active revocations are known.
    ///
    /// Returns whether the server has sent only what was missed. If it no longer could, the follower has loaded all
    /// revocations again.
    ///
    /// # Errors
    ///
    /// [`Error`]. The view of the follower stays, and its age grows. Call this again.
    pub async fn resume_revocations(&self, follower: &mut Follower) -> Result<bool> {
        let requested_at = Moment::now();
        let token = follower.resume_token();
        if !token.is_empty() {
            let updates = self.watch_revocations(follower.issuer(), token).await;
            match updates {
                Ok(updates) => {
                    follower.resume(updates, requested_at).await?;
                    return Ok(true);
                }
                Err(status) if status.code() == Code::Aborted => {}
                Err(status) => return Err(Error::of_status(status)),
            }
        }
        *follower = self.follow_revocations(follower.issuer()).await?;
        Ok(false)
    }

    async fn watch_revocations(
        &self,
        issuer: &str,
        resume_token: &[u8],
    ) -> Result<Streaming<RevocationUpdate>, Status> {
        let message = WatchRevocationsRequest {
            issuer: issuer.to_owned(),
            resume_token: resume_token.to_vec(),
        };
        let request = self.channels.request(true, message);
        let updates = self.inner.clone().watch_revocations(request).await?;
        Ok(updates.into_inner())
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_addresses_of_this_machine_are_local() {
        for url in [
            "http://127.0.0.1:8421",
            "http://127.8.0.1/x",
            "http://[::1]:8421",
            "http://localhost:1",
            "localhost",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "http://10.0.0.1:8421",
            "http://127.0.0.1.example:1",
            "http://localhost.example",
            "http://127.0.0.1@evil.example:1",
            "http://[::2]:1",
            "",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }
}
