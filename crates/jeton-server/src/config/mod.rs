//! The configuration: one TOML file, or none for trying it out.

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

/// What a server is told. Every key has a default; without any of them it is for trying it out on
/// this machine.
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
    /// The folder with the store. It is made if it is not there.
    pub data: PathBuf,
    /// The etcd with the store, in the place of a folder: `etcd://HOST:PORT[,HOST:PORT…][/ROOT]`, or
    /// `etcds://`. Nodes with the same one are one service.
    pub store: Option<String>,
    /// How the etcd knows this server, and this server the etcd.
    pub etcd: Option<Etcd>,
    /// Where gRPC and HTTP are offered to applications and verifiers.
    pub listen: SocketAddr,
    /// Where administration and metrics are.
    pub admin_listen: SocketAddr,
    /// Threads that answer, each with a runtime of its own. None: one for each core.
    pub workers: Option<usize>,
    /// The file with the key that private keys are encrypted under: 64 hexadecimal digits. The
    /// environment's `JETON_KEY_ENCRYPTION_KEY` stands in for it.
    pub key_encryption_key_file: Option<PathBuf>,
    /// How old the view of the store may be: at least
    /// [`FRESHNESS_LEAST`](jeton_store::limits::FRESHNESS_LEAST), and an hour at most.
    pub freshness_seconds: u64,
    /// What is done when it is older.
    pub when_stale: WhenStale,
    /// For how long tokens are issued while nothing is heard from the store; an issuer whose lead is shorter,
    /// for its lead. 900, or [`freshness_seconds`](Config::freshness_seconds) if that is more, unless said.
    pub issue_without_store_seconds: Option<u64>,
    /// How long requests may take that are being answered when the server is told to stop.
    pub drain_seconds: u64,
    /// What is logged.
    pub log: Log,
    /// Certificates. Without them there is no TLS.
    pub tls: Option<Tls>,
    /// Bearer tokens that callers show.
    pub bearer: Option<Bearer>,
    /// Names that the server may be called by, beside IP addresses, `localhost` and the hosts of its
    /// issuers. None: a listener beyond loopback takes any name.
    pub hosts: Option<Vec<String>>,
    /// Who may do what. Without clients, every process of this machine may issue, verify and revoke, and
    /// AdminService asks for the token in [`data`](Config::data).
    #[serde(rename = "client")]
    pub clients: Vec<Client>,
    /// Issuers. One that is not there is made, and one that is becomes what this says, at the start and
    /// whenever the configuration is read again. One that is not named stays as it is. Without any, without
    /// clients and without a shared store one is made for trying things out.
    #[serde(rename = "issuer")]
    pub issuers: Vec<IssuerSettings>,
    /// Bounds on what clients do.
    pub limits: Limits,
    /// Serves `jwt.services.JwtService` as well.
    pub generate_jwt: Option<GenerateJwt>,
}

/// How an etcd is asked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Etcd {
    /// PEM: the authorities of the etcd's certificates. Needed for `etcds://`.
    pub ca: Option<PathBuf>,
    /// PEM: this server's certificate for the etcd.
    pub certificate: Option<PathBuf>,
    /// PEM: its private key.
    pub key: Option<PathBuf>,
    /// Its name, where etcd's own authentication is on.
    pub user: Option<String>,
    /// The file with its password.
    pub password_file: Option<PathBuf>,
}

/// What a server does whose view of the store is too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenStale {
    /// Verifies nothing.
    Refuse,
    /// Goes on, and says that it is not ready.
    Answer,
}

/// What is logged, to standard error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// From which level on.
    pub level: LogLevel,
    /// Lines for people, or JSON for machines.
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

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LogFormat {
    Text,
    Json,
}

/// The server's certificate, and whose clients' certificates it takes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// PEM: the server's certificate, and those between it and the authority.
    pub certificate: PathBuf,
    /// PEM: its private key.
    pub key: PathBuf,
    /// PEM: the authorities of clients' certificates. None: clients show no certificates.
    #[serde(default)]
    pub client_ca: Option<PathBuf>,
}

/// Bearer tokens (RFC 6750) that an issuer of this server issues.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bearer {
    /// Its `iss`.
    pub issuer: String,
    /// Whom the tokens must be for: this server.
    pub audience: String,
}

/// A caller, how it is known, and what it may.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// What it is called in the audit log.
    pub name: String,
    /// The `sub` of its bearer tokens.
    #[serde(default)]
    pub subject: Option<String>,
    /// A DNS name or URI of its certificate (subjectAltName).
    #[serde(default)]
    pub certificate_name: Option<String>,
    /// SHA-256 of its certificate, 64 hexadecimal digits.
    #[serde(default)]
    pub certificate_sha256: Option<String>,
    /// What it may.
    pub may: Vec<Permission>,
    /// For which issuers; `*` is all of them.
    pub issuers: Vec<String>,
}

/// Bounds on what clients do. [`limits`] has the defaults and the bounds that are not
/// configured.
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

