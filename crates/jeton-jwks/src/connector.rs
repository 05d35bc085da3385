//! Connects to a server, directly or through a proxy.

use std::pin::Pin;
#[cfg(feature = "proxy")]
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
#[cfg(feature = "proxy")]
use hyper_util::client::{
    legacy::connect::proxy::Tunnel,
    proxy::matcher::{Intercept, Matcher},
};
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Stream = <HttpConnector as Service<Uri>>::Response;

#[derive(Clone)]
pub(crate) struct Connector {
    tcp: HttpConnector,
    #[cfg(feature = "proxy")]
    proxies: Option<Arc<Matcher>>,
}

impl Connector {
    pub(crate) fn direct() -> Connector {
        let mut tcp = HttpConnector::new();
        // The addresses are `https`; the layer above speaks TLS.
        tcp.enforce_http(false);
        Connector {
            tcp,
            #[cfg(feature = "proxy")]
            proxies: None,
        }
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn through_proxy_of_environment() -> Connector {
        Connector {
            proxies: Some(Arc::new(Matcher::from_env())),
            ..Connector::direct()
        }
    }

    /// Returns the proxy for this address. `http` is only for this machine, so it needs none.
    #[cfg(feature = "proxy")]
    fn proxy(&self, address: &Uri) -> Option<Intercept> {
        let proxies = self.proxies.as_ref()?;
        match address.scheme_str() {
            Some("https") => proxies.intercept(address),
            _ => None,
        }
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
            return Box::pin(through(proxy, self.tcp.clone(), address));
        }
        let connecting = self.tcp.call(address);
        Box::pin(async move { Ok(connecting.await?) })
    }
}

/// Connects through a proxy with CONNECT (RFC 9110, section 9.3.6).
#[cfg(feature = "proxy")]
async fn through(proxy: Intercept, tcp: HttpConnector, address: Uri) -> Result<Stream, BoxError> {
    if proxy.uri().scheme_str() != Some("http") {
        return Err("the proxy must use http".into());
    }
    let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
    if let Some(credentials) = proxy.basic_auth() {
        tunnel = tunnel.with_auth(credentials.clone());
    }
    Ok(tunnel.call(address).await?)
}
