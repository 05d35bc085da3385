//! The address of the service and the credentials of the caller.

use std::path::PathBuf;

use clap::Args;
use jeton_client::{Client, Connection, Error};

use crate::credentials::{Certificates, bearer_token};
use crate::exit::{Failure, Outcome};

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

    #[command(flatten)]
    certificates: Certificates,
}

impl Address {
    /// Reads the PEM file with certificate authorities.
    pub(super) fn authorities(&self) -> Outcome<Option<Vec<u8>>> {
        self.certificates.authorities()
    }

    /// Reads the client certificate and its private key, as PEM.
    pub(super) fn identity(&self) -> Outcome<Option<(Vec<u8>, Vec<u8>)>> {
        self.certificates.identity()
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
        let connection = Connection::to(&*self.address.server);
        let connection = self.address.certificates.add_to(connection)?;
        match &self.bearer {
            Some(file) => Ok(connection.bearer_token(bearer_token(file)?.as_str())),
            None => Ok(connection),
        }
    }
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
