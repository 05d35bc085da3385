//! The certificates of the server.

use std::path::PathBuf;

use jeton_transport::TlsFiles;
use serde::Deserialize;

/// The server's certificate, and the authorities of client certificates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// PEM file: the server's certificate, followed by intermediate certificates.
    pub certificate: PathBuf,
    /// PEM file: the private key of the certificate.
    pub key: PathBuf,
    /// PEM file: certificate authorities of clients. `None`: no client certificates.
    #[serde(default)]
    pub client_ca: Option<PathBuf>,
}

impl Tls {
    pub(crate) fn files(&self) -> TlsFiles<'_> {
        TlsFiles {
            certificate: &self.certificate,
            key: &self.key,
            client_ca: self.client_ca.as_deref(),
        }
    }
}