/// The gRPC report's service, for an issuer that has profiles with HS256 and ES256.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateJwt {
    /// The issuer's `iss`.
    pub issuer: String,
    /// Its profile for HS256.
    pub hs256: String,
    /// Its profile for ES256.
    pub es256: String,
}

impl Config {
    /// The port of the data listener, unless it is said.
    pub const PORT: u16 = 8420;
    /// The port of the admin listener, unless it is said.
    pub const ADMIN_PORT: u16 = 8421;

    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] with the line and the key.
    pub fn from_file(path: &Path) -> Result<Config> {
        let text = read(path, limits::CONFIG_BYTES).map_err(|what| ConfigError {
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
        config.paths_from(folder);
        Ok(config)
    }

    /// Reads and checks text.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] with the line and the key.
    pub fn from_toml(text: &str) -> Result<Config> {
        Ok(parse(text)?)
    }

    /// Refuses a listener beyond this machine without TLS and client authentication, and without a
    /// key-encryption key that was given.
    ///
    /// # Errors
    ///
    /// [`Error::Exposed`].
    pub fn check_exposure(&self, key_is_given: bool) -> Result<()> {
        for address in [self.listen, self.admin_listen] {
            let missing = if address.ip().is_loopback() {
                continue;
            } else if self.tls.is_none() {
                "`tls` is missing"
            } else if self.clients.is_empty() {
                "there is no `client`, so everybody could do everything"
            } else if self.tls.as_ref().is_some_and(|tls| tls.client_ca.is_none())
                && self.bearer.is_none()
            {
                "neither `tls.client_ca` nor `bearer` says how clients are known"
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

    /// A path in the file is meant from the file's folder.
    fn paths_from(&mut self, folder: &Path) {
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

impl Limits {
    /// The longest token that is issued, and that every call takes: what is configured, or the default
    /// where a request holds it.
    pub(crate) fn token_bytes(&self) -> usize {
        let default = jeton_issuer::limits::TOKEN_BYTES;
        self.token_bytes
            .unwrap_or_else(|| default.min(self.longest_token()))
    }

    /// How long a client may keep the server waiting.
    pub(crate) fn stall(&self) -> Duration {
        Duration::from_secs(self.stall_seconds)
    }

    /// A form with such a token in it.
    pub(crate) fn form_bytes(&self) -> usize {
        self.token_bytes() + limits::FORM_OVERHEAD_BYTES
    }

    /// The longest token that a request about it holds.
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

/// A file's text, if it is not longer than that.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<String, String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let length = file.take(bytes_max + 1).read_to_string(&mut text);
    match length {
        Err(error) => Err(format!("cannot be read: {error}")),
        Ok(length) if length as u64 > bytes_max => Err(format!("is longer than {bytes_max} bytes")),
        Ok(_) => Ok(text),
    }
}

fn parse(text: &str) -> Result<Config, ConfigError> {
    let config: Config = toml::from_str(text).map_err(|error| location::locate(text, &error))?;
    match fault(&config) {
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
    /// For how long tokens are issued while nothing is heard from the store.
    pub(crate) fn issue_without_store(&self) -> Duration {
        let unless_said = jeton_issuer::limits::ISSUE_WITHOUT_STORE.as_secs();
        let seconds = self.issue_without_store_seconds;
        Duration::from_secs(seconds.unwrap_or(unless_said.max(self.freshness_seconds)))
    }
}

/// A bound below the store's heartbeat would make an idle node stale between two reports.
fn freshness_fault(seconds: u64) -> Option<String> {
    let every = jeton_store::limits::PROGRESS_EVERY.as_secs();
    let (least, most) = (jeton_store::limits::FRESHNESS_LEAST.as_secs(), 3600);
    let what = format!(
        "{seconds} is not in {least} to {most}: an idle store reports every {every} s that nothing has changed"
    );
    (!(least..=most).contains(&seconds)).then_some(what)
}

/// The first key whose value contradicts another or is out of its range.
fn fault(config: &Config) -> Option<(String, String)> {
    let wrong = |key: &str, what: &str| Some((key.to_owned(), what.to_owned()));
    let limits = &config.limits;
    if config.listen == config.admin_listen && config.listen.port() != 0 {
        return wrong(
            "admin_listen",
            "is the same as `listen`: wants a port of its own",
        );
    }
    if config
        .workers
        .is_some_and(|workers| !(1..=1024).contains(&workers))
    {
        return wrong("workers", "wants 1 to 1024");
    }
    if let Some((key, what)) = store_fault(config) {
        return wrong(key, what);
    }
    if let Some(what) = freshness_fault(config.freshness_seconds) {
        return wrong("freshness_seconds", &what);
    }
    let (issuing, fresh) = (
        config.issue_without_store().as_secs(),
        config.freshness_seconds,
    );
    if !(fresh..=limits::ISSUE_WITHOUT_STORE_SECONDS_MAX).contains(&issuing) {
        let most = limits::ISSUE_WITHOUT_STORE_SECONDS_MAX;
        let what = format!("{issuing} is not in {fresh} (`freshness_seconds`) to {most}");
        return wrong("issue_without_store_seconds", &what);
    }
    if config.drain_seconds > 3600 {
        return wrong("drain_seconds", "wants at most 3600");
    }
    if !(limits::MESSAGE_BYTES_MIN..=64 * 1024 * 1024).contains(&limits.message_bytes) {
        let bytes = limits.message_bytes;
        let what = format!(
            "{bytes} is not in {} to 67108864",
            limits::MESSAGE_BYTES_MIN
        );
        return wrong("limits.message_bytes", &what);
    }
    if let Some(what) = limits
        .token_bytes
        .and_then(|bytes| token_fault(limits, bytes))
    {
        return wrong("limits.token_bytes", &what);
    }
    if !(1..=1_000_000).contains(&limits.batch_items) {
        return wrong("limits.batch_items", "wants 1 to 1000000");
    }
    if !(1..=100_000).contains(&limits.streams) {
        return wrong("limits.streams", "wants 1 to 100000");
    }
    if !(1024..=1024 * 1024).contains(&limits.header_bytes) {
        return wrong("limits.header_bytes", "wants 1024 to 1048576");
    }
    if limits.connections == 0 {
        return wrong("limits.connections", "wants at least 1");
    }
    if !(1..=3600).contains(&limits.stall_seconds) {
        return wrong("limits.stall_seconds", "wants 1 to 3600");
    }
    if !(1..=60_000).contains(&limits.lag_milliseconds) {
        return wrong("limits.lag_milliseconds", "wants 1 to 60000");
    }
    let hosts = config.hosts.as_deref().unwrap_or_default();
    if hosts.len() > limits::HOSTS {
        let what = format!("{} names, and {} are the most", hosts.len(), limits::HOSTS);
        return wrong("hosts", &what);
    }
    if hosts.iter().any(|host| !Authority::is_host(host)) {
        return wrong(
            "hosts",
            "wants names without scheme, port and wildcard, for example \"id.example\"",
        );
    }
    if let Some((key, what)) = issuer_fault(&config.issuers) {
        return Some((key, what));
    }
    if config.clients.len() > limits::CLIENTS {
        return wrong("client", "more clients than a server takes");
    }
    for (index, client) in config.clients.iter().enumerate() {
        if let Some((member, what)) = client_fault(config, client) {
            return Some((format!("client[{index}].{member}"), what.to_owned()));
        }
    }
    None
}

fn issuer_fault(issuers: &[IssuerSettings]) -> Option<(String, String)> {
    let most = jeton_issuer::limits::ISSUERS;
    if issuers.len() > most {
        let what = format!("{} issuers, and {most} are the most", issuers.len());
        return Some(("issuer".to_owned(), what));
    }
    let mut names = HashSet::new();
    let twice = issuers
        .iter()
        .position(|issuer| !names.insert(issuer.iss()));
    twice.map(|index| {
        let what = "another issuer has this name".to_owned();
        (format!("issuer[{index}].iss"), what)
    })
}

/// What is issued must fit the requests that verify and revoke it.
fn token_fault(limits: &Limits, bytes: usize) -> Option<String> {
    use jeton_issuer::limits::{TOKEN_BYTES_MAX, TOKEN_BYTES_MIN};
    if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&bytes) {
        let range = format!("{bytes} is not in {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX}");
        return Some(range);
    }
    (bytes > limits.longest_token()).then(|| {
        format!(
            "{bytes} > {}: a request to verify such a token would exceed `message_bytes`, which is {}",
            limits.longest_token(),
            limits.message_bytes
        )
    })
}

fn store_fault(config: &Config) -> Option<(&'static str, &'static str)> {
    let etcd = config.etcd.as_ref()?;
    if etcd.certificate.is_some() != etcd.key.is_some() {
        return Some(("etcd.certificate", "and `key` go together"));
    }
    if etcd.user.is_some() != etcd.password_file.is_some() {
        return Some(("etcd.user", "and `password_file` go together"));
    }
    None
}

fn client_fault(config: &Config, client: &Client) -> Option<(&'static str, &'static str)> {
    let certificates = config
        .tls
        .as_ref()
        .is_some_and(|tls| tls.client_ca.is_some());
    let ways = [
        &client.subject,
        &client.certificate_name,
        &client.certificate_sha256,
    ];
    if client.name.is_empty() {
        return Some(("name", "wants a name for the audit log"));
    }
    if ways.iter().filter(|way| way.is_some()).count() != 1 {
        return Some((
            "name",
            "wants one of subject, certificate_name, certificate_sha256: how the client is known",
        ));
    }
    if client.subject.is_some() && config.bearer.is_none() {
        return Some(("subject", "needs `bearer`: whose tokens carry it"));
    }
    if client.subject.is_none() && !certificates {
        return Some((
            "name",
            "needs `tls.client_ca`: who vouches for its certificate",
        ));
    }
    if let Some(digest) = &client.certificate_sha256
        && (digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Some(("certificate_sha256", "wants 64 hexadecimal digits"));
    }
    if client.may.is_empty() {
        return Some(("may", "wants at least one of issue, verify, revoke, admin"));
    }
    if client.issuers.is_empty() {
        return Some(("issuers", "wants issuers, or \"*\" for all of them"));
    }
    None
}
