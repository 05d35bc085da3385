//! `jeton serve`: the token service.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jeton::SystemClock;
use jeton_server::{Config, Error, IssuableProfile, Pkcs11Provider, Server};

use crate::exit::{Failure, Outcome};
use crate::shell::quoted;
use crate::{input, output};

/// Loads PKCS#11 modules, if this build can.
#[cfg(feature = "pkcs11")]
const PKCS11: Option<Pkcs11Provider> = Some(jeton_pkcs11::PROVIDER);
#[cfg(not(feature = "pkcs11"))]
const PKCS11: Option<Pkcs11Provider> = None;

/// Run the token service: issue, verify and revoke tokens over gRPC and HTTP
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton serve
  jeton serve --config /etc/jeton/jeton.toml
  jeton serve --config /etc/jeton/jeton.toml --check
  jeton serve --store etcd://127.0.0.1:2379

Without a configuration, the server listens on the loopback address only. It creates a data folder, a \
key-encryption key and a trial issuer, and prints three commands to try. Every process of this machine can call the \
data listener. AdminService requires the token in the file admin-token of the data folder, which changes at each \
start.

The server refuses to listen on a non-loopback address unless the configuration has three things: TLS ([tls]), \
client authentication ([[client]] with tls.client_ca or [bearer]), and a key-encryption key \
(key_encryption_key_file, or the environment variable JETON_KEY_ENCRYPTION_KEY). The key in the data folder is \
not enough, because a copy of the folder includes it.

Servers with the same etcd form one service: each applies the revocations of the others. They share one \
key-encryption key, which is JETON_KEY_ENCRYPTION_KEY or a file named in the configuration.

At the start and at SIGHUP, the issuers of the configuration are applied to the store. Changes that cannot be \
applied are logged as warnings.

Signals:
  SIGTERM, SIGINT   finish the current requests and stop; see `stop_delay_seconds`
  SIGHUP            reload issuers, clients, hosts, certificates and labels of keys in an HSM")]
pub(crate) struct Serve {
    /// Configuration file, TOML; see docs/service.md
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Data folder [default: jeton-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Store in etcd instead of a data folder, for several servers: `etcd://HOST:PORT[,HOST:PORT…][/ROOT]`, or
    /// etcds:// for TLS
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<String>,

    /// Address for applications and verifiers [default: 127.0.0.1:8420]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// Address for administration and metrics [default: 127.0.0.1:8421]
    #[arg(long, value_name = "ADDRESS:PORT")]
    admin_listen: Option<SocketAddr>,

    /// Check the configuration and its files without starting: no store is opened, no address is bound, no request is
    /// sent. With an HSM, logs in and signs once with each key
    #[arg(long)]
    check: bool,
}

impl Serve {
    pub(crate) fn run(self) -> Outcome {
        if let Some(file) = &self.config {
            input::must_be_a_name(file)?;
        }
        let config = self.read().map_err(failure)?;
        if self.check {
            config.check_with(PKCS11).map_err(failure)?;
            return output::line(&format!(
                "valid: {} clients, {} issuers, {} trust entries",
                config.clients.len(),
                config.issuers.len(),
                config.trusts.len()
            ));
        }
        let info = StartInfo {
            store: (config.store.clone()).unwrap_or_else(|| config.data.display().to_string()),
            is_tls: config.tls.is_some(),
            has_clients: !config.clients.is_empty(),
        };
        let reload = self.config.is_some().then(|| {
            let reload: jeton_server::Reload = Box::new(move || self.read());
            reload
        });
        let server = Server::start_with_hsm(config, reload, Arc::new(SystemClock), PKCS11);
        let server = server.map_err(failure)?;
        print_start(&server, &info);
        server.wait();
        Ok(())
    }

    /// Reads the configuration file and applies the options.
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
    /// The data folder or the etcd URL.
    store: String,
    is_tls: bool,
    has_clients: bool,
}

/// Prints the addresses of the server and the first commands.
fn print_start(server: &Server, info: &StartInfo) {
    let scheme = if info.is_tls { "https" } else { "http" };
    output::status(format_args!(
        "gRPC and HTTP   {scheme}://{}\nadministration  {scheme}://{}\ndata            {}",
        server.data_address(),
        server.admin_address(),
        info.store,
    ));
    print_admin_token(server, info.is_tls);
    let Some(profile) = server.issuable_profiles().into_iter().next() else {
        output::note(
            "no issuer: add [[issuer]] to the configuration and restart, or call CreateIssuer of AdminService",
        );
        return;
    };
    if info.has_clients {
        return;
    }
    output::status(format_args!(
        "\nTry it in another terminal:\n{}",
        first_commands(server, &profile).join("\n")
    ));
}

/// Prints how to administer a server without client authentication.
fn print_admin_token(server: &Server, is_tls: bool) {
    let Some(file) = server.admin_token_file() else {
        return;
    };
    let file = file.display().to_string();
    let plaintext = if is_tls { "" } else { "-plaintext " };
    output::status(format_args!(
        "admin token     {file}\n\n\
         Without [[client]], every process of this machine can call the data listener. AdminService requires \
         the admin token:\n\
         \u{20} grpcurl {plaintext}-H \"authorization: Bearer $(cat {})\" {} jeton.v1.AdminService/Status",
        quoted(&file),
        server.admin_address(),
    ));
}

/// Returns the commands to issue, verify and revoke a token.
fn first_commands(server: &Server, profile: &IssuableProfile) -> [String; 3] {
    let jeton = std::env::args()
        .next()
        .unwrap_or_else(|| "jeton".to_owned());
    let address = server.data_address();
    let mut to = String::new();
    if address.port() != Config::PORT || !address.ip().is_ipv4() {
        to = format!(" --server http://{address}");
    }
    if server
        .issuable_profiles()
        .iter()
        .any(|other| other.issuer != profile.issuer)
    {
        to = format!("{to} --issuer {}", quoted(&profile.issuer));
    }
    let (jeton, profile, audience) = (
        quoted(&jeton),
        quoted(&profile.profile),
        quoted(&profile.audience),
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
            Some("for a configuration with TLS and clients, see docs/service.md".to_owned())
        }
        Error::Listen(..) => Some(
            "another process may use the address; to use another one, add `--listen 127.0.0.1:0 --admin-listen 127.0.0.1:0`".to_owned(),
        ),
        Error::Issuer(jeton_issuer::Error::Store(jeton_store::Error::Unfinished)) => Some(
            "to finish a migration, run `jeton admin migrate --from SOURCE --to URL --continue`; to finish a restore, run \
             the same `jeton admin restore` again"
                .to_owned(),
        ),
        Error::Issuer(jeton_issuer::Error::Store(jeton_store::Error::NotAStore)) => Some(
            "name another folder, or another /ROOT of the etcd, and not one inside the root of a store".to_owned(),
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
    fn quoted_word_with_space_is_quoted() {
        assert_eq!(quoted("target/release/jeton"), "target/release/jeton");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
    }
}
