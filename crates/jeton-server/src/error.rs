//! Why a server does not start, or does not take a new configuration.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The error of this crate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The configuration: where, and what is to be done.
    Config(ConfigError),
    /// A certificate, a private key or a certificate authority that cannot be used.
    Tls {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// It would listen beyond this machine, and something that this needs is missing.
    Exposed {
        /// The address.
        address: SocketAddr,
        /// What is missing.
        missing: &'static str,
    },
    /// An address that cannot be listened on.
    Listen(SocketAddr, io::Error),
    /// The data folder, the store or the keys in it.
    Issuer(jeton_issuer::Error),
    /// The file with the token for AdminService cannot be written.
    AdminToken(PathBuf, io::Error),
    /// The process may have too few files and connections open to serve at all.
    Descriptors {
        /// How many it may have.
        limit: u64,
        /// How many it needs for itself, for the admin listener, and for one connection.
        needed: u64,
    },
    /// The system refused a thread or a signal.
    System(io::Error),
}

/// A line of the configuration file and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file; none if it was given as text.
    pub file: Option<PathBuf>,
    /// From 1; none if no line says it.
    pub line: Option<usize>,
    /// The key, such as `tls.certificate`; empty if it is about the whole.
    pub key: String,
    /// What is wrong, and what is wanted.
    pub what: String,
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Config(error) => error.fmt(f),
            Error::Tls { file, what } => write!(f, "{}: {what}", file.display()),
            Error::Exposed { address, missing } => write!(
                f,
                "{address} can be reached from other machines, and {missing}: configure it, or \
                 listen on 127.0.0.1"
            ),
            Error::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Error::Issuer(error) => error.fmt(f),
            Error::AdminToken(file, error) => {
                write!(f, "{} cannot be written: {error}", file.display())
            }
            Error::Descriptors { limit, needed } => write!(
                f,
                "the process may have {limit} files and connections open, and the server needs at least \
                 {needed}: raise the limit (`ulimit -n`, LimitNOFILE=)"
            ),
            Error::System(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            f.write_str(": ")?;
        } else if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
impl std::error::Error for ConfigError {}

impl From<jeton_issuer::Error> for Error {
    fn from(error: jeton_issuer::Error) -> Self {
        Error::Issuer(error)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Error::Config(error)
    }
}
