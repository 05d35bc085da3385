//! Errors of starting a server and of reloading its configuration.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use jeton_transport::{TlsError, TooFewDescriptors};

/// An error of starting a server or of reloading its configuration.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is invalid.
    Config(ConfigError),
    /// A certificate, a private key or a certificate authority cannot be used.
    Tls {
        /// The file.
        file: PathBuf,
        /// The problem.
        what: String,
    },
    /// A file with public keys of a client or of an outside issuer cannot be used.
    KeySet {
        /// The file.
        file: PathBuf,
        /// The problem.
        what: String,
    },
    /// The keys of an outside issuer cannot be fetched from the configured address.
    Trust {
        /// The name of the trust entry.
        name: String,
        /// The problem.
        what: String,
    },
    /// A listener is not on loopback, and a required setting is missing.
    Exposed {
        /// The address.
        address: SocketAddr,
        /// The missing setting.
        missing: &'static str,
    },
    /// The server cannot listen on this address.
    Listen(SocketAddr, io::Error),
    /// An error of the data folder, of the store or of a key in it.
    Issuer(jeton_issuer::Error),
    /// The file with the token for AdminService cannot be written.
    AdminToken(PathBuf, io::Error),
    /// The limit of file descriptors is too low for any connection.
    Descriptors {
        /// The limit.
        limit: u64,
        /// Descriptors for the server itself, for the admin listener and for one connection.
        needed: u64,
    },
    /// The system could not create a thread or a signal handler.
    System(io::Error),
}

/// An invalid key in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file. `None` if the configuration was given as text.
    pub file: Option<PathBuf>,
    /// The line, from 1. `None` if no line has the key.
    pub line: Option<usize>,
    /// The key, such as `tls.certificate`. Empty if the error concerns the whole file.
    pub key: String,
    /// The problem and the expected value.
    pub what: String,
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Config(error) => error.fmt(f),
            Error::KeySet { file, what } => write!(f, "{}: {what}", file.display()),
            Error::Trust { name, what } => write!(f, "trust entry {name:?}: {what}"),
            Error::Tls { file, what } => write!(f, "{}: {what}", file.display()),
            Error::Exposed { address, missing } => write!(
                f,
                "cannot listen on {address}: the address is not loopback, and {missing}"
            ),
            Error::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Error::Issuer(error) => error.fmt(f),
            Error::AdminToken(file, error) => {
                write!(f, "cannot write {}: {error}", file.display())
            }
            Error::Descriptors { limit, needed } => TooFewDescriptors {
                limit: *limit,
                needed: *needed,
            }
            .fmt(f),
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

impl From<TlsError> for Error {
    fn from(TlsError { file, what }: TlsError) -> Self {
        Error::Tls { file, what }
    }
}

impl From<TooFewDescriptors> for Error {
    fn from(TooFewDescriptors { limit, needed }: TooFewDescriptors) -> Self {
        Error::Descriptors { limit, needed }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Error::Config(error)
    }
}
