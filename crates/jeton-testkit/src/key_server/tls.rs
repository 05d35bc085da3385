//! The certificate authority of the server.

use std::io;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::PrivatePkcs8KeyDer;

pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub(super) fn new() -> io::Result<Authority> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let mut params = CertificateParams::new(Vec::<String>::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "jeton test authority");
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(Authority {
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        })
    }

    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the configuration of a server with these names.
    pub(super) fn config(&self, names: &[&str]) -> io::Result<Arc<ServerConfig>> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        params
            .distinguished_name
            .push(DnType::CommonName, "jeton test server");
        let certificate = params
            .signed_by(&key, &self.issuer)
            .map_err(io::Error::other)?;
        let private = PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate.der().clone()], private.into())
            })
            .map_err(io::Error::other)?;
        Ok(Arc::new(config))
    }
}
