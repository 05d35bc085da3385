//! The address of the service and the credentials of the caller.

use std::path::{Path, PathBuf};

use clap::Args;
use jeton_client::{Client, Error};

use crate::connection::{self, Listener, ServerOptions, Settings};
use crate::exit::{Failure, Outcome};

#[derive(Debug, Args)]
pub(super) struct Server {
    #[command(flatten)]
    address: Address,

    /// File with the bearer token of the caller [env: JETON_BEARER]
    #[arg(long, value_name = "FILE")]
    bearer: Option<PathBuf>,
}

/// The address of the service, and its certificates.
#[derive(Debug, Args)]
pub(super) struct Address {
    #[command(flatten)]
    options: ServerOptions,

    /// Issuer, by its `iss` [default: the only issuer]
    #[arg(long, value_name = "ISS")]
    pub(super) issuer: Option<String>,
}

impl Address {
    /// Returns the data listener and the credentials.
    pub(super) fn settings(&self, bearer: Option<&Path>) -> Outcome<Settings> {
        let settings = self.options.settings(Listener::Data, bearer)?;
        settings.ok_or_else(|| Failure::error("no server").hint("to name one, add `--server URL`"))
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
        let settings = self.address.settings(self.bearer.as_deref())?;
        let connection = settings.connection()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Failure::error(format!("cannot start the network runtime: {error}"))
            })?;
        let done = runtime.block_on(async { work(connection.connect().await?).await });
        done.map_err(|error| connection::failed(&error, Listener::Data, &settings))
    }
}
