//! The configuration: one TOML file, or none in trial mode.

mod location;
mod restart;

pub(crate) use restart::ChangedKey;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jeton_issuer::IssuerSettings;
use serde::Deserialize;

use crate::authority::Authority;
use crate::error::{ConfigError, Error, Result};
use crate::limits;
use crate::permissions::Permission;
use crate::text_file;
use crate::transport::{Settings, TlsFiles};

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
    /// The freshness bound: maximum age of the view of the store, in seconds. At least
    /// [`FRESHNESS_LEAST`](jeton_store::limits::FRESHNESS_LEAST), at most 3,600.
    pub freshness_seconds: u64,
    /// What the server does when its view is older than the freshness bound.
    pub when_stale: WhenStale,
    /// How long tokens are issued without contact to the store, in seconds. An issuer with a shorter
    /// pre-publication period stops after that period. Default: 900, or
    /// [`freshness_seconds`](Config::freshness_seconds) if that is more.
    pub issue_without_store_seconds: Option<u64>,
    /// How long running requests may take after the server was told to stop, in seconds.
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
    /// Limits for clients.
    pub limits: Limits,
    /// Also serves `jwt.services.JwtService`.
    pub generate_jwt: Option<GenerateJwt>,
}

/// TLS and authentication for an etcd.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Etcd {
    /// PEM file: certificate authorities of the etcd. Required for `etcds://`.
    pub ca: Option<PathBuf>,
    /// PEM file: the server's client certificate for the etcd.
    pub certificate: Option<PathBuf>,
    /// PEM file: the private key of the client certificate.
    pub key: Option<PathBuf>,
    /// User name, if etcd authentication is enabled.
    pub user: Option<String>,
    /// The file with the user's password.
    pub password_file: Option<PathBuf>,
}

/// What a server does when its view of the store is too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenStale {
    /// Verifies no token.
    Refuse,
    /// Continues to verify and reports that it is not ready.
    Answer,
}

/// Level and format of the log on standard error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// The lowest level that is logged.
    pub level: LogLevel,
    /// Text or JSON.
    pub format: LogFormat,
}

/// A level of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LogFormat {
    Text,
    Json,
}

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

/// Bearer tokens (RFC 6750) of an issuer of this server, as credentials of clients.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bearer {
    /// The issuer's `iss`.
    pub issuer: String,
    /// The audience (`aud`) that the tokens must have. It names this server.
    pub audience: String,
}

/// A client: its credentials and permissions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// The name in the audit log.
    pub name: String,
    /// The `sub` of its bearer tokens.
    #[serde(default)]
    pub subject: Option<String>,
    /// A DNS name or URI in its certificate (subjectAltName).
    #[serde(default)]
    pub certificate_name: Option<String>,
    /// SHA-256 of its certificate, 64 hexadecimal digits.
    #[serde(default)]
    pub certificate_sha256: Option<String>,
    /// Its permissions.
    pub may: Vec<Permission>,
    /// The issuers that the permissions apply to. `*` means all issuers.
    pub issuers: Vec<String>,
}

/// Configurable limits for clients. [`limits`] has the defaults and the fixed limits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct Limits {
    pub message_bytes: usize,
    pub token_bytes: Option<usize>,
    pub batch_items: usize,
    pub streams: u32,
    pub header_bytes: u32,
    pub connections: usize,
    pub watchers: usize,
    pub stall_seconds: u64,
    pub lag_milliseconds: u64,
}

