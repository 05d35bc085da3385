//! `jeton serve`: the token service.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jeton::SystemClock;
use jeton_server::{Config, Error, Offer, Server};

use crate::exit::{Failure, Outcome};
use crate::shell::quoted;
use crate::{input, output};

/// Issue, verify and revoke tokens over gRPC and HTTP.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton serve
  jeton serve --config /etc/jeton/jeton.toml
  jeton serve --store etcd://127.0.0.1:2379

Without a configuration it listens on this machine alone and needs nothing: it makes the data folder,
a key that private keys are encrypted under, and an issuer to try things out with, and prints three
commands to begin with. The data listener then serves every process of this machine. AdminService
asks for the token in the file admin-token of the data folder, which is new at each start. It does
not listen beyond this machine without TLS and client authentication.

Servers with the same etcd are one service: each issues, verifies and honours what any of them revoked.
They share the key that private keys are encrypted under: JETON_KEY_ENCRYPTION_KEY, or a file that the
configuration names.

The issuers that a configuration names are what it says: differences from the store are applied
at the start and at SIGHUP, and those that cannot be are warnings in the log.

SIGTERM and SIGINT let it finish what it is at; SIGHUP has it read its issuers, clients, hosts and
certificates again.")]
pub(crate) struct Serve {
    /// The configuration, TOML; docs/service.md says what can be in it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The folder of the store [default: jeton-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// An etcd in the place of a folder, for several servers: etcd://HOST:PORT, with more behind commas
    /// and a /ROOT of its keys; etcds:// over TLS. For builds with the feature etcd
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<String>,

    /// Where applications and verifiers call [default: 127.0.0.1:8420]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// Where operators call, and where the metrics are [default: 127.0.0.1:8421]
    #[arg(long, value_name = "ADDRESS:PORT")]
    admin_listen: Option<SocketAddr>,
}

impl Serve {
    pub(crate) fn run(self) -> Outcome {
        if let Some(file) = &self.config {
            input::must_be_a_name(file)?;
        }
        let config = self.read().map_err(failure)?;
        let info = StartInfo {
            place: (config.store.clone()).unwrap_or_else(|| config.data.display().to_string()),
            is_tls: config.tls.is_some(),
            has_clients: !config.clients.is_empty(),
        };
        let reload = self.config.is_some().then(|| {
            let again: jeton_server::Reload = Box::new(move || self.read());
            again
        });
        let server = Server::start_with(config, reload, Arc::new(SystemClock)).map_err(failure)?;
        print_start(&server, &info);
        server.wait();
        Ok(())
    }

    /// The file, and what the call says beside it.
    fn read(&self) -> Result<Config, Error> {
        let mut config = match &self.config {
            Some(file) => Config::from_file(file)?,
            None => Config::default(),
        };
        if let Some(data) = &self.data {
            data.clone_into(&mut config.data);
            config.store = None;
        }
        if self.store.is_some() {
            config.store.clone_from(&self.store);
        }
        config.listen = self.listen.unwrap_or(config.listen);
        config.admin_listen = self.admin_listen.unwrap_or(config.admin_listen);
        Ok(config)
    }
}

struct StartInfo {
    /// The folder, or the etcd.
    place: String,
    is_tls: bool,
    has_clients: bool,
}

/// Says where the server is, and how to begin.
fn print_start(server: &Server, info: &StartInfo) {
    let scheme = if info.is_tls { "https" } else { "http" };
    output::status(format_args!(
        "gRPC and HTTP   {scheme}://{}\nadministration  {scheme}://{}\ndata            {}",
        server.data_address(),
        server.admin_address(),
        info.place,
    ));
    print_admin_token(server, info.is_tls);
    let Some(offer) = server.offers().into_iter().next() else {
        output::note(
            "there is no issuer yet: add [[issuer]] to the configuration and start again, or call CreateIssuer \
             of AdminService",
        );
        return;
    };
    if info.has_clients {
        return;
    }
    output::status(format_args!(
        "\nTo begin with, in another terminal:\n{}",
        first_commands(server, &offer).join("\n")
    ));
}

/// Says whom a server without clients serves, and how it is administered.
fn print_admin_token(server: &Server, is_tls: bool) {
    let Some(file) = server.admin_token_file() else {
        return;
    };
    let file = file.display().to_string();
    let plaintext = if is_tls { "" } else { "-plaintext " };
    output::status(format_args!(
        "admin token     {file}\n\n\
         Without [[client]] the data listener serves every process of this machine. AdminService asks for \
         the admin token:\n\
         \u{20} grpcurl {plaintext}-H \"authorization: Bearer $(cat {})\" {} jeton.v1.AdminService/Status",
        quoted(&file),
        server.admin_address(),
    ));
}

/// Issue, verify, revoke: each as it can be typed.
fn first_commands(server: &Server, offer: &Offer) -> [String; 3] {
    let jeton = std::env::args()
        .next()
        .unwrap_or_else(|| "jeton".to_owned());
    let address = server.data_address();
    let mut to = String::new();
    if address.port() != Config::PORT || !address.ip().is_ipv4() {
        to = format!(" --server http://{address}");
    }
    if server
        .offers()
        .iter()
        .any(|other| other.issuer != offer.issuer)
    {
        to = format!("{to} --issuer {}", quoted(&offer.issuer));
    }
    let (jeton, profile, audience) = (
        quoted(&jeton),
        quoted(&offer.profile),
        quoted(&offer.audience),
    );
    [
        format!("  {jeton} token issue{to} --profile {profile} --subject alice > token"),
        format!("  {jeton} token verify{to} --audience {audience} @token"),
        format!("  {jeton} token revoke{to} @token"),
    ]
}

fn failure(error: Error) -> Failure {
    let hint = match &error {
        Error::Exposed { .. } => {
            Some("docs/service.md shows a configuration with TLS and clients".to_owned())
        }
        Error::Listen(..) => Some(
            "another server may be there: --listen and --admin-listen choose others".to_owned(),
        ),
        Error::Issuer(jeton_issuer::Error::Store(jeton_store::Error::Unsafe(exposed))) => {
            Some(exposed.remedy())
        }
        _ => None,
    };
    let shown = Failure::error(error.to_string());
    match hint {
        Some(hint) => shown.hint(hint),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_when_a_shell_would_split_it() {
        assert_eq!(quoted("target/release/jeton"), "target/release/jeton");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
    }
}
