//! Certificates and bearer tokens for calls to a server.

use std::path::{Path, PathBuf};

use clap::Args;
use jeton_client::Connection;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::Zeroizing;

use crate::exit::{Failure, Outcome};
use crate::input;

/// The largest PEM file, bytes.
pub(crate) const PEM_BYTES: usize = 1024 * 1024;
/// The largest bearer token file, bytes.
const BEARER_BYTES: usize = 64 * 1024;

/// The certificates of a connection.
#[derive(Debug, Args)]
pub(crate) struct Certificates {
    /// PEM file with the certificate authorities that verify the server
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// PEM file with the client certificate
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_certificate: Option<PathBuf>,

    /// PEM file with the private key of --client-certificate
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    client_key: Option<PathBuf>,
}

impl Certificates {
    /// Reads the PEM file with certificate authorities.
    pub(crate) fn authorities(&self) -> Outcome<Option<Vec<u8>>> {
        self.ca.as_deref().map(certificates).transpose()
    }

    /// Reads the client certificate and its private key, as PEM.
    pub(crate) fn identity(&self) -> Outcome<Option<(Vec<u8>, Vec<u8>)>> {
        match (&self.client_certificate, &self.client_key) {
            (Some(certificate), Some(key)) => {
                Ok(Some((certificates(certificate)?, private_key(key)?)))
            }
            _ => Ok(None),
        }
    }

    /// Whether the caller authenticates with a certificate.
    pub(crate) fn has_identity(&self) -> bool {
        self.client_certificate.is_some()
    }

    /// Adds them to the connection.
    pub(crate) fn add_to(&self, mut connection: Connection) -> Outcome<Connection> {
        if let Some(authorities) = self.authorities()? {
            connection = connection.ca_certificates(authorities);
        }
        if let Some((certificate, key)) = self.identity()? {
            connection = connection.client_certificate(certificate, key);
        }
        Ok(connection)
    }
}

/// Reads a bearer token.
pub(crate) fn bearer_token(file: &Path) -> Outcome<Zeroizing<String>> {
    let bytes = input::key_bytes(file, BEARER_BYTES)?;
    match std::str::from_utf8(&bytes).map(str::trim) {
        Ok("") => Err(wrong(file, "no token, only whitespace")),
        Ok(token) => Ok(Zeroizing::new(token.to_owned())),
        Err(_) => Err(wrong(file, "not a token: not UTF-8 text")),
    }
}

/// Reads a PEM file with one or more certificates.
fn certificates(file: &Path) -> Outcome<Vec<u8>> {
    let bytes = input::key_bytes(file, PEM_BYTES)?;
    let mut certificates = CertificateDer::pem_slice_iter(&bytes).peekable();
    let is_good = certificates.peek().is_some() && certificates.all(|one| one.is_ok());
    if is_good {
        Ok(bytes.to_vec())
    } else {
        Err(wrong(file, "no valid PEM certificate"))
    }
}

/// Reads a PEM file with a private key.
fn private_key(file: &Path) -> Outcome<Vec<u8>> {
    let bytes = input::key_bytes(file, PEM_BYTES)?;
    match PrivateKeyDer::from_pem_slice(&bytes) {
        Ok(_) => Ok(bytes.to_vec()),
        Err(_) => Err(wrong(file, "no valid PEM private key")),
    }
}

fn wrong(file: &Path, what: &str) -> Failure {
    Failure::error(format!("{}: {what}", input::name_of(file)))
}