/// The service of the gRPC benchmark, for an issuer with an HS256 profile and an ES256 profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateJwt {
    /// The issuer's `iss`.
    pub issuer: String,
    /// The name of its HS256 profile.
    pub hs256: String,
    /// The name of its ES256 profile.
    pub es256: String,
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
    /// [`Error::Config`] with the line and the key.
    pub fn from_file(path: &Path) -> Result<Config> {
        let text = text_file::read(path, limits::CONFIG_BYTES).map_err(|what| ConfigError {
            file: Some(path.to_owned()),
            line: None,
            key: String::new(),
            what,
        })?;
        let mut config = parse(&text).map_err(|error| ConfigError {
            file: Some(path.to_owned()),
            ..error
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.resolve_paths(folder);
        Ok(config)
    }

    /// Reads and checks a configuration in text form.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] with the line and the key.
    pub fn from_toml(text: &str) -> Result<Config> {
        Ok(parse(text)?)
    }

    /// Checks the settings that a non-loopback listener requires: TLS, client authentication and a
    /// configured key-encryption key.
    ///
    /// # Errors
    ///
    /// [`Error::Exposed`] with the first missing setting.
    pub fn check_exposure(&self, key_is_given: bool) -> Result<()> {
        for address in [self.listen, self.admin_listen] {
            let missing = if address.ip().is_loopback() {
                continue;
            } else if self.tls.is_none() {
                "`tls` is missing"
            } else if self.clients.is_empty() {
                "no `client` is configured"
            } else if self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_none())
                && self.bearer.is_none()
            {
                "neither `tls.client_ca` nor `bearer` is configured"
            } else if !key_is_given {
                "`key_encryption_key_file` is missing"
            } else {
                continue;
            };
            return Err(Error::Exposed { address, missing });
        }
        Ok(())
    }

    pub(crate) fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_seconds)
    }

    /// Resolves relative paths against the folder of the file.
    fn resolve_paths(&mut self, folder: &Path) {
        let mut paths = vec![&mut self.data];
        paths.extend(self.key_encryption_key_file.as_mut());
        if let Some(tls) = &mut self.tls {
            paths.extend([&mut tls.certificate, &mut tls.key]);
            paths.extend(tls.client_ca.as_mut());
        }
        if let Some(etcd) = &mut self.etcd {
            let files = [&mut etcd.ca, &mut etcd.certificate, &mut etcd.key];
            paths.extend(files.into_iter().flatten());
            paths.extend(etcd.password_file.as_mut());
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
            freshness_seconds: 15,
            when_stale: WhenStale::Refuse,
            issue_without_store_seconds: None,
            drain_seconds: limits::DRAIN.as_secs(),
            log: Log::default(),
            tls: None,
            bearer: None,
            hosts: None,
            clients: Vec::new(),
            issuers: Vec::new(),
            limits: Limits::default(),
            generate_jwt: None,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Log {
            level: LogLevel::Info,
            format: LogFormat::Text,
        }
    }
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

impl Limits {
    /// Maximum length of a token in every call: the configured value, or the default if requests can carry it.
    pub(crate) fn token_bytes(&self) -> usize {
        let default = jeton_issuer::limits::TOKEN_BYTES;
        self.token_bytes
            .unwrap_or_else(|| default.min(self.longest_token()))
    }

    /// The limits of the transport.
    pub(crate) fn transport(&self) -> Settings {
        Settings {
            connections: self.connections,
            calls_per_connection: self.streams,
            header_bytes: self.header_bytes,
            stall: Duration::from_secs(self.stall_seconds),
            worker_delay: Duration::from_millis(self.lag_milliseconds),
        }
    }

    /// Maximum length of a form with a token.
    pub(crate) fn form_bytes(&self) -> usize {
        self.token_bytes() + limits::FORM_OVERHEAD_BYTES
    }

    /// Maximum length of a token that fits into a request.
    fn longest_token(&self) -> usize {
        self.message_bytes.saturating_sub(limits::NAMES_BYTES)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_bytes: limits::MESSAGE_BYTES,
            token_bytes: None,
            batch_items: limits::BATCH_ITEMS,
            streams: limits::STREAMS,
            header_bytes: limits::HEADER_BYTES,
            connections: limits::CONNECTIONS,
            watchers: limits::WATCHERS,
            stall_seconds: limits::STALL.as_secs(),
            lag_milliseconds: limits::LAG_MILLISECONDS,
        }
    }
}

