//! Connects to a server, directly or through a proxy.

use std::net::SocketAddr;
use std::pin::Pin;
#[cfg(feature = "proxy")]
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
#[cfg(feature = "proxy")]
use hyper_util::client::{
    legacy::connect::proxy::Tunnel,
    proxy::matcher::{Intercept, Matcher},
};
use tower_service::Service;

#[cfg(feature = "proxy")]
use crate::address::is_loopback_host;
use crate::error::AddressError;
use crate::network::is_public;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Stream = <HttpConnector<Resolver> as Service<Uri>>::Response;

/// Which addresses a connection may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Anywhere,
    /// Public addresses only. A proxy resolves names itself, so it has to enforce this.
    Public,
}

#[derive(Clone)]
pub(crate) struct Connector {
    tcp: HttpConnector<Resolver>,
    #[cfg(feature = "proxy")]
    proxies: Option<Arc<Matcher>>,
}

impl Connector {
    pub(crate) fn direct(reach: Reach) -> Connector {
        Connector {
            tcp: tcp(reach),
            #[cfg(feature = "proxy")]
            proxies: None,
        }
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn with_proxies(reach: Reach, proxies: &Arc<Matcher>) -> Connector {
        Connector {
            proxies: Some(Arc::clone(proxies)),
            ..Connector::direct(reach)
        }
    }

    /// Returns the proxy for this address. Loopback hosts and `http` need none.
    #[cfg(feature = "proxy")]
    fn proxy(&self, address: &Uri) -> Option<Intercept> {
        let proxies = self.proxies.as_ref()?;
        let is_https = address.scheme_str() == Some("https");
        if !is_https || is_loopback_host(address.host().unwrap_or_default()) {
            return None;
        }
        proxies.intercept(address)
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        #[cfg(feature = "proxy")]
        if let Some(proxy) = self.proxy(&address) {
            return Box::pin(through(proxy, address));
        }
        let connecting = self.tcp.call(address);
        Box::pin(async move { Ok(connecting.await?) })
    }
}

fn tcp(reach: Reach) -> HttpConnector<Resolver> {
    let mut tcp = HttpConnector::new_with_resolver(Resolver {
        system: GaiResolver::new(),
        reach,
    });
    // The addresses are `https`; the layer above handles TLS.
    tcp.enforce_http(false);
    tcp
}

/// Resolves names with the resolver of the system. If the reach is public, private addresses are removed, and a name
/// without public addresses fails. So the connection uses only checked addresses.
#[derive(Clone)]
pub(crate) struct Resolver {
    system: GaiResolver,
    reach: Reach,
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.system.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (resolving, reach) = (self.system.call(name), self.reach);
        Box::pin(async move {
            let mut addresses: Vec<_> = resolving.await?.collect();
            if reach == Reach::Public {
                addresses.retain(|address| is_public(address.ip()));
                if addresses.is_empty() {
                    return Err(AddressError::Private.into());
                }
            }
            Ok(addresses.into_iter())
        })
    }
}

/// Connects through a proxy with CONNECT (RFC 9110, section 9.3.6).
#[cfg(feature = "proxy")]
async fn through(proxy: Intercept, address: Uri) -> Result<Stream, BoxError> {
    if proxy.uri().scheme_str() != Some("http") {
        return Err("the proxy must use http".into());
    }
    // The caller chose the proxy, which is often in a private network.
    let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp(Reach::Anywhere));
    if let Some(credentials) = proxy.basic_auth() {
        tunnel = tunnel.with_auth(credentials.clone());
    }
    Ok(tunnel.call(address).await?)
}
