//! The address of a server, and the files with the credentials for it.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base64ct::{Base64, Encoding as _};
use jeton_client::Connection;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use zeroize::Zeroizing;

use super::credentials::{bearer_token, certificates, private_key};
use crate::exit::{Failure, Outcome};

/// The listener of a server that a command calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    Data,
    Admin,
}

/// Where the URL of a server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Option,
    Variable(&'static str),
    Context(String),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Option => f.write_str("--server"),
            Origin::Variable(name) => f.write_str(name),
            Origin::Context(name) => write!(f, "the context {name:?}"),
            Origin::Default => f.write_str("the default"),
        }
    }
}

/// A certificate of the caller, and its private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdentityFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// The address of a server, and the files with the credentials for it.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) url: String,
    pub(crate) origin: Origin,
    /// The certificate authorities of the server. `None`: those of the system.
    pub(crate) ca: Option<PathBuf>,
    pub(crate) identity: Option<IdentityFiles>,
    pub(crate) bearer: Option<PathBuf>,
    /// A data folder, which has the admin token of a server without clients.
    pub(crate) data: Option<PathBuf>,
}

impl Settings {
    /// Whether a credential is set.
    pub(crate) fn has_credentials(&self) -> bool {
        self.bearer.is_some() || self.identity.is_some()
    }

    /// Reads the files, and returns the connection for gRPC.
    pub(crate) fn connection(&self) -> Outcome<Connection> {
        let mut connection = Connection::to(&*self.url);
        if let Some(authorities) = self.authorities()? {
            connection = connection.ca_certificates(authorities);
        }
        if let Some(IdentityFiles { certificate, key }) = &self.identity {
            let certificate = certificates(certificate)?;
            connection = connection.client_certificate(certificate, private_key(key)?);
        }
        match self.bearer_token()? {
            Some(token) => Ok(connection.bearer_token(token.as_str())),
            None => Ok(connection),
        }
    }

    /// Reads the bearer token, if there is one.
    pub(crate) fn bearer_token(&self) -> Outcome<Option<Zeroizing<String>>> {
        self.bearer.as_deref().map(bearer_token).transpose()
    }

    /// Reads the authorities that verify the server, as PEM.
    fn authorities(&self) -> Outcome<Option<Vec<u8>>> {
        match &self.ca {
            Some(file) => certificates(file).map(Some),
            None if self.url.starts_with("https://") => Ok(Some(of_system())),
            None => Ok(None),
        }
    }

    /// Reads the files, and returns the settings of TLS for other connections.
    pub(crate) fn tls(&self) -> Outcome<ClientConfig> {
        let mut roots = RootCertStore::empty();
        match &self.ca {
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Some(file) => {
                let pem = certificates(file)?;
                roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
            }
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Failure::error(format!("cannot use TLS: {error}")))?
            .with_root_certificates(roots);
        let Some(IdentityFiles { certificate, key }) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        let certificate = certificates(certificate)?;
        let chain = CertificateDer::pem_slice_iter(&certificate).flatten();
        let wrong = || Failure::error("--client-key: does not match --client-certificate");
        let key = PrivateKeyDer::from_pem_slice(&private_key(key)?).map_err(|_| wrong())?;
        builder
            .with_client_auth_cert(chain.collect(), key)
            .map_err(|_| wrong())
    }
}

/// The certificate authorities of the system, as PEM. The client for gRPC has none by itself.
fn of_system() -> Vec<u8> {
    let mut pem = String::new();
    for certificate in rustls_native_certs::load_native_certs().certs {
        let text = Base64::encode_string(&certificate);
        pem.push_str(&format!(
            "-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"
        ));
    }
    pem.into_bytes()
}

/// Returns an environment variable. An empty one is not set.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