fn parse(text: &str) -> Result<Config, ConfigError> {
    let config: Config = toml::from_str(text).map_err(|error| location::locate(text, &error))?;
    match first_problem(&config) {
        None => Ok(config),
        Some((key, what)) => Err(ConfigError {
            file: None,
            line: location::line_of(text, &key),
            key,
            what,
        }),
    }
}

impl Config {
    /// How long tokens are issued without contact to the store.
    pub(crate) fn issue_without_store(&self) -> Duration {
        let default = jeton_issuer::limits::ISSUE_WITHOUT_STORE.as_secs();
        let seconds = self.issue_without_store_seconds;
        Duration::from_secs(seconds.unwrap_or(default.max(self.freshness_seconds)))
    }
}

/// Checks the freshness bound. Below the store's heartbeat, an idle node would be stale between two reports.
fn freshness_problem(seconds: u64) -> Option<String> {
    let interval = jeton_store::limits::PROGRESS_EVERY.as_secs();
    let (min, max) = (jeton_store::limits::FRESHNESS_LEAST.as_secs(), 3600);
    let what = format!(
        "must be between {min} and {max}, got {seconds}: an idle store sends a heartbeat every {interval} s"
    );
    (!(min..=max).contains(&seconds)).then_some(what)
}

/// Returns the first key whose value is out of range or contradicts another key.
fn first_problem(config: &Config) -> Option<(String, String)> {
    let wrong = |key: &str, what: &str| Some((key.to_owned(), what.to_owned()));
    let limits = &config.limits;
    if config.listen == config.admin_listen && config.listen.port() != 0 {
        return wrong("admin_listen", "must differ from `listen`");
    }
    if config
        .workers
        .is_some_and(|workers| !(1..=1024).contains(&workers))
    {
        return wrong("workers", "must be between 1 and 1024");
    }
    if let Some((key, what)) = store_problem(config) {
        return wrong(key, what);
    }
    if let Some(what) = freshness_problem(config.freshness_seconds) {
        return wrong("freshness_seconds", &what);
    }
    let (issuing, fresh) = (
        config.issue_without_store().as_secs(),
        config.freshness_seconds,
    );
    if !(fresh..=limits::ISSUE_WITHOUT_STORE_SECONDS_MAX).contains(&issuing) {
        let max = limits::ISSUE_WITHOUT_STORE_SECONDS_MAX;
        let what =
            format!("must be between {fresh} (`freshness_seconds`) and {max}, got {issuing}");
        return wrong("issue_without_store_seconds", &what);
    }
    if config.drain_seconds > 3600 {
        return wrong("drain_seconds", "must be at most 3600");
    }
    if !(limits::MESSAGE_BYTES_MIN..=64 * 1024 * 1024).contains(&limits.message_bytes) {
        let bytes = limits.message_bytes;
        let what = format!(
            "must be between {} and 67108864, got {bytes}",
            limits::MESSAGE_BYTES_MIN
        );
        return wrong("limits.message_bytes", &what);
    }
    if let Some(what) = limits
        .token_bytes
        .and_then(|bytes| token_problem(limits, bytes))
    {
        return wrong("limits.token_bytes", &what);
    }
    if !(1..=1_000_000).contains(&limits.batch_items) {
        return wrong("limits.batch_items", "must be between 1 and 1000000");
    }
    if !(1..=100_000).contains(&limits.streams) {
        return wrong("limits.streams", "must be between 1 and 100000");
    }
    if !(1024..=1024 * 1024).contains(&limits.header_bytes) {
        return wrong("limits.header_bytes", "must be between 1024 and 1048576");
    }
    if limits.connections == 0 {
        return wrong("limits.connections", "must be at least 1");
    }
    if !(1..=3600).contains(&limits.stall_seconds) {
        return wrong("limits.stall_seconds", "must be between 1 and 3600");
    }
    if !(1..=60_000).contains(&limits.lag_milliseconds) {
        return wrong("limits.lag_milliseconds", "must be between 1 and 60000");
    }
    let hosts = config.hosts.as_deref().unwrap_or_default();
    if hosts.len() > limits::HOSTS {
        let what = format!("{} names, maximum {}", hosts.len(), limits::HOSTS);
        return wrong("hosts", &what);
    }
    if hosts.iter().any(|host| !Authority::is_host(host)) {
        return wrong(
            "hosts",
            "expected host names without scheme, port or wildcard, for example \"id.example\"",
        );
    }
    if let Some((key, what)) = issuer_problem(&config.issuers) {
        return Some((key, what));
    }
    if config.clients.len() > limits::CLIENTS {
        let what = format!(
            "{} clients, maximum {}",
            config.clients.len(),
            limits::CLIENTS
        );
        return wrong("client", &what);
    }
    for (index, client) in config.clients.iter().enumerate() {
        if let Some((member, what)) = client_problem(config, client) {
            return Some((format!("client[{index}].{member}"), what.to_owned()));
        }
    }
    None
}

