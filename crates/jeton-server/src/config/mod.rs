//! The configuration: one TOML file, or none in trial mode.

mod check;
mod clients;
mod exposure;
mod issuers;
mod limits;
mod location;
mod log;
mod permission;
mod pkcs11;
mod problem;
mod restart;
mod store;
mod tls;
mod token_endpoint;
mod traces;
mod trust;

pub use clients::{Bearer, Client};
pub use issuers::GenerateJwt;
pub use limits::Limits;
pub use log::{Log, LogFormat, LogLevel};
pub use permission::Permission;
pub use pkcs11::{Pkcs11, Pkcs11Key};
pub(crate) use restart::ChangedKey;
pub use store::{Etcd, WhenStale};
pub use tls::Tls;
pub(crate) use token_endpoint::is_scope;
pub use token_endpoint::{AllowedToken, Grant};
pub use traces::Traces;
pub use trust::Trust;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jeton_issuer::IssuerSettings;
use jeton_transport::text_file;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use self::problem::Problem;
use crate::error::{ConfigError, Result};
use crate::limits::{CONFIG_BYTES, DRAIN, STORE_COMPARISON_SECONDS};

/// The configuration of a server.
///
/// Every key has a default. Without any key, the server runs in trial mode on loopback.
///
/// ```
/// use jeton_server::Config;
///
/// let config = Config::from_toml("listen = '127.0.0.1:8420'")?;
/// assert!(config.tls.is_none());
///
/// let error = Config::from_toml("data = 'd'\nlisten_on = '0.0.0.0:1'").unwrap_err();
/// assert!(error.to_string().starts_with("line 2: `listen_on`: unknown field"), "{error}");
/// # Ok::<(), jeton_server::Error>(())
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The data folder with the store. It is created if it does not exist.
    pub data: PathBuf,
    /// An etcd to use instead of a folder: `etcd://HOST:PORT[,HOST:PORT…][/ROOT]`, or `etcds://` for TLS.
    /// Servers with the same etcd form one service.
    pub store: Option<String>,
    /// TLS and authentication for the etcd.
    pub etcd: Option<Etcd>,
    /// Address of the data listener: gRPC and HTTP for applications and verifiers.
    pub listen: SocketAddr,
    /// Address of the admin listener: AdminService and metrics.
    pub admin_listen: SocketAddr,
    /// Number of worker threads. `None`: one for each core.
    pub workers: Option<usize>,
    /// The file with the key-encryption key: 64 hexadecimal digits. The environment variable
    /// `JETON_KEY_ENCRYPTION_KEY` is an alternative.
    pub key_encryption_key_file: Option<PathBuf>,
    /// A command that prints the key-encryption key, as a program with its arguments. It asks a key management service,
    /// for example.
    pub key_encryption_key_command: Vec<String>,
    /// The same, for the key before the current one.
    pub old_key_encryption_key_command: Vec<String>,
    /// The file with the key-encryption key before the current one. Private keys that are still encrypted under
    /// it are read, until `jeton admin key reencrypt` has encrypted them again.
    pub old_key_encryption_key_file: Option<PathBuf>,
    /// The freshness bound: maximum age of the view of the store, in seconds. At least
    /// [`FRESHNESS_LEAST`](jeton_store::limits::FRESHNESS_LEAST), at most 3,600.
    pub freshness_seconds: u64,
    /// What the server does when its view is older than the freshness bound.
    pub when_stale: WhenStale,
    /// How long tokens are issued without contact to the store, in seconds. An issuer with a shorter
    /// pre-publication period stops after that period. Default: 900, or
    /// [`freshness_seconds`](Config::freshness_seconds) if that is more.
    pub store_outage_issuing_seconds: Option<u64>,
    /// How often the server compares its view with the whole etcd, in seconds. 0: never. Without `store`, it has no
    /// effect.
    pub store_comparison_seconds: u64,
    /// How long the server accepts calls after SIGTERM or SIGINT, in seconds. It is not ready then, so that load
    /// balancers send their calls elsewhere before it stops. A second signal stops it at once.
    pub stop_delay_seconds: u64,
    /// How long running requests may take after the server has stopped to accept others, in seconds.
    pub drain_seconds: u64,
    /// Level and format of the log.
    pub log: Log,
    /// Certificates for TLS. `None`: no TLS.
    pub tls: Option<Tls>,
    /// Authentication of callers by bearer token.
    pub bearer: Option<Bearer>,
    /// Accepted host names, in addition to IP addresses, `localhost` and the hosts of the issuers. `None`: a
    /// non-loopback listener accepts every name.
    pub hosts: Option<Vec<String>>,
    /// Clients and their permissions. Without clients, every local process may issue, verify and revoke, and
    /// AdminService requires the token in [`data`](Config::data).
    #[serde(rename = "client")]
    pub clients: Vec<Client>,
    /// Issuers. At start and reload, missing ones are created and existing ones are changed to these
    /// settings. Issuers that are not named stay unchanged. If there are no issuers, no clients and no shared
    /// store, the server creates a trial issuer.
    #[serde(rename = "issuer")]
    pub issuers: Vec<IssuerSettings>,
    /// Outside issuers whose tokens are exchanged for tokens of this server.
    #[serde(rename = "trust")]
    pub trusts: Vec<Trust>,
    /// The proxy through which keys of outside issuers are fetched: a URL with `http`. `None`: no proxy. Loopback hosts
    /// need none.
    pub proxy: Option<String>,
    /// Hosts that need no proxy: domains and networks.
    pub no_proxy: Vec<String>,
    /// Keys of issuers in an HSM.
    pub pkcs11: Option<Pkcs11>,
    /// Traces over OpenTelemetry.
    pub traces: Option<Traces>,
    /// Limits for clients.
    pub limits: Limits,
    /// Also serves `jwt.services.JwtService`.
    pub generate_jwt: Option<GenerateJwt>,
}

