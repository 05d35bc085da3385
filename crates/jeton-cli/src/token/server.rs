//! The address of the service and the credentials of the caller.

use std::path::{Path, PathBuf};

use clap::Args;
use jeton_client::{Client, Connection, Error};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::exit::{Failure, Outcome};
use crate::input;

/// The largest PEM file, bytes.
const PEM_BYTES: usize = 1024 * 1024;
/// The largest bearer token file, bytes.
const BEARER_BYTES: usize = 64 * 1024;

#[derive(Debug, Args)]
pub(super) struct Server {
    #[command(flatten)]
    address: Address,

    /// File with the bearer token of the caller
    #[arg(long, value_name = "FILE")]
    bearer: Option<PathBuf>,
}

/// The address of the service, and its certificates.
#[derive(Debug, Args)]
pub(super) struct Address {
    /// URL of the service's data listener
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420")]
    pub(super) server: String,

    /// Issuer, by its `iss` [default: the only issuer]
    #[arg(long, value_name = "ISS")]
    pub(super) issuer: Option<String>,

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

impl Address {
    /// Reads the PEM file with certificate authorities.
    pub(super) fn authorities(&self) -> Outcome<Option<Vec<u8>>> {
        self.ca.as_deref().map(certificates).transpose()
    }

    /// Reads the client certificate and its private key, as PEM.
    pub(super) fn identity(&self) -> Outcome<Option<(Vec<u8>, Vec<u8>)>> {
        match (&self.client_certificate, &self.client_key) {
            (Some(certificate), Some(key)) => {
                Ok(Some((certificates(certificate)?, private_key(key)?)))
            }
            _ => Ok(None),
        }
    }
}

impl Server {
    pub(super) fn issuer(&self) -> String {
        self.address.issuer.clone().unwrap_or_default()
    }

    /// Connects and runs one request.
    pub(super) fn call<T, F>(&self, work: impl FnOnce(Client) -> F) -> Outcome<T>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let connection = self.connection()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Failure::error(format!("cannot start the network runtime: {error}"))
            })?;
        let done = runtime.block_on(async { work(connection.connect().await?).await });
        done.map_err(|error| failed(&error))
    }

    fn connection(&self) -> Outcome<Connection> {
        let mut connection = Connection::to(&*self.address.server);
        if let Some(authorities) = self.address.authorities()? {
            connection = connection.ca_certificates(authorities);
        }
        if let Some((certificate, key)) = self.address.identity()? {
            connection = connection.client_certificate(certificate, key);
        }
        if let Some(file) = &self.bearer {
            let bytes = input::key_bytes(file, BEARER_BYTES)?;
            let token = match std::str::from_utf8(&bytes).map(str::trim) {
                Ok("") => return Err(wrong(file, "no token, only whitespace")),
                Ok(token) => token,
                Err(_) => return Err(wrong(file, "not a token: not UTF-8 text")),
            };
            connection = connection.bearer_token(token);
        }
        Ok(connection)
    }
}

/// Reads a PEM file with one or more certificates.
fn certificates(file: &Path) -> Outcome<Vec<u8>> {
    let bytes = input::key_bytes(file, PEM_BYTES)?;
    let mut certificates = CertificateDer::pem_slice_iter(&bytes).peekable();
    let is_good = certificates.peek().is_some() && certificates.all(|one| one.is_ok());
    match is_good {
        true => Ok(bytes.to_vec()),
        false => Err(wrong(file, "no valid PEM certificate")),
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

fn failed(error: &Error) -> Failure {
    let failure = match error {
        Error::Rejected { message, .. } => Failure::rejected(message.clone()),
        other => Failure::error(other.to_string()),
    };
    match error {
        Error::Unreachable(_) => failure
            .hint("to start a service, run `jeton serve`; to call another one, add `--server URL`"),
        Error::Unavailable(_) => failure.hint("try again; the log of the server has the cause"),
        Error::Denied(_) => failure.hint(
            "to authenticate, add `--bearer FILE` or `--client-certificate FILE --client-key FILE`",
        ),
        _ => failure,
    }
}
