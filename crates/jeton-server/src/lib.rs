//! The token service: gRPC and HTTP over [`jeton_issuer`].
//!
//! A server has two listeners. The data listener has `jeton.v1.TokenService` and, for verifiers and
//! resource servers, key sets, metadata, introspection and revocation over HTTP on the same port. The
//! admin listener has `jeton.v1.AdminService` and the metrics.
//!
//! Without any configuration it listens on this machine alone and needs nothing: it makes a data
//! folder, a key to encrypt private keys under, and an issuer to try things out with. The data listener
//! then serves every process of this machine; AdminService asks for a token that is in the data folder
//! ([`Server::admin_token_file`]). It does not listen beyond this machine without TLS and clients that
//! say who they are.
//!
//! ```
//! use jeton_server::{Config, Server};
//!
//! let folder = std::env::temp_dir().join(format!("jeton-server-doc-{}", std::process::id()));
//! let config = Config::from_toml(&format!(
//!     "data = {:?}\nlisten = '127.0.0.1:0'\nadmin_listen = '127.0.0.1:0'", folder
//! ))?;
//! let server = Server::start(config)?;
//! println!("listening on {}", server.data_address());
//! server.stop();
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), jeton_server::Error>(())
//! ```

// What it is told
mod config;
pub mod limits;

// Who calls, and what they may
mod admin_token;
mod auth;
mod authority;
mod cross_origin;
mod hosts;
mod permissions;
mod tls;
mod unread_responses;

// What answers
mod grpc;
mod http;
mod node;
mod request_check;
mod route;
mod service;
mod etcd_store;

// What carries it
mod body_drain;
mod file_descriptors;
mod body_budget;
mod listen;
mod overload;
mod time_slice;
mod server;

// What tells how it is
mod error;
mod health_log;
mod logs;
mod metrics;
mod sd_notify;

pub use config::{
    Bearer, Client, Config, Etcd, GenerateJwt, Limits, Log, LogFormat, LogLevel, Tls, WhenStale,
};
pub use error::{ConfigError, Error, Result};
pub use permissions::Permission;
pub use server::{IssuableProfile, Reload, Server};