impl Config {
    /// The default port of the data listener.
    pub const PORT: u16 = 8420;
    /// The default port of the admin listener.
    pub const ADMIN_PORT: u16 = 8421;

    /// Reads and checks a configuration file. Relative paths in it start at the file's folder.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) with the line and the key.
    pub fn from_file(path: &Path) -> Result<Config> {
        let mut config = in_file(path, CONFIG_BYTES, parse)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.resolve_paths(folder);
        Ok(config)
    }

    /// Reads and checks a configuration in text form.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) with the line and the key.
    pub fn from_toml(text: &str) -> Result<Config> {
        Ok(parse(text)?)
    }

    pub(crate) fn stop_delay(&self) -> Duration {
        Duration::from_secs(self.stop_delay_seconds)
    }

    pub(crate) fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }

    /// Resolves relative paths against the folder of the file.
    fn resolve_paths(&mut self, folder: &Path) {
        let mut paths = vec![&mut self.data];
        paths.extend(self.key_encryption_key_file.as_mut());
        paths.extend(self.old_key_encryption_key_file.as_mut());
        if let Some(tls) = &mut self.tls {
            paths.extend([&mut tls.certificate, &mut tls.key]);
            paths.extend(tls.client_ca.as_mut());
        }
        if let Some(etcd) = &mut self.etcd {
            let files = [&mut etcd.ca, &mut etcd.certificate, &mut etcd.key];
            paths.extend(files.into_iter().flatten());
            paths.extend(etcd.password_file.as_mut());
        }
        if let Some(pkcs11) = &mut self.pkcs11 {
            paths.extend([&mut pkcs11.module, &mut pkcs11.pin_file]);
        }
        if let Some(traces) = &mut self.traces {
            let files = [&mut traces.headers_file, &mut traces.ca];
            paths.extend(files.into_iter().flatten());
        }
        paths.extend(
            self.clients
                .iter_mut()
                .filter_map(|client| client.keys_file.as_mut()),
        );
        for trust in &mut self.trusts {
            let files = [&mut trust.keys_file, &mut trust.ca_file];
            paths.extend(files.into_iter().flatten());
        }
        for path in paths {
            *path = folder.join(&path);
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        Config {
            data: PathBuf::from("jeton-data"),
            store: None,
            etcd: None,
            listen: local(Config::PORT),
            admin_listen: local(Config::ADMIN_PORT),
            workers: None,
            key_encryption_key_file: None,
            key_encryption_key_command: Vec::new(),
            old_key_encryption_key_command: Vec::new(),
            old_key_encryption_key_file: None,
            freshness_seconds: 15,
            when_stale: WhenStale::Refuse,
            store_outage_issuing_seconds: None,
            store_comparison_seconds: STORE_COMPARISON_SECONDS,
            stop_delay_seconds: 0,
            drain_seconds: DRAIN.as_secs(),
            log: Log::default(),
            tls: None,
            bearer: None,
            hosts: None,
            clients: Vec::new(),
            issuers: Vec::new(),
            trusts: Vec::new(),
            proxy: None,
            no_proxy: Vec::new(),
            pkcs11: None,
            traces: None,
            limits: Limits::default(),
            generate_jwt: None,
        }
    }
}

/// Reads a TOML file. An error names the file, the line and the key, and repeats no value.
///
/// # Errors
///
/// [`ConfigError`] if the file cannot be read, has more than `bytes_max` bytes, or is not of this type.
pub fn read_toml<T: DeserializeOwned>(path: &Path, bytes_max: u64) -> Result<T, ConfigError> {
    in_file(path, bytes_max, located)
}

fn in_file<T>(
    path: &Path,
    bytes_max: u64,
    parse: impl FnOnce(&str) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    let text = text_file::read(path, bytes_max).map_err(|what| ConfigError {
        file: None,
        line: None,
        key: String::new(),
        what,
    });
    text.and_then(|text| parse(&text))
        .map_err(|error| ConfigError {
            file: Some(path.to_owned()),
            ..error
        })
}

fn located<T: DeserializeOwned>(text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| location::locate(text, &error))
}

fn parse(text: &str) -> Result<Config, ConfigError> {
    let config: Config = located(text)?;
    match check::first_problem(&config) {
        None => Ok(config),
        Some(Problem { key, what }) => Err(ConfigError {
            file: None,
            line: location::line_of(text, &key),
            key,
            what,
        }),
    }
}
