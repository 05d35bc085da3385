//! Which service is called, and how the caller says who it is.

use std::path::PathBuf;

use clap::Args;
use jeton_client::{Client, Connection, Error};

use crate::exit::{Failure, Outcome};
use crate::input;

/// A PEM file, bytes.
const PEM_BYTES: usize = 1024 * 1024;
/// A file with a bearer token, bytes.
const BEARER_BYTES: usize = 64 * 1024;

#[derive(Debug, Args)]
pub(super) struct Server {
    /// The service's data listener
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420")]
    server: String,

    /// The issuer, by its iss [default: the only one]
    #[arg(long, value_name = "ISS")]
    issuer: Option<String>,

    /// PEM: who vouches for the server's certificate
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// PEM: the caller's certificate
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_certificate: Option<PathBuf>,

    /// PEM: the private key of --client-certificate
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    client_key: Option<PathBuf>,

    /// A file with the caller's bearer token
    #[arg(long, value_name = "FILE")]
    bearer: Option<PathBuf>,
}

impl Server {
    pub(super) fn issuer(&self) -> String {
        self.issuer.clone().unwrap_or_default()
    }

    /// Connects, does that, and waits for it.
    pub(super) fn call<T, F>(&self, work: impl FnOnce(Client) -> F) -> Outcome<T>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let connection = self.connection()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::wrong(format!("the system gives no sockets: {error}")))?;
        let done = runtime.block_on(async { work(connection.open().await?).await });
        done.map_err(|error| failed(&error))
    }

    fn connection(&self) -> Outcome<Connection> {
        let mut connection = Connection::to(&*self.server);
        if let Some(file) = &self.ca {
            connection = connection.trusting(input::key_bytes(file, PEM_BYTES)?.to_vec());
        }
        if let (Some(certificate), Some(key)) = (&self.client_certificate, &self.client_key) {
            let certificate = input::key_bytes(certificate, PEM_BYTES)?.to_vec();
            let key = input::key_bytes(key, PEM_BYTES)?.to_vec();
            connection = connection.identified_by(certificate, key);
        }
        if let Some(file) = &self.bearer {
            let bytes = input::key_bytes(file, BEARER_BYTES)?;
            let token = std::str::from_utf8(&bytes).map_err(|_| {
                Failure::wrong(format!("{}: not text, so no token", file.display()))
            })?;
            connection = connection.bearer(token.trim());
        }
        Ok(connection)
    }
}

fn failed(error: &Error) -> Failure {
    let failure = match error {
        Error::Rejected { message, .. } => Failure::rejected(message.clone()),
        other => Failure::wrong(other.to_string()),
    };
    match error {
        Error::Unreachable(_) => {
            failure.hint("is `jeton serve` running there? --server says where")
        }
        Error::Unavailable(_) => failure.hint("try again; the server's log says more"),
        Error::Denied(_) => failure.hint("--bearer or --client-certificate says who calls"),
        _ => failure,
    }
}