fn issuer_problem(issuers: &[IssuerSettings]) -> Option<(String, String)> {
    let max = jeton_issuer::limits::ISSUERS;
    if issuers.len() > max {
        let what = format!("{} issuers, maximum {max}", issuers.len());
        return Some(("issuer".to_owned(), what));
    }
    let mut names = HashSet::new();
    let duplicate = issuers
        .iter()
        .position(|issuer| !names.insert(issuer.iss()));
    duplicate.map(|index| {
        let what = "another issuer has this name".to_owned();
        (format!("issuer[{index}].iss"), what)
    })
}

/// Checks that every issued token fits into the requests that verify and revoke it.
fn token_problem(limits: &Limits, bytes: usize) -> Option<String> {
    use jeton_issuer::limits::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};
    if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&bytes) {
        return Some(format!(
            "must be between {TOKEN_BYTES_MIN} and {TOKEN_BYTES_MAX}, got {bytes}"
        ));
    }
    (bytes > limits.longest_token()).then(|| {
        format!(
            "{bytes} > {}: a request to verify such a token would exceed `message_bytes` ({})",
            limits.longest_token(),
            limits.message_bytes
        )
    })
}

fn store_problem(config: &Config) -> Option<(&'static str, &'static str)> {
    let etcd = config.etcd.as_ref()?;
    if etcd.certificate.is_some() != etcd.key.is_some() {
        return Some((
            "etcd.certificate",
            "requires `etcd.key`, and the other way round",
        ));
    }
    if etcd.user.is_some() != etcd.password_file.is_some() {
        return Some((
            "etcd.user",
            "requires `etcd.password_file`, and the other way round",
        ));
    }
    None
}

fn client_problem(config: &Config, client: &Client) -> Option<(&'static str, &'static str)> {
    let certificates = config
        .tls
        .as_ref()
        .is_some_and(|tls| tls.client_ca.is_some());
    let credentials = [
        &client.subject,
        &client.certificate_name,
        &client.certificate_sha256,
    ];
    if client.name.is_empty() {
        return Some(("name", "must not be empty: the audit log uses it"));
    }
    if credentials.iter().filter(|value| value.is_some()).count() != 1 {
        return Some((
            "name",
            "requires exactly one of subject, certificate_name and certificate_sha256",
        ));
    }
    if client.subject.is_some() && config.bearer.is_none() {
        return Some(("subject", "requires `bearer`"));
    }
    if client.subject.is_none() && !certificates {
        return Some((
            "name",
            "requires `tls.client_ca` to verify the certificate of the client",
        ));
    }
    if let Some(digest) = &client.certificate_sha256
        && (digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Some(("certificate_sha256", "expected 64 hexadecimal digits"));
    }
    if client.may.is_empty() {
        return Some((
            "may",
            "requires at least one of issue, verify, revoke, admin",
        ));
    }
    if client.issuers.is_empty() {
        return Some(("issuers", "requires at least one issuer, or \"*\" for all"));
    }
    None
}
